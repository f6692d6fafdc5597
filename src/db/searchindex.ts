import { sql } from 'kysely'
import { transaction } from './connect.js'
import { isPostgres } from './dialect.js'
import { indexMerged, indexPosts, tokensOf, writeWords } from './search.js'
import type { CommentRow, Db } from './tables.js'

/** Rows read at a time. */
export const PAGE = 500

type Text = Pick<CommentRow, 'id' | 'body'>

/** Comments to insert. On SQLite they get numbers, by which the full-text index knows them. */
export async function numbered<Comment extends object>(
  db: Db,
  comments: readonly Comment[],
): Promise<(Comment & { number?: number })[]> {
  if (isPostgres(db)) return [...comments]
  const { last } = await db.selectFrom('comments').select((eb) => eb.fn.max('number').as('last')).executeTakeFirstOrThrow() // prettier-ignore
  return comments.map((comment, at) => ({ ...comment, number: (last ?? 0) + 1 + at }))
}

/** Writes the words of comments to the full-text index. Call it in the transaction that writes them. */
export async function indexComments(db: Db, comments: readonly Text[]): Promise<void> {
  const numbers = await (isPostgres(db) ? numbersGiven : numbersIn)(
    db,
    comments.map(({ id }) => id),
  )
  await writeWords(
    db,
    'comment_search',
    comments.flatMap(({ id, body }) => {
      const number = numbers.get(id)
      return number === undefined ? [] : [{ number, words: tokensOf(db, body) }]
    }),
  )
}

/** The numbers of comments in the index of PostgreSQL. Those that have none get one. */
async function numbersGiven(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .insertInto('indexed_comments')
    .values(ids.map((id) => ({ comment_id: id })))
    .onConflict((conflict) =>
      conflict.column('comment_id').doUpdateSet((eb) => ({ comment_id: eb.ref('excluded.comment_id') })),
    ) // prettier-ignore
    .returning(['number', 'comment_id'])
    .execute()
  return new Map(rows.map((row) => [row.comment_id, row.number]))
}

/** The numbers of comments on SQLite. Those that another program wrote have none, and get one. */
async function numbersIn(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db.selectFrom('comments').select(['id', 'number']).where('id', 'in', ids).execute()
  const fresh = await numbered(db, rows.filter(({ number }) => number === null)) // prettier-ignore
  if (fresh.length > 0)
    await sql`update comments set number = value ->> 1 from json_each(${JSON.stringify(fresh.map(({ id, number }) => [id, number]))}) where comments.id = value ->> 0`.execute(db) // prettier-ignore
  return new Map([...rows, ...fresh].flatMap(({ id, number }) => (number == null ? [] : [[id, number]])))
}

const isUnindexed = {
  posts: (db: Db) =>
    isPostgres(db)
      ? sql<boolean>`number not in (select number from post_search)`
      : sql<boolean>`number not in (select rowid from post_search)`,
  comments: (db: Db) =>
    isPostgres(db)
      ? sql<boolean>`id not in (select comment_id from indexed_comments where number in (select number from comment_search))`
      : sql<boolean>`(number is null or number not in (select rowid from comment_search))`,
}

export type Kind = keyof typeof isUnindexed

/** How many rows the full-text index lacks. */
export async function unindexed(db: Db, kind: Kind): Promise<number> {
  const { count } = await db
    .selectFrom(kind)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(isUnindexed[kind](db))
    .executeTakeFirstOrThrow()
  return count
}

/** Puts the rows into the full-text index that it lacks. */
export async function indexMissing(db: Db): Promise<void> {
  for (const kind of ['posts', 'comments'] as const)
    while (
      await transaction(db, async (inside) => (await indexSome(inside, kind, isUnindexed[kind](inside))) === PAGE)
    );
}

/** Indexes some rows in the order of their keys. On PostgreSQL nobody changes them meanwhile. */
async function indexSome(db: Db, kind: Kind, which: ReturnType<(typeof isUnindexed)[Kind]>): Promise<number> {
  return (kind === 'posts' ? await postsFrom(db, which) : await commentsFrom(db, which)).length
}

/** Rows of a site that an update of the program indexes anew, in steps; the kinds that are not done yet. */
export const pendingKinds = async (db: Db): Promise<Kind[]> =>
  (await db.selectFrom('search_refill').select('kind').orderBy('kind', 'desc').execute()).map(({ kind }) => kind)

/** One step. Returns whether more follow. */
export const backfillStep = (db: Db): Promise<boolean> =>
  transaction(db, async (inside) => {
    const next = await inside.selectFrom('search_refill').selectAll().orderBy('kind', 'desc').limit(1).executeTakeFirst() // prettier-ignore
    if (!next) return false
    const { kind, after } = next
    const keys =
      kind === 'posts'
        ? (await postsFrom(inside, sql<boolean>`number > ${Number(after)}`)).map(String)
        : await commentsFrom(inside, sql<boolean>`id > ${after}`)
    const last = keys.length === PAGE ? keys.at(-1) : undefined
    await (
      last === undefined
        ? inside.deleteFrom('search_refill').where('kind', '=', kind)
        : inside.updateTable('search_refill').set({ after: last }).where('kind', '=', kind)
    ).execute()
    return true
  })

/** Indexes all comments, whatever the schema says that is left to do. */
export async function indexAllComments(db: Db): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const from: string = after
    const keys = await transaction(db, (inside) => commentsFrom(inside, sql<boolean>`id > ${from}`))
    after = keys.length === PAGE ? keys.at(-1) : undefined
  }
}

/** All steps at once. */
export async function backfill(db: Db): Promise<void> {
  while (await backfillStep(db));
}

/** Indexes some posts, and returns their numbers. */
export async function postsFrom(db: Db, which: ReturnType<(typeof isUnindexed)[Kind]>): Promise<number[]> {
  const some = await db
    .selectFrom('posts')
    .select(['number', 'title', 'contentMarkdown'])
    .where(which)
    .orderBy('number')
    .limit(PAGE)
    .$if(isPostgres(db), (query) => query.forShare())
    .execute()
  if (some.length > 0) {
    await indexPosts(db, some)
    await indexMerged(db, sql`root.number in (${sql.join(some.map(({ number }) => number))})`)
    await db.insertInto('row_changes').values({ topic: 'posts', ref: 'indexed' }).execute()
  }
  return some.map(({ number }) => number)
}

/** Indexes some comments, and returns their ids. */
export async function commentsFrom(db: Db, which: ReturnType<(typeof isUnindexed)[Kind]>): Promise<string[]> {
  const some = await db
    .selectFrom('comments')
    .select(['id', 'body'])
    .where(which)
    .orderBy('id')
    .limit(PAGE)
    .$if(isPostgres(db), (query) => query.forShare())
    .execute()
  if (some.length > 0) await indexComments(db, some)
  return some.map(({ id }) => id)
}
