import { sql, type RawBuilder } from 'kysely'
import { VOTES_HIDDEN } from '../../core/boardrules.js'
import { COUNTED_AS_SPAM, SHOWN, SPAM } from '../../core/hidden.js'
import type { Topic } from '../cache/dependencies.js'
import type { Period, Sorting } from '../paging.js'
import { keysIn, matchOf, numberIndex, rareWordIndex, voteIndex, wordIndex, type PostIndex } from '../search.js'
import type { Db, Tables } from '../tables.js'
import { followedPosts } from './followed.js'
import { pinnedPosts } from './pinned.js'
import { spamPosts } from './spam.js'
import { hasNoTag, withAllTags, withAnyTag } from './tagged.js'
import type { ChangedBy } from './order.js'

/** Which posts. A new filter is a field here and its entry in `FILTERS`: lists, counts, cursors and what invalidates them follow from it. */
export interface PostFilter extends Period {
  /** Unique board ids, and null for posts without a board. An empty list does not filter. */
  boards: readonly (string | null)[]
  /** Unique roadmap ids, and null for posts without a roadmap. Undefined does not filter; an empty list matches no post. */
  roadmaps: readonly (string | null)[] | undefined
  author: string | undefined
  /** Whether posts of private boards are among them. */
  hidden: boolean
  /** False leaves out what is hidden as spam or held. */
  spam?: false | undefined
  /** Only what is hidden as spam. */
  onlySpam?: true | undefined
  /** Leaves out what is hidden as spam, not what is held. */
  withoutSpam?: true | undefined
  /** All of them are in the title or the text; undefined is any text, and an empty list no post. */
  words?: readonly string[] | undefined
  /** Like `words`, for rare words; see `rarely`. */
  rareWords?: readonly string[] | undefined
  /** The numbers of posts that were looked at already; an empty list matches no post. */
  among?: readonly number[] | undefined
  /** Who voted for them. */
  voter?: string | undefined
  /** Only posts whose voters everybody sees. */
  showsVoters?: true | undefined
  /** Only posts whose vote count this person sees: the board shows it, or the person has voted. Empty for visitors. */
  showsVotesTo?: string | undefined
  /** Only those that are above the others of their board. */
  pinned?: true | undefined
  /** Who follows them. */
  follower?: string | undefined
  /** Ids of tags, each once: a post has any of them, all of them, or none. An empty list matches no post, but as `withoutTags` every one. */
  tags?: readonly string[] | undefined
  allTags?: readonly string[] | undefined
  withoutTags?: readonly string[] | undefined
}

type Name = keyof PostFilter
type Value = string | number | null
type Column = 'boardId' | 'roadmap_id' | 'userId' | 'display' | 'is_spam'

/** The filters that are given, each with its values. A query that is compiled gets placeholders in place of values. */
export type Conditions = Partial<Record<Name, readonly Value[]>>

/** `values` are undefined where every post passes, and empty where none does. */
type Filter<Given> = (ByColumn | ByTime | ByIndex | ByRow) & {
  changedBy: ChangedBy
  values(this: void, given: Given, db: Db): readonly Value[] | undefined
  /** Which rows of `post_counts` count what passes. Without it, the posts are counted. */
  counter?: Counter
}

/** The values of a column of `post_counts`. */
interface Counter {
  column: Exclude<keyof Tables['post_counts'], 'value'>
  values(this: void, values: readonly Value[]): readonly Value[]
}

/** Ids of boards or of roadmaps; '' is none. */
const places = (column: 'board' | 'roadmap'): Counter => ({ column, values: (ids) => ids.map((id) => id ?? '') })
const displayed = (values: Counter['values']): Counter => ({ column: 'display', values })

/** The column has one of the values: a range of an index for each. */
interface ByColumn {
  column: Column
  /** Whether its index has the posts where it is null. */
  indexesNull?: true
}

/** A range of the creation time. */
interface ByTime {
  time: '>=' | '<'
}

/** The filter starts from another table, which has the posts, or from a query over several. */
interface ByIndex {
  index(this: void, db: Db): PostIndex | PostQuery
}

/** No index has the posts: each row is checked. */
interface ByRow {
  passes(this: void, values: readonly Value[]): RawBuilder<unknown>
}

/** What finds the posts, as a `PostIndex` does. */
interface PostQuery extends Pick<PostIndex, 'key' | 'lowest'> {
  /** The keys of so many of the newest or oldest posts. */
  keys(this: void, value: unknown, slice: KeySlice): RawBuilder<{ post: number | string }>
  /** The condition on a row of `posts`. */
  has(this: void, value: unknown): RawBuilder<unknown>
}

type KeySlice = Sorting & { most: number; after?: number | undefined }

const one = (value: Value | undefined) => (value === undefined ? undefined : [value])
const listed = (ids: readonly string[] | undefined) => ids && (ids.length > 0 ? [JSON.stringify(ids)] : [])

const FILTERS: { readonly [Each in Name]-?: Filter<PostFilter[Each]> } = {
  boards: {
    column: 'boardId',
    counter: places('board'),
    indexesNull: true,
    changedBy: [],
    values: (ids) => (ids.length > 0 ? ids : undefined),
  },
  roadmaps: { column: 'roadmap_id', counter: places('roadmap'), changedBy: [], values: (ids) => ids },
  author: { column: 'userId', changedBy: [], values: one },
  hidden: {
    column: 'display',
    counter: displayed((shown) => (shown.includes(0) ? [...shown, COUNTED_AS_SPAM] : shown)),
    changedBy: [],
    values: (hidden) => (hidden ? [0, 1] : [1]), // merged posts have another
  },
  spam: { column: 'is_spam', changedBy: [], values: (spam) => (spam === false ? [SHOWN] : undefined) },
  since: { time: '>=', changedBy: [], values: one },
  until: { time: '<', changedBy: [], values: one },
  among: {
    index: numberIndex,
    changedBy: [],
    values: (numbers) => numbers && (numbers.length > 0 ? [JSON.stringify(numbers)] : []),
  },
  words: {
    index: wordIndex,
    changedBy: [],
    values: (words, db) => words && (words.length > 0 ? [matchOf(db, words)] : []),
  },
  rareWords: {
    index: rareWordIndex,
    changedBy: [],
    values: (words, db) => words && (words.length > 0 ? [matchOf(db, words)] : []),
  },
  onlySpam: { index: spamPosts, changedBy: [], values: (only) => only && [1] },
  withoutSpam: {
    counter: displayed(() => [0, 1]),
    passes: ([spam]) => sql`posts.is_spam <> ${spam}`,
    changedBy: [],
    values: (without) => without && [SPAM],
  },
  voter: { index: voteIndex, changedBy: ['votes'], values: one },
  showsVoters: {
    passes: ([shown]) =>
      sql`case when posts."boardId" is null then posts."hidesVoters" < ${shown} else exists (select 1 from boards as open_board where open_board."boardId" = posts."boardId" and open_board.view_voters = ${shown} and open_board.hides_votes < ${shown}) end`,
    changedBy: [],
    values: (shown) => shown && [1],
  },
  showsVotesTo: {
    passes: ([viewer]) =>
      sql`(case when posts."boardId" is null then posts."hidesVoters" < ${sql.lit(VOTES_HIDDEN)} else not exists (select 1 from boards as hiding where hiding."boardId" = posts."boardId" and hiding.hides_votes = 1) end
        or exists (select 1 from votes as own_vote where own_vote."postId" = posts."postId" and own_vote."userId" = ${viewer}))`,
    changedBy: ['votes'],
    values: one,
  },
  pinned: { index: pinnedPosts, changedBy: [], values: (pinned) => pinned && [1] },
  follower: {
    index: followedPosts,
    changedBy: ['follows', 'votes', 'comments', 'mentions', 'notification_settings'],
    values: one,
  },
  tags: { index: withAnyTag, changedBy: ['post_tags', 'tags'], values: listed },
  allTags: { index: withAllTags, changedBy: ['post_tags', 'tags'], values: listed },
  withoutTags: {
    passes: hasNoTag,
    changedBy: ['post_tags', 'tags'],
    values: (ids) => (ids && ids.length > 0 ? ids : undefined),
  },
}

const entries = Object.entries(FILTERS) as [Name, Filter<PostFilter[Name]>][]
const byName = new Map<string, Filter<PostFilter[Name]>>(entries)

/** In the order of `FILTERS`, as `conditionsOf` has it. */
function given(conditions: Conditions) {
  const found: { name: Name; filter: Filter<PostFilter[Name]>; values: readonly Value[] }[] = []
  for (const [name, values] of Object.entries(conditions)) {
    const filter = byName.get(name) // none where it is the limit of a page
    if (filter) found.push({ name: name as Name, filter, values })
  }
  return found
}

/** What is given of a filter; undefined where no post passes. */
export function conditionsOf(db: Db, filter: PostFilter): Conditions | undefined {
  const found: Conditions = {}
  for (const [name, { values }] of entries) {
    const wanted = values(filter[name], db)
    if (wanted?.length === 0) return undefined
    if (wanted) found[name] = wanted
  }
  return found
}

/** Topics of which any row can change which posts pass. */
export const changedBy = (conditions: Conditions): Topic[] => [
  'posts',
  'boards',
  ...given(conditions).flatMap(({ filter }) => filter.changedBy),
]

export const hasTimes = (conditions: Conditions): boolean => given(conditions).some(({ filter }) => 'time' in filter)

/** The index of another table that leads to the posts: of several the first. */
export function leadOf(conditions: Conditions): (ByIndex & { name: Name; value: Value }) | undefined {
  for (const { name, filter, values } of given(conditions))
    if ('index' in filter) return { name, index: filter.index, value: values[0] as Value } // one value
  return undefined
}

/** The keys of posts that an index or a query leads to. */
export const keysOf = (lead: PostIndex | PostQuery, value: Value, slice: KeySlice) =>
  'keys' in lead ? lead.keys(value, slice) : keysIn(lead, value, slice)

/** What is true of each post that passes. `except` leaves out the filter that leads to them. */
export const conditionsOn = (db: Db, conditions: Conditions, except?: Name): RawBuilder<unknown>[] =>
  given(conditions)
    .filter(({ name }) => name !== except)
    .map(({ filter, values }) => {
      const [first] = values
      if ('time' in filter) return sql`posts."createdAt" ${sql.raw(filter.time)} ${first}`
      if ('passes' in filter) return filter.passes(values)
      if ('index' in filter) {
        const lead = filter.index(db)
        if ('has' in lead) return lead.has(first)
        const { table, column, key, matches } = lead
        return sql`exists (select 1 from ${sql.table(table)} where ${matches(first)} and ${sql.ref(`${table}.${column}`)} = ${sql.ref(`posts.${key}`)})`
      }
      const column = sql.ref(`posts.${filter.column}`)
      const known = values.filter((value) => value !== null)
      if (known.length === values.length)
        return known.length === 1 ? is(column, first) : sql`${column} in (${sql.join(known)})`
      return known.length === 0 ? is(column, null) : sql`(${column} in (${sql.join(known)}) or ${is(column, null)})`
    })

const is = (column: RawBuilder<unknown>, value: Value | undefined) =>
  value === null ? sql`${column} is null` : sql`${column} = ${value}`

export interface Range {
  where: RawBuilder<unknown>
  /** Columns of its index that are null in all of it. PostgreSQL reads a range in order only if that begins with them. */
  nulls: readonly RawBuilder<unknown>[]
}

/** Boards times roadmaps. SQLite merges 500 ranges at most, and a reader of private posts has twice as many. */
export const MOST_RANGES = 100

/**
 * Ranges of an index of posts that together are what passes the filters by column and by time. Each index has its range
 * in the order of any list. Of too many roadmaps there are no ranges: the posts of a range are checked one by one.
 */
export function rangesOf(conditions: Conditions): Range[] {
  const columns = given(conditions).flatMap<Pick<ByColumn, 'column' | 'indexesNull'> & { values: readonly Value[] }>(
    ({ filter, values }) => ('column' in filter ? [{ ...filter, values }] : []),
  )
  const isGiven = (...names: Column[]) => columns.some(({ column }) => names.includes(column))
  // The indexes of boards and of authors have public and private posts together. SQLite has no statistics, so of two
  // indexes that fit it may take that of all public posts, and read most of them to find those of a board or an author.
  // It has no index of a sum.
  const isFiltered = isGiven('boardId', 'userId')
  const shown = columns.filter(({ column }) => isFiltered && column === 'display').map(({ values }) => sql`posts.display + 0 in (${sql.join(values)})`) // prettier-ignore
  const lengthOf = (name: Column) => columns.find(({ column }) => column === name)?.values.length ?? 1
  const isMany = lengthOf('boardId') * lengthOf('roadmap_id') > MOST_RANGES
  const checked = columns.filter(({ column }) => isMany && column === 'roadmap_id').map(({ values }) => sql`coalesce(posts.roadmap_id, '') in (${sql.join(values.map((value) => value ?? ''))})`) // prettier-ignore
  const equal = columns
    .filter(({ column }) => (!isFiltered || column !== 'display') && !(isMany && column === 'roadmap_id'))
    .reduce<{ parts: RawBuilder<unknown>[]; nulls: RawBuilder<unknown>[] }[]>(
      (ranges, { column, values, indexesNull }) =>
        values.flatMap((value) =>
          ranges.map(({ parts, nulls }) => ({
            parts: [...parts, is(sql.ref(column), value)],
            nulls: value === null && indexesNull ? [...nulls, sql.ref(column)] : nulls,
          })),
        ),
      [{ parts: [], nulls: [] }],
    )
  const times = given(conditions).flatMap(({ filter, values: [value] }) =>
    'time' in filter ? [sql`posts."createdAt" ${sql.raw(filter.time)} ${value}`] : [],
  )
  const passing = given(conditions).flatMap(({ filter, values }) => ('passes' in filter ? [filter.passes(values)] : []))
  return equal.map(({ parts, nulls }) => ({
    where: sql.join([...parts, ...shown, ...checked, ...times, ...passing], sql` and `),
    nulls,
  }))
}

/** The rows of `post_counts` whose sum is the number of posts; undefined where they do not tell. */
export function countersOf(conditions: Conditions): Record<string, readonly Value[]> | undefined {
  const counters: Partial<Record<Counter['column'], readonly Value[]>> = {}
  for (const { filter, values } of given(conditions)) {
    if (!filter.counter) return undefined
    const { column } = filter.counter
    const [passed, passing] = [counters[column], filter.counter.values(values)]
    const both = passed ? passing.filter((value) => passed.includes(value)) : passing
    counters[column] = both.length > 0 ? both : [null] // no row has it
  }
  return { board: ['*'], roadmap: ['*'], ...counters }
}
