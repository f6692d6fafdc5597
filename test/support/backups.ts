import path from 'node:path'
import { Migrator, sql } from 'kysely'
import { makeFolder } from '../../src/core/files.js'
import { connect } from '../../src/db/connect.js'
import { BACKED_UP, carriedColumns } from '../../src/db/carried.js'
import { clear } from '../../src/db/load.js'
import { migrations } from '../../src/db/migrations/index.js'
import { makeMachine, type Machine } from './cli.js'
import { OWNER, type Engine } from './site.js'

export const secretOf = ({ folder }: Machine): string => path.join(folder, 'data/feedbackctl/secret')
export const backupsOf = ({ folder }: Machine): string => path.join(folder, 'data/feedbackctl/backups')

/** Every row of every table that a backup carries, in the order of its text. */
export async function rowsOf(machine: Pick<Machine, 'databaseUrl'>): Promise<Record<string, string[]>> {
  const db = await connect(machine.databaseUrl)
  const found: Record<string, string[]> = {}
  for (const table of BACKED_UP) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db)
    const sorted = rows.map((row) =>
      JSON.stringify(carriedColumns(table, Object.keys(row)).map((column) => [column, row[column]])),
    )
    found[table] = sorted.toSorted()
  }
  await db.destroy()
  return found
}

/** Every index, trigger and constraint of a database, each as its definition. */
export async function definitionsOf({ databaseUrl }: Pick<Machine, 'databaseUrl'>): Promise<string[]> {
  const db = await connect(databaseUrl)
  const { rows } = await (
    databaseUrl.startsWith('sqlite:')
      ? sql<{
          text: string
        }>`select type || ' ' || name || ': ' || coalesce(sql, '') as text from sqlite_master where type in ('index', 'trigger')`
      : sql<{
          text: string
        }>`select pg_get_indexdef(indexrelid) as text from pg_index join pg_class c on c.oid = indexrelid
          where relnamespace = current_schema()::regnamespace
        union all select conrelid::regclass || ': ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
          where connamespace = current_schema()::regnamespace
        union all select tgenabled::text || ' ' || pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid
          where not tgisinternal and relnamespace = current_schema()::regnamespace`
  ).execute(db)
  await db.destroy()
  return rows.map(({ text }) => text).toSorted()
}

export async function json(machine: Machine, args: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await machine.run(`${args} --json`, { env })
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** A site with posts, votes, a comment, a hidden board, a post that was moved and one that is gone. */
export async function filled(engine: Engine): Promise<Machine> {
  const machine = await makeMachine(engine)
  if (engine === 'postgres') await machine.run('migrate')
  await machine.setup()
  const commands = [
    'labs update --vote-on-behalf',
    'boards create Ideas',
    'boards create Secret --private',
    'roadmaps create Planned',
    "posts create 'Dark mode' --board ideas --body 'at night ☾'",
    "posts create 'Hidden wish' --board secret",
    "posts create 'Gone soon' --board ideas",
    'posts update 1 --roadmap planned',
    'tags create Mobile',
    'tags create Secret-Tag --private',
    'posts tag 1 --add mobile,secret-tag',
    `users tag ${OWNER.email} --add 'beta tester,VIP'`,
    'posts delete 3 --yes',
    'comments create 1 --body first',
    // Lists, times, a number, flags and a text
    'views create All --board ideas,none --roadmap none --since 30d --until 1d --waiting 7 --tag mobile --all-tags mobile --without-tags secret-tag --mine --voted --following --query dark --sort oldest',
  ]
  for (const command of commands) {
    const { code, stderr } = await machine.run(command)
    if (code !== 0) throw new Error(`${command}: ${stderr}`)
  }
  return machine
}

/** Makes the database of a machine with an earlier schema, and a title by which it is known. */
export async function makeOlder({ databaseUrl }: Machine, schema: string, title: string): Promise<void> {
  if (databaseUrl.startsWith('sqlite:')) makeFolder(path.dirname(databaseUrl.slice('sqlite:'.length)))
  const db = await connect(databaseUrl)
  if (!databaseUrl.startsWith('sqlite:')) await clear(db) // it is a copy of one with the newest schema
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo(schema)
  if (error) throw error
  await db.updateTable('settings').set({ title }).execute()
  await db.destroy()
}
