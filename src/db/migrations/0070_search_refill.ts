import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Posts and comments are indexed anew, by rows of a table that servers of earlier versions do not know: one that still
 * ran took the rows of `search_backfill`, indexed with the forms of words that it knows, and deleted them. That table
 * stays for such servers, and is empty.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('search_refill')
    .ifNotExists()
    .addColumn('kind', words, (column) => column.primaryKey())
    .addColumn('after', words, (column) => column.notNull())
    .execute()
  for (const kind of ['posts', 'comments'] as const)
    await sql`insert into search_refill (kind, "after") select ${sql.lit(kind)}, '' where exists (select 1 from ${sql.table(kind)})
      on conflict (kind) do update set "after" = excluded."after"`.execute(db)
  await sql`delete from search_backfill`.execute(db)
}
