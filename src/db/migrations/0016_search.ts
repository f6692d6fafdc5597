import { sql, type Kysely } from 'kysely'
import { indexWords } from '../../core/search/words.js'
import { createTrigger, isPostgres } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Posts read at a time. */
const PAGE = 500

/**
 * Adds the full-text index of posts, by their number. Its words come from `indexWords`, so that both engines find the same:
 * the index of SQLite splits at spaces only, and that of PostgreSQL gets the words one by one. `db/posts.ts` writes it.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  if (isPostgres(db)) {
    await sql`create table post_search (number integer primary key, words tsvector not null)`.execute(db)
    await sql`create index post_search_by_word on post_search using gin (words)`.execute(db)
  } else
    await sql`create virtual table post_search using fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii', prefix = '2 3')`.execute(db) // prettier-ignore
  const key = isPostgres(db) ? 'number' : 'rowid'
  await createTrigger(db, {
    name: 'posts_unsearched',
    on: 'posts',
    after: 'delete',
    run: `delete from post_search where ${key} = old.number`,
  })
  for (let last = 0; ;) {
    const { rows } = await sql<Pick<Tables['posts'], 'title' | 'contentMarkdown'> & { number: number }>`
      select number, title, "contentMarkdown" from posts where number > ${last} order by number limit ${PAGE}`.execute(
      db,
    )
    for (const { number, title, contentMarkdown } of rows) {
      const words = indexWords(`${title} ${contentMarkdown ?? ''}`)
      await (
        isPostgres(db)
          ? sql`insert into post_search (number, words) values (${number}, array_to_tsvector(${words}::text[]))`
          : sql`insert into post_search (rowid, words) values (${number}, ${words.join(' ')})`
      ).execute(db)
    }
    const end = rows.at(-1)
    if (!end) return
    last = end.number
  }
}
