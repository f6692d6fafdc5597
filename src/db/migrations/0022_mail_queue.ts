import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** When a mail was cancelled, and an index for the list of those that were neither sent nor cancelled. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('outbox').addColumn('cancelledAt', text(db)).execute()
  await db.schema
    .createIndex('outbox_unsent')
    .on('outbox')
    .column('mailId')
    .where(sql<boolean>`"sentAt" is null and "cancelledAt" is null`)
    .execute()
}
