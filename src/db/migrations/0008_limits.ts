import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Adds the counters of limits, which all processes on the database share. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('limits')
    .addColumn('key', text(db), (column) => column.primaryKey())
    .addColumn('points', 'integer', (column) => column.notNull())
    .addColumn('until', text(db), (column) => column.notNull())
    .execute()
  await db.schema.createIndex('limits_by_until').on('limits').column('until').execute()
}
