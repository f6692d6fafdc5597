import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Of all processes on the database, only the holder of a lease runs the job of that name. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('job_leases')
    .addColumn('name', text(db), (column) => column.primaryKey())
    .addColumn('holder', text(db), (column) => column.notNull())
    .addColumn('until', text(db), (column) => column.notNull())
    .execute()
}
