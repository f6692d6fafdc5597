import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Backups and rehearsals that the owner asked for, of which one runs at a time. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('backup_tasks')
    .addColumn('taskId', text(db), (column) => column.primaryKey())
    .addColumn('kind', text(db), (column) => column.notNull())
    .addColumn('file', text(db))
    .addColumn('askedAt', text(db), (column) => column.notNull())
    .addColumn('startedAt', text(db))
    .addColumn('endedAt', text(db))
    .addColumn('error', text(db))
    .addColumn('isOpen', 'integer', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('backup_tasks_newest').on('backup_tasks').columns(['askedAt', 'taskId']).execute()
  await sql`create unique index backup_tasks_open on backup_tasks ("isOpen") where "isOpen" = 1`.execute(db)
}
