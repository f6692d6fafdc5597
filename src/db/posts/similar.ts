import { setImmediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { SHOWN } from '../../core/hidden.js'
import { compiled } from '../cache/compiled.js'
import { isPostgres } from '../dialect.js'
import { keysIn, rarely, wordIndex } from '../search.js'
import type { Db } from '../tables.js'
import { COMPARED, type ComparedPost } from './compared.js'
import { conditionsOf, conditionsOn, type Conditions, type PostFilter } from './filter.js'

/** A word that is searched for: full-text queries that `matchOfTerms` makes. */
export interface Wanted {
  inTitle: string
  /** Absent for a word that hundreds of titles have: finding it in a text says little. */
  anywhere?: string | undefined
  /** How much a title with this word adds to the rank of a post. */
  weight: number
  /** Whether many titles may match. */
  isFrequent: boolean
  /** Whether the queries list hundreds of spellings; see `rarely`. */
  isSpelled: boolean
}

/**
 * How many posts are looked at: for each word, the newest with it in the title and the newest with it anywhere; of all of
 * these, the posts with the most of the words. The second row is for readers from whom most of the first are hidden. With
 * fewer titles, a large site would miss old posts whose words are all common.
 */
const LOOKED = [
  { titles: 5000, texts: 100, alike: 300 },
  { titles: 5000, texts: 1000, alike: 10_000 },
] as const
/** A word in the text counts this much of a word in the title. */
const OF_TEXT = 0.3
/** Weights are integers: the sum of floats depends on their order, which differs between the engines. */
const EXACT = 1e6

/** At most this many of the newest posts are counted for a word. */
export const MOST_COUNTED = 200

/** How many posts match, at most `MOST_COUNTED`: the newest are counted. */
export interface Having {
  /** Posts that everybody sees. Only this number may affect an answer; or a reader could probe for words of hidden posts. */
  shown: number
  /** All posts. Only decides how PostgreSQL runs the query. */
  all: number
}

/**
 * Counts the posts that match each query. `titles`: the queries are for words in titles. `newest`: the highest number of a
 * post.
 */
export async function postsHaving(
  db: Db,
  matches: readonly string[],
  { titles, newest }: { titles: boolean; newest: number },
): Promise<Having[]> {
  if (matches.length === 0) return []
  if (isPostgres(db)) return titles && newest <= LARGE ? countsByIndex(db, matches) : countsOf(db, matches)
  const [counts, turn] = [[] as Having[], turns()]
  for (const match of matches) {
    counts.push(...(await countsOf(db, [match])))
    await turn()
  }
  return counts
}

/**
 * Above this number of posts, PostgreSQL plans each query for a frequent word, and reads fewer of its titles: reading all
 * posts with the word would take too long.
 */
const LARGE = 200_000
const TITLES_OF_LARGE = 500

const IS_SHOWN = sql`posts.display = 1 and posts.is_spam = ${sql.lit(SHOWN)}`

async function countsOf(db: Db, matches: readonly string[]): Promise<Having[]> {
  const [row] = await compiled(db, 'postsHaving', { matches }, (given) => ({
    compile: () => {
      const index = wordIndex(db)
      const counts = given.matches.map(
        (match, at) =>
          sql`(select count(posts.number) as ${sql.ref(`shown${at}`)}, count(part.post) as ${sql.ref(`all${at}`)}
            from (${keysIn(index, match, { created: 'desc', most: MOST_COUNTED })}) as part
            left join posts on posts.number = part.post and ${IS_SHOWN}) as ${sql.ref(`counted${at}`)}`,
      )
      return sql<Record<string, number>>`select * from ${sql.join(counts, sql` cross join `)}`.compile(db)
    },
  }))
  return matches.map((_, at) => ({ shown: row?.[`shown${at}`] ?? 0, all: row?.[`all${at}`] ?? 0 }))
}

/** Like `countsOf`, but PostgreSQL reads only the full-text index and keeps one plan. */
const countsByIndex = (db: Db, matches: readonly string[]): Promise<Having[]> =>
  compiled(db, 'postsHaving by index', { matches }, (given) => ({
    compile: () => {
      const newest = keysIn(rarely(db, wordIndex(db)), sql.ref('wanted.match'), { created: 'desc', most: MOST_COUNTED })
      return sql<Having>`
        select count(posts.number) as shown, count(part.post) as "all"
        from unnest(${given.matches}::text[]) with ordinality as wanted (match, nth)
        left join lateral (${newest}) as part on true left join posts on posts.number = part.post and ${IS_SHOWN}
        group by wanted.nth order by wanted.nth`.compile(db)
    },
  }))

/** Other requests have their turn after so many milliseconds: SQLite answers in this thread. */
const TURN_MS = 5

/** What is called between two queries. */
function turns(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < TURN_MS) return
    await setImmediate()
    began = performance.now()
  }
}

/** The number of the newest post, and 0 where there is none. */
export async function newestNumber(db: Db): Promise<number> {
  const { rows } = await sql<{ newest: number }>`select coalesce(max(number), 0) as newest from posts`.execute(db)
  return rows[0]?.newest ?? 0
}

/**
 * The posts that pass a filter and have the most of some words, at most `limit`; those that have most of them first.
 */
export async function postsWithMost(
  db: Db,
  filter: PostFilter,
  wanted: readonly Wanted[],
  options: Options,
): Promise<ComparedPost[]> {
  const [few, many] = LOOKED
  const posts = await postsAmong(db, filter, wanted, { ...options, ...few })
  const isAll = (posts[0]?.alikes ?? few.alike) < few.alike
  return posts.length >= options.limit || isAll ? posts : postsAmong(db, filter, wanted, { ...options, ...many })
}

/** The newest posts that match a query. Each of them gains the weight. */
interface List {
  match: string
  weight: number
  most: number
  /** Whether PostgreSQL plans the query for its words, in place of reusing a plan. */
  isPlanned: boolean
}

interface Options {
  limit: number
  /** Whether posts are also found by the words of held posts that were merged into them. */
  hidden: boolean
  /** The highest number of a post. */
  newest: number
}

interface Alike extends ComparedPost {
  /** Posts with any of the words, of those that are looked at. */
  alikes: number
}

async function postsAmong(
  db: Db,
  filter: PostFilter,
  wanted: readonly Wanted[],
  { limit, hidden, newest, ...looked }: Options & (typeof LOOKED)[number],
): Promise<Alike[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions || wanted.length === 0) return []
  const { alike } = looked
  const lists = listsOf(wanted, { ...looked, isLarge: isPostgres(db) && newest > LARGE })
  if (isPostgres(db)) return foundByLists(db, lists, { conditions, limit, hidden, alike })
  const found = JSON.stringify(await alikeInTurns(db, lists, alike))
  return foundAmong(db, { name: `foundAlike ${alike}`, hidden }, { ...conditions, found, limit }, (wants) =>
    sql`select json_extract(value, '$[0]') as post, json_extract(value, '$[1]') as alike from json_each(${wants.found})`) // prettier-ignore
}

const listsOf = (
  wanted: readonly Wanted[],
  { titles, texts, isLarge }: { titles: number; texts: number; isLarge: boolean },
): List[] =>
  wanted.flatMap(({ inTitle, anywhere, weight, isFrequent, isSpelled }) => {
    const isPlanned = isLarge && isFrequent && !isSpelled
    const [ofTitle, ofText] = [1 - OF_TEXT, OF_TEXT].map((share) => Math.round(weight * share * EXACT))
    return [
      { match: inTitle, weight: ofTitle ?? 0, most: isPlanned ? TITLES_OF_LARGE : titles, isPlanned },
      // A word that is rare in titles may be frequent in texts
      ...(anywhere === undefined ? [] : [{ match: anywhere, weight: ofText ?? 0, most: texts, isPlanned: !isSpelled }]),
    ]
  })

/** Runs on PostgreSQL. Lists that are not planned are read through the full-text index. */
function foundByLists(
  db: Db,
  lists: readonly List[],
  { conditions, limit, hidden, alike }: Omit<Options, 'newest'> & { conditions: Conditions; alike: number },
): Promise<Alike[]> {
  const planned = lists.filter(({ isPlanned }) => isPlanned)
  const others = lists.filter(({ isPlanned }) => !isPlanned)
  const given = {
    ...conditions,
    limit,
    planned: planned.map(({ match }) => match),
    plannedWeights: planned.map(({ weight }) => weight),
    matches: others.map(({ match }) => match),
    weights: others.map(({ weight }) => weight),
    most: others.map(({ most }) => most),
  }
  const mosts = planned.map(({ most }) => most)
  return foundAmong(db, { name: `foundByLists ${alike} ${mosts.join(' ')}`, hidden }, given, (wants) => {
    const most = sql.ref('wanted.most')
    const newest = keysIn(rarely(db, wordIndex(db)), sql.ref('wanted.match'), { created: 'desc', most })
    const parts = [
      sql`select part.post, wanted.weight
        from unnest(${wants.matches}::text[], ${wants.weights}::int[], ${wants.most}::int[]) as wanted (match, weight, most)
        cross join lateral (${newest}) as part`,
      ...wants.planned.map(
        (match, at) =>
          sql`select part.post, ${wants.plannedWeights[at]}::int as weight
            from (${keysIn(wordIndex(db), match, { created: 'desc', most: mosts[at] ?? 0 })}) as part`,
      ),
    ]
    return sql`select post, sum(weight)::int as alike from (${sql.join(parts, sql` union all `)}) as parts
      group by post order by alike desc, post desc limit ${sql.lit(alike)}`
  })
}

/** The numbers of the posts with the most of the words, with their weights: a query for each word, in place of one for all. */
async function alikeInTurns(db: Db, lists: readonly List[], alike: number): Promise<[number, number][]> {
  const weights = new Map<number, number>()
  const turn = turns()
  for (const { match, weight, most } of lists) {
    for (const number of await numbersWith(db, match, most)) weights.set(number, (weights.get(number) ?? 0) + weight)
    await turn()
  }
  return highest(weights, alike)
}

/** Returns the posts with the highest weight, the newest first among equals. There may be 80,000, so not all are sorted. */
function highest(weights: ReadonlyMap<number, number>, count: number): [number, number][] {
  // Typed arrays sort without a comparator, which is faster
  const least = Float64Array.from(weights.values()).toSorted().at(-count) ?? 0
  const [above, equal] = [[] as [number, number][], [] as number[]]
  for (const [number, weight] of weights) {
    if (weight > least) above.push([number, weight])
    else if (weight === least) equal.push(number)
  }
  const newest = Float64Array.from(equal)
    .toSorted()
    .toReversed()
    .subarray(0, count - above.length)
  return [
    ...above.toSorted((one, other) => other[1] - one[1] || other[0] - one[0]),
    ...Array.from(newest, (number): [number, number] => [number, least]),
  ]
}

/** The numbers of the newest posts that match, from one row: a row for each takes longer than to find them. */
async function numbersWith(db: Db, match: string, most: number): Promise<number[]> {
  const [row] = await compiled(db, `numbersWith ${most}`, { match }, (given) => ({
    compile: () =>
      sql<{ numbers: string }>`select json_group_array(post) as numbers from (${keysIn(wordIndex(db), given.match, { created: 'desc', most })}) as part`.compile(db), // prettier-ignore
  }))
  return JSON.parse(row?.numbers ?? '[]') as number[]
}

/** Those of `best`, which has numbers of posts and how alike they are, that pass the conditions; the most alike first. */
function foundAmong<Given extends Conditions & { limit: number }>(
  db: Db,
  { name, hidden }: { name: string; hidden: boolean },
  given: Given,
  bestOf: (wants: Given) => RawBuilder<unknown>,
): Promise<Alike[]> {
  return compiled(db, `${name} ${hidden}`, given, (wants) => {
    const { limit: most } = wants
    const findable = hidden ? sql`` : sql` and (merges."wasHeld" is null or merges."wasHeld" = 0)`
    const best = bestOf(wants)
    // The index still has the titles of merged posts: they lead to the post that they were merged into
    const roots = sql`select coalesce(merges."rootId", found."postId") as "postId", max(best.alike) as alike
      from best cross join posts as found left join merges on merges."postId" = found."postId"
      where found.number = best.post${findable} group by coalesce(merges."rootId", found."postId")`
    const passes = sql.join([sql`posts."postId" = roots."postId"`, ...conditionsOn(db, wants)], sql` and `)
    return {
      compile: () =>
        sql<Alike>`with best as materialized (${best})
          select ${COMPARED}, (select count(*) from best) as alikes from (${roots}) as roots cross join posts
          where ${passes} order by roots.alike desc, posts.number desc limit ${most}`.compile(db),
    }
  })
}
