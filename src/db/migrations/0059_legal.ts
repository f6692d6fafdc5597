import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** A site may have legal pages. The text is the last column, so that SQLite can list the pages without reading it. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('legal_pages')
    .addColumn('name', words, (column) => column.primaryKey())
    .addColumn('updatedAt', words, (column) => column.notNull())
    .addColumn('markdown', words, (column) => column.notNull())
    .execute()
}
