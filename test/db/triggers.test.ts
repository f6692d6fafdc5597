import { copyFileSync } from 'node:fs'
import path from 'node:path'
import { Migrator, sql, type RawBuilder } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect, rolledBack, transaction } from '../../src/db/connect.js'
import { triggerStatements } from '../../src/db/dialect.js'
import { migrations } from '../../src/db/migrations/index.js'
import { miscounts } from '../../src/db/recount.js'
import { isPruningDue, pruneRowChanges } from '../../src/db/rowchanges.js'
import { ensureTriggers, migrate } from '../../src/db/migrate.js'
import { NEWEST, TRIGGERS } from '../../src/db/schema.js'
import type { Db } from '../../src/db/tables.js'
import { fingerprintOf, triggersOf } from '../../src/db/triggers/index.js'
import { newUser } from '../../src/service/lib/people.js'
import { cleanup, engines, makeDatabase, temporaryFolder, type Engine } from '../support/site.js'

/** The fingerprints of the triggers of each schema. A released line never changes: add a migration and a line. */
const FINGERPRINTS: Record<string, Record<Engine, string>> = {
  '0029_row_changes': { sqlite: '2e4fdc152f8ac545', postgres: '8ae0d240538e1177' },
  '0030_event_details': { sqlite: '2e4fdc152f8ac545', postgres: '8ae0d240538e1177' },
  '0031_deliveries': { sqlite: '2e4fdc152f8ac545', postgres: '8ae0d240538e1177' },
  '0032_browser_sessions': { sqlite: '2e4fdc152f8ac545', postgres: '8ae0d240538e1177' },
  '0033_identities': { sqlite: '5e455aea520f767f', postgres: '3072476ca2c1be85' },
  '0034_undos': { sqlite: '5e455aea520f767f', postgres: '3072476ca2c1be85' },
  '0035_people': { sqlite: '4e5d51eb77e374e8', postgres: '7a221be3df57c386' },
  '0036_board_sizes': { sqlite: '4e5d51eb77e374e8', postgres: '7a221be3df57c386' },
  '0037_invitations': { sqlite: '4e5d51eb77e374e8', postgres: '7a221be3df57c386' },
  '0038_reviews_logged': { sqlite: '3b83f8634784edd9', postgres: '0126b0d5bbc806ae' },
  '0039_views': { sqlite: '3b83f8634784edd9', postgres: '0126b0d5bbc806ae' },
  '0040_updates': { sqlite: '3b83f8634784edd9', postgres: '0126b0d5bbc806ae' },
  '0041_first_posts': { sqlite: '4021185f1f58d359', postgres: 'a1d3aee892a2d21b' },
  '0042_backup_tasks': { sqlite: '4021185f1f58d359', postgres: 'a1d3aee892a2d21b' },
  '0043_notifications': { sqlite: 'c50fbeee25744ba9', postgres: 'd646ef7f884bc3e9' },
  '0044_notification_ways': { sqlite: '0a8fbcbb85a41fe9', postgres: '4547d9436e6c3b73' },
  '0045_mentions': { sqlite: 'b5f2d826784ecc8c', postgres: '66aa7f7648930ef4' },
  '0046_report_news': { sqlite: 'b5f2d826784ecc8c', postgres: '66aa7f7648930ef4' },
  '0047_followed_posts': { sqlite: 'b5f2d826784ecc8c', postgres: '66aa7f7648930ef4' },
  '0048_decided': { sqlite: 'b5f2d826784ecc8c', postgres: '66aa7f7648930ef4' },
  '0049_comment_search': { sqlite: 'c125ba77ec1d0acb', postgres: '8fb9fcc811e777b9' },
  '0050_merges': { sqlite: '60967750af063767', postgres: 'dfece5323164506f' },
  '0051_quiet_hours': { sqlite: '60967750af063767', postgres: 'dfece5323164506f' },
  '0052_old_notifications': { sqlite: '60967750af063767', postgres: 'dfece5323164506f' },
  '0053_own_mentions': { sqlite: '60967750af063767', postgres: 'dfece5323164506f' },
  '0054_status_kinds': { sqlite: '60967750af063767', postgres: 'dfece5323164506f' },
  '0055_tags': { sqlite: '827a953c056f576d', postgres: '232245df3afe30a1' },
  '0056_imports': { sqlite: 'f840a674ae1c43d2', postgres: 'f6092728fdc8ac20' },
  '0057_images': { sqlite: 'f840a674ae1c43d2', postgres: 'f6092728fdc8ac20' },
  '0058_brand': { sqlite: 'f840a674ae1c43d2', postgres: 'f6092728fdc8ac20' },
  '0059_legal': { sqlite: 'f77151eba983db93', postgres: '2475c87cc189f3de' },
  '0060_imported_passwords': { sqlite: 'f77151eba983db93', postgres: '2475c87cc189f3de' },
  '0061_user_tags': { sqlite: '0155eadbd012ca7b', postgres: 'c6874765b0e2fb05' },
  '0063_looks': { sqlite: '0155eadbd012ca7b', postgres: 'c6874765b0e2fb05' },
  '0064_profiles': { sqlite: 'c26e4bb5848fb724', postgres: '3487f2d811c70cc9' },
  '0065_placeholders': { sqlite: '20060af0e4191eb1', postgres: 'd8b59ed570e57dfa' },
  '0069_word_forms': { sqlite: '20060af0e4191eb1', postgres: 'd8b59ed570e57dfa' },
  '0070_search_refill': { sqlite: '20060af0e4191eb1', postgres: 'd8b59ed570e57dfa' },
  '0072_board_rules': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0073_spam_index': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0075_hidden_votes': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0076_snoozes': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0077_import_runs': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0078_new_accounts': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0079_notes_index': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0080_held_merges': { sqlite: '846670060b858ffe', postgres: '1c3403822785f11d' },
  '0081_spam_counts': { sqlite: '19b49c1a275fe776', postgres: '9152710c41d97b9d' },
  '0082_leaner_search': { sqlite: '570006054644d1ff', postgres: '9152710c41d97b9d' },
  '0083_public_words': { sqlite: 'e03ba32f56aaea2f', postgres: '485d7dfd71e37997' },
  '0084_word_statistics': { sqlite: 'e03ba32f56aaea2f', postgres: '485d7dfd71e37997' },
}

/** What triggers compute, and nothing recounts. */
const UNCOUNTED = ['counters post_numbers', 'posts.display', 'posts.number', 'posts.trending']

/** A board, a post and a user, so that there is something to count. */
async function fill(db: Db): Promise<void> {
  const times = { createdAt: '', updatedAt: '' }
  const user = { ...newUser(new Date(), { email: 'ada@example.org', name: 'Ada', password: '!' }) }
  await db.insertInto('users').values(user).execute()
  await db.insertInto('boards').values({ boardId: 'b', name: 'b', nameFolded: 'b', url: 'b', color: '', display: 1, view_voters: 1, ...times }).execute() // prettier-ignore
  await db.insertInto('posts').values({ postId: 'p', title: 't', slug: 's', slugId: 's', boardId: 'b', userId: user.userId, ...times }).execute() // prettier-ignore
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

  const migrateTo = (db: Db, name: string) =>
    new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo(name)

  /** Updates a file of SQLite to a schema, and returns a copy of it. */
  const copyAt = async (file: string, name: string) => {
    const db = await connect(`sqlite:${file}`)
    await migrateTo(db, name)
    await db.destroy() // which puts all of it into the file
    const copied = path.join(temporaryFolder(), 'copy.db')
    copyFileSync(file, copied)
    const copy = await connect(`sqlite:${copied}`)
    cleanup(() => copy.destroy())
    return copy
  }

  it('are those of db/triggers, whatever schema a database is updated from', async () => {
    const scratch = await open()
    await migrate(scratch)
    expect(await triggersIn(scratch, engine)).toEqual(declared(engine))
    const expected = await definitions(scratch, engine)
    const schemas = Object.keys(migrations)
    const rising = path.join(temporaryFolder(), 'rising.db')
    // PostgreSQL takes a second for each
    for (const name of schemas.filter((each, index) => engine === 'sqlite' || index % 9 === 0 || each === NEWEST)) {
      const db = engine === 'sqlite' ? await copyAt(rising, name) : await open()
      if (engine === 'postgres') await migrateTo(db, name)
      // The newest migration alone creates none
      if (name === NEWEST) await ensureTriggers(db)
      else await migrate(db)
      expect([name, await triggersIn(db, engine)]).toEqual([name, declared(engine)])
      expect(await definitions(db, engine)).toEqual(expected)
    }
  })

  it('of others stay in an update from a schema whose migrations created the triggers', async () => {
    const db = await open()
    await migrateTo(db, '0028_reports_logged')
    if (engine === 'postgres') {
      await sql`create function others() returns trigger language plpgsql as 'begin return new; end'`.execute(db)
      await sql`create trigger of_others after insert on boards for each row execute function others()`.execute(db)
    } else await sql`create trigger of_others after insert on boards begin select 1; end`.execute(db)
    await migrate(db)
    const there = await triggersIn(db, engine)
    const others = there.filter((text) => !declared(engine).includes(text))
    expect(others).toEqual([expect.stringContaining('of_others')])
    expect(there.length - others.length).toBe(declared(engine).length)
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

  it('let a server of an earlier version read the log by its former name', async () => {
    const db = await open({ bare: false })
    for (let time = 0; time < 3; time++)
      await db
        .updateTable('settings')
        .set({ title: `title ${time}` })
        .execute()
    const { rows } = await sql`select id, topic, ref from change_log where id >= 0 order by id limit 10`.execute(db)
    expect(rows).toEqual(await db.selectFrom('row_changes').select(['id', 'topic', 'ref']).orderBy('id').execute())
    expect(rows.length).toBe(3)
  })

  it('keep no count that nothing recounts', async () => {
    const db = await open({ bare: false })
    await fill(db)
    expect(await miscounts(db)).toEqual([])
    const runs = triggersOf(engine).map(({ run }) => run)
    const counters = runs.flatMap((run) => [...run.matchAll(/update counters .*? where name = '([^']+)'/g)].map(([, name = '']) => name)) // prettier-ignore
    const columns = runs.flatMap((run) =>
      [...run.matchAll(/update (\w+) set (.*?) (?:where|from \(select)/g)].flatMap(([, table = '', set = '']) =>
        [...set.matchAll(/(?:^|, )"?(\w+)"? = /g)].map(([, column = '']) => `${table}.${column}`),
      ),
    )
    const unseen: string[] = []
    const look = async (what: string, spoil: RawBuilder<unknown>) => {
      await rolledBack(db, async (inside) => {
        await spoil.execute(inside)
        if ((await miscounts(inside)).length === 0) unseen.push(what)
      })
    }
    for (const name of new Set(counters))
      await look(`counters ${name}`, sql`update counters set value = value + 7 where name = ${name}`)
    for (const name of new Set(columns.filter((each) => !each.startsWith('counters.')))) {
      const [table = '', column = ''] = name.split('.')
      await look(name, sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + 7`)
    }
    expect(unseen.toSorted()).toEqual(UNCOUNTED)
    expect(new Set([...counters, ...columns]).size).toBeGreaterThan(UNCOUNTED.length + 9)
  })
})

it('a server of an earlier version on postgres also writes and prunes the log by its former name', async () => {
  const db = await connect(await makeDatabase('postgres', temporaryFolder()))
  cleanup(() => db.destroy())
  for (const ref of ['first', 'second', 'third']) await sql`insert into change_log (topic, ref) values ('roadmaps', ${ref})`.execute(db) // prettier-ignore
  const changes = () => db.selectFrom('row_changes').select(['id', 'ref']).orderBy('id').execute()
  const [, second, third] = await changes()
  await sql`delete from change_log where id < ${second?.id}`.execute(db)
  expect(await changes()).toEqual([second, third])
  // All that a snapshot does not contain
  const { rows } = await sql`
    select topic from (select 1) as one left join change_log on xid >= pg_snapshot_xmin('1:1:')`.execute(db)
  expect(rows.length).toBe(2)
  await transaction(db, pruneRowChanges)
  expect(await isPruningDue(db)).toBe(false)
})
