import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Raises the statistics target of the word columns. For a word without statistics, PostgreSQL assumes half the frequency of
 * the rarest word that has them. With the default target of 100, it expected 3,200 of 3,000,000 posts to have an unknown
 * word, and scanned all of them instead of using the index.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  if (!isPostgres(db)) return
  for (const table of ['post_search', 'comment_search'] as const) {
    await sql`alter table ${sql.table(table)} alter column words set statistics 1000`.execute(db)
    await sql`analyze ${sql.table(table)}`.execute(db)
  }
}
