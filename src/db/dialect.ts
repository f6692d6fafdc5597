import { PostgresAdapter, sql, type CreateTableBuilder, type Kysely, type RawBuilder } from 'kysely'

/** Everything in which the two engines differ, each as a small named function. */
// oxlint-disable-next-line typescript/no-explicit-any -- migrations and queries alike: the tables do not matter here
type AnyDb = Kysely<any>

export const isPostgres = (db: AnyDb): boolean => db.getExecutor().adapter instanceof PostgresAdapter

/** Text that sorts and compares by code point on both engines, whatever the locale of the PostgreSQL server. */
export const text = (db: AnyDb): RawBuilder<unknown> => (isPostgres(db) ? sql`text collate "C"` : sql`text`)

/** A key `id` that counts up. */
export const countingKey = <T extends string>(table: CreateTableBuilder<T>, db: AnyDb): CreateTableBuilder<T, 'id'> =>
  isPostgres(db)
    ? table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
    : table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())

/**
 * Before a row with a counting key is inserted: keys are then in the order of their commits, so that whoever reads after
 * a key misses nothing. PostgreSQL needs a lock for it, held until the end: take it as the last thing of a transaction.
 */
export async function inCommitOrder(db: AnyDb): Promise<void> {
  if (isPostgres(db)) await sql`select pg_advisory_xact_lock(hashtext('feedbackctl.events'))`.execute(db)
}

/** A JSON object in a text column with the keys of another put into it, in one statement. */
export const mergedJson = (db: AnyDb, column: string, changes: object): RawBuilder<string> => {
  const [into, from] = [sql.ref(column), JSON.stringify(changes)]
  return isPostgres(db) ? sql`(${into}::jsonb || ${from}::jsonb)::text` : sql`json_patch(${into}, ${from})`
}

interface Trigger {
  name: string
  on: string
  after: string
  when?: string
  run: string
}

/** Runs one statement for each row that was written; `new` and `old` are the row after and before. */
export async function createTrigger(db: AnyDb, { name, on, after, when, run }: Trigger): Promise<void> {
  const event = `after ${after} on ${on} for each row ${when === undefined ? '' : `when (${when})`}`
  if (isPostgres(db)) {
    await sql
      .raw(`create function "${name}"() returns trigger language plpgsql as $$ begin ${run}; return null; end $$`)
      .execute(db)
    await sql.raw(`create trigger "${name}" ${event} execute function "${name}"()`).execute(db)
  } else {
    await sql.raw(`create trigger "${name}" ${event} begin ${run}; end`).execute(db)
  }
}

export async function dropTrigger(db: AnyDb, { name, on }: Pick<Trigger, 'name' | 'on'>): Promise<void> {
  if (isPostgres(db)) {
    await sql.raw(`drop trigger "${name}" on ${on}`).execute(db)
    await sql.raw(`drop function "${name}"()`).execute(db)
  } else {
    await sql.raw(`drop trigger "${name}"`).execute(db)
  }
}

/** Work that sorts whole tables, as building an index does: on SQLite that would take as much memory as they have bytes. */
export async function sortingOnDisk<T>(db: AnyDb, work: () => Promise<T>): Promise<T> {
  if (isPostgres(db)) return work()
  await sql`pragma temp_store = file`.execute(db)
  try {
    return await work()
  } finally {
    await sql`pragma temp_store = memory`.execute(db)
  }
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code)

/** A write refers to a row that does not exist. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  ['23503', 'SQLITE_CONSTRAINT_FOREIGNKEY'].includes(codeOf(error))

/** A deadlock or a serialization failure: the transaction may succeed when it runs again. */
export const isCollision = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error))

const isTaken = (error: unknown): boolean => ['23505', 'SQLITE_CONSTRAINT_UNIQUE'].includes(codeOf(error))

/** 'taken' when a unique index refused the work. In a transaction only the work is taken back: PostgreSQL would refuse all that follows. */
export async function unlessTaken<T>(db: AnyDb, work: () => Promise<T>): Promise<T | 'taken'> {
  const inside = async (statement: string) => void (db.isTransaction && (await sql.raw(statement).execute(db)))
  await inside('savepoint unless_taken')
  try {
    const result = await work()
    await inside('release savepoint unless_taken')
    return result
  } catch (error) {
    await inside('rollback to savepoint unless_taken')
    if (isTaken(error)) return 'taken'
    throw error
  }
}

export const isMissingTable = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '42P01' || (error as Error).message.startsWith('no such table')
