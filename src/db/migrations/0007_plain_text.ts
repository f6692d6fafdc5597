import { sql, type Kysely } from 'kysely'
import { withoutHtml } from '../../core/markdown/index.js'
import { plainText } from '../../core/text.js'
import type { Tables } from '../tables.js'

/** Rows read at a time. */
const PAGE = 500

/**
 * Rewrites what was stored before texts were made safe to show: raw HTML in Markdown becomes text, and titles and names
 * lose characters that nobody sees. A title or name of nothing else stays.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const plain = async (text: string) => plainText(text).trim() || text
  await rewrite(db, { table: 'posts', key: 'postId', column: 'contentMarkdown', change: withoutHtml, like: '%<%' })
  await rewrite(db, { table: 'comments', key: 'id', column: 'body', change: withoutHtml, like: '%<%' })
  await rewrite(db, { table: 'posts', key: 'postId', column: 'title', change: plain })
  await rewrite(db, { table: 'users', key: 'userId', column: 'name', change: plain })
  await rewrite(db, { table: 'boards', key: 'boardId', column: 'name', change: plain })
  await rewrite(db, { table: 'roadmaps', key: 'id', column: 'name', change: plain })
}

interface Rewriting {
  table: string
  key: string
  column: string
  change(this: void, text: string): Promise<string>
  /** Leaves out other rows. */
  like?: string
}

async function rewrite(db: Kysely<Tables>, { table, key, column, change, like = '%' }: Rewriting): Promise<void> {
  const [from, id, text] = [sql.table(table), sql.ref(key), sql.ref(column)]
  for (let last = ''; ;) {
    const { rows } = await sql<{ id: string; text: string }>`
      select ${id} as id, ${text} as text from ${from}
      where ${id} > ${last} and ${text} like ${like} order by ${id} limit ${PAGE}`.execute(db)
    for (const row of rows) {
      const changed = await change(row.text)
      if (changed !== row.text) await sql`update ${from} set ${text} = ${changed} where ${id} = ${row.id}`.execute(db)
    }
    const end = rows.at(-1)
    if (!end) return
    last = end.id
  }
}
