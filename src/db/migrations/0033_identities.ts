import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Stored for a person without a password until this version, and still by servers of the version before. */
const NO_PASSWORD = '!'

/**
 * Adds what people are recognised by, and lets an account have no password. A server of the version before that meets
 * null takes every password for a wrong one, as it does with `!`. SQLite changes a constraint in place since 3.53, which
 * both versions of better-sqlite3 bring.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('identities')
    .addColumn('identityId', words, (column) => column.primaryKey())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('provider', words, (column) => column.notNull())
    .addColumn('subject', words, (column) => column.notNull())
    .addColumn('email', words)
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('usedAt', words)
    .addUniqueConstraint('identities_of_provider', ['provider', 'subject'])
    .execute()
  await db.schema
    .createIndex('identities_of_user')
    .on('identities')
    .columns(['userId', 'createdAt', 'identityId'])
    .execute()
  await db.schema
    .alterTable('users')
    .alterColumn('password', (column) => column.dropNotNull())
    .execute()
  await db.updateTable('users').set({ password: null }).where('password', '=', NO_PASSWORD).execute()
}
