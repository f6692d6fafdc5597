import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** The boards with the most posts, whose posts are counted for a filter. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.createIndex('boards_by_posts').on('boards').columns(['display', 'post_count', 'boardId']).execute()
}
