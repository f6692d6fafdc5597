import type { Kysely } from 'kysely'
import { createTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Adds second factors, and the roles that need one. The change log names a second factor by its person.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('totp')
    .addColumn('userId', words, (column) => column.primaryKey().references('users.userId').onDelete('cascade'))
    .addColumn('secret', words, (column) => column.notNull())
    .addColumn('step', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('enabledAt', words)
    .execute()
  await db.schema
    .createTable('recovery_codes')
    .addColumn('codeHash', words, (column) => column.primaryKey())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .execute()
  await db.schema.createIndex('recovery_codes_of_user').on('recovery_codes').column('userId').execute()
  await db.schema
    .alterTable('roles')
    .addColumn('require_totp', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  const logged = (row: 'new' | 'old') => `insert into change_log (topic, ref) values ('totp', ${row}."userId")`
  await createTrigger(db, { name: 'totp_insert_logged', on: 'totp', after: 'insert', run: logged('new') })
  await createTrigger(db, { name: 'totp_update_logged', on: 'totp', after: 'update', run: logged('new') })
  await createTrigger(db, { name: 'totp_delete_logged', on: 'totp', after: 'delete', run: logged('old') })
}
