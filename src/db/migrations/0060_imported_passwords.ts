import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** An account may have a hash that another product made. An index finds the highest cost of them, whatever the size of the site. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index users_bcrypt_by_cost on users (substr(password, 5, 2)) where password like '$2%'`.execute(db)
}
