import { sql, type RawBuilder } from 'kysely'
import { VOTES_HIDDEN } from '../../core/boardrules.js'
import { compiled, compiledPage, taggedQuery } from '../cache/compiled.js'
import { widened } from '../cache/dependencies.js'
import { boundOf, isPostgres } from '../dialect.js'
import { weight } from '../migrations/0017_trending.js'
import type { Page } from '../paging.js'
import type { Db, PostRow } from '../tables.js'
import {
  changedBy,
  conditionsOf,
  leadOf,
  MOST_RANGES,
  rangesOf,
  type Conditions,
  type PostFilter,
  type Range,
} from './filter.js'
import { withLongTexts, type ListedRow } from './longtexts.js'
import { cursorOf, ORDERS, type Cursor, type Sort } from './order.js'
import { isLimited, ledFrom, merged, MOST_FOUND, newestOf, TOTALS, viewsOf, type Counted } from './read.js'
import { authorsOf, idsOf, type PostView } from './row.js'

/**
 * The order of posts by votes, and by what trends, shows how many voted. Who may not see that of some posts gets these
 * as if nobody had voted for them.
 */

/** The posts whose votes are hidden from a reader. */
export interface Cover {
  /** Boards that hide votes; undefined where there are many. */
  boards: readonly string[] | undefined
  /** The other boards; undefined where the site has many boards. A list reads these alone, and so passes over no covered post. */
  others: readonly string[] | undefined
  /** Whether posts without a board hide theirs, as their last one did. */
  loose: boolean
}

/** Boards that are ranges of their own in a list. */
const MOST_BOARDS = 20

const isBoardHiding = sql`exists (select 1 from boards as hiding where hiding."boardId" = posts."boardId" and hiding.hides_votes = 1)`

/** Whether a row of `posts` hides its votes from those who have not voted for it. */
export const IS_COVERED = sql`case when posts."boardId" is null then posts."hidesVoters" = ${sql.lit(VOTES_HIDDEN)} else ${isBoardHiding} end`

/** SQLite has no statistics. On its own it picks another index, and reads all posts without a board. */
const indexOfLoose = (db: Db) => sql.raw(isPostgres(db) ? '' : 'indexed by posts_hiding_votes')

/** What of a site is covered; undefined where nothing is. */
export async function coverOf(db: Db): Promise<Cover | undefined> {
  const found = await compiled(
    db,
    'coverOf',
    {},
    () => ({
      compile: () =>
        sql<{ board: string; hides: number }>`
          select * from (select "boardId" as board, 1 as hides from boards where hides_votes = 1 limit ${sql.lit(MOST_BOARDS + 1)}) as hiding
          union all select * from (select "boardId" as board, hides_votes * 2 as hides from boards order by "boardId" limit ${sql.lit(MOST_BOARDS * 2 + 1)}) as of_all
          union all select * from (select '' as board, 1 as hides from posts ${indexOfLoose(db)} where "hidesVoters" = ${sql.lit(VOTES_HIDDEN)} and "boardId" is null limit 1) as loose`.compile(db), // prettier-ignore
    }),
    { votes: [], comments: [] },
  )
  const loose = found.some(({ board }) => board === '')
  const hiding = found.flatMap(({ board, hides }) => (board !== '' && hides === 1 ? [board] : []))
  if (hiding.length === 0 && !loose) return undefined
  const all = found.filter(({ hides }) => hides !== 1)
  const others = all.flatMap(({ board, hides }) => (hides === 0 ? [board] : []))
  return {
    boards: hiding.length > MOST_BOARDS ? undefined : hiding.toSorted(),
    others: all.length > MOST_BOARDS * 2 ? undefined : others,
    loose,
  }
}

/** The orders that show how many voted. */
export const showsVotes = (sort: Sort): boolean => ORDERS[sort].changedBy.includes('votes')

/** What a filter leaves of it: 'all' where every post that passes is covered, and undefined where none is. */
export function coverAmong(cover: Cover, { boards: asked }: PostFilter): Cover | 'all' | undefined {
  const { boards } = cover
  if (asked.length === 0) return cover
  const loose = cover.loose && asked.includes(null)
  if (!boards) return { ...cover, loose }
  const among = boards.filter((board) => asked.includes(board))
  if (among.length === asked.length) return 'all'
  return among.length > 0 || loose ? { ...cover, boards: among, loose } : undefined
}

/** What orders the posts, as the column `key`: with equal ones, the newest is first. */
interface Keys {
  /** Of posts that are not covered: the column that has an index. */
  open: RawBuilder<unknown>
  /** Of covered ones: what they have without votes, which grows with their age or is the same for all. */
  covered: RawBuilder<unknown>
}

const keysFor = (db: Db, sort: Sort): Keys =>
  sort === 'trending'
    ? { open: sql.ref('posts.trending'), covered: sql.raw(weight(db, 'posts."createdAt"')) }
    : { open: sql.ref('posts.votesCount'), covered: sql.raw('0') }

const either = ({ open, covered }: Keys) => sql`case when ${IS_COVERED} then ${covered} else ${open} end`

const AGE = sql.raw('"createdAt", "postId"')
const newestFirst = (table: string) => sql.raw(`${table}."createdAt" desc, ${table}."postId" desc`)
const byKey = (table: string) => sql`${sql.ref(`${table}.key`)} desc, ${newestFirst(table)}`

interface Slice {
  limit: number
  offset: number
  most: number
  bound: number | undefined
  after: Pick<Cursor, 'postId' | 'createdAt'> | undefined
}

/** A page of the posts that pass a filter, as `listPosts` has it, for somebody who does not see all votes. */
export async function listCovered(
  db: Db,
  filter: PostFilter,
  { sort, cover }: { sort: Sort; cover: Cover },
  page: Page<Cursor>,
): Promise<(PostView & Partial<Counted>)[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return []
  const { boards, others, loose } = cover
  const listed = conditions.boards ?? (others && [null, ...others])
  const open = boards && listed?.filter((board) => !boards.some((each) => each === board))
  const limited = isLimited(conditions, sort)
  const order = [...changedBy(conditions), ...ORDERS[sort].changedBy]
  const refs = widened<PostRow>({ users: authorsOf, votes: idsOf, comments: idsOf }, order)
  const query = ({ limit, offset = 0, after }: Page<Cursor>) => {
    const bound = limited ? undefined : boundOf(db, limit + offset)
    const place = { limit, offset, most: limit + offset, ...(after && { postId: after.postId, createdAt: after.createdAt }) } // prettier-ignore
    return taggedQuery(
      db,
      `listCovered ${sort} ${loose} ${bound}`,
      { ...conditions, ...(boards && boards.length > 0 && { covered: boards }), ...(open && { open }), ...place },
      ({ covered, open: others, ...given }) => {
        const { postId, createdAt } = given as Partial<Cursor>
        const slice = { ...given, bound, after: postId && createdAt ? { postId, createdAt } : undefined }
        const keys = keysFor(db, sort)
        const rows = leadOf(conditions)
          ? pageOfLed(db, given, keys, slice)
          : limited
            ? pageOfNewest(given, keys, slice)
            : pageOfRanges(
                rangesOf({ ...given, ...(others && { boards: others }) }),
                coveredRanges(given, { ...cover, boards: boards && (covered ?? []) }),
                keys,
                slice,
              )
        return viewsOf(db, rows, byKey('posts'), leadOf(conditions) ? TOTALS : undefined)
      },
      refs,
    )
  }
  if (limited) return withLongTexts(db, (await db.executeQuery<ListedRow>(query(page))).rows)
  const list = {
    name: `listCovered ${sort} ${JSON.stringify([conditions, cover])}`,
    order,
    query,
    cursor: cursorOf,
  }
  return withLongTexts(db, await compiledPage<ListedRow>(db, list, page as Page<ListedRow>))
}

/** Ranges that have the covered posts of a list, the newest first. */
function coveredRanges(conditions: Conditions, { boards, loose }: Cover): RawBuilder<unknown>[] {
  const whole = (of: Conditions) => rangesOf(of).map(({ where }) => where)
  if (!boards || boards.length * rangesOf(conditions).length > MOST_RANGES)
    return whole(conditions).map((where) => sql`${where} and ${IS_COVERED}`)
  return [
    ...(boards.length > 0 ? whole({ ...conditions, boards }) : []),
    ...(loose ? whole({ ...conditions, boards: [null] }).map((where) => sql`${where} and posts."hidesVoters" = ${sql.lit(VOTES_HIDDEN)}`) : []), // prettier-ignore
  ]
}

const isAfter = (key: RawBuilder<unknown>, keys: Keys, { postId, createdAt }: NonNullable<Slice['after']>) =>
  sql`(${key}, "createdAt", "postId") < ((select ${either(keys)} from posts where posts."postId" = ${postId}), ${createdAt}, ${postId})`

/** `open` have the order of an index, and leave out what `covered` have. */
function pageOfRanges(
  open: readonly Range[],
  covered: readonly RawBuilder<unknown>[],
  keys: Keys,
  { limit, offset, most, bound, after }: Slice,
): RawBuilder<PostRow> {
  const beyond = (key: RawBuilder<unknown>) => (after ? sql` and ${isAfter(key, keys, after)}` : sql``)
  const all = [
    ...open.map(
      ({ where, nulls }) =>
        sql<PostRow>`select ${keys.open} as key, ${AGE} from posts where ${where} and not ${IS_COVERED}${beyond(keys.open)}
          order by ${sql.join([...nulls, keys.open].map((column) => sql`${column} desc`))}, ${newestFirst('posts')}`,
    ),
    ...covered.map(
      (where) =>
        sql<PostRow>`select ${keys.covered} as key, ${AGE} from posts where ${where}${beyond(keys.covered)} order by ${newestFirst('posts')}`,
    ),
  ]
  return withKeys(
    sql`${merged(all, byKey('posts'), bound === undefined ? sql`${most}` : sql.lit(bound))} limit ${limit} offset ${offset}`,
  )
}

const withKeys = (page: RawBuilder<unknown>) =>
  sql<PostRow>`select posts.*, page.key from (${page}) as page cross join posts where posts."postId" = page."postId"`

function pageOfNewest(conditions: Conditions, keys: Keys, { limit, offset, after }: Slice): RawBuilder<PostRow> {
  const newest = newestOf(conditions, MOST_FOUND, sql`${either(keys)} as key, ${AGE}`)
  const beyond = after ? sql`where ${isAfter(sql.ref('key'), keys, after)}` : sql``
  return withKeys(
    sql`select * from (${newest}) as posts ${beyond} order by ${byKey('posts')} limit ${limit} offset ${offset}`,
  )
}

function pageOfLed(
  db: Db,
  conditions: Conditions,
  keys: Keys,
  { limit, offset, after }: Slice,
): RawBuilder<PostRow & Counted> {
  const { keys: led, lowest, rest } = ledFrom(db, conditions, { created: 'desc', most: MOST_FOUND + 1 })
  const beyond = after ? sql`where ${isAfter(sql.ref('key'), keys, after)}` : sql``
  return sql`select posts.*, page.key, page.total, page.looked from (
      with found as materialized (${led}),
      passing as materialized (
        select ${either(keys)} as key, posts."createdAt", posts."postId" from found cross join posts where ${rest}
        and found.post > (select case when count(*) > ${sql.lit(MOST_FOUND)} then min(found.post) else ${sql.lit(lowest)} end from found))
      select passing.*, (select count(*) from passing) as total, (select count(*) from found) as looked
      from passing ${beyond} order by ${byKey('passing')} limit ${limit} offset ${offset}
    ) as page cross join posts where posts."postId" = page."postId"`
}
