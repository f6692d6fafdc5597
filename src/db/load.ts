import { CompiledQuery, sql, type Kysely } from 'kysely'
import { AppError } from '../core/errors.js'
import { CARRIED, COUNTING, LEFT_OUT, type TableShape, type Value } from './carried.js'
import { transaction } from './connect.js'
import { isPostgres } from './dialect.js'
import { indexPost } from './search.js'
import type { Db } from './tables.js'

/** Rows of a backup as they come, table after table. */
export interface Contents {
  /** The last migration of the database that the rows are from. */
  schema: string
  rows: AsyncIterable<{ table: TableShape; rows: readonly Value[][] }>
  /** Asked for after the last row. */
  sequences(this: void): Readonly<Record<string, number>>
  /** Whether the schema is updated afterwards; true where it is left out. */
  update?: boolean
  /** Called when all rows are there, before the schema is updated. */
  loaded?(this: void): Promise<void>
}

// oxlint-disable-next-line typescript/no-explicit-any -- for tables of any schema
type AnyDb = Kysely<any>

/** Since then there is an index of words, which a backup does not carry. */
const SEARCH_SINCE = '0016_search'

/**
 * Fills a database that has no tables of ours. It makes the schema that the rows are from, loads them as they are,
 * without triggers, and migrates. On PostgreSQL call it inside a transaction; on SQLite the file counts only when all
 * is done.
 */
export async function load(db: Db, { schema, rows, sequences, loaded, update = true }: Contents): Promise<void> {
  const { migrations } = await import('./migrations/index.js')
  const names = Object.keys(migrations).toSorted()
  const apply = async (list: readonly string[]) => {
    for (const name of list)
      await transaction(db, async (inside) => {
        await migrations[name]?.up(inside)
        await sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(
          inside,
        )
      })
  }
  await migrationTables(db)
  await apply(names.filter((name) => name <= schema))
  const restoreHooks = await (isPostgres(db) ? unhookPostgres(db) : unhookFile(db))
  for (const table of CARRIED) if (await exists(db, table)) await sql`delete from ${sql.table(table)}`.execute(db)
  for await (const { table, rows: some } of rows) await transaction(db, (inside) => insert(inside, table, some))
  await setSequences(db, sequences())
  await restoreHooks()
  await loaded?.()
  if (update) await apply(names.filter((name) => name > schema))
  if (schema >= SEARCH_SINCE) await indexPosts(db)
  // What the migrations logged is about rows that nobody has read
  if (await exists(db, 'change_log')) await sql`delete from change_log`.execute(db)
  if (isPostgres(db)) return
  const { rows: broken } = await sql`pragma foreign_key_check`.execute(db)
  if (broken.length > 0) throw inconsistent()
}

const inconsistent = (cause?: unknown): AppError =>
  new AppError(
    'BACKUP_DAMAGED',
    'The rows of the backup do not fit together: some name others that are not there. The database was damaged when the backup was made. Use an earlier backup.',
    { cause },
  )

/** As the migrator of Kysely makes them, which begins a transaction of its own. */
async function migrationTables(db: Db): Promise<void> {
  await sql`create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(db) // prettier-ignore
  await sql`create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer not null default 0)`.execute(db) // prettier-ignore
  await sql`insert into kysely_migration_lock (id, is_locked) values ('migration_lock', 0)`.execute(db)
}

async function exists(db: Db, table: string): Promise<boolean> {
  const { rows } = await (
    isPostgres(db)
      ? sql`select 1 from pg_class where relname = ${table} and relnamespace = current_schema()::regnamespace`
      : sql`select 1 from sqlite_master where type = 'table' and name = ${table}`
  ).execute(db)
  return rows.length > 0
}

/** Takes off the triggers, and returns what puts them back. Foreign keys are checked at the end. */
async function unhookFile(db: Db): Promise<() => Promise<void>> {
  await sql`pragma foreign_keys = off`.execute(db)
  const { rows } = await sql<{
    name: string
    sql: string
  }>`select name, sql from sqlite_master where type = 'trigger'`.execute(db)
  for (const { name } of rows) await sql`drop trigger ${sql.id(name)}`.execute(db)
  return async () => {
    for (const trigger of rows) await sql.raw(trigger.sql).execute(db)
    await sql`pragma foreign_keys = on`.execute(db)
  }
}

async function unhookPostgres(db: Db): Promise<() => Promise<void>> {
  const { rows: keys } = await sql<{ table: string; name: string; definition: string }>`
    select t.relname::text as "table", c.conname::text as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.contype = 'f' and c.connamespace = current_schema()::regnamespace and ${isOurs('t.relname')}`.execute(db)
  for (const { table, name } of keys)
    await sql`alter table ${sql.table(table)} drop constraint ${sql.id(name)}`.execute(db)
  const tables = await carriedThere(db)
  for (const table of tables) await sql`alter table ${sql.table(table)} disable trigger user`.execute(db)
  return async () => {
    for (const table of tables) await sql`alter table ${sql.table(table)} enable trigger user`.execute(db)
    try {
      for (const { table, name, definition } of keys)
        await sql`alter table ${sql.table(table)} add constraint ${sql.id(name)} ${sql.raw(definition)}`.execute(db)
    } catch (error) {
      throw (error as { code?: string }).code === '23503' ? inconsistent(error) : error
    }
    // New tables have no statistics yet
    for (const table of tables) await sql`analyze ${sql.table(table)}`.execute(db)
  }
}

async function carriedThere(db: Db): Promise<string[]> {
  const found: string[] = []
  for (const table of CARRIED) if (await exists(db, table)) found.push(table)
  return found
}

const isOurs = (column: string) => sql`${sql.ref(column)} in (${sql.join([...CARRIED])})`

/** Values of a statement: both engines limit them. */
const MAX_VALUES = 8000

async function insert(db: AnyDb, { name, columns }: TableShape, rows: readonly Value[][]): Promise<void> {
  const most = Math.max(1, Math.floor(MAX_VALUES / columns.length))
  for (let at = 0; at < rows.length; at += most) {
    const some = rows.slice(at, at + most)
    await db.executeQuery(CompiledQuery.raw(statement(db, { name, columns }, some.length), some.flat()))
  }
}

function statement(db: AnyDb, { name, columns }: TableShape, rows: number): string {
  const postgres = isPostgres(db)
  let count = 0
  const row = () => `(${columns.map(() => (postgres ? `$${++count}` : '?')).join(', ')})`
  const values = Array.from({ length: rows }, row).join(', ')
  const names = columns.map((column) => `"${column}"`).join(', ')
  return `insert into "${name}" (${names}) ${postgres ? 'overriding system value ' : ''}values ${values}`
}

async function setSequences(db: Db, sequences: Readonly<Record<string, number>>): Promise<void> {
  for (const [table, last] of Object.entries(sequences).filter(([name]) => COUNTING.includes(name))) {
    if (isPostgres(db))
      await sql`select setval(pg_get_serial_sequence(${table}, 'id'), greatest(${last}::bigint, 1), ${last > 0}::boolean)`.execute(db) // prettier-ignore
    else {
      await sql`delete from sqlite_sequence where name = ${table}`.execute(db)
      await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(db)
    }
  }
}

/** Posts read at a time. */
const PAGE = 500

async function indexPosts(db: Db): Promise<void> {
  for (let last = 0; ;) {
    const some = await db
      .selectFrom('posts')
      .select(['postId', 'title', 'contentMarkdown', 'number'])
      .where('number', '>', last)
      .orderBy('number')
      .limit(PAGE)
      .execute()
    const end = some.at(-1)
    if (!end) return
    await transaction(db, async (inside) => {
      for (const post of some) await indexPost(inside, post)
    })
    last = end.number
  }
}

/** Removes all tables of ours from a PostgreSQL database, with the functions of their triggers. */
export async function clear(db: Db): Promise<void> {
  const { rows: functions } = await sql<{ name: string }>`
    select distinct p.proname::text as name from pg_trigger g join pg_class t on t.oid = g.tgrelid join pg_proc p on p.oid = g.tgfoid
    where not g.tgisinternal and p.pronamespace = current_schema()::regnamespace and ${isOurs('t.relname')}`.execute(db)
  for (const table of [...CARRIED, ...LEFT_OUT]) await sql`drop table if exists ${sql.table(table)} cascade`.execute(db)
  for (const { name } of functions) await sql`drop function ${sql.id(name)}()`.execute(db)
}
