import { Migrator, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect, transaction } from '../../src/db/connect.js'
import { triggerStatements } from '../../src/db/dialect.js'
import { migrations } from '../../src/db/migrations/index.js'
import { isPruningDue, pruneRowChanges } from '../../src/db/rowchanges.js'
import { ensureTriggers, migrate } from '../../src/db/migrate.js'
import { NEWEST, TRIGGERS } from '../../src/db/schema.js'
import type { Db } from '../../src/db/tables.js'
import { fingerprintOf, triggersOf } from '../../src/db/triggers/index.js'
import { cleanup, engines, makeDatabase, temporaryFolder, type Engine } from '../support/site.js'

/** The fingerprints of the triggers of each schema. A released line never changes: add a migration and a line. */
const FINGERPRINTS: Record<string, Record<Engine, string>> = {
  '0029_row_changes': { sqlite: '0ab0f0dcf6681e3d', postgres: '8ae0d240538e1177' },
}

/** Every trigger in the database, as text. PostgreSQL writes its own text, so its functions are compared. */
async function triggersIn(db: Db, engine: Engine): Promise<string[]> {
  const { rows } = await (
    engine === 'sqlite'
      ? sql<{
          text: string
        }>`select 'create trigger' || substr(sql, 15) as text from sqlite_master where type = 'trigger'`
      : sql<{ text: string }>`
          select tgrelid::regclass || ' ' || tgname || ': ' || trim(prosrc) as text
          from pg_trigger join pg_proc on pg_proc.oid = tgfoid where not tgisinternal`
  ).execute(db)
  return rows.map(({ text }) => text).toSorted()
}

const declared = (engine: Engine): string[] =>
  triggersOf(engine)
    .map((trigger) =>
      engine === 'sqlite'
        ? triggerStatements(engine, trigger).join()
        : `${trigger.on} ${trigger.name}: begin ${trigger.run}; return null; end`,
    )
    .toSorted()

/** What PostgreSQL makes of the events and conditions of triggers. */
const definitions = async (db: Db, engine: Engine): Promise<string[]> => {
  if (engine === 'sqlite') return []
  const { rows } = await sql<{ text: string }>`
    select pg_get_triggerdef(oid) as text from pg_trigger where not tgisinternal`.execute(db)
  return rows.map(({ text }) => text).toSorted()
}

describe.each(engines)('the triggers on %s', (engine) => {
  const open = async ({ bare = true } = {}) => {
    const db = await connect(await makeDatabase(engine, temporaryFolder(), { bare }))
    cleanup(() => db.destroy())
    return db
  }

  it('are those of db/triggers, whatever schema a database is updated from', async () => {
    const scratch = await open()
    await migrate(scratch)
    expect(await triggersIn(scratch, engine)).toEqual(declared(engine))
    const expected = await definitions(scratch, engine)
    const schemas = Object.keys(migrations)
    // PostgreSQL takes a second for each
    for (const name of schemas.filter((each, index) => engine === 'sqlite' || index % 9 === 0 || each === NEWEST)) {
      const db = await open()
      await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo(name)
      // The newest migration alone creates none
      if (name === NEWEST) await ensureTriggers(db)
      else await migrate(db)
      expect([name, await triggersIn(db, engine)]).toEqual([name, declared(engine)])
      expect(await definitions(db, engine)).toEqual(expected)
    }
  })

  it('change only with a new migration', () => {
    expect(TRIGGERS[engine]).toBe(fingerprintOf(engine))
    expect(FINGERPRINTS[NEWEST]?.[engine]).toBe(fingerprintOf(engine))
  })

  it('replace those of another version of the program, and leave those of others alone', async () => {
    const db = await open({ bare: false })
    const names = JSON.stringify(['boards_added', 'retired'])
    await db.updateTable('schema_triggers').set({ fingerprint: 'other', names }).execute()
    const create = async (name: string) => {
      const trigger = { name, on: 'boards', after: 'insert', run: `update counters set value = 0 where name = 'x'` }
      for (const statement of triggerStatements(engine, trigger)) await sql.raw(statement).execute(db)
    }
    await create('retired')
    await create('of_others')
    await ensureTriggers(db)
    const there = await triggersIn(db, engine)
    expect(there.filter((text) => !declared(engine).includes(text))).toEqual([expect.stringContaining('of_others')])
    expect(there.length).toBe(declared(engine).length + 1)
    expect(await db.selectFrom('schema_triggers').select('fingerprint').execute()).toEqual([{ fingerprint: TRIGGERS[engine] }]) // prettier-ignore
  })

  it('are created once where several processes find others', async () => {
    const url = await makeDatabase(engine, temporaryFolder())
    const all = await Promise.all(Array.from({ length: 3 }, () => connect(url)))
    cleanup(async () => void (await Promise.all(all.map((db) => db.destroy()))))
    await all[0]!.updateTable('schema_triggers').set({ fingerprint: 'other' }).execute()
    await Promise.all(all.map((db) => ensureTriggers(db)))
    expect(await triggersIn(all[1]!, engine)).toEqual(declared(engine))
  })

  it('let a server of an earlier version read, write and prune the log by its former name', async () => {
    const db = await open({ bare: false })
    for (let time = 0; time < 3; time++) {
      await db
        .updateTable('settings')
        .set({ title: `title ${time}` })
        .execute()
      await sql`insert into change_log (topic, ref) values ('roadmaps', 'x')`.execute(db)
    }
    const changes = () => db.selectFrom('row_changes').select(['id', 'topic', 'ref']).orderBy('id').execute()
    const { rows } = await sql`select id, topic, ref from change_log where id >= 0 order by id limit 10`.execute(db)
    expect(rows).toEqual(await changes())
    expect(rows.length).toBe(6)
    const [, second] = await changes()
    await sql`delete from change_log where id < ${second?.id}`.execute(db)
    expect((await changes())[0]).toEqual(second)
    // As earlier versions look for changes on PostgreSQL: all that their snapshot does not contain
    const look = engine === 'postgres' ? sql` on xid >= pg_snapshot_xmin('1:1:')` : sql` on true`
    const { rows: seen } = await sql`select topic from (select 1) as one left join change_log${look}`.execute(db)
    expect(seen.length).toBe(5)
    await transaction(db, pruneRowChanges)
    expect(await isPruningDue(db)).toBe(false)
  })
})
