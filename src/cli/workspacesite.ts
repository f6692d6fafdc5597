import { AppError } from '../core/errors.js'
import type { PageInfo } from '../core/pages.js'
import * as boardfollows from '../service/boardfollows.js'
import * as boards from '../service/boards.js'
import { everyPage } from '../service/lib/everypage.js'
import type { Call } from '../service/lib/operation.js'
import * as posts from '../service/postlists.js'
import * as profile from '../service/profile.js'
import * as roadmaps from '../service/roadmaps.js'
import * as roles from '../service/roles.js'
import * as settings from '../service/settings.js'
import * as tags from '../service/tags.js'
import { LISTS, SETTINGS, type Entry, type ListName } from './workspacefile.js'

/** A row of the site, as a workspace file has it, and what depends on it. */
export interface Present {
  id: string
  entry: Entry
  /** Posts that have it, and people; undefined where none can. */
  posts(this: void, call: Call): Promise<number | undefined>
  people(this: void, call: Call): Promise<number | undefined>
}

export interface Site {
  settings: Entry
  lists: { [List in ListName]: readonly Present[] }
  blockedDomains: readonly string[]
}

/** What the list of boards leaves out where it is as usual. */
const RULES = {
  description: '',
  template: '',
  posting: 'everyone',
  sort: 'trending',
  archived: false,
  hides_votes: false,
}

const BOTH = ['public', 'private']

/** What a workspace file can say, as it is on the site. */
export async function siteNow(call: Call): Promise<Site> {
  await assertReadsAll(call)
  const found = {
    boards: await all(call, boards.list, { visibility: BOTH, created: 'asc' }, ({ boards: rows }) => rows),
    roadmaps: await all(call, roadmaps.list, { visibility: BOTH }, ({ roadmaps: rows }) => rows),
    tags: await all(call, tags.list, { visibility: BOTH }, ({ tags: rows }) => rows),
    roles: await all(call, roles.list, {}, ({ roles: rows }) => rows),
  }
  const postsOn = async (own: Call, id: string) => (await own(posts.list, { roadmapId: id, limit: 1 })).total_count
  const held = found.roles.filter(({ isSystem }) => !isSystem)
  const ofRoles: Present[] = []
  for (const role of held) {
    const { permissions } = (await call(roles.show, { id: role.id })).role
    ofRoles.push({ id: role.id, entry: picked('roles', { ...role, permissions }), posts: none, people: async () => role.user_count }) // prettier-ignore
  }
  const [twice] = held.filter(({ name }, at) => held.findIndex((role) => role.name === name) !== at)
  if (twice) throw new AppError('USAGE', `Two roles have the name "${twice.name}". Rename one first: a workspace names roles by their names.`) // prettier-ignore
  const { settings: row } = await call(settings.site, {})
  return {
    settings: fieldsOf(SETTINGS, row),
    lists: {
      boards: found.boards.map((each) => ({ id: each.boardId, entry: picked('boards', { ...RULES, ...each }), posts: async (own: Call) => Number((await own(boards.show, { url: each.url })).board.post_count), people: (own: Call) => followersOf(own, each.url) })), // prettier-ignore
      roadmaps: found.roadmaps.map((each) => ({ id: each.id, entry: picked('roadmaps', each), posts: (own: Call) => postsOn(own, each.id), people: none })), // prettier-ignore
      tags: found.tags.map((each) => ({ id: each.tagId, entry: picked('tags', each), posts: async (own: Call) => (await own(tags.show, { url: each.tagId })).tag.post_count, people: none })), // prettier-ignore
      roles: ofRoles,
    },
    blockedDomains: (await call(settings.blockedDomains, {})).domains,
  }
}

/** What the caller does not see would be missing in the file, and be deleted by it. */
async function assertReadsAll(call: Call): Promise<void> {
  const { permissions: held } = await call(profile.permissions, {})
  const lacking = ['board:read', 'roadmap:read', 'dashboard:read'].filter((each) => !held.includes(each))
  if (lacking.length > 0)
    throw new AppError('NOT_ENOUGH_PERMISSION', `A workspace has private boards, roadmaps and tags too, for which you lack ${lacking.join(', ')}.`) // prettier-ignore
}

const none = async () => undefined

const followersOf = async (call: Call, url: string) =>
  (await call(boardfollows.followed, { url })).followers ?? undefined

const picked = (list: ListName, row: object): Entry => fieldsOf(LISTS[list].fields, row)

const fieldsOf = (fields: object, row: object): Entry =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, (row as Entry)[name] ?? null]))

async function all<In, Answer extends { page_info: PageInfo }, Row>(
  call: Call,
  list: Parameters<typeof call<In, Answer, unknown>>[0],
  input: object,
  rowsOf: (answer: Answer) => readonly Row[],
): Promise<Row[]> {
  const rows: Row[] = []
  const pages = everyPage<Answer, Row>({
    limit: 100,
    read: (page) => call(list, { ...input, ...page }),
    rowsOf,
    infoOf: ({ page_info: info }) => info,
  })
  for await (const page of pages) rows.push(...page.rows)
  return rows
}
