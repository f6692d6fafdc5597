import { setImmediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { compiled } from '../cache/compiled.js'
import type { Db, PostRow } from '../tables.js'
import type { PostView } from './row.js'

/** Bytes of a text that a list reads with its row. */
const SHORT = 8192
/** Bytes of texts that are read in one turn of the event loop: SQLite reads a megabyte in some ten milliseconds. */
const MOST = 1_000_000

/** A row of a list. The text of a long post is null, and `bytes` is its length; 0 where the row has the text. */
export type ListedRow = PostView & { bytes: number }

/** Every column but the text. A new one does not compile before it is here. */
const COLUMNS: Readonly<Record<Exclude<keyof PostRow, 'contentMarkdown'>, true>> = {
  postId: true,
  number: true,
  title: true,
  slug: true,
  slugId: true,
  userId: true,
  boardId: true,
  roadmap_id: true,
  votesCount: true,
  commentsCount: true,
  importedVotes: true,
  pinned: true,
  locked: true,
  trending: true,
  display: true,
  hidesVoters: true,
  is_spam: true,
  createdAt: true,
  updatedAt: true,
}

/** The columns of a row of `posts`, without a long text. */
export const LISTED: RawBuilder<unknown> = sql.raw(
  `${Object.keys(COLUMNS)
    .map((name) => `posts."${name}"`)
    .join(', ')},
    case when octet_length(posts."contentMarkdown") > ${SHORT} then null else posts."contentMarkdown" end as "contentMarkdown",
    case when octet_length(posts."contentMarkdown") > ${SHORT} then octet_length(posts."contentMarkdown") else 0 end as bytes`,
)

/** Reads the long texts of a list, some at a time, so that other requests run in between. */
export async function withLongTexts<Row extends ListedRow>(db: Db, rows: Row[]): Promise<Row[]> {
  if (rows.every(({ bytes }) => bytes === 0)) return rows
  const texts = new Map<string, string | null>()
  for (const ids of batchesOf(rows)) {
    await setImmediate()
    const found = await compiled(db, 'textsOf', { ids }, (given) =>
      db.selectFrom('posts').select(['postId', 'contentMarkdown']).where('postId', 'in', given.ids),
    )
    for (const { postId, contentMarkdown } of found) texts.set(postId, contentMarkdown)
  }
  return rows.map(
    (row) => (row.bytes === 0 ? row : { ...row, contentMarkdown: texts.get(row.postId) ?? null }), // null if it has just been deleted
  )
}

/** The ids of posts with long texts. Each batch has at most `MOST` bytes, or one text. */
function batchesOf(rows: readonly ListedRow[]): string[][] {
  const batches: string[][] = []
  let room = 0
  for (const { postId, bytes } of rows) {
    if (bytes === 0) continue
    if (bytes > room) {
      batches.push([])
      room = MOST
    }
    batches.at(-1)?.push(postId)
    room -= bytes
  }
  return batches
}
