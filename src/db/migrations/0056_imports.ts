import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** What was imported from other products: where it came from, votes without voters, and former addresses of posts. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .alterTable('posts')
    .addColumn('importedVotes', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createTable('imported_rows')
    .addColumn('source', words, (column) => column.notNull())
    .addColumn('kind', words, (column) => column.notNull())
    .addColumn('sourceId', words, (column) => column.notNull())
    .addColumn('rowId', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('imported_rows_key', ['source', 'kind', 'sourceId'])
    .execute()
  await db.schema
    .createTable('former_paths')
    .addColumn('path', words, (column) => column.primaryKey())
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .execute()
  await db.schema.createIndex('former_paths_by_post').on('former_paths').column('postId').execute()
}
