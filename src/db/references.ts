import { sql } from 'kysely'
import { isForeignKeyViolation } from './dialect.js'
import type { Db } from './tables.js'

const KEYS = { users: 'userId', posts: 'postId', boards: 'boardId', roadmaps: 'id' } as const

export type ReferencedTable = keyof typeof KEYS

/** The ids of the rows that a write refers to. Null is no reference. */
export type References = Partial<Record<ReferencedTable, string | null | undefined>>

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
 * Returns the first table whose row does not exist. Call it after the failed transaction, in which PostgreSQL rejects
 * queries. Ids are never reused, so a row that was missing in the transaction is still missing.
 */
export async function missingReference(db: Db, references: References): Promise<ReferencedTable | undefined> {
  for (const [table, id] of Object.entries(references) as [ReferencedTable, string | null | undefined][]) {
    if (id === null || id === undefined) continue
    const found = sql`select 1 from ${sql.table(table)} where ${sql.ref(KEYS[table])} = ${id}`
    if ((await found.execute(db)).rows.length === 0) return table
  }
  return undefined
}
