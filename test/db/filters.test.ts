import { describe, expect, it } from 'vitest'
import { PERMISSIONS } from '../../src/core/permissions.js'
import { openDatabase } from '../../src/db/connect.js'
import type { PostFilter } from '../../src/db/posts/filter.js'
import { postList } from '../../src/db/posts/list.js'
import { SORTS, type Sort } from '../../src/db/posts/order.js'
import { postAtCursor } from '../../src/db/posts/read.js'
import type { Db } from '../../src/db/tables.js'
import { rowsOf, typeOf, WRITES, type Given, type Rows, type Write } from '../cli/servers.writes.js'
import { random } from '../support/random.js'
import { cleanup, engines, makeSite, type Engine } from '../support/site.js'

/** Values of each filter, so that a write about any post changes what passes one. A new filter without does not compile. */
const VALUES: { [Each in keyof PostFilter]-?: (rows: Rows) => readonly PostFilter[Each][] } = {
  boards: ({ boards }) => [[null], ...boards.slice(0, 3).map(({ boardId }) => [boardId])],
  roadmaps: ({ roadmaps }) => [[null], ...roadmaps.slice(0, 2).map(({ id }) => [id])],
  author: ({ users }) => users.slice(0, 4).map(({ userId }) => userId),
  hidden: () => [true, false],
  spam: () => [false],
  onlySpam: () => [true],
  withoutSpam: () => [true],
  since: ({ posts }) => posts.slice(1, 2).map(({ createdAt }) => createdAt),
  until: ({ posts }) => posts.slice(1, 2).map(({ createdAt }) => createdAt),
  words: () => [['dark'], ['text']],
  rareWords: () => [['dark'], ['text']],
  among: () => [[1, 2, 3], [9]],
  voter: ({ users }) => users.slice(0, 4).map(({ userId }) => userId),
  showsVoters: () => [true],
  showsVotesTo: ({ users }) => ['', ...users.slice(0, 2).map(({ userId }) => userId)],
  follower: ({ users }) => users.slice(0, 4).map(({ userId }) => userId),
  pinned: () => [true],
  tags: ({ tags }) => tags.slice(0, 2).map(({ tagId }) => [tagId]),
  allTags: ({ tags }) => [tags.slice(0, 2).map(({ tagId }) => tagId)],
  withoutTags: ({ tags }) => [tags.slice(0, 1).map(({ tagId }) => tagId)],
}

const EVERYTHING: PostFilter = {
  boards: [],
  roadmaps: undefined,
  author: undefined,
  hidden: true,
  since: undefined,
  until: undefined,
}

interface Asked {
  filter: PostFilter
  sort: Sort
  limit: number
  after: string
}

/** What is found of all that is cached for a list: a page, the count, and the check of a cursor. */
async function found(db: Db, { filter, sort, limit, after }: Asked) {
  const list = postList(db, filter, sort)
  const rows = await list.read({ limit })
  return { rows, count: await list.count(), cursor: await postAtCursor(db, filter, after) }
}

/** Commands are for two processes, and these have one. */
const KINDS = Object.keys(WRITES).filter(
  (kind) => !kind.startsWith('command ') && !kind.includes('connections are cut'),
)

const NOTHING_TO_DRAW = new Error('There is no row to draw.')

async function filled(engine: Engine) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  const made = async (request: string, body?: object, token = owner) => {
    const response = await site.http(request, { body, token })
    if (response.status >= 300) throw new Error(`${request}: ${response.text}`)
    return response.body
  }
  await made('PATCH /settings/labs', { voteOnBehalf: true })
  const authors = [await site.member([...PERMISSIONS], { email: 'moderator@example.org' }), await site.member(), await site.member()] // prettier-ignore
  const [moderator, member, guest] = authors.map(({ userId }) => userId) as [string, string, string]
  const { id: moderators } = await site.db.selectFrom('roles').select('id').where('name', '=', 'tested').executeTakeFirstOrThrow() // prettier-ignore
  for (const name of ['Spare', 'Other']) await made('POST /roles', { name, permissions: ['board:read'] })
  const boards: string[] = []
  for (const [index, name] of ['Ideas', 'Bugs', 'Plans'].entries())
    boards.push((await made('POST /boards', { name, display: index < 2 })).board.boardId)
  const roadmaps: string[] = []
  for (const name of ['Now', 'Next', 'Later']) roadmaps.push((await made('POST /roadmaps', { name, display: true })).roadmap.id) // prettier-ignore
  for (const name of ['Web', 'Mobile', 'Phone', 'Tablet']) await made('POST /tags', { name })
  for (let number = 0; number < 9; number++) {
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    const { post } = await made('POST /posts', { title: `Dark mode ${number}`, boardId: boards[number % 4] ?? null }, authors[number % 4 === 2 ? 0 : number % 3]?.token) // prettier-ignore
    await made('PATCH /posts', { id: post.postId, roadmapId: roadmaps[number % 4] ?? null, partial: true })
    await made('POST /posts/tag', { ids: [post.postId], add: ['web', 'mobile', 'phone'].slice(0, 1 + (number % 3)) })
    if (number % 2 === 0) await made(`POST /posts/${post.postId}/comments`, { body: 'Yes' })
  }
  return { site, owner, people: { moderator, member, guest }, moderators }
}

/** These move a post past others for certain: what is drawn may be an internal comment, which moves none. */
const FIRST: Record<string, (given: Given) => Write> = {
  'a vote for an old post': ({ rows: { posts } }) => ({ request: 'POST /votes', body: { postId: posts[1]?.postId } }),
  'a comment on an old post': ({ rows: { posts } }) => ({
    request: `POST /posts/${posts[1]?.postId}/comments`,
    body: { body: 'Yes', is_internal: false },
  }),
}

/** How often a write is tried that finds nothing to write about, as it may after others. */
const TRIES = 5
const SITES = 3

/** A write moves a post past the end of one of these pages, if it moves it at all. */
const PAGES = SORTS.flatMap((sort) => [1, 2, 4, 6].map((limit) => ({ filter: EVERYTHING, sort, limit })))

/** Makes writes of these kinds, and others, on a new site. Returns the kinds that were not possible in any order tried. */
async function written(engine: Engine, kinds: readonly string[], next: () => number): Promise<string[]> {
  const { site, owner, people, moderators } = await filled(engine)
  const { cache, close } = await openDatabase(site.databaseUrl, { staleness: 0 })
  cleanup(close)
  const draw = <T>(from: readonly T[]): T => {
    if (from.length === 0) throw NOTHING_TO_DRAW
    return from[Math.floor(next() * from.length)] as T
  }
  let count = 0
  const writeOf = (kind: string, rows: Rows): Write | undefined => {
    try {
      return { ...FIRST, ...WRITES }[kind]?.({ rows, draw, text: `Text ${++count}`, people, moderators })
    } catch (error) {
      if (error === NOTHING_TO_DRAW) return undefined
      throw error
    }
  }
  /** Whether something was written. */
  const execute = async (write: Write) => {
    if ('command' in write) return false
    if ('statements' in write) return write.statements(site.db).then(() => true)
    const { status, text } = await site.http(write.request, {
      body: write.body,
      token: owner,
      headers: typeOf(write),
    })
    if (status >= 500) throw new Error(`${write.request}: ${text}`)
    return status < 400
  }

  const left = [...kinds]
  let wasImpossible = false
  for (let step = 0; left.length > 0 && step < KINDS.length * TRIES; step++) {
    // What was not possible may be so after another write, which may have been made already
    const isAgain: boolean = wasImpossible
    const kind = isAgain ? draw(KINDS) : (left.shift() as string)
    const rows = await rowsOf(site.db, { board: '', user: '', post: '' })
    const byFilter = Object.entries(VALUES).flatMap(
      ([name, values]) =>
        values(rows).map((value): Asked => ({ filter: { ...EVERYTHING, [name]: value }, sort: draw(SORTS), limit: draw([2, 100]), after: draw(rows.posts).postId })), // prettier-ignore
    )
    const asked = [...byFilter, ...PAGES.map((page) => ({ ...page, after: draw(rows.posts).postId }))]
    const cached = cache.forRequest(await cache.revision(true)).db
    await Promise.all(asked.map((each) => found(cached, each)))
    const write = writeOf(kind, rows)
    if (!write || !(await execute(write))) {
      if (!isAgain) left.push(kind)
      wasImpossible = !isAgain
      continue
    }
    wasImpossible = false
    const later = cache.forRequest(await cache.revision(true)).db
    const [kept, fresh] = await Promise.all([later, site.db].map((db) => Promise.all(asked.map(async (each) => ({ kind, ...each, ...(await found(db, each)) }))))) // prettier-ignore
    expect(kept).toEqual(fresh)
  }
  return left
}

describe.each(engines)('a filter of posts on %s', (engine) => {
  it('and an order find the same with a cache as without, whatever was written', async () => {
    const next = random()
    const others = KINDS.map((kind) => ({ kind, order: next() })).toSorted((one, other) => one.order - other.order).map(({ kind }) => kind) // prettier-ignore
    let left = [...Object.keys(FIRST), ...others]
    // Writes can take from others what those need: a new site has it
    for (let site = 0; left.length > 0 && site < SITES; site++) left = await written(engine, left, next)
    expect(left).toEqual([])
  })
})
