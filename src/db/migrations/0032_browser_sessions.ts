import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Adds the kind of a session. Those of servers of earlier versions that still run are of the API. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('sessions')
    .addColumn('kind', text(db), (column) => column.notNull().defaultTo('api'))
    .execute()
}
