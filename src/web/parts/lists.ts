import type { Key } from '../../core/catalogue.js'
import { hidesFinished, STATUS_KINDS, UNFINISHED, type StatusKind } from '../../core/statuskinds.js'
import * as boards from '../../service/boards.js'
import * as posts from '../../service/postlists.js'
import * as roadmaps from '../../service/roadmaps.js'
import * as roles from '../../service/roles.js'
import * as tags from '../../service/tags.js'
import { pageNumber, withParameters, withQuery } from '../kit/addresses.js'
import { Redirect, type View } from '../kit/page.js'

const offered = ['trending', 'newest', 'votes', 'discussed'] as const
export type Sort = (typeof offered)[number]

/** Orders that the pages offer, of those that the operation has. */
export const sorts: readonly Sort[] = offered.filter((sort) =>
  (posts.list.input.properties.sort as { enum: readonly string[] }).enum.includes(sort),
)

export const SORT_WORDS: Record<Sort, Key> = {
  trending: 'sort.trending',
  newest: 'sort.newest',
  votes: 'sort.votes',
  discussed: 'sort.discussed',
}

/** The choices of the filter by progress, as kinds of status. */
const STATES = { open: UNFINISHED, done: ['done', 'declined'], all: undefined } as const satisfies Record<
  string,
  readonly StatusKind[] | undefined
>
export type State = keyof typeof STATES
export const states = Object.keys(STATES) as State[]

/**
 * By default a list shows open posts, because done ones would stay the most voted for ever. A search, one's own posts,
 * followed posts and the posts of a roadmap include done ones.
 */
function stateOf({ query }: Pick<View, 'query'>, isOfRoadmap: boolean): State {
  if (isOfRoadmap) return 'all'
  const isNarrowed = [query.q, query.by, query.following].some(Boolean)
  return states.find((state) => state === query.status) ?? (isNarrowed ? 'all' : 'open')
}

/** Posts on a page. A column of the roadmaps shows fewer, and its script asks for as many. */
const SIZE = 20
const sizeOf = ({ query }: Pick<View, 'query'>): number => (query.size === '10' ? 10 : SIZE)

export const sortOf = ({ query }: Pick<View, 'query'>, usual: Sort = 'trending'): Sort =>
  sorts.find((sort) => sort === query.sort) ?? usual

/** Private ones are there for those who may see them. */
export const EVERY: ('public' | 'private')[] = ['public', 'private']

/** What a field offers. */
export interface Choices<Row> {
  rows: Row[]
  /** How many there are. Where they are more than `rows`, the page says so. */
  total: number
}

/** All of them are offered up to this number, of more the first ones: nobody reads so many. */
const MAX_OFFERED = 1000
export const FIRST = 100

async function allOrFirst<Row>(
  load: (page: number) => Promise<Choices<Row>>,
  isOffered: (row: Row) => boolean = () => true,
): Promise<Choices<Row>> {
  const { rows, total } = await load(1)
  if (total <= MAX_OFFERED)
    for (let page = 2; rows.length < total && page <= MAX_OFFERED / FIRST; page++) rows.push(...(await load(page)).rows)
  const offered = rows.filter(isOffered)
  return { rows: offered, total: total - (rows.length - offered.length) }
}

/**
 * The boards to choose from, and this one in any case. Where they are too many, those whose names start with this text:
 * see `areTooMany`.
 */
export async function boardsWith(view: View, url?: string, text = '', { archived: isKept = false } = {}) {
  const load = async (page: number, query = {}) => {
    const list = await view.call(boards.list, { limit: FIRST, page, created: 'asc', visibility: EVERY, ...query })
    return { rows: [...list.boards], total: list.total_count }
  }
  const isOffered = ({ archived }: { archived?: boolean | undefined }) => !archived || isKept
  const found = await allOrFirst(load, isOffered)
  if (areTooMany(found) && text.trim() !== '')
    found.rows = (await load(1, { query: text.slice(0, 200).toWellFormed() })).rows.filter(isOffered)
  if (url && !found.rows.some((board) => board.url === url || board.boardId === url))
    found.rows.push((await view.call(boards.show, { url })).board)
  return found
}

/** Whether a field cannot offer them all. */
export const areTooMany = ({ rows, total }: Choices<unknown>): boolean => total > rows.length

/** The same for roadmaps. */
export async function roadmapsWith(view: View, url?: string) {
  const found = await allOrFirst(async (page) => {
    const list = await view.call(roadmaps.list, { limit: FIRST, page, visibility: EVERY })
    return { rows: [...list.roadmaps], total: list.total_count }
  })
  if (url && !found.rows.some((roadmap) => roadmap.url === url || roadmap.id === url))
    found.rows.push((await view.call(roadmaps.show, { url })).roadmap)
  return found
}

/** The tags to choose from. A site has no more than are offered. */
export const tagsOffered = (view: View) =>
  allOrFirst(async (page) => {
    const list = await view.call(tags.list, { limit: FIRST, page, visibility: EVERY, counts: false })
    return { rows: [...list.tags], total: list.total_count }
  })

/** The roles of the site; none where the reader may not know them. */
export async function rolesOf(view: View): Promise<roles.Role[]> {
  if (!view.may(roles.list)) return []
  const { rows } = await allOrFirst(async (page) => {
    const list = await view.call(roles.list, { limit: FIRST, page })
    return { rows: [...list.roles], total: list.total_count }
  })
  return rows
}

/** The same without the built-in one, which everybody has. */
export const rolesOffered = async (view: View): Promise<roles.Role[]> =>
  (await rolesOf(view)).filter(({ isSystem }) => !isSystem)

/** The filter by words, as far as it is looked for. */
export const filterOf = ({ query }: Pick<View, 'query'>): string => (query.q ?? '').slice(0, 200).toWellFormed()

/** Leads to the address without fields that are empty. A form without a script sends those too. */
export function assertTidy({ url, path }: Pick<View, 'url' | 'path'>): void {
  if ([...new URLSearchParams(url.slice(path.length)).values()].includes(''))
    throw new Redirect(withParameters(url, {}))
}

/** Where the posts are, and in which order unless the address says another. */
interface Within {
  boardId?: string[]
  roadmapId?: string
  usual?: Sort | undefined
}

/**
 * Lists the posts that the address asks for. A page after the last one redirects to the last. If the default list has no
 * open posts, it lists all.
 */
export async function postsOf(view: View, filter: Within = {}) {
  assertTidy(view)
  const state = stateOf(view, filter.roadmapId !== undefined)
  const found = await listOf(view, state, filter)
  return found.total_count === 0 && state !== 'all' && view.query.status === undefined
    ? listOf(view, 'all', filter)
    : found
}

async function listOf(view: View, state: State, { usual, ...filter }: Within) {
  const kinds: readonly StatusKind[] | undefined = STATES[state]
  const asked = {
    ...filter,
    ...(kinds && { statusKind: [...kinds] }),
    ...(view.query.by === 'me' && { mine: true }),
    ...(view.query.following === 'true' && { following: true }),
    ...(view.query.q && { query: filterOf(view) }),
    sort: sortOf(view, usual),
  }
  const list = await view.call(posts.list, {
    ...asked,
    ...(hidesFinished(asked) && { statusKind: [...STATUS_KINDS] }),
    page: pageNumber(view),
    limit: sizeOf(view),
    votes: false,
  })
  if (list.total_count > 0 && pageNumber(view) > list.total_pages)
    throw new Redirect(withQuery(view.path, { ...view.query, page: list.total_pages }))
  return { ...list, state, kinds }
}
