import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Names the boards that hide votes, and the posts that kept theirs hidden when such a board was deleted. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index if not exists boards_hiding_votes on boards ("boardId") where hides_votes = 1`.execute(db)
  await sql`create index if not exists posts_hiding_votes on posts ("createdAt", "postId") where "hidesVoters" = 2 and "boardId" is null`.execute(db) // prettier-ignore
}
