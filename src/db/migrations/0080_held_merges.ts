import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Merged posts that nobody but the team has seen: they stay hidden while they are merged, and after. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('merges')
    .addColumn('wasHeld', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}
