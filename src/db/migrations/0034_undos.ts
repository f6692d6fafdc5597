import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** What a change of many things needs to be taken back, for some minutes. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('undos')
    .addColumn('undoId', text(db), (column) => column.primaryKey())
    .addColumn('userId', text(db), (column) => column.references('users.userId').onDelete('cascade'))
    .addColumn('changes', text(db), (column) => column.notNull())
    .addColumn('expiresAt', text(db), (column) => column.notNull())
    .execute()
  await db.schema.createIndex('undos_expiresAt').on('undos').column('expiresAt').execute()
  await db.schema.createIndex('undos_userId').on('undos').column('userId').execute()
}
