import type { Kysely } from 'kysely'
import { createTrigger, dropTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

const LOGGED = [
  'name',
  'username',
  'email',
  'password',
  'avatar',
  'isVerified',
  'isOwner',
  'isBlocked',
  'notes',
  'language',
  'sessions',
  'createdAt',
  'updatedAt',
]

/** The language of a person's pages and mails. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('users').addColumn('language', text(db)).execute()
  await dropTrigger(db, { name: 'users_update_logged', on: 'users' })
  await createTrigger(db, {
    name: 'users_update_logged',
    on: 'users',
    after: `update of ${LOGGED.map((column) => `"${column}"`).join(', ')}`,
    run: `insert into change_log (topic, ref) values ('users', new."userId")`,
  })
}
