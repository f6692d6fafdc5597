import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { groupedBy } from '../core/grouped.js'
import { termsOf, type Token } from '../core/search/terms.js'
import { beginningOf, indexTokens, indexTokensWithBeginnings } from '../core/search/words.js'
import { isPostgres, PLANNED_EACH_TIME } from './dialect.js'
import type { Sorting } from './paging.js'
import type { Db, PostRow } from './tables.js'

/**
 * The words of a text as the index of an engine has them. For a search of two letters FTS5 would merge the lists of all
 * words that begin with them, so its index has the first two letters of each word as an entry. The option `prefix` takes
 * twice the space, as it does so for every entry.
 */
export const tokensOf = (db: Db, text: string, title?: string): string[] =>
  (isPostgres(db) ? indexTokens : indexTokensWithBeginnings)(text, title)

/** Writes the words of a post to the full-text index. Call it in the transaction that changes the title or the text. */
export async function indexPost(
  db: Db,
  { postId, title, contentMarkdown }: Pick<PostRow, 'postId' | 'title' | 'contentMarkdown'>,
): Promise<void> {
  const words = tokensOf(db, contentMarkdown ?? '', title)
  await (
    isPostgres(db)
      ? sql`insert into post_search (number, words) select number, array_to_tsvector(${words}::text[]) from posts where "postId" = ${postId} on conflict (number) do update set words = excluded.words`
      : sql`insert or replace into post_search (rowid, words) select number, ${words.join(' ')} from posts where "postId" = ${postId}`
  ).execute(db)
}

/** The same for posts that have their numbers, in one statement. */
export async function indexPosts(
  db: Db,
  posts: readonly Pick<PostRow, 'number' | 'title' | 'contentMarkdown'>[],
): Promise<void> {
  const words = posts.map(({ title, contentMarkdown }) => tokensOf(db, contentMarkdown ?? '', title))
  await writeWords(db, 'post_search', posts.map(({ number }, at) => ({ number, words: words[at] ?? [] }))) // prettier-ignore
}

/** Of what was merged into a post, its index has so many of the newest, and so many characters of each text. */
const MOST_MERGED = 200
export const READ = 2000

/** Only the team sees held posts, so their words are not indexed. */
const NOT_HELD = sql<SqlBool>`merges."wasHeld" = 0`
/** A search reveals the words that it matches, so words of private boards are not indexed. */
const IN_PUBLIC = sql<SqlBool>`not exists (select 1 from boards where boards."boardId" = posts."boardId" and boards.display = 0)`

/**
 * Gives posts the words of what was merged into them, so that whoever looks for a wish in other words finds it. `which` is
 * a condition on `merges`. `notHeld` is another one in the schema of an earlier version.
 */
export async function indexMerged(db: Db, which: RawBuilder<SqlBool>, notHeld = NOT_HELD): Promise<void> {
  const found = await withMerged(db, which, notHeld)
  for (let at = 0; at < found.length; at += PAGE) await indexPosts(db, found.slice(at, at + PAGE))
}

/** Returns posts that others were merged into, with the texts of those appended. */
export async function withMerged(db: Db, which: RawBuilder<SqlBool>, notHeld = NOT_HELD): Promise<Row[]> {
  const { rows } = await sql<Row & { merged: string }>`
    select root.number, root.title, root."contentMarkdown",
      posts.title || ' ' || substr(coalesce(posts."contentMarkdown", ''), 1, ${sql.lit(READ)}) as merged
    from merges cross join posts as root cross join posts
    where root."postId" = merges."rootId" and posts."postId" = merges."postId" and ${notHeld} and ${IN_PUBLIC} and ${which}
    order by merges."rootId", merges."mergedAt" desc, merges."postId"`.execute(db)
  return [...groupedBy(rows, ({ number }) => number).values()].flatMap((all) => {
    const [first] = all
    const words = all.slice(0, MOST_MERGED).map(({ merged }) => merged)
    return first ? [{ number: first.number, title: first.title, contentMarkdown: [first.contentMarkdown, ...words].join(' ') }] : [] // prettier-ignore
  })
}

/** Gives posts the words of themselves and of what is merged into them now, and no others. */
export async function indexAgain(db: Db, postIds: readonly string[]): Promise<void> {
  if (postIds.length === 0) return
  const some = await db.selectFrom('posts').select(['number', 'title', 'contentMarkdown']).where('postId', 'in', postIds).execute() // prettier-ignore
  await indexPosts(db, some)
  await indexMerged(db, sql`merges."rootId" in (${sql.join(postIds)})`)
}

/** The ids of the posts into which posts of a board were merged. */
export async function rootsOfBoard(db: Db, boardId: string): Promise<string[]> {
  const { rows } = await sql<{ rootId: string }>`
    select distinct merges."rootId" from merges inner join posts on posts."postId" = merges."postId"
    where posts."boardId" = ${boardId} order by 1`.execute(db)
  return rows.map(({ rootId }) => rootId)
}

/** Indexes posts again after the visibility of a board has changed, or after its deletion. */
export async function indexRoots(db: Db, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += PAGE) await indexAgain(db, ids.slice(at, at + PAGE))
}

type Row = Pick<PostRow, 'number' | 'title' | 'contentMarkdown'>
/** Rows of an index written in one statement. */
const PAGE = 500

/** Writes rows of a full-text index, each in place of the one before. */
export async function writeWords(
  db: Db,
  table: 'post_search' | 'comment_search',
  rows: readonly { number: number; words: readonly string[] }[],
): Promise<void> {
  const into = sql.table(table)
  const words = rows.map((row) => row.words.join(' '))
  await (
    isPostgres(db)
      ? sql`insert into ${into} (number, words)
          select number, array_to_tsvector(string_to_array(words, ' ')) from unnest(${rows.map(({ number }) => number)}::int[], ${words}::text[]) as given (number, words)
          on conflict (number) do update set words = excluded.words`
      : sql`insert or replace into ${into} (rowid, words) values ${sql.join(rows.map(({ number }, at) => sql`(${number}, ${words[at]})`))}`
  ).execute(db)
}

/** Another table that names posts, by their number or by their id: the higher, the newer is the post. */
export interface PostIndex {
  table: string
  /** Its column. */
  column: string
  /** That of `posts` with the same values, and a value lower than all of them. */
  key: 'number' | 'postId'
  lowest: 0 | ''
  /** The condition on its rows. */
  matches(this: void, value: unknown): RawBuilder<unknown>
  /** True for an index made by `rarely`. */
  isRare?: true
}

const byNumber = { key: 'number', lowest: 0 } as const

/** The full-text index. Its value is of `matchOf`. */
export const wordIndex = (db: Db): PostIndex => ({ ...byNumber, ...wordsOf(db, 'post_search') })

/** The index for rare words; see `rarely`. */
export const rareWordIndex = (db: Db): PostIndex => rarely(db, wordIndex(db))

/**
 * Makes PostgreSQL use the GIN index. For a query with hundreds of spellings, the planner estimates that most rows match,
 * and scans the table. If nothing matches, that takes seconds on a large site. A subquery hides the words from the planner,
 * and sorting by an expression rules out an ordered scan.
 */
export const rarely = <Index extends KeyIndex>(db: Db, index: Index): Index =>
  isPostgres(db) ? { ...index, isRare: true, matches: (query) => sql`words @@ (select ${query}::tsquery)` } : index

/** That of comments, by the numbers of `indexed_comments`. */
export const commentIndex = (db: Db): KeyIndex => wordsOf(db, 'comment_search')

/** Posts by their numbers, a list in JSON. */
export const numberIndex = (db: Db): PostIndex => ({
  ...wordIndex(db),
  matches: (numbers) =>
    isPostgres(db)
      ? sql`post_search.number in (select value::int from json_array_elements_text(${numbers}::json))`
      : sql`post_search.rowid in (select value from json_each(${numbers}))`,
})

/** The part of an index that finds keys. */
export type KeyIndex = Pick<PostIndex, 'table' | 'column' | 'matches' | 'isRare'>

const wordsOf = (db: Db, table: string): KeyIndex =>
  isPostgres(db)
    ? { table, column: 'number', matches: (query) => sql`words @@ ${query}::tsquery ${sql.raw(PLANNED_EACH_TIME)}` }
    : { table, column: 'rowid', matches: (query) => sql`${sql.table(table)} match ${query}` }

/** The votes of a person, whose index begins with both. */
export const voteIndex = (): PostIndex => ({
  table: 'votes',
  column: 'postId',
  key: 'postId',
  lowest: '',
  matches: (userId) => sql`votes."userId" = ${userId}`,
})

/** Matches what has all these words, or words that begin so, or other forms of them. `words` is not empty. */
export const matchOf = (db: Db, words: readonly string[]): string =>
  matchOfTerms(db, { all: words.flatMap((word) => termsOf(word).map(({ any }) => any)) })

/** What must be there: of each list one of its lists, with all of its tokens. */
type Alternatives = readonly (readonly Token[])[]

/** Matches what has all terms, and no word that is `without`. */
export function matchOfTerms(
  db: Db,
  { all, without = [] }: { all: readonly Alternatives[]; without?: readonly string[] },
): string {
  const postgres = isPostgres(db)
  const [and, or, not] = postgres ? [' & ', ' | ', ' & !'] : [' AND ', ' OR ', ' NOT ']
  const token = ({ text, isStart }: Token) => {
    if (postgres) return `'${text}'${isStart ? ':*' : ''}`
    const beginning = isStart ? beginningOf(text) : undefined
    return beginning === undefined ? `"${text}"${isStart ? '*' : ''}` : `"${beginning}"`
  }
  const joined = (parts: readonly string[], by: string) => (parts.length === 1 ? `${parts[0]}` : `(${parts.join(by)})`)
  const wanted = joined(
    all.map((any) => joined(any.map((tokens) => joined(tokens.map(token), and)), or)), // prettier-ignore
    and,
  )
  if (without.length === 0) return wanted
  return `${wanted}${not}${joined(
    without.map((text) => token({ text, isStart: false })),
    or,
  )}`
}

/** Joins queries of `matchOfTerms` with OR. They must not use `without`. */
export const matchOfAny = (db: Db, queries: readonly string[]): string => queries.join(isPostgres(db) ? ' | ' : ' OR ')

/** The keys of so many of the newest or oldest posts that an index has. With `after`, only those after it in this order. */
export function keysIn(
  { table, column: name, matches, isRare }: KeyIndex,
  value: unknown,
  { most, created, after }: Sorting & { most: number | RawBuilder<unknown>; after?: number | undefined },
): RawBuilder<{ post: number | string }> {
  const [direction, comparison] = created === 'desc' ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`]
  const column = sql.ref(`${table}.${name}`)
  const beyond = after === undefined ? sql`` : sql` and ${column} ${comparison} ${after}`
  return sql`select ${column} as post from ${sql.table(table)} where ${matches(value)}${beyond} order by ${isRare ? sql`${column} + 0` : column} ${direction} limit ${typeof most === 'number' ? sql.lit(most) : most}`
}
