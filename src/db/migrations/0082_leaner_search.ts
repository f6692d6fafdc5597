import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Makes the full-text index of SQLite smaller. FTS5 kept the first two and three letters of every entry, also of stems and
 * pairs of letters, which nobody types. The index now has the first two letters of each word as an entry. The number of a
 * comment moves into its row, because a table of numbers took more space than the words. One transaction does all of it, so
 * a search that runs meanwhile uses the former index.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  if (isPostgres(db)) return
  await makeAgain(db, 'post_search')
  await makeAgain(db, 'comment_search')
  await sql`alter table comments add column number integer`.execute(db)
  await sql`drop trigger if exists comments_update_logged`.execute(db) // it is made again; nothing that is shown changes
  await sql`update comments set number = (select number from indexed_comments where comment_id = comments.id)`.execute(db) // prettier-ignore
  await sql`create unique index comments_by_number on comments (number)`.execute(db)
  await sql`drop table indexed_comments`.execute(db)
  // A server of the version before reads it
  await sql`create view indexed_comments as select number, id as comment_id from comments where number is not null`.execute(db) // prettier-ignore
}

/** Takes the entries from the former table, as that also has those of posts that were merged. */
async function makeAgain(db: Kysely<Tables>, name: 'post_search' | 'comment_search'): Promise<void> {
  const table = sql.table(name)
  await sql`create temp table former_texts as select rowid as doc from ${table}`.execute(db) // a text of an emoji has no entries
  await sql`create virtual table temp.index_entries using fts5vocab ('main', ${table}, 'instance')`.execute(db)
  await sql`create temp table indexed_texts (doc integer primary key, words)`.execute(db)
  await sql`insert into temp.indexed_texts select doc, group_concat(term, ' ') as words from (
      select doc, case
        when substr(term, 1, 1) in ('≈', '⁀') or length(term) = 1 then term
        when substr(term, 1, 1) <> '¶' then term || ' ›' || substr(term, 1, 2)
        when length(term) > 2 then term || ' ¶›' || substr(term, 2, 2)
        else term end as term
      from index_entries
    ) group by doc`.execute(db)
  await sql`drop table index_entries`.execute(db)
  await sql`drop table ${table}`.execute(db)
  await sql`create virtual table ${table} using fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')`.execute(db) // prettier-ignore
  await sql`insert into ${table} (rowid, words) select former_texts.doc, coalesce(words, '') from former_texts left join indexed_texts on indexed_texts.doc = former_texts.doc order by 1`.execute(db) // prettier-ignore
  await sql`drop table former_texts`.execute(db)
  await sql`drop table indexed_texts`.execute(db)
}
