import type { Kysely } from 'kysely'
import { createTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Adds API keys. The change log names a key by its hash, so that a request with a revoked key reads it anew. The times
 * of use have a table of their own, which is not logged: each use would make cached responses invalid.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('api_keys')
    .addColumn('keyId', words, (column) => column.primaryKey())
    .addColumn('keyHash', words, (column) => column.notNull().unique())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('name', words, (column) => column.notNull())
    .addColumn('permissions', words)
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('expiresAt', words, (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('api_key_uses')
    .addColumn('keyId', words, (column) => column.primaryKey().references('api_keys.keyId').onDelete('cascade'))
    .addColumn('usedAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('api_keys_of_user').on('api_keys').columns(['userId', 'createdAt', 'keyId']).execute()
  await db.schema.createIndex('api_keys_by_age').on('api_keys').columns(['createdAt', 'keyId']).execute()
  const logged = (row: 'new' | 'old') => `insert into change_log (topic, ref) values ('api_keys', ${row}."keyHash")`
  await createTrigger(db, { name: 'api_keys_insert_logged', on: 'api_keys', after: 'insert', run: logged('new') })
  await createTrigger(db, { name: 'api_keys_update_logged', on: 'api_keys', after: 'update', run: logged('new') })
  await createTrigger(db, {
    name: 'api_keys_move_logged',
    on: 'api_keys',
    after: 'update',
    when: `new."keyHash" <> old."keyHash"`,
    run: logged('old'),
  })
  await createTrigger(db, { name: 'api_keys_delete_logged', on: 'api_keys', after: 'delete', run: logged('old') })
}
