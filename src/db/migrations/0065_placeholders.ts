import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Finds what an import calls a person; triggers count posts and votes that get another author. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`create index imported_people on imported_rows ("rowId") where kind = 'person'`.execute(db)
}
