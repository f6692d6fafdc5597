import { sql, type QueryExecutor, type QueryResult } from 'kysely'
import { describe, expect, inject, it, vi } from 'vitest'
import { TOPIC_NAMES, TOPICS } from '../../src/db/cache/dependencies.js'
import { pruneRowChanges } from '../../src/db/rowchanges.js'
import { openDatabase, transaction } from '../../src/db/connect.js'
import type { Trigger } from '../../src/db/dialect.js'
import { Handle } from '../../src/db/sqlite/handle.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import type { Db } from '../../src/db/tables.js'
import { triggersOf } from '../../src/db/triggers/index.js'
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

it.each(engines)(
  'a row that goes or changes with the one it refers to is logged as any other on %s',
  async (engine) => {
    const site = await makeSite(engine)
    const { db } = site
    await site.owner()
    const { userId } = await site.member()
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    const { roadmap } = await site.call(roadmaps.create, { name: 'Next' })
    await site.call(posts.update, { id: post.postId, roadmapId: roadmap.id, partial: true })
    const created = []
    for (const name of ['Mobile', 'Web']) created.push((await site.call(tags.create, { name })).tag.tagId)
    for (const tagId of created)
      await db.insertInto('post_tags').values({ postId: post.postId, tagId, createdAt: '' }).execute()
    await db.insertInto('user_tags').values({ userId, tag: 'VIP', tagFolded: 'vip', createdAt: '' }).execute()
    const logged = async (change: { execute(): Promise<unknown> }) => {
      await db.deleteFrom('row_changes').execute()
      await change.execute()
      const rows = await db.selectFrom('row_changes').select(['topic', 'ref']).execute()
      return rows.map(({ topic, ref }) => `${topic} ${ref}`)
    }
    const ofPost = `post_tags ${post.postId}`
    expect(await logged(db.deleteFrom('tags').where('tagId', '=', created[0]!))).toContain(ofPost)
    expect(await logged(db.deleteFrom('roadmaps').where('id', '=', roadmap.id))).toContain(`posts ${post.postId}`)
    expect(await logged(db.deleteFrom('posts').where('postId', '=', post.postId))).toContain(ofPost)
    expect(await logged(db.deleteFrom('users').where('userId', '=', userId))).toContain(`user_tags ${userId}`)
  },
)

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

/** A change of a table: rows that are added or removed, or these columns of rows. */
interface Change {
  table: string
  columns?: readonly string[]
}

/** The tables that a trigger writes. Of an update, every column that stands before a `=` counts as written. */
const writesOf = ({ run }: Trigger): Change[] =>
  run.split('; ').flatMap((statement): Change[] => {
    const [, table] = /^\s*update "?(\w+)"? set /.exec(statement) ?? []
    if (table !== undefined)
      return [{ table, columns: Array.from(statement.matchAll(/(\w+)"? = /g), ([, column = '']) => column) }]
    const [, other] = /^\s*(?:insert into|delete from) "?(\w+)"?/.exec(statement) ?? []
    if (other === undefined) throw new Error(`What does this write? ${statement}`)
    return [{ table: other }]
  })

/** What a trigger runs after. An update that names no columns may be of any. */
function causeOf({ on, after, when = '' }: Trigger, columnsOf: (table: string) => readonly string[]): Change {
  if (!after.startsWith('update')) return { table: on }
  const named = after === 'update' ? when.match(/(?<=\bold\.)"?\w+/g) : after.slice('update of '.length).split(',')
  return { table: on, columns: named?.map((column) => column.replaceAll(/\W/g, '')) ?? columnsOf(on) }
}

it('the topics of a table are those of the triggers and references that write what it does not log itself', async () => {
  const site = await makeSite('sqlite')
  const columns = new Map<string, string[]>()
  const references: { table: string; to: string; action: string; column: string }[] = []
  const { rows: tables } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(site.db) // prettier-ignore
  for (const { name } of tables) {
    const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${name})`.execute(site.db)
    columns.set(name, rows.map((row) => row.name)) // prettier-ignore
    const keys = await sql<{ to: string; action: string; column: string }>`
      select "table" as "to", on_delete as action, "from" as "column" from pragma_foreign_key_list(${name})`.execute(site.db) // prettier-ignore
    references.push(...keys.rows.map((row) => ({ table: name, ...row })))
  }
  const columnsOf = (table: string) => columns.get(table) ?? []
  const faults = new Set<string>()
  for (const engine of engines) {
    const triggers = triggersOf(engine)
    /** Columns whose updates the table logs under its own name. */
    const logged = new Map<string, readonly string[]>(
      TOPIC_NAMES.map((topic) => {
        const named = triggers.flatMap(({ on, name, after }) => (on === topic && name === `${topic}_update_logged` ? [after] : [])) // prettier-ignore
        return [topic, named.join() === 'update' ? columnsOf(topic) : (named.join().match(/(?<=")\w+/g) ?? [])]
      }),
    )
    const writers = triggers.flatMap(
      (trigger) =>
      writesOf(trigger).map((write) => ({ write, cause: causeOf(trigger, columnsOf), name: `trigger ${trigger.name}` })), // prettier-ignore
    )
    for (const { table, to, action, column } of references) {
      if (!/CASCADE|SET NULL/.test(action)) continue
      const write = action === 'CASCADE' ? { table } : { table, columns: [column] }
      writers.push({ write, cause: { table: to }, name: `reference ${table}.${column}` })
    }
    const unlogged = ({ table, columns = [] }: Change) => columns.filter((column) => !logged.get(table)?.includes(column)) // prettier-ignore
    const isLogged = (change: Change) => logged.has(change.table) && unlogged(change).length === 0
    /** The topics under which what causes a change is logged. */
    const topicsOf = (change: Change, seen: readonly Change[] = []): string[] => {
      const own = logged.has(change.table) ? [change.table] : []
      if (isLogged(change) || seen.includes(change)) return own
      const columns = change.columns && unlogged(change)
      const causes = writers.filter(({ write }) => write.table === change.table && (!columns || !write.columns || write.columns.some((each) => columns.includes(each)))) // prettier-ignore
      return [...own, ...causes.flatMap(({ cause }) => topicsOf(cause, [...seen, change]))]
    }
    for (const [table, topics] of Object.entries(TOPICS)) {
      if (!columns.has(table)) continue // a view: its rows are those of other tables
      const isTopic = logged.has(table)
      const needed = new Set<string>(isTopic ? [table] : [])
      for (const { write, cause, name } of writers) {
        if (write.table !== table || isLogged(write)) continue
        for (const topic of topicsOf(cause)) {
          needed.add(topic)
          if (!(topics as readonly string[]).includes(topic)) faults.add(`${table} lacks ${topic}, for ${name}`)
        }
      }
      if (needed.size === 0) faults.add(`${table}: no trigger writes it, so its changes are in no log`)
      for (const topic of topics) if (!needed.has(topic)) faults.add(`${table} does not need ${topic}`)
    }
  }
  expect([...faults]).toEqual([])
})
