import { setImmediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { SHOWN } from '../../core/hidden.js'
import { compiled } from '../cache/compiled.js'
import { isPostgres } from '../dialect.js'
import { keysIn, matchOfAny, rarely, wordIndex } from '../search.js'
import type { Db } from '../tables.js'
import { COMPARED, type ComparedPost } from './compared.js'
import { conditionsOf, conditionsOn, type Conditions, type PostFilter } from './filter.js'

/** A word that is searched for: of each list, one of its full-text queries, which `matchOfTerms` makes. */
export interface Wanted {
  inTitle: string[]
  anywhere: string[]
  /** True for a word of `MOST_COUNTED` titles: that a text has it too says little. */
  isCommon: boolean
  /** How much a title with this word adds to the rank of a post. */
  weight: number
}

/**
 * Posts that are looked at: of each word the newest with it in the title, and with it anywhere; and of all of these those
 * with the most of the words. More of them where most of these are hidden from the reader. With fewer titles, a large site
 * would miss an old post whose words are all common.
 */
const LOOKED = [
  { titles: 5000, texts: 100, alike: 300 },
  { titles: 5000, texts: 1000, alike: 10_000 },
] as const
/** A word in the text counts this much of a word in the title. */
const OF_TEXT = 0.3
/** Weights become whole numbers, so that their sum is the same in any order. */
const EXACT = 1e6
/** Between queries; words never have it. */
const SEPARATOR = '\n'

/** At most this many of the newest posts are counted for a word. */
export const MOST_COUNTED = 200

/**
 * How many posts that everybody sees have what each of these queries says, of the newest `MOST_COUNTED`, and how many posts
 * there are. Others do not count: what is asked shows in the answer, so anybody could look for their words.
 */
export async function postsHaving(db: Db, matches: readonly string[]): Promise<{ counts: number[]; all: number }> {
  if (matches.length === 0) return { counts: [], all: 0 }
  const all = await newestNumber(db)
  if (isPostgres(db)) return { counts: await (all > LARGE ? countsOf : countsByIndex)(db, matches), all }
  const [counts, turn] = [[] as number[], turns()]
  for (const match of matches) {
    counts.push(...(await countsOf(db, [match])))
    await turn()
  }
  return { counts, all }
}

/** With more posts, PostgreSQL plans each query: to read all posts with a common word would take too long. */
const LARGE = 200_000

async function countsOf(db: Db, matches: readonly string[]): Promise<number[]> {
  const [row] = await compiled(db, 'postsHaving', { matches }, (given) => ({
    compile: () => {
      const index = wordIndex(db)
      const counts = given.matches.map(
        (match, at) =>
          sql`(select count(*) from (${keysIn(index, match, { created: 'desc', most: MOST_COUNTED })}) as part cross join posts
            where ${isCounted}) as ${sql.ref(`count${at}`)}`,
      )
      return sql<Record<string, number>>`select ${sql.join(counts)}`.compile(db)
    },
  }))
  return matches.map((_, at) => row?.[`count${at}`] ?? 0)
}

const isCounted = sql`posts.number = part.post and posts.display = 1 and posts.is_spam = ${sql.lit(SHOWN)}`

/** The same by PostgreSQL's full-text index alone, in one plan for all words. */
async function countsByIndex(db: Db, matches: readonly string[]): Promise<number[]> {
  const rows = await compiled(db, 'postsHaving by index', { matches }, (given) => ({
    compile: () => {
      const newest = keysIn(rarely(db, wordIndex(db)), sql.ref('wanted.match'), { created: 'desc', most: MOST_COUNTED })
      return sql<{ count: number }>`
        select count(posts.number) as count from unnest(${given.matches}::text[]) with ordinality as wanted (match, nth)
        left join lateral (${newest}) as part on true left join posts on ${isCounted}
        group by wanted.nth order by wanted.nth`.compile(db)
    },
  }))
  return rows.map(({ count }) => count)
}

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

/** The newest posts with one of the matches; each gains the weight. */
interface List {
  matches: string[]
  weight: number
  most: number
  isCommon: boolean
}

interface Options {
  limit: number
  /** Also by the words of what was held when it was merged into them. */
  hidden: boolean
  /** How many posts there are, from `postsHaving`. */
  all: number
}

interface Alike extends ComparedPost {
  /** Posts with any of the words, of those that are looked at. */
  alikes: number
}

async function postsAmong(
  db: Db,
  filter: PostFilter,
  wanted: readonly Wanted[],
  { limit, hidden, all, titles, texts, alike }: Options & (typeof LOOKED)[number],
): Promise<Alike[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions || wanted.length === 0) return []
  const lists = wanted
    .flatMap(({ inTitle, anywhere, weight, isCommon }) => [
      { matches: inTitle, weight: weight * (1 - OF_TEXT), most: titles, isCommon },
      ...(isCommon ? [] : [{ matches: anywhere, weight: weight * OF_TEXT, most: texts, isCommon }]),
    ])
    .map((list) => ({ ...list, weight: Math.round(list.weight * EXACT) }))
  if (!isPostgres(db)) {
    const found = JSON.stringify(await alikeInTurns(db, lists, alike))
    return foundAmong(db, { name: `foundAlike ${alike}`, hidden }, { ...conditions, found, limit }, (wants) =>
      sql`select json_extract(value, '$[0]') as post, json_extract(value, '$[1]') as alike from json_each(${wants.found})`) // prettier-ignore
  }
  const isPlanned = ({ isCommon }: List) => isCommon && all > LARGE
  const [planned, others] = [lists.filter(isPlanned), lists.filter((list) => !isPlanned(list))]
  const given = {
    planned: planned.map(({ matches }) => matchOfAny(db, matches)),
    plannedWeights: planned.map(({ weight }) => weight),
    matches: others.map(({ matches }) => matches.join(SEPARATOR)),
    weights: others.map(({ weight }) => weight),
    most: others.map(({ most }) => most),
  }
  return foundAmong(db, { name: `postsWithMost ${alike}`, hidden }, { ...conditions, ...given, limit }, (wants) => {
    // Not one query with all of the words: PostgreSQL would compare hundreds of them for each entry that it reads
    const most = sql.ref('wanted.most')
    const newest = keysIn(rarely(db, wordIndex(db)), sql.ref('query'), { created: 'desc', most })
    const parts = [
      sql`select part.post, wanted.weight
        from unnest(${wants.matches}::text[], ${wants.weights}::int[], ${wants.most}::int[]) as wanted (matches, weight, most)
        cross join lateral (
          select distinct newest.post from unnest(string_to_array(wanted.matches, ${sql.lit(SEPARATOR)})) as query
          cross join lateral (${newest}) as newest order by newest.post desc limit ${most}
        ) as part`,
      ...wants.planned.map(
        (match, at) =>
          sql`select part.post, ${wants.plannedWeights[at]}::int as weight from (${keysIn(wordIndex(db), match, { created: 'desc', most: titles })}) as part`,
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
  for (const { matches, weight, most } of lists) {
    for (const number of await numbersWith(db, matchOfAny(db, matches), most))
      weights.set(number, (weights.get(number) ?? 0) + weight)
    await turn()
  }
  return [...weights].toSorted((one, other) => other[1] - one[1] || other[0] - one[0]).slice(0, alike)
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
