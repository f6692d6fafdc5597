import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Gives the comments of a person an order, so that they can be read page by page. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.dropIndex('comments_of_author').execute()
  await db.schema.createIndex('comments_of_author').on('comments').columns(['author_id', 'id']).execute()
}
