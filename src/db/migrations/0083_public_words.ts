import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Removes index entries that contain words of merged posts on private boards. Anyone could find the post by these words.
 * The server then indexes these posts again.
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
