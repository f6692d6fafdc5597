import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Finds the notifications that are old enough to be deleted. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index notifications_read_by_age on notifications ("createdAt") where "readAt" is not null`.execute(
    db,
  )
  await sql`create index notifications_unread_by_age on notifications ("createdAt") where "readAt" is null`.execute(db)
}
