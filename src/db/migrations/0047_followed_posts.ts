import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Finds the posts that a person commented on, and whether they commented on a post. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.createIndex('comments_of_author_on_post').on('comments').columns(['author_id', 'post_id']).execute()
}
