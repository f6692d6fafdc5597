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
  anywhere: string
  /** How much a title with this word adds to the rank of a post. */
  weight: number
  /** See `rarely`. */
  isRare: boolean
}

/**
 * Posts that are looked at: of each word the newest with it in the title, and with it anywhere; and of all of these those
 * with the most of the words. More of them where most of these are hidden from the reader.
 */
const LOOKED = [
  { titles: 500, texts: 100, alike: 300 },
  { titles: 5000, texts: 1000, alike: 10_000 },
] as const
/** A word in the text counts this much of a word in the title. */
const OF_TEXT = 0.3

/** At most this many of the newest posts are counted for a word. */
const MOST_COUNTED = 200

/**
 * How many posts that everybody sees have what each of these queries says, of the newest `MOST_COUNTED`, and how many posts
 * there are. Others do not count: what is asked shows in the answer, so anybody could look for their words.
 */
export async function postsHaving(db: Db, matches: readonly string[]): Promise<{ counts: number[]; all: number }> {
  if (matches.length === 0) return { counts: [], all: 0 }
  const all = await newestNumber(db)
  if (isPostgres(db)) return { counts: await countsOf(db, matches), all }
  const [counts, turn] = [[] as number[], turns()]
  for (const match of matches) {
    counts.push(...(await countsOf(db, [match])))
    await turn()
  }
  return { counts, all }
}

async function countsOf(db: Db, matches: readonly string[]): Promise<number[]> {
  const [row] = await compiled(db, 'postsHaving', { matches }, (given) => ({
    compile: () => {
      const index = wordIndex(db)
      const counts = given.matches.map(
        (match, at) =>
          sql`(select count(*) from (${keysIn(index, match, { created: 'desc', most: MOST_COUNTED })}) as part cross join posts
            where posts.number = part.post and posts.display = 1 and posts.is_spam = ${sql.lit(SHOWN)}) as ${sql.ref(`count${at}`)}`,
      )
      return sql<Record<string, number>>`select ${sql.join(counts)}`.compile(db)
    },
  }))
  return matches.map((_, at) => row?.[`count${at}`] ?? 0)
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
 * `hidden`: also by the words of what was held when it was merged into them.
 */
export async function postsWithMost(
  db: Db,
  filter: PostFilter,
  wanted: readonly Wanted[],
  { limit, hidden }: { limit: number; hidden: boolean },
): Promise<ComparedPost[]> {
  const [few, many] = LOOKED
  const posts = await postsAmong(db, filter, wanted, { limit, hidden, ...few })
  const isAll = (posts[0]?.alikes ?? few.alike) < few.alike
  return posts.length >= limit || isAll ? posts : postsAmong(db, filter, wanted, { limit, hidden, ...many })
}

interface Alike extends ComparedPost {
  /** Posts with any of the words, of those that are looked at. */
  alikes: number
}

async function postsAmong(
  db: Db,
  filter: PostFilter,
  wanted: readonly Wanted[],
  {
    limit,
    hidden,
    titles: inTitle,
    texts: anywhere,
    alike,
  }: { limit: number; hidden: boolean } & (typeof LOOKED)[number],
): Promise<Alike[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions || wanted.length === 0) return []
  const lists = {
    inTitle: wanted.map((each) => each.inTitle),
    anywhere: wanted.map((each) => each.anywhere),
    weights: wanted.map(({ weight }) => weight),
  }
  const rare = wanted.map(({ isRare }) => isRare)
  const index = wordIndex(db)
  if (!isPostgres(db)) {
    const found = JSON.stringify(await alikeInTurns(db, wanted, { inTitle, anywhere, alike }))
    return foundAmong(db, { name: `foundAlike ${alike}`, hidden }, { ...conditions, found, limit }, (wants) =>
      sql`select json_extract(value, '$[0]') as post, json_extract(value, '$[1]') as alike from json_each(${wants.found})`) // prettier-ignore
  }
  const part = (match: string, { weight, isRare }: { weight: number; isRare: boolean }, of: number, most: number) =>
    sql`select part.post, ${weight} * ${sql.lit(of)} as weight from (${keysIn(isRare ? rarely(db, index) : index, match, { created: 'desc', most })}) as part`
  return foundAmong(
    db,
    { name: `postsWithMost ${alike} ${rare.map(Number).join('')}`, hidden },
    { ...conditions, ...lists, limit },
    (wants) => {
      const { inTitle: titles, anywhere: texts, weights } = wants
      const parts = titles.flatMap((match, at) => [
        part(match, { weight: weights[at] ?? 0, isRare: rare[at] === true }, 1 - OF_TEXT, inTitle),
        part(texts[at] ?? match, { weight: weights[at] ?? 0, isRare: rare[at] === true }, OF_TEXT, anywhere),
      ])
      return sql`select post, sum(weight) as alike from (${sql.join(parts, sql` union all `)}) as parts
      group by post order by alike desc, post desc limit ${sql.lit(alike)}`
    },
  )
}

/** The numbers of the posts with the most of the words, with their weights: a query for each word, in place of one for all. */
async function alikeInTurns(
  db: Db,
  wanted: readonly Wanted[],
  { inTitle, anywhere, alike }: { inTitle: number; anywhere: number; alike: number },
): Promise<[number, number][]> {
  const weights = new Map<number, number>()
  const turn = turns()
  for (const each of wanted)
    for (const { match, of, most } of [
      { match: each.inTitle, of: 1 - OF_TEXT, most: inTitle },
      { match: each.anywhere, of: OF_TEXT, most: anywhere },
    ]) {
      for (const number of await numbersWith(db, match, most))
        weights.set(number, (weights.get(number) ?? 0) + each.weight * of)
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
