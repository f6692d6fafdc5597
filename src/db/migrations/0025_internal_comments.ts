import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** An index for the list of internal comments of the site, which are few among many. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index comments_internal on comments (created_at, id) where is_internal = 1`.execute(db)
}
