import { sql, type RawBuilder } from 'kysely'
import { compiled, compiledPage, taggedQuery } from '../cache/compiled.js'
import { widened } from '../cache/dependencies.js'
import { boundOf } from '../dialect.js'
import type { Direction, Page } from '../paging.js'
import type { Db, PostRow } from '../tables.js'
import {
  changedBy,
  conditionsOf,
  conditionsOn,
  hasTimes,
  keysOf,
  leadOf,
  rangesOf,
  type Conditions,
  type PostFilter,
} from './filter.js'
import { CURSOR, cursorOf, isAfter, isByTime, orderBy, orderedBy, ORDERS, type Cursor, type Sort } from './order.js'
import { LISTED, withLongTexts, type ListedRow } from './longtexts.js'
import { authorsOf, BESIDE, idsOf, OTHERS, type PostView } from './row.js'

/**
 * Of the posts with some words, or of a period in another order than by time, a list has so many of the newest: a word
 * or a period can have most posts, and no index has them in that order.
 */
export const MOST_FOUND = 1000

/** Whether a list has only so many of the newest. */
export const isLimited = (conditions: Conditions, sort: Sort): boolean =>
  leadOf(conditions) !== undefined || (hasTimes(conditions) && !isByTime(sort))

/** What a list reads of its posts. */
interface Read<Row> {
  /** Begins the names of its queries. */
  name: string
  columns: RawBuilder<Row>
}

const WHOLE: Read<ListedRow> = { name: 'listPosts', columns: sql<ListedRow>`${LISTED}, ${sql.raw(BESIDE)}` }

/** The columns that decide who gets news of a post: no texts, and no names. */
export type ReachedPost = Cursor &
  Pick<PostRow, 'userId' | 'boardId' | 'roadmap_id' | 'is_spam' | 'display' | 'hidesVoters'> &
  Pick<PostView, 'view_voters' | 'hides_votes' | 'roadmapDisplay'>

const REACHED: Read<ReachedPost> = {
  name: 'listReached',
  columns: sql<ReachedPost>`${sql.join(CURSOR.map((name) => sql`posts.${sql.ref(name)}`))},
    posts."userId", posts."boardId", posts.roadmap_id, posts.is_spam, posts.display, posts."hidesVoters",
    board.view_voters, board.hides_votes, roadmap.display as "roadmapDisplay"`,
}

/** A page of the posts that pass a filter. Where an index leads to them, it is counted too. */
export const listPosts = async (
  db: Db,
  filter: PostFilter,
  sort: Sort,
  page: Page<Cursor>,
): Promise<(PostView & Partial<Counted>)[]> =>
  withLongTexts(db, await readPage(db, filter, { sort, read: WHOLE }, page))

/** As `listPosts`, with only the columns that decide who gets news of the posts. */
export const listReached = (db: Db, filter: PostFilter, sort: Sort, page: Page<Cursor>): Promise<ReachedPost[]> =>
  readPage(db, filter, { sort, read: REACHED }, page)

async function readPage<Row extends Cursor & Pick<PostRow, 'userId'>>(
  db: Db,
  filter: PostFilter,
  { sort, read }: { sort: Sort; read: Read<Row> },
  page: Page<Cursor>,
): Promise<Row[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return []
  const name = `${read.name} ${sort}`
  const limited = isLimited(conditions, sort)
  const order = [...changedBy(conditions), ...ORDERS[sort].changedBy]
  const refs = widened<PostRow>({ users: authorsOf, votes: idsOf, comments: idsOf }, order)
  const query = ({ limit, offset = 0, after }: Page<Cursor>) => {
    const bound = limited ? undefined : boundOf(db, limit + offset)
    return taggedQuery(
      db,
      `${name} ${bound}`,
      { ...conditions, limit, offset, most: limit + offset, ...(after && cursorOf(after)) },
      (given) => {
        const slice = { ...given, bound, after: after && cursorOf(given as Cursor) }
        const beside = leadOf(conditions) ? TOTALS : undefined
        return viewsOf(db, rowsOf(db, given, sort, slice), orderBy(sort), beside, read.columns)
      },
      refs,
    )
  }
  if (limited) return (await db.executeQuery<Row>(query(page))).rows
  const list = {
    name: `${name} ${JSON.stringify(conditions)}`,
    order,
    query,
    cursor: cursorOf,
  }
  return compiledPage<Row>(db, list, page as Page<Row>) // a cursor needs no names
}

function rowsOf(db: Db, conditions: Conditions, sort: Sort, slice: Slice): RawBuilder<PostRow> {
  if (leadOf(conditions)) return pageOfLed(db, conditions, sort, slice)
  return isLimited(conditions, sort) ? pageOfNewest(conditions, sort, slice) : pageOfRanges(conditions, sort, slice)
}

export const viewsOf = (
  db: Db,
  rows: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  beside: RawBuilder<unknown> = sql``,
  columns: RawBuilder<unknown> = WHOLE.columns,
) => ({
  compile: () =>
    sql<ListedRow>`select ${columns}${beside} from (${rows}) as posts ${OTHERS} order by ${order}`.compile(db),
})

/** What a page that an index leads to has with each row. */
export const TOTALS = sql`, posts.total, posts.looked`

/** How many rows after how many, or after which; `most` is both numbers together, and `bound` a constant from there on. */
interface Slice {
  limit: number
  offset: number
  most: number
  bound: number | undefined
  after: Cursor | undefined
}

/** The rows of a page, from ranges of an index that have the order already: one range, or several, merged. */
function pageOfRanges(
  conditions: Conditions,
  sort: Sort,
  { limit, offset, most, bound, after }: Slice,
): RawBuilder<PostRow> {
  const order = orderBy(sort)
  const beyond = after ? sql` and ${isAfter(sort, after)}` : sql``
  const found = rangesOf(conditions)
  const isOne = found.length === 1 && bound === undefined
  const columns = isOne ? sql`*` : orderedBy(sort)
  const ranges = found.map(
    ({ where, nulls }) =>
      sql<PostRow>`select ${columns} from posts where ${where}${beyond} order by ${orderBy(sort, 'posts', nulls)}`,
  )
  const [only] = ranges
  if (only && isOne) return sql`${only} limit ${limit} offset ${offset}`
  return wholeRows(
    sql`${merged(ranges, order, bound === undefined ? sql`${most}` : sql.lit(bound))} limit ${limit} offset ${offset}`,
  )
}

/** The rows of a page of which the ids are known. To find the page, an index was enough, or a part of each row. */
const wholeRows = (page: RawBuilder<unknown>) =>
  sql<PostRow>`select posts.* from (${page}) as page cross join posts where posts."postId" = page."postId"`

/** Rows of several ranges in one order, of each so many. */
export const merged = (ranges: readonly RawBuilder<PostRow>[], order: RawBuilder<unknown>, most: RawBuilder<unknown>) =>
  sql<PostRow>`select * from (${sql.join(
    ranges.map((range) => sql`select * from (${range} limit ${most}) as part`),
    sql` union all `,
  )}) as posts order by ${order}`

/** What a page that an index leads to has with each row, as it looks at all posts of its list. */
export interface Counted {
  /** Posts in the list. */
  total: number
  /** The posts in the index, up to one more than a list reads. */
  looked: number
}

/** The rows of a page, sorted from the newest that an index leads to; sorting and counting read only what they need. */
function pageOfLed(
  db: Db,
  conditions: Conditions,
  sort: Sort,
  { limit, offset, after }: Slice,
): RawBuilder<PostRow & Counted> {
  const { keys, lowest, rest } = ledFrom(db, conditions, { created: 'desc', most: MOST_FOUND + 1 })
  const columns = sql.join(CURSOR.map((name) => sql`posts.${sql.ref(name)}`))
  const beyond = after ? sql`where ${isAfter(sort, after, 'passing')}` : sql``
  return sql`select posts.*, page.total, page.looked from (
      with found as materialized (${keys}),
      passing as materialized (
        select posts.number, ${columns} from found cross join posts where ${rest}
        and found.post > (select case when count(*) > ${sql.lit(MOST_FOUND)} then min(found.post) else ${sql.lit(lowest)} end from found))
      select passing.number, (select count(*) from passing) as total, (select count(*) from found) as looked
      from passing ${beyond} order by ${orderBy(sort, 'passing')} limit ${limit} offset ${offset}
    ) as page cross join posts where posts.number = page.number`
}

/** The newest posts that pass the filters by column and by time, at most `most` of them. */
export function newestOf(conditions: Conditions, most: number, columns = sql`*`): RawBuilder<PostRow> {
  const ranges = rangesOf(conditions).map(
    ({ where, nulls }) =>
      sql<PostRow>`select ${columns} from posts where ${where} order by ${orderBy('newest', 'posts', nulls)}`,
  )
  return sql`${merged(ranges, orderBy('newest'), sql.lit(most))} limit ${sql.lit(most)}`
}

/** Sorts the newest posts of a period, and returns one page. */
function pageOfNewest(conditions: Conditions, sort: Sort, { limit, offset, after }: Slice): RawBuilder<PostRow> {
  const beyond = after ? sql`where ${isAfter(sort, after)}` : sql``
  return wholeRows(
    sql`select * from (${newestOf(conditions, MOST_FOUND, orderedBy(sort))}) as posts ${beyond} order by ${orderBy(sort)} limit ${limit} offset ${offset}`,
  )
}

/** Posts that an index of another table leads to, as the end of a statement. A cross join makes SQLite begin there. */
export function ledBy(db: Db, conditions: Conditions, slice: Parameters<typeof keysOf>[2]): RawBuilder<unknown> {
  const { keys, rest } = ledFrom(db, conditions, slice)
  return sql`(${keys}) as found cross join posts where ${rest}`
}

/** Keys of posts that an index of another table leads to, and when a post of `found` passes the other filters. */
export function ledFrom(db: Db, conditions: Conditions, slice: Parameters<typeof keysOf>[2]) {
  const lead = leadOf(conditions)
  if (!lead) throw new Error('No filter leads to the posts.')
  const { name, index, value } = lead
  const found = index(db)
  const { lowest, key: column } = found
  const key = sql.ref(`posts.${column}`)
  const rest = [sql`${key} = found.post`, ...conditionsOn(db, conditions, name)]
  return { keys: keysOf(found, value, slice), key, lowest, rest: sql.join(rest, sql` and `) }
}

/** Posts with the words that a search looks at, for one page: a word can be in most of them. */
const MOST_SEARCHED = 5000

/**
 * Those that pass a filter with words, by number. `isCapped` tells of a page that is not full whether there are more
 * posts with the words, which were not looked at.
 */
export async function searchPosts(
  db: Db,
  filter: PostFilter,
  created: Direction,
  { limit, offset = 0, after }: Page<Pick<PostRow, 'number'>>,
): Promise<{ rows: PostView[]; isCapped: boolean }> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return { rows: [], isCapped: false }
  const place = { ...conditions, ...(after && { after: after.number }) }
  const slice = (given: { after?: number }, most = MOST_SEARCHED) => ({ created, most, after: given.after })
  const rows = await compiled(db, `searchPosts ${created}`, { ...place, limit, offset }, (given) => {
    const order = sql`posts.number ${sql.raw(created)}`
    const page = sql`order by found.post ${sql.raw(created)} limit ${given.limit} offset ${given.offset}`
    return viewsOf(db, sql`select posts.* from ${ledBy(db, given, slice(given))} ${page}`, order)
  })
  if (rows.length === limit) return { rows: await withLongTexts(db, rows), isCapped: false }
  const [looked] = await compiled(
    db,
    `searched ${created}`,
    place,
    (given) => {
      const { keys } = ledFrom(db, given, slice(given, MOST_SEARCHED + 1))
      return { compile: () => sql<{ count: number }>`select count(*) as count from (${keys}) as found`.compile(db) }
    },
    widened({ votes: [], comments: [] }, changedBy(conditions)),
  )
  return { rows: await withLongTexts(db, rows), isCapped: (looked?.count ?? 0) > MOST_SEARCHED }
}

/** The post that a page is to come after; undefined where it does not pass the filter. */
export async function postAtCursor(db: Db, filter: PostFilter, postId: string): Promise<PostRow | undefined> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return undefined
  const [post] = await compiled(
    db,
    'postAtCursor',
    { ...conditions, postId },
    ({ postId: given, ...where }) => {
      const passes = [sql`posts."postId" = ${given}`, ...conditionsOn(db, where)]
      return { compile: () => sql<PostRow>`select * from posts where ${sql.join(passes, sql` and `)}`.compile(db) }
    },
    widened({ votes: [postId], comments: [postId] }, changedBy(conditions)),
  )
  return post
}
