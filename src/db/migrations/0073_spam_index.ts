import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Finds the posts that the team hid as spam, which are few among many. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index if not exists posts_spam on posts (number) where is_spam = 1`.execute(db)
}
