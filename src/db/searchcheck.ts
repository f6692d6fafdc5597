import { sql } from 'kysely'
import { MERGED } from '../core/hidden.js'
import { MARKS } from '../core/search/words.js'
import { transaction } from './connect.js'
import { isPostgres } from './dialect.js'
import { tokensOf, withMerged } from './search.js'
import { commentsFrom, PAGE, postsFrom, type Kind } from './searchindex.js'
import type { Db } from './tables.js'

/** A text, and the number of its row in the full-text index. */
interface Entry {
  number: number
  id: string
  title?: string
  text: string
}

interface Checking {
  /** Whether to reindex wrong rows. */
  mends?: boolean
  /** Called with the share that is done, from 0 to 1. */
  onProgress?: ((part: number) => void) | undefined
}

/**
 * Counts the rows of a full-text index whose words differ from their text, and reindexes them if `mends` is set. Reads one
 * page at a time, which limits memory and lets a running server write between pages.
 */
export async function misindexed(db: Db, kind: Kind, { mends = false, onProgress }: Checking = {}): Promise<number> {
  const last = await highest(db, kind)
  let count = 0
  for (let after = -1; ;) {
    const entries = await entriesOf(db, kind, sql<boolean>`${numberOf(db, kind)} > ${after}`)
    const end = entries.at(-1)?.number
    if (end === undefined) return count
    const found = await wrongOf(db, kind, entries)
    // A text that changed between the two statements looks wrong once. It is right when read again
    const wrong = found.length === 0 ? [] : await wrongOf(db, kind, await entriesOf(db, kind, sql<boolean>`${numberOf(db, kind)} in (${sql.join(found.map(({ number }) => number))})`)) // prettier-ignore
    if (mends && wrong.length > 0) await indexAnew(db, kind, wrong)
    count += wrong.length
    onProgress?.(last === 0 ? 1 : end / last)
    after = end
  }
}

/** Counts the index rows whose text no longer exists. */
export async function leftovers(db: Db, kind: Kind): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from (${strayOf(db, kind)}) as found`.execute(db) // prettier-ignore
  return rows[0]?.count ?? 0
}

/** Deletes the index rows whose text no longer exists. */
export async function dropLeftovers(db: Db, kind: Kind): Promise<void> {
  const { index, key } = storedOf(db, kind)
  for (let isMore = true; isMore;)
    isMore = await transaction(db, async (inside) => {
      const { rows } = await sql<{ number: number }>`${strayOf(inside, kind)} limit ${sql.lit(PAGE)}`.execute(inside)
      if (rows.length === 0) return false
      await sql`delete from ${sql.table(index)} where ${sql.ref(key)} in (${sql.join(rows.map(({ number }) => number))})`.execute(inside) // prettier-ignore
      if (kind === 'posts') await inside.insertInto('row_changes').values({ topic: 'posts', ref: 'indexed' }).execute()
      return rows.length === PAGE
    })
}

/** The index of a kind, and the table that lists its rows. SQLite stores the number of words of a row, not the words. */
const storedOf = (db: Db, kind: Kind) => {
  const index = kind === 'posts' ? 'post_search' : 'comment_search'
  return isPostgres(db) ? { index, key: 'number', table: index, column: 'number' } : { index, key: 'rowid', table: `${index}_docsize`, column: 'id' } // prettier-ignore
}

const numberOf = (db: Db, kind: Kind) =>
  sql.ref(kind === 'posts' ? 'posts.number' : isPostgres(db) ? 'indexed_comments.number' : 'comments.number')

const strayOf = (db: Db, kind: Kind) => {
  const { table, column } = storedOf(db, kind)
  const stored = sql.ref(`${table}.${column}`)
  const texts =
    kind === 'posts'
      ? sql`posts where posts.number = ${stored}`
      : isPostgres(db)
        ? sql`indexed_comments inner join comments on comments.id = indexed_comments.comment_id where indexed_comments.number = ${stored}`
        : sql`comments where comments.number = ${stored}`
  return sql<{
    number: number
  }>`select ${stored} as number from ${sql.table(table)} where not exists (select 1 from ${texts})`
}

async function highest(db: Db, kind: Kind): Promise<number> {
  const from = sql.table(kind === 'posts' ? 'posts' : isPostgres(db) ? 'indexed_comments' : 'comments')
  const { rows } = await sql<{ last: number | null }>`select max(number) as last from ${from}`.execute(db)
  return rows[0]?.last ?? 0
}

/** Returns one page of texts, by number. Merged posts are left out: their words belong to the post they were merged into. */
async function entriesOf(db: Db, kind: Kind, which: ReturnType<typeof sql<boolean>>): Promise<Entry[]> {
  const read =
    kind === 'posts'
      ? sql<Entry>`select posts.number, posts."postId" as id, posts.title, coalesce(posts."contentMarkdown", '') as text from posts where ${which} and posts.is_spam <> ${sql.lit(MERGED)}`
      : sql<Entry>`select ${numberOf(db, kind)} as number, comments.id, comments.body as text
          from comments ${isPostgres(db) ? sql`inner join indexed_comments on indexed_comments.comment_id = comments.id` : sql``} where ${which}`
  return (await sql<Entry>`${read} order by number limit ${sql.lit(PAGE)}`.execute(db)).rows
}

/** Returns the entries whose index row has different words. Entries without a row are counted by `unindexed`. */
async function wrongOf(db: Db, kind: Kind, entries: readonly Entry[]): Promise<Entry[]> {
  if (entries.length === 0) return []
  const ids = entries.map(({ id }) => id)
  const merged = kind === 'posts' ? await withMerged(db, sql<boolean>`merges."rootId" in (${sql.join(ids)})`) : []
  const texts = new Map(merged.map(({ number, contentMarkdown }) => [number, contentMarkdown ?? '']))
  const expected = new Map(entries.map(({ number, title, text }) => [number, new Set(tokensOf(db, texts.get(number) ?? text, title))])) // prettier-ignore
  const wrong = await (isPostgres(db) ? differingIn(db, kind, expected) : differingBySize(db, kind, expected))
  return entries.filter(({ number }) => wrong.has(number))
}

type Expected = ReadonlyMap<number, ReadonlySet<string>>

async function differingIn(db: Db, kind: Kind, expected: Expected): Promise<Set<number>> {
  const { index } = storedOf(db, kind)
  const { rows } = await sql<{ number: number; words: string[] }>`
    select number, tsvector_to_array(words) as words from ${sql.table(index)} where number in (${sql.join([...expected.keys()])})`.execute(
    db,
  )
  return new Set(
    rows.flatMap(({ number, words }) => {
      const its = expected.get(number)
      return its && its.size === words.length && words.every((word) => its.has(word)) ? [] : [number]
    }),
  )
}

/** On SQLite, a row is correct if it contains every expected word and the number of words is as expected. */
async function differingBySize(db: Db, kind: Kind, expected: Expected): Promise<Set<number>> {
  const { index, table } = storedOf(db, kind)
  const numbers = [...expected.keys()]
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)]
  const sizes = await sql<{ number: number; size: string }>`select id as number, hex(sz) as size from ${sql.table(table)} where id between ${from} and ${to}`.execute(db) // prettier-ignore
  const words = [...new Set([...expected.values()].flatMap((its) => [...its]))]
  const found = await sql<{ word: string; numbers: string | null }>`
    select value as word, (select group_concat(rowid) from ${sql.table(index)} where ${sql.table(index)} match '"' || value || '"' and rowid between ${from} and ${to}) as numbers
    from json_each(${JSON.stringify(words)})`.execute(db)
  const missing = new Map(numbers.map((number) => [number, expected.get(number)?.size ?? 0]))
  for (const { word, numbers: list } of found.rows)
    for (const number of (list ?? '').split(',').map(Number))
      if (expected.get(number)?.has(word)) missing.set(number, (missing.get(number) ?? 0) - 1)
  return new Set(
    sizes.rows.flatMap(({ number, size }) => {
      const its = expected.get(number)
      return its && (missing.get(number) !== 0 || !sizesOf(its).includes(varintOf(size))) ? [number] : []
    }),
  )
}

/** The valid numbers of words of a row. Rows written by `0082_leaner_search` repeat beginnings that several words share. */
function sizesOf(words: ReadonlySet<string>): number[] {
  const isBeginning = (word: string) => [MARKS.beginning, MARKS.title + MARKS.beginning].some((mark) => word.startsWith(mark)) // prettier-ignore
  const isWhole = (word: string) => word.startsWith(MARKS.stem) || word.startsWith(MARKS.pair)
  const hasBeginning = (word: string) => !isWhole(word) && Array.from(word).length > (word.startsWith(MARKS.title) ? 2 : 1) // prettier-ignore
  const others = [...words].filter((word) => !isBeginning(word))
  return [words.size, others.length + others.filter(hasBeginning).length]
}

/** Decodes a SQLite varint: seven bits per byte, most significant first. */
const varintOf = (hex: string): number =>
  (hex.match(/../g) ?? []).reduce((sum, byte) => sum * 128 + (Number.parseInt(byte, 16) & 127), 0)

/** Reindexes in a transaction that reads the texts again, so a change in the meantime is not lost. */
const indexAnew = (db: Db, kind: Kind, entries: readonly Entry[]): Promise<void> =>
  transaction(db, async (inside) => {
    const ids = sql.join(entries.map(({ id }) => id))
    if (kind === 'posts') await postsFrom(inside, sql<boolean>`"postId" in (${ids})`)
    else await commentsFrom(inside, sql<boolean>`id in (${ids})`)
  })
