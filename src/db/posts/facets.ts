import { sql } from 'kysely'
import { compiled } from '../cache/compiled.js'
import type { BoardRow, Db } from '../tables.js'
import { refsOf } from './count.js'
import { conditionsOf, countersOf, leadOf, type Conditions, type PostFilter } from './filter.js'
import { ledFrom, MOST_FOUND, newestOf } from './read.js'

/** Boards whose posts are counted: those with the most posts, and those that the filter names. */
export const MOST_BOARDS = 50

/** How many posts are in each place, by the id of a board or a roadmap; null for none. */
export interface Facet {
  posts: ReadonlyMap<string | null, number>
  /** Whether there are at least so many: the posts of a place are counted up to a limit. */
  isCapped: boolean
}

interface Counted {
  board: string | null
  roadmap: string | null
  posts: number
  /** Posts that were looked at. */
  looked: number
}

const NOTHING: Facet = { posts: new Map(), isCapped: false }

/**
 * How many posts a filter passes for each board, and for each roadmap. The filter by boards does not count for those of
 * boards: they tell how many another choice would show. The same holds for roadmaps.
 */
export async function postFacets(db: Db, filter: PostFilter): Promise<Record<'boards' | 'roadmaps', Facet>> {
  const [ofBoards, ofRoadmaps] = [
    conditionsOf(db, { ...filter, boards: [] }),
    conditionsOf(db, { ...filter, roadmaps: undefined }),
  ]
  // Without either filter, the same posts are counted by both
  const isOne = filter.boards.length === 0 && filter.roadmaps === undefined
  const byBoards = ofBoards && !countersOf(ofBoards) ? await countNewest(db, ofBoards) : undefined
  return {
    boards: !ofBoards ? NOTHING : byBoards ? facetOf(byBoards, 'board') : await boardsCounted(db, ofBoards, filter),
    roadmaps: !ofRoadmaps
      ? NOTHING
      : countersOf(ofRoadmaps)
        ? await roadmapsCounted(db, ofRoadmaps)
        : facetOf((isOne && byBoards) || (await countNewest(db, ofRoadmaps)), 'roadmap'),
  }
}

function facetOf(rows: readonly Counted[], place: 'board' | 'roadmap'): Facet {
  const posts = new Map<string | null, number>()
  for (const row of rows) posts.set(row[place], (posts.get(row[place]) ?? 0) + row.posts)
  return { posts, isCapped: rows.reduce((sum, { looked }) => sum + looked, 0) > MOST_FOUND }
}

/** The newest posts that pass, by both places: one more than are looked at tells whether there are others. */
const countNewest = (db: Db, conditions: Conditions): Promise<Counted[]> =>
  compiled(
    db,
    'countNewest',
    conditions,
    (given) => ({ compile: () => newestCounted(db, given).compile(db) }),
    refsOf(conditions),
  )

function newestCounted(db: Db, conditions: Conditions) {
  const places = sql`posts."boardId" as board, posts.roadmap_id as roadmap`
  const by = sql`group by posts."boardId", posts.roadmap_id`
  if (!leadOf(conditions)) {
    const newest = newestOf(conditions, MOST_FOUND + 1, sql`"boardId", roadmap_id, "createdAt", "postId"`)
    return sql<Counted>`select ${places}, count(*) as posts, count(*) as looked from (${newest}) as posts ${by}`
  }
  const { keys, key, rest } = ledFrom(db, conditions, { created: 'desc', most: MOST_FOUND + 1 })
  return sql<Counted>`select ${places}, count(${key}) as posts, count(*) as looked from (${keys}) as found left join posts on ${rest} ${by}`
}

interface Kept {
  place: string
  posts: number
}

const facetOfCounts = (rows: readonly Kept[]): Facet => ({
  posts: new Map(rows.map(({ place, posts }) => [place === '' ? null : place, posts])),
  isCapped: false,
})

/** From counts that the database keeps. */
async function roadmapsCounted(db: Db, conditions: Conditions): Promise<Facet> {
  const { board = [], display = [] } = countersOf(conditions) ?? {}
  const rows = await compiled(db, 'roadmapsCounted', { board, display }, (given) => ({
    compile: () =>
      sql<Kept>`select roadmap as place, cast(sum(value) as bigint) as posts from post_counts
        where board in (${sql.join(given.board)}) and display in (${sql.join(given.display)}) and roadmap <> '*'
        group by roadmap`.compile(db),
  }))
  return facetOfCounts(rows)
}

async function boardsCounted(db: Db, conditions: Conditions, { boards, hidden }: PostFilter): Promise<Facet> {
  const { roadmap = [], display = [] } = countersOf(conditions) ?? {}
  const largest = await largestBoards(db, hidden)
  const board = [...new Set(['', ...largest, ...boards.map((id) => id ?? '')])]
  const rows = await compiled(db, 'boardsCounted', { board, roadmap, display }, (given) => ({
    compile: () =>
      sql<Kept>`select board as place, cast(sum(value) as bigint) as posts from post_counts
        where board in (${sql.join(given.board)}) and roadmap in (${sql.join(given.roadmap)}) and display in (${sql.join(given.display)})
        group by board`.compile(db),
  }))
  return facetOfCounts(rows)
}

/** The ids of the boards with the most posts, the private ones among them where `hidden`. */
async function largestBoards(db: Db, hidden: boolean): Promise<string[]> {
  const rows = await compiled(db, 'largestBoards', { display: hidden ? [0, 1] : [1], most: MOST_BOARDS }, (given) => {
    const ranges = given.display.map(
      (display) =>
        sql`select * from (select "boardId", post_count from boards where display = ${display} order by post_count desc, "boardId" desc limit ${given.most}) as part`,
    )
    const all = sql`select "boardId" from (${sql.join(ranges, sql` union all `)}) as boards`
    return {
      compile: () =>
        sql<Pick<BoardRow, 'boardId'>>`${all} order by post_count desc, "boardId" desc limit ${given.most}`.compile(db),
    }
  })
  return rows.map(({ boardId }) => boardId)
}
