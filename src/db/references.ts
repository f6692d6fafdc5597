import { sql } from 'kysely'
import { NOUNS, NOUNS_WITH_ROWS, type NounWithRows } from '../core/nouns.js'
import { isForeignKeyViolation } from './dialect.js'
import type { Db, Tables } from './tables.js'

type Nouns = typeof NOUNS

/** The table and the id of each noun exist, or this does not compile. */
const TABLES: { [N in NounWithRows]: { table: keyof Tables; id: keyof Tables[Nouns[N]['table']] } } = NOUNS

/** The ids of the rows that a write refers to, by table. Null is no reference. */
export type References = Partial<Record<Nouns[NounWithRows]['table'], string | null | undefined>>

/**
 * A write refers to a row that does not exist. The cause is the engine's error, which on SQLite does not name the row.
 */
export class ForeignKeyError extends Error {
  constructor(
    readonly references: References,
    cause: unknown,
  ) {
    super('A write refers to a row that does not exist.', { cause })
  }
}

/** Runs a write, and throws a ForeignKeyError if a row that it refers to does not exist. */
export async function referringTo<T>(references: References, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw isForeignKeyViolation(error) ? new ForeignKeyError(references, error) : error
  }
}

/**
 * Returns the first noun whose row does not exist. Call it after the failed transaction, in which PostgreSQL rejects
 * queries. Ids are never reused, so a row that was missing in the transaction is still missing.
 */
export async function missingReference(db: Db, references: References): Promise<NounWithRows | undefined> {
  for (const [name, id] of Object.entries(references)) {
    const noun = NOUNS_WITH_ROWS.find((each) => NOUNS[each].table === name)
    if (!noun || id === null || id === undefined) continue
    const { table, id: key } = TABLES[noun]
    const found = sql`select 1 from ${sql.table(table)} where ${sql.ref(key)} = ${id}`
    if ((await found.execute(db)).rows.length === 0) return noun
  }
  return undefined
}
