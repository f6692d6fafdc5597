import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Each report of a comment is news of its own; of all else about a comment a person is told once. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`drop index if exists notifications_of_comment`.execute(db)
  await sql`create unique index notifications_of_comment on notifications ("commentId", "userId", kind) where "commentId" is not null and kind <> 'report'`.execute(db) // prettier-ignore
  await sql`create index notifications_of_reported on notifications ("commentId") where "commentId" is not null`.execute(db) // prettier-ignore
}
