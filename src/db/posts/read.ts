import { sql, type RawBuilder } from 'kysely'
import { compiled, compiledPage, taggedQuery } from '../cache/compiled.js'
import type { Topic } from '../cache/dependencies.js'
import { boundOf } from '../dialect.js'
import type { Page, Period, Sorting } from '../paging.js'
import { authorsOf, idsOf, NAMES, OTHERS, type PostView } from './row.js'
import { numbersWith } from '../search.js'
import type { Db, PostRow } from '../tables.js'

/** Those by votes, comments and trend show the newest first where these are equal. */
export const SORTS = ['newest', 'oldest', 'votes', 'discussed', 'trending'] as const

/** Which posts, and in which order. */
export interface PostFilter extends Period {
  /** Ids, each once; none is any board, and posts without one. */
  boards: readonly string[]
  roadmap: string | undefined
  author: string | undefined
  /** Whether posts of private boards are among them. */
  hidden: boolean
  /** All of them are in the title or the text; undefined is any text, and an empty list no post. */
  words?: readonly string[] | undefined
  sort: (typeof SORTS)[number]
}

/**
 * Of the posts with some words, or of a period in another order than by time, a list has so many of the newest: a word
 * or a period can have most posts, and no index has them in that order.
 */
export const MOST_FOUND = 1000

export function listPosts(db: Db, filter: PostFilter, page: Page<PostRow>): Promise<PostView[]> {
  if (filter.words || isLimited(filter)) return listFound(db, filter, page)
  const { boards, roadmap, author, hidden, sort } = filter
  const name = `listPosts ${sort} ${hidden}`
  const { moves } = ORDERS[sort]
  const query = ({ limit, offset = 0, after }: Page<PostRow>) => {
    const bound = boundOf(db, limit + offset)
    return taggedQuery(
      db,
      `${name} ${bound}`,
      { boards, roadmap, author, limit, offset, most: limit + offset, ...(after && cursorOf(after)) },
      (given) => {
        const slice = { ...given, bound, after: after && cursorOf(given as Cursor) }
        const rows = pageOfPosts({ ...given, hidden, sort }, slice)
        return {
          compile: () =>
            sql<PostView>`${NAMES} from (${rows}) as posts ${OTHERS} order by ${orderBy(sort)}`.compile(db),
        }
      },
      { users: authorsOf, votes: idsOf, comments: idsOf, ...(moves && { [moves]: undefined }) },
    )
  }
  const list = {
    name: `${name} ${boards.join()} ${roadmap} ${author}`,
    order: ['posts', 'boards', ...(moves ? [moves] : [])] as Topic[],
    query,
    cursor: cursorOf,
  }
  return compiledPage<PostView>(db, list, page as Page<PostView>) // a cursor needs no names
}

type Cursor = Pick<PostRow, 'votesCount' | 'commentsCount' | 'trending' | 'createdAt' | 'postId'>

const cursorOf = ({ votesCount, commentsCount, trending, createdAt, postId }: Cursor): Cursor => ({
  votesCount,
  commentsCount,
  trending,
  createdAt,
  postId,
})

/**
 * The rows of a page, from ranges of an index that have the order already: one range, or one for each board, merged.
 */
function pageOfPosts(filter: PostFilter, { limit, offset, most, bound, after }: Slice): RawBuilder<PostRow> {
  const order = orderBy(filter.sort)
  const ranges = rangesOf(filter).map((range) => {
    const conditions = [
      ...Object.entries(range).map(([column, value]) => sql`${operand(range, column)} = ${value}`),
      ...(after ? [isAfter(filter, after)] : []),
    ]
    return sql<PostRow>`select * from posts${conditions.length > 0 ? sql` where ${sql.join(conditions, sql` and `)}` : sql``} order by ${order}`
  })
  const [only, ...others] = ranges
  if (only && others.length === 0 && bound === undefined) return sql`${only} limit ${limit} offset ${offset}`
  const enough = bound === undefined ? sql`${most}` : sql.lit(bound)
  const parts = ranges.map((range) => sql`select * from (${range} limit ${enough}) as part`)
  return sql`select * from (${sql.join(parts, sql` union all `)}) as posts order by ${order} limit ${limit} offset ${offset}`
}

/**
 * SQLite has no statistics, so of two indexes that fit it may take that of all public posts, and read most of them to
 * find those of a board or an author. It has no index of a sum.
 */
const operand = (range: Range, column: string): RawBuilder<unknown> =>
  column === 'display' && (range.boardId !== undefined || range.userId !== undefined)
    ? sql`posts.display + 0`
    : sql.ref(column)

/** How many rows after how many, or after which; `most` is both numbers together, and `bound` a constant from there on. */
interface Slice {
  limit: number
  offset: number
  most: number
  bound: number | undefined
  after: Cursor | undefined
}

type Range = Partial<Pick<PostRow, 'boardId' | 'roadmap_id' | 'userId' | 'display'>>

function rangesOf({ boards, roadmap, author, hidden }: PostFilter): Range[] {
  const range: Range = {
    ...(roadmap !== undefined && { roadmap_id: roadmap }),
    ...(author !== undefined && { userId: author }),
    ...(!hidden && { display: 1 }),
  }
  if (boards.length > 0) return boards.map((boardId) => ({ ...range, boardId }))
  if (hidden && author === undefined) return [0, 1].map((display) => ({ ...range, display }))
  return [range]
}

interface Order {
  by: readonly (keyof Cursor)[]
  direction: 'asc' | 'desc'
  /** A change of any such row can move a post: besides changes of posts and boards, which always can. */
  moves?: 'votes' | 'comments'
}

const AGE = ['createdAt', 'postId'] as const

const ORDERS: Record<PostFilter['sort'], Order> = {
  newest: { by: AGE, direction: 'desc' },
  oldest: { by: AGE, direction: 'asc' },
  votes: { by: ['votesCount', ...AGE], direction: 'desc', moves: 'votes' },
  discussed: { by: ['commentsCount', ...AGE], direction: 'desc', moves: 'comments' },
  trending: { by: ['trending', ...AGE], direction: 'desc', moves: 'votes' },
}

const column = (name: keyof Cursor) => sql`posts.${sql.ref(name)}`

function orderBy(sort: PostFilter['sort']): RawBuilder<unknown> {
  const { by, direction } = ORDERS[sort]
  return sql.join(by.map((name) => sql`${column(name)} ${sql.raw(direction)}`))
}

function isAfter({ sort }: PostFilter, after: Cursor): RawBuilder<boolean> {
  const { by, direction } = ORDERS[sort]
  const values = sql.join(by.map((name) => sql`${after[name]}`))
  return sql`(${sql.join(by.map(column))}) ${direction === 'desc' ? sql`<` : sql`>`} (${values})`
}

/** How many posts the filter lets through: from counts that the database keeps, or, of one author, from the index. */
export async function postTotal(db: Db, filter: PostFilter): Promise<number> {
  const { boards, roadmap, author, hidden } = filter
  if (filter.words || isLimited(filter)) return countFound(db, filter)
  if (author !== undefined) return countOfAuthor(db, filter)
  const given = { boards: boards.length > 0 ? boards : ['*'], roadmap: roadmap ?? '*', displays: hidden ? [0, 1] : [1] }
  const [row] = await compiled(db, 'postTotal', given, (places) =>
    db
      .selectFrom('post_counts')
      .select((eb) => eb.fn.sum<number | null>('value').as('total'))
      .where('board', 'in', places.boards)
      .where('roadmap', '=', places.roadmap)
      .where('display', 'in', places.displays),
  )
  return row?.total ?? 0
}

async function countOfAuthor(db: Db, filter: PostFilter): Promise<number> {
  const counts = await Promise.all(
    rangesOf(filter).map((range) =>
      db
        .selectFrom('posts')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where((eb) => eb.and(range))
        .executeTakeFirstOrThrow(),
    ),
  )
  return counts.reduce((sum, { count }) => sum + count, 0)
}

const isLimited = ({ since, until }: Period): boolean => since !== undefined || until !== undefined

/** A page of posts that have some words, or are of a period. */
async function listFound(db: Db, filter: PostFilter, { limit, offset = 0, after }: Page<PostRow>): Promise<PostView[]> {
  const found = foundOf(db, filter, { most: limit + offset, after })
  if (!found) return []
  const order = orderBy(filter.sort)
  const page = sql`select posts.* ${found}${after ? sql` and ${isAfter(filter, after)}` : sql``} order by ${order} limit ${limit} offset ${offset}`
  const { rows } = await sql<PostView>`${NAMES} from (${page}) as posts ${OTHERS} order by ${order}`.execute(db)
  return rows
}

async function countFound(db: Db, filter: PostFilter): Promise<number> {
  const found = foundOf(db, filter, {})
  if (!found) return 0
  const { rows } = await sql<{ count: number }>`select count(*) as count ${found}`.execute(db)
  return rows[0]?.count ?? 0
}

/** What a list reads its page from, as the end of a statement; undefined where nothing can be in it. */
function foundOf(
  db: Db,
  filter: PostFilter,
  slice: { most?: number; after?: Cursor | undefined },
): RawBuilder<unknown> | undefined {
  if (!filter.words) return ofPeriod(filter, slice)
  return filter.words.length === 0
    ? undefined
    : foundBy(db, filter.words, filter, { most: MOST_FOUND, created: 'desc' })
}

/** Posts of a period: by time as many as are needed, in another order the newest, which are sorted then. */
function ofPeriod(filter: PostFilter, { most, after }: { most?: number; after?: Cursor | undefined }) {
  const isByTime = filter.sort === 'newest' || filter.sort === 'oldest'
  const order = orderBy(isByTime ? filter.sort : 'newest')
  // A count of all needs no order
  const sorted = isByTime && most === undefined ? sql`` : sql`order by ${order} limit ${isByTime ? most : MOST_FOUND}`
  const parts = rangesOf(filter).map((range) => {
    const conditions = [
      ...Object.entries(range).map(([name, value]) => sql`${operand(range, name)} = ${value}`),
      ...timesOf(filter),
      ...(after && isByTime ? [isAfter(filter, after)] : []),
    ]
    return sql`select * from (select * from posts where ${sql.join(conditions, sql` and `)} ${sorted}) as part`
  })
  const all = sql`select * from (${sql.join(parts, sql` union all `)}) as posts`
  return isByTime ? sql`from (${all}) as posts where true` : sql`from (${all} ${sorted}) as posts where true`
}

const timesOf = ({ since, until }: Period): RawBuilder<unknown>[] => [
  ...(since === undefined ? [] : [sql`posts."createdAt" >= ${since}`]),
  ...(until === undefined ? [] : [sql`posts."createdAt" < ${until}`]),
]

/** Posts that contain all these words. `words` is not empty. */
export async function searchPosts(
  db: Db,
  words: readonly string[],
  { created, ...filter }: Omit<PostFilter, 'sort' | 'words'> & Sorting,
  { limit, offset = 0, after }: Page<Pick<PostRow, 'number'>>,
): Promise<PostView[]> {
  const direction = sql.raw(created)
  const found = sql`select posts.* ${foundBy(db, words, filter, { created, after: after?.number })} order by found.number ${direction} limit ${limit} offset ${offset}`
  const query = sql<PostView>`${NAMES} from (${found}) as posts ${OTHERS} order by posts.number ${direction}`
  return (await query.execute(db)).rows
}

function foundBy(
  db: Db,
  words: readonly string[],
  { boards, roadmap, author, hidden, since, until }: Omit<PostFilter, 'sort' | 'words'>,
  range: Parameters<typeof numbersWith>[2],
): RawBuilder<unknown> {
  const conditions = [
    ...(boards.length > 0 ? [sql`posts."boardId" in (${sql.join(boards)})`] : []),
    ...(roadmap === undefined ? [] : [sql`posts.roadmap_id = ${roadmap}`]),
    ...(author === undefined ? [] : [sql`posts."userId" = ${author}`]),
    ...(hidden ? [] : [sql`posts.display = 1`]),
    ...timesOf({ since, until }),
  ]
  // A cross join makes SQLite begin with the numbers
  return sql`from (${numbersWith(db, words, range)}) as found cross join posts
    where ${sql.join([sql`posts.number = found.number`, ...conditions], sql` and `)}`
}
