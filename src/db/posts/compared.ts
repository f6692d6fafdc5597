import { sql } from 'kysely'
import { rowsForEach } from '../dialect.js'
import type { Db } from '../tables.js'
import { conditionsOf, rangesOf, type PostFilter } from './filter.js'
import { isAfter, orderBy, type Cursor } from './order.js'
import type { PostView } from './row.js'

/** What of a post is compared with others. */
export interface ComparedPost extends Cursor, Pick<PostView, 'boardId' | 'hidesVoters'> {
  number: number
  slug: string
  title: string
  roadmap_id: string | null
  display: number
  /** The beginning of its text; empty where the text is long, as to read it would hold up other requests. */
  text: string
}

/** And whether its board shows who voted, and how many. */
export type BoardedPost = ComparedPost & Pick<PostView, 'view_voters' | 'hides_votes'>

/** Characters of a text that are compared. */
const READ = 1000
/** Bytes of a text that is read at all. */
const SHORT = 8192

export const COMPARED =
  sql.raw(`posts.number, posts."postId", posts.slug, posts.title, posts."boardId", posts.roadmap_id, posts.display, posts."hidesVoters",
  posts."votesCount", posts."commentsCount", posts.trending, posts."createdAt",
  case when octet_length(posts."contentMarkdown") > ${SHORT} then '' else substr(coalesce(posts."contentMarkdown", ''), 1, ${READ}) end as text`)

/** The newest posts of some boards and roadmaps, at most `limit` of them, or as many after one of them. */
export async function comparedPosts(
  db: Db,
  filter: PostFilter,
  { limit, after }: { limit: number; after?: Cursor | undefined },
): Promise<BoardedPost[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return []
  const beyond = after ? sql` and ${isAfter('newest', after)}` : sql``
  const most = sql.lit(limit)
  const ranges = rangesOf(conditions).map(
    ({ where, nulls }) =>
      sql`select * from (select ${COMPARED} from posts where ${where}${beyond} order by ${orderBy('newest', 'posts', nulls)} limit ${most}) as part`,
  )
  const { rows } = await sql<BoardedPost>`
    select posts.*, boards.view_voters, boards.hides_votes
    from (select * from (${sql.join(ranges, sql` union all `)}) as posts order by ${orderBy('newest')} limit ${most}) as posts
    left join boards on boards."boardId" = posts."boardId" order by ${orderBy('newest')}`.execute(db)
  return rows
}

/** Of what was merged into a post, so many of the newest titles are compared. */
export const MOST_TITLES = 10

/** The titles of what was merged into some posts. */
export const titlesMergedInto = async (
  db: Db,
  rootIds: readonly string[],
  { hidden }: { hidden: boolean },
): Promise<{ rootId: string; title: string }[]> =>
  rootIds.length === 0
    ? []
    : (
        await rowsForEach(
          db,
          rootIds,
          (rootId) => sql<{ rootId: string; title: string }>`
            select merges."rootId", posts.title from merges inner join posts on posts."postId" = merges."postId"
            left join boards on boards."boardId" = posts."boardId" where merges."rootId" = ${rootId}
              and (coalesce(boards.display, 1) = 1 and merges."wasHeld" = 0 or ${sql.lit(hidden ? 1 : 0)} = 1)
            order by merges."mergedAt" desc, merges."postId" desc limit ${sql.lit(MOST_TITLES)}`,
        ).execute(db)
      ).rows
