import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** A site may say itself how long an account is new, and how much it may write meanwhile. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const name of ['newFor', 'limitPosts', 'limitComments', 'limitEdits', 'limitReports'])
    await db.schema.alterTable('settings').addColumn(name, text(db)).execute()
}
