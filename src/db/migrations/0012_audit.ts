import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Adds to events the address and the API key of the request, and an index for each filter of their list. */
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
}
