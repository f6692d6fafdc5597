import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Decisions of the last days are counted without those before them. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index reviews_decided on reviews ("decidedAt")`.execute(db)
}
