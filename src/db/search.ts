import { sql, type RawBuilder } from 'kysely'
import { indexWords } from '../core/words.js'
import { transaction } from './connect.js'
import { isPostgres } from './dialect.js'
import type { Sorting } from './paging.js'
import type { Db, PostRow } from './tables.js'

/** Writes the words of a post to the full-text index. Call it in the transaction that changes the title or the text. */
export async function indexPost(
  db: Db,
  { postId, title, contentMarkdown }: Pick<PostRow, 'postId' | 'title' | 'contentMarkdown'>,
): Promise<void> {
  const words = indexWords(`${title} ${contentMarkdown ?? ''}`)
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
  const numbers = posts.map(({ number }) => number)
  const words = posts.map(({ title, contentMarkdown }) => indexWords(`${title} ${contentMarkdown ?? ''}`).join(' '))
  await (
    isPostgres(db)
      ? sql`insert into post_search (number, words)
          select number, array_to_tsvector(string_to_array(words, ' ')) from unnest(${numbers}::int[], ${words}::text[]) as given (number, words)
          on conflict (number) do update set words = excluded.words`
      : sql`insert or replace into post_search (rowid, words) values ${sql.join(numbers.map((number, at) => sql`(${number}, ${words[at]})`))}`
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
}

const byNumber = { key: 'number', lowest: 0 } as const

/** The full-text index. Its value is of `matchOf`. */
export const wordIndex = (db: Db): PostIndex =>
  isPostgres(db)
    ? { ...byNumber, table: 'post_search', column: 'number', matches: (query) => sql`words @@ ${query}::tsquery` }
    : { ...byNumber, table: 'post_search', column: 'rowid', matches: (query) => sql`post_search match ${query}` }

/** The votes of a person, whose index begins with both. */
export const voteIndex = (): PostIndex => ({
  table: 'votes',
  column: 'postId',
  key: 'postId',
  lowest: '',
  matches: (userId) => sql`votes."userId" = ${userId}`,
})

/**
 * Matches posts that have all these words, or words that begin so. A single letter matches only itself, as half of all
 * words begin with it. `words` is not empty, and no word has a space or a quotation mark.
 */
export function matchOf(db: Db, words: readonly string[]): string {
  const isPrefix = (word: string) => word.length > 1
  return isPostgres(db)
    ? words.map((word) => `'${word}'${isPrefix(word) ? ':*' : ''}`).join(' & ')
    : words.map((word) => `"${word}"${isPrefix(word) ? '*' : ''}`).join(' AND ')
}

/** The keys of so many of the newest or oldest posts that an index has. With `after`, only those after it in this order. */
export function keysIn(
  { table, column: name, matches }: PostIndex,
  value: unknown,
  { most, created, after }: Sorting & { most: number; after?: number | undefined },
): RawBuilder<{ post: number | string }> {
  const [direction, comparison] = created === 'desc' ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`]
  const column = sql.ref(`${table}.${name}`)
  const beyond = after === undefined ? sql`` : sql` and ${column} ${comparison} ${after}`
  return sql`select ${column} as post from ${sql.table(table)} where ${matches(value)}${beyond} order by ${column} ${direction} limit ${sql.lit(most)}`
}

const isUnindexed = (db: Db) =>
  isPostgres(db)
    ? sql<boolean>`number not in (select number from post_search)`
    : sql<boolean>`number not in (select rowid from post_search)`

/** How many posts the full-text index lacks. */
export async function unindexed(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('posts')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(isUnindexed(db))
    .executeTakeFirstOrThrow()
  return count
}

/** Posts read at a time. */
const PAGE = 500

/** Puts the posts into the full-text index that it lacks. */
export async function indexMissing(db: Db): Promise<void> {
  for (;;) {
    const found = await transaction(db, async (inside) => {
      const some = await inside
        .selectFrom('posts')
        .select(['number', 'title', 'contentMarkdown'])
        .where(isUnindexed(inside))
        .limit(PAGE)
        .execute()
      if (some.length === 0) return 0
      await indexPosts(inside, some)
      await inside.insertInto('row_changes').values({ topic: 'posts', ref: 'indexed' }).execute()
      return some.length
    })
    if (found < PAGE) return
  }
}
