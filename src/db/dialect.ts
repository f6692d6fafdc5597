import { PostgresAdapter, sql, type CreateTableBuilder, type Kysely, type RawBuilder } from 'kysely'

// The differences between the two engines, each as a small function.

// oxlint-disable-next-line typescript/no-explicit-any -- for migrations and queries, which have different tables
type AnyDb = Kysely<any>

export const isPostgres = (db: AnyDb): boolean => db.getExecutor().adapter instanceof PostgresAdapter

/** A text type that sorts by code point on both engines, whatever the locale of the PostgreSQL server. */
export const text = (db: AnyDb): RawBuilder<unknown> => (isPostgres(db) ? sql`text collate "C"` : sql`text`)

/** Adds an auto-incremented primary key `id`. */
export const countingKey = <T extends string>(table: CreateTableBuilder<T>, db: AnyDb): CreateTableBuilder<T, 'id'> =>
  isPostgres(db)
    ? table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
    : table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())

/**
 * The last id that a table with a counting key has given, and its newest. Undefined on PostgreSQL, where a transaction
 * that is rolled back leaves a gap; SQLite takes its ids back.
 */
export async function lastGiven(db: AnyDb, table: string): Promise<{ last: number; newest: number } | undefined> {
  if (isPostgres(db)) return undefined
  // One statement, as another process may write between two
  const { rows } = await sql<{ last: number; newest: number }>`
    select coalesce((select seq from sqlite_sequence where name = ${table}), 0) as last,
      coalesce((select max(id) from ${sql.table(table)}), 0) as newest`.execute(db)
  return rows[0]
}

/**
 * Call before inserting into `events`, so that ids are in commit order and a reader who continues after an id misses
 * nothing. On PostgreSQL it takes a lock until the transaction ends, so insert events last.
 */
export async function lockCommitOrder(db: AnyDb): Promise<void> {
  if (isPostgres(db)) await sql`select pg_advisory_xact_lock(hashtext('feedbackctl.events'))`.execute(db)
}

/**
 * Lets one transaction at a time look for a thing and create it where there is none. Call it first, before it looks. On
 * SQLite there is only one transaction at a time.
 */
export async function lockCreation(db: AnyDb): Promise<void> {
  if (isPostgres(db)) await sql`select pg_advisory_xact_lock(hashtext('feedbackctl.creation'))`.execute(db)
}

/** Merges keys into a JSON object in a text column. */
export const mergedJson = (db: AnyDb, column: string, changes: object): RawBuilder<string> => {
  const [target, patch] = [sql.ref(column), JSON.stringify(changes)]
  return isPostgres(db) ? sql`(${target}::jsonb || ${patch}::jsonb)::text` : sql`json_patch(${target}, ${patch})`
}

export interface Trigger {
  name: string
  on: string
  /** `insert`, `delete`, `update` or `update of "column", …`. */
  after: string
  when?: string
  run: string
  /** Runs once for each statement, with these transition tables. Only on PostgreSQL. */
  referencing?: string
}

/** The statements that create a trigger. It runs for each written row; `old` and `new` are the row before and after. */
export function triggerStatements(
  engine: 'sqlite' | 'postgres',
  { name, on, after, when, run, referencing }: Trigger,
): string[] {
  const rows = referencing === undefined ? 'for each row' : `referencing ${referencing} for each statement`
  const event = `after ${after} on ${on} ${rows} ${when === undefined ? '' : `when (${when})`}`
  return engine === 'postgres'
    ? [
        `create function "${name}"() returns trigger language plpgsql as $$ begin ${run}; return null; end $$`,
        `create trigger "${name}" ${event} execute function "${name}"()`,
      ]
    : [`create trigger "${name}" ${event} begin ${run}; end`]
}

/** For migrations of versions whose triggers were not in `triggers/` yet. */
export async function createTrigger(db: AnyDb, trigger: Trigger): Promise<void> {
  for (const statement of triggerStatements(isPostgres(db) ? 'postgres' : 'sqlite', trigger))
    await sql.raw(statement).execute(db)
}

export async function dropTrigger(db: AnyDb, { name, on }: Pick<Trigger, 'name' | 'on'>): Promise<void> {
  if (isPostgres(db)) {
    await sql.raw(`drop trigger "${name}" on ${on}`).execute(db)
    await sql.raw(`drop function "${name}"()`).execute(db)
  } else {
    await sql.raw(`drop trigger "${name}"`).execute(db)
  }
}

/** For work that sorts whole tables, such as building indexes. SQLite then sorts in files, not in memory. */
export async function withTempFiles<T>(db: AnyDb, work: () => Promise<T>): Promise<T> {
  if (isPostgres(db)) return work()
  await sql`pragma temp_store = file`.execute(db)
  try {
    return await work()
  } finally {
    await sql`pragma temp_store = memory`.execute(db)
  }
}

/** Pages of an import of thousands of rows, and those of all else, in KiB: with few, SQLite reads the same pages again and again. */
export const CACHE = { usual: 4000, large: 32_000 } as const

/** Sets how many pages SQLite keeps for the handle that writes. Call it in a transaction. */
export async function setCache(db: AnyDb, size: keyof typeof CACHE): Promise<void> {
  if (!isPostgres(db)) await sql`pragma cache_size = ${sql.lit(-CACHE[size])}`.execute(db)
}

/** Whether a column has one of many texts: a statement for any number of them. */
export const isAmong = (db: AnyDb, column: string, texts: Iterable<string>): RawBuilder<boolean> =>
  isPostgres(db)
    ? sql`${sql.ref(column)} = any(${sql.val([...new Set(texts)])}::text[])`
    : sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify([...new Set(texts)])}))`

/**
 * Rows for `insert into`, of which SQLite gets all as one parameter: with one for each value, making the statement takes
 * longer than running it.
 */
export function rowsGiven<Row extends object>(
  db: AnyDb,
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
): RawBuilder<unknown> {
  const names = sql.join(columns.map((column) => sql.ref(column)))
  if (isPostgres(db)) return sql`(${names}) values ${sql.join(rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`))}` // prettier-ignore
  const values = JSON.stringify(rows.map((row) => columns.map((column) => row[column] ?? null)))
  const cells = sql.join(columns.map((_column, at) => sql`value ->> ${sql.lit(at)}`))
  return sql`(${names}) select ${cells} from json_each(${values}) where true`
}

/**
 * Runs a query for each value and returns all rows, in the order of the values. PostgreSQL uses a lateral join, with one
 * plan for any number of values. SQLite has no lateral joins, so the queries are combined with `union all`.
 */
export function rowsForEach<Row>(
  db: AnyDb,
  values: readonly string[],
  rows: (value: RawBuilder<string>) => RawBuilder<Row>,
): RawBuilder<Row> {
  if (isPostgres(db))
    return sql`select part.* from unnest(${sql.val(values)}::text[]) as given(value) cross join lateral (${rows(sql`given.value`)}) as part`
  const parts = values.map((value) => sql<Row>`select * from (${rows(sql`${value}`)}) as part`)
  return sql`${sql.join(parts, sql` union all `)}`
}

/**
 * Returns a constant upper bound for `rows` (limit plus offset), for use as a literal limit. With a parameter as limit,
 * PostgreSQL expects a tenth of the table, finds the generic plan too expensive, and plans each page again. Bounds are
 * powers of two, so that there are few statements. Undefined on SQLite, which plans a statement once.
 */
export const boundOf = (db: AnyDb, rows: number): number | undefined =>
  isPostgres(db) ? Math.max(MIN_BOUND, 2 ** Math.ceil(Math.log2(rows))) : undefined

const MIN_BOUND = 32

/**
 * Marks the SQL of a statement whose best plan depends on its values, such as rare and common words. PostgreSQL plans a
 * marked statement each time it runs. After five runs, it uses one generic plan for other statements.
 */
export const PLANNED_EACH_TIME = '/* planned each time */'

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code)

export const isForeignKeyViolation = (error: unknown): boolean =>
  ['23503', 'SQLITE_CONSTRAINT_FOREIGNKEY'].includes(codeOf(error))

/** A deadlock, a serialization failure or an outdated statement: the transaction may succeed if it is retried. */
export const isCollision = (error: unknown): boolean =>
  ['40P01', '40001'].includes(codeOf(error)) || isOutdatedStatement(error)

/** A migration has changed the columns of a prepared statement, which PostgreSQL then refuses to run. */
export const isOutdatedStatement = (error: unknown): boolean =>
  (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'

const isUniqueViolation = (error: unknown): boolean => ['23505', 'SQLITE_CONSTRAINT_UNIQUE'].includes(codeOf(error))

/** Whether the engine refuses values because of a constraint or a type, whatever they are. */
export const isRefusedValue = (error: unknown): boolean =>
  /^(22|23|SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG))/.test(codeOf(error))

/**
 * Returns 'taken' if the work violates a unique index. A savepoint keeps the surrounding transaction usable on
 * PostgreSQL.
 */
export async function unlessTaken<T>(db: AnyDb, work: () => Promise<T>): Promise<T | 'taken'> {
  const inTransaction = async (statement: string) => void (db.isTransaction && (await sql.raw(statement).execute(db)))
  await inTransaction('savepoint unless_taken')
  try {
    const result = await work()
    await inTransaction('release savepoint unless_taken')
    return result
  } catch (error) {
    await inTransaction('rollback to savepoint unless_taken')
    if (isUniqueViolation(error)) return 'taken'
    throw error
  }
}

export const isMissingTable = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '42P01' || (error as Error).message.startsWith('no such table')
