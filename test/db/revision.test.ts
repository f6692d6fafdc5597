import { sql, type QueryExecutor, type QueryResult } from 'kysely'
import { describe, expect, inject, it, vi } from 'vitest'
import { TOPIC_NAMES, TOPICS } from '../../src/db/cache/dependencies.js'
import { pruneRowChanges } from '../../src/db/rowchanges.js'
import { openDatabase, transaction } from '../../src/db/connect.js'
import { Handle } from '../../src/db/sqlite/handle.js'
import type { Db } from '../../src/db/tables.js'
import { rowChanges } from '../../src/jobs/rowchanges.js'
import { makeGate } from '../support/gate.js'
import { cleanup, engines, makeDatabase, makeSite, temporaryFolder, type Engine } from '../support/site.js'

/** Opens a database twice, as two processes would. */
async function openTwice(engine: Engine) {
  const url = await makeDatabase(engine, temporaryFolder())
  const [here, other] = [await openDatabase(url, { staleness: 0 }), await openDatabase(url)]
  cleanup(async () => {
    await here.close()
    await other.close()
  })
  const change = () => other.db.updateTable('settings').set({ isPoweredBy: 1 }).execute()
  return { here, other, change, revision: async () => here.cache.revision(true) }
}

/** Adds changes of a row that does not exist. */
async function fillRowChanges(db: Db, rows: number) {
  const change = { topic: 'posts', ref: 'none' }
  for (let at = 0; at < rows; at += 1000)
    await db
      .insertInto('row_changes')
      .values(Array.from({ length: 1000 }, () => change))
      .execute()
}

describe.each(engines)('the revision on %s', (engine) => {
  it('grows with each logged commit of any process, and only then', async () => {
    const { here, other, change, revision } = await openTwice(engine)
    const first = await revision()
    expect(await revision()).toBe(first)
    await change()
    const second = await revision()
    expect(second).toBeGreaterThan(first)
    await here.db.updateTable('settings').set({ isPoweredBy: 1 }).execute()
    const third = await revision()
    expect(third).toBeGreaterThan(second)
    await other.db.insertInto('counters').values({ name: 'not logged', value: 1 }).execute()
    const failing = transaction(other.db, async (tx) => {
      await tx.updateTable('settings').set({ isPoweredBy: 0 }).execute()
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await revision()).toBe(third)
  })

  it('invalidates everything if the log of row changes was pruned before it was read', async () => {
    const { here, other, revision } = await openTwice(engine)
    const { db, readSet } = here.cache.forRequest(await revision())
    await db.selectFrom('roadmaps').selectAll().execute()
    const prune = async () => {
      await fillRowChanges(other.db, 2500)
      await transaction(other.db, pruneRowChanges)
    }
    await prune()
    await revision() // reads many changes at once
    const after = await revision()
    const again = here.cache.forRequest(after)
    await again.db.selectFrom('roadmaps').selectAll().execute()
    await prune()
    await prune()
    await revision()
    expect(readSet.isCurrent()).toBe(false)
    expect(again.readSet.isCurrent()).toBe(false)
    const { rows } = await sql<{ count: number }>`select count(*) as count from row_changes`.execute(other.db)
    expect(rows).toEqual([{ count: 3002 }]) // those since the pruning before the last, and what both have left
  })
})

it('includes a change that commits after a later one on postgres', async () => {
  const { here, change, revision, other } = await openTwice('postgres')
  const begun = here.cache.forRequest(await revision())
  await begun.db.selectFrom('roadmaps').selectAll().execute()
  const [written, end] = [makeGate(), makeGate()]
  const slow = transaction(other.db, async (tx) => {
    await tx.updateTable('roadmaps').set({ color: 'ffffff' }).execute()
    await sql`insert into row_changes (topic, ref) values ('roadmaps', 'x')`.execute(tx)
    written.open()
    await end.opened
  })
  await Promise.race([written.opened, slow])
  const before = await revision()
  await change()
  expect(await revision()).toBeGreaterThan(before)
  expect(begun.readSet.isCurrent()).toBe(true)
  end.open()
  await slow
  await revision()
  expect(begun.readSet.isCurrent()).toBe(false)
})

it('counts everything as changed where the file was restored in place on sqlite', async () => {
  const { here, other, change, revision } = await openTwice('sqlite')
  const { rows } = await sql<{ id: number }>`select max(id) as id from row_changes`.execute(here.db)
  await change()
  const { db, readSet } = here.cache.forRequest(await revision())
  await db.selectFrom('roadmaps').selectAll().execute()
  expect(readSet.isCurrent()).toBe(true)
  await sql`delete from row_changes where id > ${rows[0]?.id ?? 0}`.execute(other.db)
  await revision()
  expect(readSet.isCurrent()).toBe(false)
})

it('counts everything as changed where pruning removed a change unread, while other transactions use up ids', async () => {
  const { here, other, revision } = await openTwice('postgres')
  const { db, readSet } = here.cache.forRequest(await revision())
  await db.selectFrom('roadmaps').selectAll().execute()
  const burn = () => sql`select pg_current_xact_id()`.execute(here.db)
  for (let round = 0; round < 3; round++) {
    await other.db.insertInto('row_changes').values({ topic: 'roadmaps', ref: 'x' }).execute()
    await transaction(other.db, async (tx) => {
      await sql`insert into counters (name, value) values (${`burnt ${round}`}, 0)`.execute(tx) // its id is taken …
      await burn() // … before another one ends
      await pruneRowChanges(tx)
    })
  }
  await revision()
  expect(readSet.isCurrent()).toBe(false)
})

it('a long log of row changes is pruned in short statements', async () => {
  const { here, other } = await openTwice('postgres')
  const run = () =>
    rowChanges.run({ db: other.db, now: () => new Date(), log: console, signal: new AbortController().signal })
  await run()
  await sql`insert into row_changes (topic, ref) select 'posts', 'x' from generate_series(1, 120000)`.execute(here.db)
  await run()
  const deletes = vi.spyOn(Object.getPrototypeOf(other.db.getExecutor()) as QueryExecutor, 'executeQuery')
  cleanup(async () => deletes.mockRestore())
  await run()
  // Other sites of the process have the same prototype, and count their requests a second later
  const mine = deletes.mock.results.filter((_, index) => deletes.mock.calls[index]?.[0].sql.includes('row_changes'))
  const results = await Promise.all(mine.map(({ value }) => value as Promise<QueryResult<unknown>>))
  expect(results.map(({ numAffectedRows }) => numAffectedRows).filter(Boolean)).toEqual([50_000n, 50_000n, 20_001n])
})

it('forgets changes of another PostgreSQL, whose transaction ids are ahead', async () => {
  const { other, revision } = await openTwice('postgres')
  await sql`insert into row_changes (topic, ref, xid) values ('posts', 'x', '900000000')`.execute(other.db)
  await transaction(other.db, pruneRowChanges)
  await revision()
  const before = await revision()
  expect(await revision()).toBe(before)
})

it('counts everything as changed where a pooler leads to another PostgreSQL over the same connection', async () => {
  const { here, other } = await openTwice('postgres')
  await sql`create schema elsewhere`.execute(other.db)
  await sql`create function elsewhere.pg_postmaster_start_time() returns text language sql as 'select title from public.settings'`.execute(
    other.db,
  )
  const url = new URL(
    (await sql<{ url: string }>`select current_database() as url`.execute(here.db)).rows[0]?.url ?? '',
    inject('postgres'),
  )
  url.searchParams.set('options', '-c search_path=elsewhere,pg_catalog,public')
  const behind = await openDatabase(url.href)
  cleanup(behind.close)
  const { db, readSet } = behind.cache.forRequest(await behind.cache.revision(true))
  await db.selectFrom('roadmaps').selectAll().execute()
  expect([await behind.cache.revision(true), readSet.isCurrent()]).toEqual([expect.any(Number), true])
  await other.db.updateTable('settings').set({ title: 'another start' }).execute()
  await behind.cache.revision(true)
  expect(readSet.isCurrent()).toBe(false)
})

it.each(engines)('names both rows where a change moves from one to another on %s', async (engine) => {
  const site = await makeSite(engine)
  const [one, two] = [await site.member(['board:create']), await site.member([], { everyone: false })]
  expect((await site.http('POST /boards/check-name', { token: one.token, body: { name: 'x' } })).status).toBe(200)
  await site.db.deleteFrom('roles_users').where('user_id', '=', two.userId).execute()
  await site.db.updateTable('roles_users').set({ user_id: two.userId }).where('user_id', '=', one.userId).execute()
  expect((await site.http('POST /boards/check-name', { token: one.token, body: { name: 'x' } })).status).toBe(403)
})

it('the revision on sqlite is unknown after a failed read, and known again after the next', async () => {
  const { change, revision } = await openTwice('sqlite')
  const before = await revision()
  await change()
  const broken = vi.spyOn(Handle.prototype, 'version', 'get').mockImplementationOnce(() => {
    throw new Error('disk I/O error')
  })
  expect(await revision()).toBeNaN()
  const after = await revision()
  broken.mockRestore()
  expect(after).toBeGreaterThan(before)
})

/** Columns that triggers derive from rows of other tables, whose changes are logged. */
const DERIVED: Record<string, string[]> = {
  boards: ['post_count'],
  posts: ['votesCount', 'commentsCount', 'trending', 'display', 'hidesVoters'],
  users: ['post_count', 'vote_count'],
}

it('the log of row changes names every table that cached queries may read, and every column of it', async () => {
  const site = await makeSite('sqlite')
  const { rows } = await sql<{ table: string; text: string }>`
    select tbl_name as "table", sql as text from sqlite_master where type = 'trigger' and name like '%_logged'`.execute(
    site.db,
  )
  const faults: string[] = []
  for (const topic of TOPIC_NAMES) {
    const triggers = rows.filter(({ table }) => table === topic).map(({ text }) => text)
    const [update = ''] = triggers.filter((text) => /_update_logged"/.test(text))
    for (const event of ['insert', 'delete'])
      if (!triggers.some((text) => text.includes(`after ${event} on`))) faults.push(`${topic}: ${event}`)
    const listed = /after update of (.*?) on/.exec(update)?.[1]?.match(/\w+/g)
    const { rows: columns } = await sql<{ name: string }>`select name from pragma_table_info(${topic})`.execute(site.db)
    const [key] = columns // a row whose key changes is logged by a trigger of its own
    for (const { name } of columns)
      if (listed && name !== key?.name && !listed.includes(name) && !DERIVED[topic]?.includes(name))
        faults.push(`${topic}.${name}`)
    if (!listed && !update.includes('after update on')) faults.push(`${topic}: update`)
  }
  expect(faults).toEqual([])
})

it('a table that cached queries may read, and that has no topic, is written by triggers of its topics alone', async () => {
  const site = await makeSite('sqlite')
  const { rows: triggers } = await sql<{ table: string; text: string }>`
    select tbl_name as "table", sql as text from sqlite_master where type = 'trigger'`.execute(site.db)
  const { rows: views } = await sql<{ name: string }>`select name from sqlite_master where type = 'view'`.execute(site.db) // prettier-ignore
  const writes = (text: string, table: string) =>
    new RegExp(`\\b(insert (or \\w+ )?into|replace into|update|delete from) "?${table}"?\\b`, 'i').test(text.slice(text.indexOf('begin'))) // prettier-ignore
  const topicsOf = (table: string): readonly string[] => TOPICS[table] ?? []
  const faults = Object.entries(TOPICS).flatMap(([table, topics]) => {
    if (views.some(({ name }) => name === table)) return [] // its rows are those of other tables
    const writers = new Set(triggers.filter(({ text }) => writes(text, table)).map((each) => each.table))
    const isTopic = topics.some((topic) => topic === table)
    const missing = [...writers].filter((writer) => !topicsOf(writer).some((topic) => (topics as string[]).includes(topic))) // prettier-ignore
    return [
      ...(isTopic || writers.size > 0 ? [] : [`${table}: no trigger writes it, so its changes are in no log`]),
      ...missing.map((writer) => `${table}: a trigger of ${writer} writes it, which is no topic of it`),
    ]
  })
  expect(faults).toEqual([])
})
