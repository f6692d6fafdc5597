import type { Kysely } from 'kysely'
import { isPostgres, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Adds to events what changed, and the cursors of consumers of events. Seals of version 2 include the details; servers
 * of earlier versions that still run write version 1.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema.alterTable('events').addColumn('details', words).execute()
  await db.schema
    .alterTable('event_seals')
    .addColumn('version', 'integer', (column) => column.notNull().defaultTo(1))
    .execute()
  await db.schema.alterTable('event_erasures').addColumn('details_hash', words).execute()
  await db.schema
    .createTable('event_cursors')
    .addColumn('consumer', words, (column) => column.primaryKey())
    .addColumn('last_id', isPostgres(db) ? 'bigint' : 'integer', (column) => column.notNull())
    .execute()
}
