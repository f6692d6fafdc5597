import { sql, type RawBuilder } from 'kysely'
import { AppError } from '../core/errors.js'
import { CARRIED_NAMES } from './carried.js'
import { isPostgres, isRefusedValue } from './dialect.js'
import type { Db } from './tables.js'

/** A row of a backup names another that is not there, or is there twice. */
export const inconsistent = (cause?: unknown): AppError =>
  new AppError(
    'BACKUP_DAMAGED',
    'The rows of the backup contradict each other: some exist twice, or refer to rows that do not exist. The database was already damaged when the backup was made. Use an earlier backup.',
    { cause },
  )

/** Whether a table is one that backups carry. */
export const isOurs = (column: string): RawBuilder<unknown> =>
  sql`${sql.ref(column)} in (${sql.join([...CARRIED_NAMES])})`

/** Told of how many of the steps are done, and of what table the next is. May throw. */
type PutBack = (told: (table: string, done: number, all: number) => void) => Promise<void>

/**
 * Takes off what would change rows while they are loaded, or makes loading slow: triggers, foreign keys, and the indexes
 * that are no constraints. Returns what puts them back, and throws BACKUP_DAMAGED there where the rows do not fit them.
 * SQLite checks no foreign key meanwhile, nor does it wait for the disk until the end of `load`.
 */
export const strip = (db: Db): Promise<PutBack> => (isPostgres(db) ? stripPostgres(db) : stripFile(db, { isNew: true }))

/**
 * The same for a site that is open, inside a transaction. SQLite looks at foreign keys when it commits, and waits for the
 * disk as for any write.
 */
export const stripOpen = (db: Db): Promise<PutBack> =>
  isPostgres(db) ? stripPostgres(db) : stripFile(db, { isNew: false })

/** KiB of pages that a file which is loaded keeps in memory: some unique columns are in no order. */
const CACHE = 12_000

async function stripFile(db: Db, { isNew }: { isNew: boolean }): Promise<PutBack> {
  const pragmas = isNew
    ? ['foreign_keys = off', 'synchronous = off', 'temp_store = file', `cache_size = -${CACHE}`]
    : ['defer_foreign_keys = on']
  for (const each of pragmas) await sql.raw(`pragma ${each}`).execute(db)
  // The index of a constraint has no SQL of its own
  const { rows } = await sql<{ type: 'trigger' | 'index'; name: string; table: string; sql: string }>`
    select type, name, tbl_name as "table", sql from sqlite_master where type in ('trigger', 'index') and sql is not null and ${isOurs('tbl_name')}
    order by type`.execute(db)
  for (const { type, name } of rows) await sql`drop ${sql.raw(type)} ${sql.id(name)}`.execute(db)
  return async (told) => {
    await fitting(
      rows.map((each) => ({ table: each.table, run: () => sql.raw(each.sql).execute(db) })),
      told,
    )
    if (isNew) await sql`pragma foreign_keys = on`.execute(db)
  }
}

async function stripPostgres(db: Db): Promise<PutBack> {
  const { rows: keys } = await sql<{ table: string; name: string; definition: string }>`
    select t.relname::text as "table", c.conname::text as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_class t on t.oid = c.conrelid
    where c.contype = 'f' and c.connamespace = current_schema()::regnamespace and ${isOurs('t.relname')}`.execute(db)
  for (const { table, name } of keys)
    await sql`alter table ${sql.table(table)} drop constraint ${sql.id(name)}`.execute(db)
  const { rows: indexes } = await sql<{ table: string; name: string; definition: string }>`
    select t.relname::text as "table", o.relname::text as name, pg_get_indexdef(o.oid) as definition
    from pg_index i join pg_class o on o.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
    where o.relnamespace = current_schema()::regnamespace and ${isOurs('t.relname')}
      and not exists (select from pg_constraint c where c.conindid = o.oid)`.execute(db)
  for (const { name } of indexes) await sql`drop index ${sql.id(name)}`.execute(db)
  const { rows: tables } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and ${isOurs('relname')}`.execute(db)
  for (const { name } of tables) await sql`alter table ${sql.table(name)} disable trigger user`.execute(db)
  return async (told) => {
    for (const { name } of tables) await sql`alter table ${sql.table(name)} enable trigger user`.execute(db)
    const steps = [
      ...indexes.map(({ table, definition }) => ({ table, run: () => sql.raw(definition).execute(db) })),
      ...keys.map(({ table, name, definition }) => ({
        table,
        run: () => sql`alter table ${sql.table(table)} add constraint ${sql.id(name)} ${sql.raw(definition)}`.execute(db), // prettier-ignore
      })),
    ]
    await fitting(steps, told)
    // New tables have no statistics yet
    for (const { name } of tables) await sql`analyze ${sql.table(name)}`.execute(db)
  }
}

async function fitting(
  steps: readonly { table: string; run(this: void): Promise<unknown> }[],
  told: Parameters<PutBack>[0],
): Promise<void> {
  for (const [done, { table, run }] of steps.entries()) {
    told(table, done, steps.length)
    await run().catch((error: unknown) => {
      throw isRefusedValue(error) ? inconsistent(error) : error
    })
  }
}
