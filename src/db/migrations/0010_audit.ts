import { sql, type Kysely } from 'kysely'
import { isPostgres, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Adds to events the address and the API key of the request, an index for each filter of their list, and hashes that
 * chain them in blocks. A block is the events after `after_id` up to `last_id`.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema.alterTable('events').addColumn('address', words).execute()
  await db.schema.alterTable('events').addColumn('key_id', words).execute()
  await db.schema.dropIndex('events_of_subject').execute()
  const index = (name: string) => db.schema.createIndex(name).on('events')
  await index('events_of_subject').columns(['subject_id', 'id']).execute()
  await index('events_of_action').columns(['action', 'id']).execute()
  await index('events_of_actor').columns(['actor_id', 'id']).where(sql.ref('actor_id'), 'is not', null).execute()
  await index('events_of_person').columns(['person_id', 'id']).where(sql.ref('person_id'), 'is not', null).execute()
  await index('events_by_time').columns(['created_at', 'id']).execute()
  const id = isPostgres(db) ? 'bigint' : 'integer'
  await db.schema
    .createTable('event_seals')
    .addColumn('after_id', id, (column) => column.primaryKey()) // so that of two processes only one continues the chain
    .addColumn('last_id', id, (column) => column.notNull().unique())
    .addColumn('events', 'integer', (column) => column.notNull())
    .addColumn('hash', words, (column) => column.notNull())
    .addColumn('sealed_at', words, (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('event_erasures')
    .addColumn('event_id', id, (column) => column.primaryKey())
    .addColumn('subject_hash', words, (column) => column.notNull())
    .execute()
}
