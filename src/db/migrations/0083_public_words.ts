import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Posts were found by the words of what was merged into them, also where that is on a private board. Those posts leave the
 * full-text index, and the server indexes them anew.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const key = sql.ref(isPostgres(db) ? 'number' : 'rowid')
  const roots = sql`select root.number from merges inner join posts on posts."postId" = merges."postId"
    inner join boards on boards."boardId" = posts."boardId"
    inner join posts as root on root."postId" = merges."rootId" where boards.display = 0`
  await sql`insert into search_refill (kind, "after")
    select 'posts', cast(min(number) - 1 as text) from (${roots}) as found having count(*) > 0
    on conflict (kind) do update set "after" = ''`.execute(db)
  await sql`delete from post_search where ${key} in (${roots})`.execute(db)
}
