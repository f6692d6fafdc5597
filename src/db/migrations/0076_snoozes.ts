import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** What the team has snoozed: until when, and who did. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const reviews = () => db.schema.alterTable('reviews')
  await reviews().addColumn('snoozedUntil', text(db)).execute()
  await reviews().addColumn('snoozedBy', text(db), (column) => column.references('users.userId').onDelete('set null')).execute() // prettier-ignore
  await sql`create index reviews_snoozed on reviews ("snoozedUntil", "reviewId") where "snoozedUntil" is not null`.execute(
    db,
  )
  // For the deletion of an account
  await sql`create index reviews_of_snoozer on reviews ("snoozedBy") where "snoozedBy" is not null`.execute(db)
}
