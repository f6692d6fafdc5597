import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** When a scheduled job last succeeded and failed, whichever server ran it. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('job_runs')
    .addColumn('name', text(db), (column) => column.primaryKey())
    .addColumn('done_at', text(db))
    .addColumn('failed_at', text(db))
    .addColumn('error', text(db))
    .execute()
}
