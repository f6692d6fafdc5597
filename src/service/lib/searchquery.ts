import { parseQuery, type SearchQuery } from '../../core/search/grammar.js'
import { isId } from '../../core/ids.js'
import type { Permission } from '../../core/permissions.js'
import { STATUS_KINDS, UNFINISHED } from '../../core/statuskinds.js'
import { slugOf } from '../../core/slugs.js'
import { searchKey } from '../../core/text.js'
import { searchWords } from '../../core/search/words.js'
import { findBoard } from '../../db/boards.js'
import { titledNamed } from '../../db/names.js'
import { findRoadmap } from '../../db/roadmaps.js'
import { findTag } from '../../db/tags.js'
import type { PostFilter } from '../../db/posts/filter.js'
import { can } from './access.js'
import type { CachedContext } from './context.js'
import { asksVotes, needsReading, numbersOf } from './hits.js'
import { NONE } from './named.js'
import { findPerson } from './people.js'
import { filterFrom, wordsOf } from './postfilter.js'
import { roadmapsOfKinds } from './postplaces.js'
import { viewerOf } from './sessions.js'

/** A filter with that of a query, and the parts of the query that name nothing: then it finds nothing. */
export interface Narrowed {
  filter: PostFilter
  unknown: string[]
}

/** The filter of a list: its fields, and what its query says. Undefined fields and an empty query filter nothing. */
export async function filterAsked(
  ctx: Parameters<typeof filterFrom>[0],
  { query: text = '', ...asked }: Parameters<typeof filterFrom>[1] & { query?: string },
  { isNothing = false } = {},
): Promise<PostFilter> {
  if (isNothing || text.trim() === '') return filterFrom(ctx, asked, isNothing ? [] : undefined)
  const query = parseQuery(text)
  const words = wordsOf([query.text, ...query.phrases].join(' '))
  const says = isSaying(query)
  const { filter } = await narrowed(ctx, await filterFrom(ctx, asked, says ? undefined : []), query)
  if (!says || filter.words) return filter // nothing passes
  if (needsReading(query)) return { ...filter, among: await numbersOf(ctx.db, filter, query) }
  return { ...filter, words: words.length > 0 ? words : undefined }
}

/** Whether a query has words or filters. A query of punctuation alone finds nothing. */
export const isSaying = (query: SearchQuery): boolean =>
  searchWords([query.text, ...query.phrases].join(' ')).length > 0 ||
  needsReading(query) ||
  query.unknown.length + query.withoutTag.length > 0 ||
  query.board.length + query.status.length + query.author.length + query.tag.length + query.is.length > 0 ||
  query.since !== undefined ||
  query.until !== undefined

/** Narrows a filter to what a query says beside its words. It throws for nothing that was typed. */
export async function narrowed(ctx: CachedContext, filter: PostFilter, query: SearchQuery): Promise<Narrowed> {
  const unknown = [...query.unknown]
  const resolved = async <T>(
    name: string,
    given: readonly string[],
    find: (text: string) => Promise<T | undefined>,
  ) => {
    const found: T[] = []
    for (const text of given) {
      const one = await find(text)
      if (one === undefined) unknown.push(`${name}:${text}`)
      else found.push(one)
    }
    return found
  }
  const boards = await resolved('board', query.board, (text) => boardNamed(ctx, text))
  const roadmaps = await resolved('status', query.status, (text) => roadmapNamed(ctx, text))
  const tags = await resolved('tag', query.tag, (text) => tagNamed(ctx, text))
  const withoutTags = await resolved('-tag', query.withoutTag, (text) => tagNamed(ctx, text))
  const authors = await resolved('author', query.author, async (text) => (await findPerson(ctx, text))?.userId)
  const own = query.is.includes('mine') ? await viewerOf(ctx) : undefined
  if (own === null) unknown.push('is:mine')
  const people = new Set([filter.author, ...authors, own ?? undefined].filter((id) => id !== undefined))
  const kinds = STATUS_KINDS.filter((kind) => query.is.includes(kind) || (query.is.includes('open') && UNFINISHED.includes(kind))) // prettier-ignore
  const ofKinds = kinds.length > 0 ? await roadmapsOfKinds(ctx, kinds) : undefined
  const [since, until] = [later(filter.since, query.since), earlier(filter.until, query.until)]
  const places =
    filter.boards.length === 0 ? boards : boards.length === 0 ? filter.boards : common(filter.boards, boards)
  const stages = [filter.roadmaps, roadmaps.length > 0 ? roadmaps : undefined, ofKinds].filter(
    (ids) => ids !== undefined,
  )
  const isNothing = unknown.length > 0 || people.size > 1 || (places.length === 0 && boards.length > 0)
  const [author] = people
  const narrow = stages.length === 0 ? undefined : stages.reduce(common)
  return {
    unknown,
    filter: {
      ...filter,
      boards: places,
      roadmaps: isNothing ? [] : narrow,
      author,
      ...(tags.length > 0 && { allTags: [...new Set([...(filter.allTags ?? []), ...tags])].toSorted(byText) }),
      ...(withoutTags.length > 0 && { withoutTags: [...new Set([...(filter.withoutTags ?? []), ...withoutTags])].toSorted(byText) }), // prettier-ignore
      since,
      until,
      ...(asksVotes(query) && !can(ctx.actor, 'dashboard:read') && { showsVotesTo: (await viewerOf(ctx)) ?? '' }), // to find a post by a number of votes tells it
    },
  }
}

const common = <T>(some: readonly T[], others: readonly T[]): readonly T[] => some.filter((one) => others.includes(one))
const byText = (one: string, other: string) => (one < other ? -1 : 1)
const later = (one: string | undefined, other: string | undefined) => (one ?? '') > (other ?? '') ? one : (other ?? one) // prettier-ignore
const earlier = (one: string | undefined, other: string | undefined) => one !== undefined && (other === undefined || one < other) ? one : other // prettier-ignore

/** The id of a board by url, id or name; null for "none". */
async function boardNamed(ctx: CachedContext, text: string): Promise<string | null | undefined> {
  const board = await rowNamed(ctx, text, {
    table: 'boards',
    right: 'board:read',
    find: (url) => findBoard(ctx.db, url),
  })
  return board?.boardId ?? (text.toLowerCase() === NONE ? null : undefined)
}

async function roadmapNamed(ctx: CachedContext, text: string): Promise<string | null | undefined> {
  const roadmap = await rowNamed(ctx, text, { table: 'roadmaps', right: 'roadmap:read', find: (url) => findRoadmap(ctx.db, url) }) // prettier-ignore
  return roadmap?.id ?? (text.toLowerCase() === NONE && can(ctx.actor, 'roadmap:read') ? null : undefined)
}

const tagNamed = async (ctx: CachedContext, text: string): Promise<string | undefined> =>
  (await rowNamed(ctx, text, { table: 'tags', right: 'dashboard:read', find: (url) => findTag(ctx.db, url) }))?.tagId

interface Naming<Row> {
  table: Parameters<typeof titledNamed>[1]
  /** The permission to see private rows. */
  right: Permission
  find(this: void, idOrUrl: string): Promise<Row | undefined>
}

/**
 * Finds a row by id, url or name, if the actor may see it. The current name comes before the url made from the text, which
 * a renamed row keeps.
 */
async function rowNamed<Row extends { display: number }>(
  { db, actor }: CachedContext,
  text: string,
  { table, right, find }: Naming<Row>,
): Promise<Row | undefined> {
  const isSeen = (row: Row | undefined) => row !== undefined && (row.display === 1 || can(actor, right))
  const exact = await find(text.toLowerCase())
  if (isSeen(exact)) return exact
  if (isId(text)) return undefined
  const [named] = await titledNamed(db, table, searchKey(text), can(actor, right), 1)
  const row = await find(named?.id ?? (await slugOf(text)))
  return isSeen(row) ? row : undefined
}
