import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Users may have bcrypt hashes of other products. The index finds their highest cost. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index users_bcrypt_by_cost on users (substr(password, 5, 2)) where password like '$2%'`.execute(db)
}
