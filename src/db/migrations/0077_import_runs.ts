import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Imports that run in the background, one at a time, and the records that they refused. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('import_runs')
    .addColumn('runId', text(db), (column) => column.primaryKey())
    .addColumn('userId', text(db), (column) => column.notNull())
    .addColumn('name', text(db), (column) => column.notNull())
    .addColumn('file', text(db), (column) => column.notNull())
    .addColumn('options', text(db), (column) => column.notNull())
    .addColumn('isCheck', 'integer', (column) => column.notNull())
    .addColumn('askedAt', text(db), (column) => column.notNull())
    .addColumn('startedAt', text(db))
    .addColumn('seenAt', text(db))
    .addColumn('endedAt', text(db))
    .addColumn('ending', text(db))
    .addColumn('isCancelled', 'integer', (column) => column.notNull())
    .addColumn('progress', text(db))
    .addColumn('result', text(db))
    .addColumn('error', text(db))
    .addColumn('isOpen', 'integer', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('import_runs_newest').on('import_runs').columns(['askedAt', 'runId']).execute()
  await sql`create unique index import_runs_open on import_runs ("isOpen") where "isOpen" = 1`.execute(db)
  await db.schema
    .createTable('import_refusals')
    .addColumn('runId', text(db), (column) => column.notNull())
    .addColumn('part', 'integer', (column) => column.notNull())
    .addColumn('text', text(db), (column) => column.notNull())
    .addPrimaryKeyConstraint('import_refusals_pk', ['runId', 'part'])
    .execute()
}
