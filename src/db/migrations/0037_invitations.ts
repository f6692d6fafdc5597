import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Adds who invited whom, and when. Of the invitations from before, those whose link has not been used are there: an
 * account without a password may also have been created without a mail.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('invitations')
    .addColumn('userId', words, (column) => column.primaryKey().references('users.userId').onDelete('cascade'))
    .addColumn('invitedBy', words, (column) => column.references('users.userId').onDelete('set null'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('sentAt', words, (column) => column.notNull())
    .addColumn('expiresAt', words, (column) => column.notNull())
    .addColumn('acceptedAt', words)
    .execute()
  await sql`
    insert into invitations ("userId", "invitedBy", "createdAt", "sentAt", "expiresAt", "acceptedAt")
    select users."userId", (
      select inviting."userId" from events join users as inviting on inviting."userId" = events.actor_id
      where events.action = 'user.created' and events.subject_id = users."userId" limit 1
    ), users."createdAt", one_time_tokens."createdAt", one_time_tokens."expiresAt", null
    from one_time_tokens join users on users."userId" = one_time_tokens."userId"
    where one_time_tokens.purpose = 'resetPassword' and users."isOwner" = 0 and users."isVerified" = 0
      and coalesce(users.password, '!') = '!'`.execute(db)
  await db.schema.createIndex('invitations_by_age').on('invitations').columns(['createdAt', 'userId']).execute()
  await db.schema.createIndex('invitations_invitedBy').on('invitations').column('invitedBy').execute()
}
