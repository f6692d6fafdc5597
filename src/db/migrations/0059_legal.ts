import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Legal pages of the site. The text is last, so that a list of the pages does not read it. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('legal_pages')
    .addColumn('name', words, (column) => column.primaryKey())
    .addColumn('updatedAt', words, (column) => column.notNull())
    .addColumn('markdown', words, (column) => column.notNull())
    .execute()
}
