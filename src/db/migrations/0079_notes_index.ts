import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** The inbox counts the internal notes of each post. Without this index it reads all comments of the post. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index if not exists comments_notes on comments (post_id) where is_internal = 1`.execute(db)
}
