import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Posts and comments are indexed anew, in steps: the index has other forms of words of more languages since. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const kind of ['posts', 'comments'] as const)
    await sql`insert into search_backfill (kind, "after") select ${sql.lit(kind)}, '' where exists (select 1 from ${sql.table(kind)})
      on conflict (kind) do update set "after" = excluded."after"`.execute(db)
}
