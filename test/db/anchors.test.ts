import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { listBoards } from '../../src/db/boards.js'
import { openDatabase } from '../../src/db/connect.js'
import { listPosts } from '../../src/db/posts/read.js'
import { assertProperty } from '../support/properties.js'
import { cleanup, engines, makeSite, type Engine } from '../support/site.js'

const COUNT = 9000
// Some share an instant
const at = (n: number) => new Date(Date.UTC(2020, 0, 1) + Math.floor(n / 3) * 1000).toISOString()

const board = (n: number) => ({
  boardId: newId(),
  name: `Board ${n}`,
  nameFolded: `board ${n}`,
  url: `board-${n}`,
  color: 'ffffff',
  display: 1,
  view_voters: 1,
  createdAt: at(n),
  updatedAt: at(n),
})

const post = (n: number) => ({
  postId: newId(),
  title: `Post ${n}`,
  slug: `post-${n}`,
  slugId: `${n}`.padStart(20, '0'),
  contentMarkdown: null,
  userId: null,
  boardId: null,
  roadmap_id: null,
  createdAt: at(n),
  updatedAt: at(n),
})

/** A site with long lists, and a server's view of it. */
async function longLists(engine: Engine) {
  const site = await makeSite(engine)
  for (let from = 0; from < COUNT; from += 500) {
    const numbers = Array.from({ length: 500 }, (_, n) => from + n)
    await site.db.insertInto('boards').values(numbers.map(board)).execute()
    await site.db.insertInto('posts').values(numbers.map(post)).execute()
  }
  const { cache, close } = await openDatabase(site.databaseUrl, { staleness: 0, verify: true })
  cleanup(close)
  return { site, begin: async () => cache.forRequest(await cache.revision(true)).db }
}

const BOARDS = { visibility: ['public'], created: 'desc' } as const
const POSTS = { boards: [], roadmaps: undefined, author: undefined, hidden: false } as const

describe.each(engines)('a page far down a list on %s', (engine) => {
  it('has the rows that skipping from the top finds, also after rows came, went or moved', async () => {
    const { site, begin } = await longLists(engine)
    const lists = [
      (db: typeof site.db, page: { limit: number; offset: number }) => listBoards(db, BOARDS, page),
      (db: typeof site.db, page: { limit: number; offset: number }) => listPosts(db, POSTS, 'newest', page),
      (db: typeof site.db, page: { limit: number; offset: number }) => listPosts(db, POSTS, 'votes', page),
    ]
    let next = COUNT
    const changes = [
      () => site.db.insertInto('boards').values(board(next++)).execute(),
      () => site.db.insertInto('posts').values(post(next++)).execute(),
      () =>
        site.db
          .deleteFrom('boards')
          .where('url', '=', `board-${next - 4000}`)
          .execute(),
      () =>
        site.db
          .deleteFrom('posts')
          .where('slug', '=', `post-${next - 4000}`)
          .execute(),
      () =>
        site.db
          .updateTable('boards')
          .set({ display: 0 })
          .where('url', '=', `board-${next - 5000}`)
          .execute(),
    ]
    const step = fc.record({ list: fc.nat(2), offset: fc.nat(COUNT + 20), change: fc.nat(changes.length * 6) })
    await assertProperty(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        for (const { list, offset, change } of steps) {
          await changes[change]?.()
          const read = lists[list] as (typeof lists)[number] // one of the three
          const page = { limit: 7, offset }
          expect(await read(await begin(), page)).toEqual(await read(site.db, page))
        }
      }),
      { numRuns: 25 },
    )
  })

  it('is read from a row nearby once the list was walked', async () => {
    const { site, begin } = await longLists(engine)
    const skipped: number[] = []
    const { executor } = { executor: Object.getPrototypeOf(site.db.getExecutor()) as { executeQuery(query: { sql: string; parameters: readonly unknown[] }): unknown } } // prettier-ignore
    const { executeQuery } = executor
    executor.executeQuery = function counted(query) {
      if (/\boffset\b/i.test(query.sql)) skipped.push(Number(query.parameters.at(-1)))
      return executeQuery.call(this, query)
    }
    cleanup(async () => void (executor.executeQuery = executeQuery))
    await listBoards(await begin(), BOARDS, { limit: 5, offset: 8000 })
    skipped.length = 0
    await listBoards(await begin(), BOARDS, { limit: 5, offset: 7100 })
    expect(skipped).toHaveLength(1)
    expect(skipped[0]).toBeLessThan(2000)
  })
})
