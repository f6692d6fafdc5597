import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** The servers that run, so that `status` can name them. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('servers')
    .addColumn('host', text(db), (column) => column.notNull())
    .addColumn('pid', 'integer', (column) => column.notNull())
    .addColumn('worker', 'integer', (column) => column.notNull())
    .addColumn('url', text(db), (column) => column.notNull())
    .addColumn('version', text(db), (column) => column.notNull())
    .addColumn('started_at', text(db), (column) => column.notNull())
    .addColumn('seen_at', text(db), (column) => column.notNull())
    .addPrimaryKeyConstraint('servers_pk', ['host', 'pid', 'worker'])
    .execute()
}
