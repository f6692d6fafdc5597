import { sql } from 'kysely'
import { compiled } from '../cache/compiled.js'
import { keysIn, wordIndex } from '../search.js'
import type { Db } from '../tables.js'
import { COMPARED, type ComparedPost } from './compared.js'
import { conditionsOf, conditionsOn, type PostFilter } from './filter.js'

/** What has a word: queries of the full-text index, as `matchOfTerms` makes them. */
export interface Wanted {
  inTitle: string
  anywhere: string
  /** What a title with the word counts. */
  weight: number
}

/** Posts that are looked at for each word: the newest with it in the title, and with it anywhere. */
const MOST_TITLES_WITH = 500
const MOST_WITH = 100
/** What a word in a text counts, of one in the title. */
const OF_TEXT = 0.3
/** Posts with the most of the words, from which those are taken that a reader may see. */
const MOST_ALIKE = 300

/** How many titles have what each of these queries says, up to `MOST_TITLES_WITH`, and how many posts there are. */
export async function titlesWith(db: Db, matches: readonly string[]): Promise<{ counts: number[]; all: number }> {
  if (matches.length === 0) return { counts: [], all: 0 }
  const [row] = await compiled(db, 'titlesWith', { matches }, (given) => ({
    compile: () => {
      const index = wordIndex(db)
      const counts = given.matches.map(
        (match, at) =>
          sql`(select count(*) from (${keysIn(index, match, { created: 'desc', most: MOST_TITLES_WITH })}) as part) as ${sql.ref(`count${at}`)}`,
      )
      return sql<Record<string, number>>`select (select coalesce(max(number), 0) from posts) as "all", ${sql.join(counts)}`.compile(db) // prettier-ignore
    },
  }))
  return { counts: matches.map((_, at) => row?.[`count${at}`] ?? 0), all: row?.all ?? 0 }
}

/** The posts that pass a filter and have the most of some words, at most `limit`; those that have most of them first. */
export async function postsWithMost(
  db: Db,
  filter: PostFilter,
  wanted: readonly Wanted[],
  limit: number,
): Promise<ComparedPost[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions || wanted.length === 0) return []
  const lists = {
    titles: wanted.map(({ inTitle }) => inTitle),
    texts: wanted.map(({ anywhere }) => anywhere),
    weights: wanted.map(({ weight }) => weight),
  }
  const index = wordIndex(db)
  return compiled(
    db,
    'postsWithMost',
    { ...conditions, ...lists, limit },
    ({ titles, texts, weights, limit: most, ...where }) => {
      // prettier-ignore
      const part = (match: string, weight: number, of: number, looked: number) =>
      sql`select part.post, ${weight} * ${sql.lit(of)} as weight from (${keysIn(index, match, { created: 'desc', most: looked })}) as part`
      const parts = titles.flatMap((match, at) => [
        part(match, weights[at] ?? 0, 1 - OF_TEXT, MOST_TITLES_WITH),
        part(texts[at] ?? match, weights[at] ?? 0, OF_TEXT, MOST_WITH),
      ])
      const best = sql`select post, sum(weight) as alike from (${sql.join(parts, sql` union all `)}) as parts
      group by post order by alike desc, post desc limit ${sql.lit(MOST_ALIKE)}`
      // What is merged into another leads to that one: its title is in the index still
      const roots = sql`select coalesce(merges."rootId", found."postId") as "postId", max(best.alike) as alike
      from (${best}) as best cross join posts as found left join merges on merges."postId" = found."postId"
      where found.number = best.post group by coalesce(merges."rootId", found."postId")`
      const passes = sql.join([sql`posts."postId" = roots."postId"`, ...conditionsOn(db, where)], sql` and `)
      return {
        compile: () =>
          sql<ComparedPost>`select ${COMPARED} from (${roots}) as roots cross join posts
          where ${passes} order by roots.alike desc, posts.number desc limit ${most}`.compile(db),
      }
    },
  )
}
