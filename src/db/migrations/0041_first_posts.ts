import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/**
 * The first posts and comments of new people may be held until the team has looked at them. Triggers no longer count
 * hidden posts as posts of a board, so they are counted again.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('settings')
    .addColumn('holdFirstPosts', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await sql`create index posts_held on posts ("createdAt", "postId") where is_spam = 2`.execute(db)
  await sql`create index comments_held on comments (created_at, id) where is_spam = 2`.execute(db)
  const hidden = sql`(select count(*) from posts where posts."boardId" = boards."boardId" and is_spam <> 0)`
  await sql`update boards set post_count = post_count - ${hidden} where exists (select 1 from posts where posts."boardId" = boards."boardId" and is_spam <> 0)`.execute(
    db,
  )
}
