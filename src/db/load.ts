import { CompiledQuery, sql, type Kysely, type SqlBool } from 'kysely'
import { AppError } from '../core/errors.js'
import {
  BACKED_UP,
  CARRIED_NAMES,
  carriedColumns,
  COUNTING,
  FORMER_NAMES,
  NOT_BACKED_UP,
  type TableShape,
  type Value,
} from './carried.js'
import { transaction } from './connect.js'
import { isPostgres, isRefusedValue } from './dialect.js'
import { migrationsWithTriggers } from './migrate.js'
import { indexMerged, indexPosts } from './search.js'
import { indexAllComments } from './searchindex.js'
import { forgetRowChanges } from './rowchanges.js'
import { inconsistent, isOurs, strip, stripOpen } from './strip.js'
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
  /** Told of what is done after the last row: of indexes, and of posts in the index of words. May throw. */
  indexed?(this: void, table: string, done: number, all: number): void
  /** Computes columns that the rows lack. */
  derived?(this: void, db: Db): Promise<void>
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
export async function load(
  db: Db,
  { schema, rows, sequences, indexed = () => {}, derived, loaded, update = true }: Contents,
): Promise<void> {
  const migrations = await migrationsWithTriggers()
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
  const putBack = await strip(db)
  for (const table of CARRIED_NAMES) if (await exists(db, table)) await sql`delete from ${sql.table(table)}`.execute(db)
  await fill(db, rows)
  await setSequences(db, sequences())
  await putBack(indexed)
  await derived?.(db)
  await loaded?.()
  if (update) await apply(names.filter((name) => name > schema))
  if (schema >= SEARCH_SINCE) await indexAll(db, indexed)
  // What the migrations logged is about rows that nobody has read
  for (const log of ['row_changes', 'change_log'])
    if (await exists(db, log)) await sql`delete from ${sql.table(log)}`.execute(db)
  if (isPostgres(db)) return
  await assertReferences(db)
  await sql`pragma synchronous = full`.execute(db)
}

/** What of a site is made anew of its rows. */
const INDEXES_OF_WORDS = ['post_search', 'comment_search', 'search_backfill', 'search_refill']

/**
 * Puts rows in place of all that a site has, in the transaction that is open, in which nobody else can write. Others see
 * the former rows until it is committed, and then take everything as changed.
 */
export async function replaceRows(
  db: Db,
  { rows, sequences, indexed = () => {}, derived }: Omit<Contents, 'schema' | 'update' | 'loaded'>,
): Promise<void> {
  const putBack = await stripOpen(db)
  for (const table of [...BACKED_UP, ...INDEXES_OF_WORDS]) await sql`delete from ${sql.table(table)}`.execute(db)
  await fill(db, rows)
  await setSequences(db, sequences())
  await putBack(indexed)
  await derived?.(db)
  await indexAll(db, indexed)
  if (!isPostgres(db)) await assertReferences(db)
  await forgetRowChanges(db)
}

async function fill(db: Db, rows: Contents['rows']): Promise<void> {
  let shape: Columns | undefined
  for await (const { table, rows: some } of rows) {
    if (shape?.table !== table.name) shape = await columnsOf(db, table.name)
    assertFits(table, some, shape)
    await transaction(db, (inside) => insert(inside, table, some)).catch((error: unknown) => {
      throw isRefusedValue(error) ? inconsistent(error) : error
    })
  }
}

async function assertReferences(db: Db): Promise<void> {
  const { rows: broken } = await sql`pragma foreign_key_check`.execute(db)
  if (broken.length > 0) throw inconsistent()
}

/** As the migrator of Kysely makes them, which begins a transaction of its own. */
async function migrationTables(db: Db): Promise<void> {
  await sql`create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(db) // prettier-ignore
  await sql`create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer not null default 0)`.execute(db) // prettier-ignore
  await sql`insert into kysely_migration_lock (id, is_locked) values ('migration_lock', 0)`.execute(db)
}

async function exists(db: Db, table: string): Promise<boolean> {
  const { rows } = await (
    isPostgres(db)
      ? sql`select 1 from pg_tables where tablename = ${table} and schemaname = current_schema()`
      : sql`select 1 from sqlite_master where type = 'table' and name = ${table}`
  ).execute(db)
  return rows.length > 0
}

type Kind = 'text' | 'integers' | 'numbers'

/** What each column of a table holds in the schema that was made. */
interface Columns {
  table: string
  kinds: ReadonlyMap<string, Kind>
}

async function columnsOf(db: Db, table: string): Promise<Columns> {
  const { rows } = await (
    isPostgres(db)
      ? sql<{ name: string; type: string }>`
          select attname::text as name, format_type(atttypid, null) as type from pg_attribute
          where attrelid = to_regclass(${`"${table}"`}) and attnum > 0 and not attisdropped`
      : sql<{ name: string; type: string }>`select name, type from pragma_table_info(${table})`
  ).execute(db)
  return { table, kinds: new Map(rows.map(({ name, type }) => [name, kindOf(type)])) }
}

const kindOf = (type: string): Kind => (/int/i.test(type) ? 'integers' : /double/i.test(type) ? 'numbers' : 'text')

const FITS: Readonly<Record<Kind, (value: Value) => boolean>> = {
  text: (value) => typeof value === 'string',
  integers: (value) => Number.isSafeInteger(value),
  numbers: (value) => typeof value === 'number',
}

/** Throws BACKUP_DAMAGED for other columns than those of the schema, and for a value of another type than its column. */
function assertFits({ name, columns }: TableShape, rows: readonly Value[][], { kinds: known }: Columns): void {
  const right = carriedColumns(name, [...known.keys()])
  if (right.join(' ') !== columns.join(' ')) throw unfit(`The table ${name} has the columns ${right.join(', ')}`)
  const kinds = columns.map((column) => known.get(column))
  for (const row of rows)
    for (const [index, value] of row.entries())
      if (value !== null && !FITS[kinds[index] ?? 'text'](value))
        throw unfit(`The column ${columns[index]} of ${name} holds ${kinds[index]}`)
}

const unfit = (what: string): AppError =>
  new AppError('BACKUP_DAMAGED', `The rows of the backup do not fit its schema: ${what}. Use another backup.`)

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

async function indexAll(db: Db, told: NonNullable<Contents['indexed']>): Promise<void> {
  const { all } = await db
    .selectFrom('posts')
    .select((eb) => eb.fn.countAll<number>().as('all'))
    .executeTakeFirstOrThrow()
  for (let last = 0, done = 0; ;) {
    const some = await db
      .selectFrom('posts')
      .select(['title', 'contentMarkdown', 'number'])
      .where('number', '>', last)
      .orderBy('number')
      .limit(PAGE)
      .execute()
    const end = some.at(-1)
    if (!end) break
    await transaction(db, (inside) => indexPosts(inside, some))
    last = end.number
    told('posts', (done += some.length), all)
  }
  const { kinds } = await columnsOf(db, 'merges')
  // In the schema of an earlier version, no held post is merged
  const notHeld = kinds.has('wasHeld') ? undefined : sql<SqlBool>`true`
  if (kinds.size > 0) await transaction(db, (inside) => indexMerged(inside, sql`true`, notHeld))
  if (!(await exists(db, 'comment_search'))) return // the schema of an earlier version
  await indexAllComments(db)
  if (await exists(db, 'search_refill')) await db.deleteFrom('search_refill').execute() // of a migration; done by now
}

/** What triggers and foreign keys of other tables reach, in the order in which a statement locks them. */
const REACHED = ['posts', 'tags', 'roadmaps', 'boards', 'users', 'post_counts', 'counters', 'row_changes']

/**
 * Lets nobody write to our tables in PostgreSQL until the transaction ends. They can be read. It locks them in the order
 * of statements, so that the writes of another program wait and meet no deadlock.
 */
export async function holdWrites(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select tablename::text as name from pg_tables where schemaname = current_schema() and ${isOurs('tablename')}`.execute(
    db,
  )
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db)
  const names = rows.map(({ name }) => name).toSorted((one, other) => REACHED.indexOf(one) - REACHED.indexOf(other))
  await sql`lock table ${sql.join(names.map((name) => sql.table(name)))} in exclusive mode`.execute(db)
}

/** Removes all tables of ours from a PostgreSQL database, with the functions of their triggers. */
export async function clear(db: Db): Promise<void> {
  const { rows: functions } = await sql<{ name: string }>`
    select distinct p.proname::text as name from pg_trigger g join pg_class t on t.oid = g.tgrelid join pg_proc p on p.oid = g.tgfoid
    where not g.tgisinternal and p.pronamespace = current_schema()::regnamespace and ${isOurs('t.relname')}`.execute(db)
  // A former name is a table, or a view that is dropped with the table of the present name
  for (const table of [...BACKED_UP, ...NOT_BACKED_UP, ...FORMER_NAMES])
    await sql`drop table if exists ${sql.table(table)} cascade`.execute(db)
  for (const { name } of functions) await sql`drop function ${sql.id(name)}()`.execute(db)
}
