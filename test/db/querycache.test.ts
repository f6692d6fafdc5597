import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { cacheable, functionsIn } from '../../src/db/cache/dependencies.js'
import { findBoard } from '../../src/db/boards.js'
import { openDatabase } from '../../src/db/connect.js'
import { isEquivalent } from '../../src/db/cache/results.js'
import { readSettings } from '../../src/db/settings.js'
import * as posts from '../../src/service/posts.js'
import { countPosts } from '../../src/db/posts/count.js'
import { listPosts } from '../../src/db/posts/read.js'
import { newestVotes } from '../../src/db/votes.js'
import { cleanup, engines, makeSite } from '../support/site.js'

/** Opens the database of a site a second time, with its own cache. */
async function openCache(databaseUrl: string) {
  const { cache, close } = await openDatabase(databaseUrl, { staleness: 0 })
  cleanup(close)
  return { cache, begin: async () => cache.forRequest(await cache.revision(true)) }
}

describe.each(engines)('the query cache on %s', (engine) => {
  it('shares results between requests until any process changes a row they depend on', async () => {
    const site = await makeSite(engine)
    const { begin } = await openCache(site.databaseUrl)
    const read = async () => {
      const { db } = await begin()
      return { settings: await readSettings(db), board: await findBoard(db, 'none') }
    }
    const first = await read()
    const second = await read()
    expect(second.settings).toBe(first.settings)
    await site.db.updateTable('settings').set({ title: 'Elsewhere' }).execute()
    const third = await read()
    expect(third.settings).not.toBe(first.settings)
    expect(third.settings.title).toBe('Elsewhere')
  })

  it('is bypassed after the first write of a request', async () => {
    const site = await makeSite(engine)
    const { begin } = await openCache(site.databaseUrl)
    const { db, readSet } = await begin()
    await readSettings(db)
    expect(readSet.isKnown).toBe(true)
    await db.updateTable('settings').set({ title: 'Mine' }).execute()
    expect((await readSettings(db)).title).toBe('Mine')
    expect(readSet.isKnown).toBe(false)
  })

  it('has an incomplete read set after a transaction', async () => {
    const site = await makeSite(engine)
    const { begin } = await openCache(site.databaseUrl)
    const { db, readSet } = await begin()
    await db.transaction().execute((tx) => readSettings(tx))
    expect(readSet.isKnown).toBe(false)
  })

  it('caches every query of a list of posts', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    const { begin } = await openCache(site.databaseUrl)
    const read = async () => {
      const { db, readSet } = await begin()
      const filter = { boards: [], roadmaps: undefined, author: undefined, hidden: false } as const
      const listed = await listPosts(db, filter, 'newest', { limit: 10, offset: 0 })
      const voters = await newestVotes(db, [post.postId, listed[0]!.postId], 6)
      const { total } = await countPosts(db, filter)
      return { listed, voters, total, isKnown: readSet.isKnown }
    }
    const first = await read()
    expect(first).toMatchObject({ listed: [{ postId: post.postId }], voters: [{}, {}], total: 1, isKnown: true })
    const second = await read()
    expect(second.listed[0]).toBe(first.listed[0])
    expect(second.voters[0]).toBe(first.voters[0])
  })

  it('fails in the tests where it would be stale, because a change is in no log', async () => {
    const site = await makeSite(engine)
    const { cache, close } = await openDatabase(site.databaseUrl, { staleness: 0, verify: true })
    cleanup(close)
    const read = async () => readSettings(cache.forRequest(await cache.revision(true)).db)
    await read()
    await site.db.updateTable('settings').set({ title: 'Logged' }).execute()
    expect((await read()).title).toBe('Logged')
    await sql.raw(`drop trigger settings_update_logged ${engine === 'postgres' ? 'on settings' : ''}`).execute(site.db)
    await site.db.updateTable('settings').set({ title: 'In no log' }).execute()
    await expect(read()).rejects.toThrow('A cached result is stale')
  })

  it('does not cache tables whose changes are not logged', async () => {
    const site = await makeSite(engine)
    const { begin } = await openCache(site.databaseUrl)
    const { db, readSet } = await begin()
    await db.selectFrom('events').selectAll().execute()
    expect(readSet.isKnown).toBe(false)
  })
})

it('does not take another order for stale where the query asks for none', () => {
  const [one, two] = [{ postId: 'a' }, { postId: 'b' }]
  expect(isEquivalent('select "postId" from posts', [one, two], [two, one])).toBe(true)
  expect(isEquivalent('select "postId" from posts', [one, one], [two, one])).toBe(false)
  expect(isEquivalent('select "postId" from posts', [one], [one, one])).toBe(false)
  expect(isEquivalent('select "postId" from posts order by "postId"', [one, two], [two, one])).toBe(false)
})

it.each([
  ['select * from boards', ['boards', 'posts']],
  ['select "title" from "settings" as "posts"', ['settings']],
  [`select 'votes' as x from settings where title = 'it''s outbox'`, ['settings']],
  ['select boards.votes from settings boards', ['settings', 'boards', 'posts']], // too many is safe
  ['select * from roles join roles_users on true, roadmaps', ['roles', 'roles_users', 'roadmaps']],
  ['select * from roles join roles_users on true, outbox', undefined],
  ['select * from roles, lateral (select 1 from outbox) x', undefined],
  ['with found as (select * from roles) select * from found', undefined],
  ['select * from roles where id in (table sessions)', ['roles', 'sessions']],
  ['select * from sqlite_master, roles', undefined],
  ['select * from boards, "main"."events"', undefined],
  ['select * from boards, public.events', undefined],
  ['select * from boards, elsewhere.events', undefined],
  ['select * from boards, EVENTS', undefined],
  ['select public.roles.name from public.roles, settings', ['roles', 'settings']],
  ['select p.votes, "p"."comments" from settings as p', ['settings']],
  ['select p.votes from settings p', ['settings']],
  ['select 1', undefined],
] as const)('%s depends on %j', (query, topics) => {
  expect(cacheable(query)?.topics.toSorted()).toEqual(topics?.toSorted())
})

// From the manuals of both engines: functions of the clock, of chance, of the connection, and of its last changes
it.each([
  'current_date',
  'current_time',
  'current_timestamp',
  'CURRENT_TIMESTAMP',
  'localtime',
  'localtimestamp',
  'localtimestamp(0)',
  'now()',
  'clock_timestamp()',
  'statement_timestamp()',
  'transaction_timestamp()',
  'timeofday()',
  'age(now())',
  "date('now')",
  "time('now')",
  "datetime('now')",
  'datetime()',
  "julianday('now')",
  'unixepoch()',
  'unixepoch ()',
  "strftime('%s', 'now')",
  "timediff('now', '2026-01-01')",
  '"unixepoch"()',
  'UNIXEPOCH()',
  "'now'::timestamptz",
  "timestamp 'now'",
  "cast('today' as date)",
  'random()',
  'randomblob(8)',
  'gen_random_uuid()',
  'uuidv7()',
  'random_normal()',
  'setseed(1)',
  'changes()',
  'total_changes()',
  'last_insert_rowid()',
  "nextval('x')",
  "currval('x')",
  'lastval()',
  'current_user',
  'session_user',
  'current_schema',
  "current_setting('x')",
  'pg_sleep(1)',
  'txid_current()',
  'inet_client_port()',
  "load_extension('x')",
  'sqlite_version()',
  "coalesce(title, date('now'))",
  'a_function_of_tomorrow(title)',
])('a query that reads %s is not cached', (expression) => {
  expect(cacheable(`select ${expression} as x from settings`)).toBeUndefined()
  expect(cacheable(`select title from settings where description < ${expression}`)).toBeUndefined()
})

it('a query that locks its rows, or reads a random part of them, is not cached', () => {
  for (const end of ['for update', 'for no key update', 'for share', 'for key share', 'tablesample system (10)'])
    expect([end, cacheable(`select title from settings ${end}`)]).toEqual([end, undefined])
})

it('a text that looks like a function, and an alias with columns, call nothing', () => {
  const query = `select 'now()' as x from settings, json_each('[]') as each(value) where title in ('date(''now'')')`
  expect(cacheable(query)?.topics).toEqual(['settings'])
  expect(functionsIn(query)).toEqual(['json_each'])
})

it('the query cache is bounded in entries and in bytes', async () => {
  const site = await makeSite('sqlite')
  const { begin } = await openCache(site.databaseUrl)
  const settings = async () => readSettings((await begin()).db)
  const first = await settings()
  // Each an entry without rows.
  for (let number = 0; number < 12_000; number++) await findBoard((await begin()).db, `none-${number}`)
  expect(await settings()).not.toBe(first)
  expect(await settings()).toEqual(first)

  await site.db
    .updateTable('settings')
    .set({ description: 'x'.repeat(1_000_000) })
    .execute()
  const large = await settings()
  expect(large.description).toHaveLength(1_000_000)
  expect(await settings()).not.toBe(large)
})
