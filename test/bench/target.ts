import type Database from 'better-sqlite3'
import pg from 'pg'
import { openSqlite } from '../../src/db/sqlite/binding.js'

export type Row = Record<string, string | number | null | undefined>

/** A database that is filled as fast as it can: nothing is checked while indexes, triggers and foreign keys are off. */
export interface Target {
  unhook(): Promise<void>
  insert(table: string, rows: Iterable<Row>): Promise<void>
  run(sql: string): Promise<void>
  /** The only number of the only row of a query. */
  number(sql: string): Promise<number>
  hook(): Promise<void>
  close(): Promise<void>
}

const TABLES = `'users', 'boards', 'roadmaps', 'posts', 'votes', 'comments'`

export async function openTarget(url: string, postgres: boolean): Promise<Target> {
  return postgres ? postgresTarget(url) : sqliteTarget(url.slice('sqlite:'.length))
}

function sqliteTarget(file: string): Target {
  const database = openSqlite(file)
  for (const pragma of ['synchronous = OFF', 'foreign_keys = OFF', 'cache_size = -2000000', 'temp_store = MEMORY'])
    database.pragma(pragma)
  const run = async (sql: string) => void database.exec(sql)
  let removed: { sql: string }[] = []
  return {
    run,
    number: async (sql) => Number(database.prepare(sql).pluck().get()),
    async unhook() {
      const found = database
        .prepare(
          `select type, name, sql from sqlite_master where type in ('index', 'trigger') and sql is not null and tbl_name in (${TABLES})`,
        )
        .all() as { type: string; name: string; sql: string }[]
      removed = found
      for (const { type, name } of found) database.exec(`drop ${type} "${name}"`)
    },
    async insert(table, rows) {
      let statement: Database.Statement | undefined
      database.exec('begin')
      for (const row of rows) {
        statement ??= database.prepare(
          `insert into "${table}" (${Object.keys(row)
            .map((name) => `"${name}"`)
            .join(', ')}) values (${Object.keys(row)
            .map(() => '?')
            .join(', ')})`,
        )
        statement.run(...Object.values(row))
      }
      database.exec('commit')
    },
    async hook() {
      for (const { sql } of removed) database.exec(sql)
      database.pragma('wal_checkpoint(TRUNCATE)')
    },
    async close() {
      database.close()
    },
  }
}

const BATCH = 20_000

async function postgresTarget(url: string): Promise<Target> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const run = async (sql: string) => void (await client.query(sql))
  let removed: { name: string; sql: string }[] = []
  return {
    run,
    async number(sql) {
      const { rows } = await client.query<[string]>({ text: sql, rowMode: 'array' })
      return Number(rows[0]?.[0])
    },
    async unhook() {
      await run('set session_replication_role = replica') // neither triggers nor foreign keys
      await run(`set maintenance_work_mem = '1GB'`)
      const { rows } = await client.query<{ name: string; sql: string }>(
        `select indexname as name, indexdef as sql from pg_indexes where schemaname = 'public' and tablename in (${TABLES}) and indexname not in (select conname from pg_constraint)`,
      )
      removed = rows
      for (const { name } of rows) await run(`drop index "${name}"`)
    },
    async insert(table, rows) {
      let batch: Row[] = []
      const flush = async () => {
        const [first] = batch
        if (!first) return
        const names = Object.keys(first)
        const types = names.map((name) => (name === 'words' ? 'tsvector' : typeof first[name] === 'number' ? 'int' : 'text')) // prettier-ignore
        const columns = names.map((name) => batch.map((row) => row[name] ?? null))
        const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')
        await client.query(
          `insert into "${table}" (${names.map((name) => `"${name}"`).join(', ')}) select * from unnest(${arrays})`,
          columns,
        )
        batch = []
      }
      for (const row of rows) if (batch.push(row) === BATCH) await flush()
      await flush()
    },
    async hook() {
      for (const { sql } of removed) await run(sql)
      await run('set session_replication_role = default')
      await run('vacuum analyze')
    },
    async close() {
      await client.end()
    },
  }
}
