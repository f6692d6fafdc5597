import type { Kysely } from 'kysely'
import { createTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Adds sessions, so that one of them can be ended. The times of use have a table of their own, which is not logged: each
 * use would make cached responses invalid.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('sessions')
    .addColumn('sessionId', words, (column) => column.primaryKey())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('userAgent', words, (column) => column.notNull())
    .addColumn('address', words)
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('expiresAt', words, (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('session_uses')
    .addColumn('sessionId', words, (column) => column.primaryKey().references('sessions.sessionId').onDelete('cascade'))
    .addColumn('usedAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('sessions_of_user').on('sessions').columns(['userId', 'createdAt', 'sessionId']).execute()
  await db.schema.createIndex('sessions_by_expiry').on('sessions').column('expiresAt').execute()
  const logged = (row: 'new' | 'old') => `insert into change_log (topic, ref) values ('sessions', ${row}."sessionId")`
  await createTrigger(db, { name: 'sessions_insert_logged', on: 'sessions', after: 'insert', run: logged('new') })
  await createTrigger(db, { name: 'sessions_update_logged', on: 'sessions', after: 'update', run: logged('new') })
  await createTrigger(db, { name: 'sessions_delete_logged', on: 'sessions', after: 'delete', run: logged('old') })
}
