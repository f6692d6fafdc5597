import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** What was edited after the team decided about it, and whether it waits for another decision. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('reviews').addColumn('editedAt', text(db)).execute()
  await db.schema.alterTable('reviews').addColumn('isOpen', 'integer', (column) => column.notNull().defaultTo(0)).execute() // prettier-ignore
  await sql`create index reviews_open on reviews ("editedAt", "reviewId") where "isOpen" = 1`.execute(db)
}
