import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Statistics of more words. PostgreSQL takes a word that its statistics do not have for one that half of the rarest of them
 * is as frequent as: with 100, so many of 3,000,000 posts that it read all of them to find the newest 1,000 of a word that
 * none has.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  if (!isPostgres(db)) return
  for (const table of ['post_search', 'comment_search'] as const) {
    await sql`alter table ${sql.table(table)} alter column words set statistics 1000`.execute(db)
    await sql`analyze ${sql.table(table)}`.execute(db)
  }
}
