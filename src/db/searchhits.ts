import { sql, type RawBuilder } from 'kysely'
import { compiled } from './cache/compiled.js'
import { isPostgres } from './dialect.js'
import { IS_COVERED } from './posts/covered.js'
import { conditionsOf, conditionsOn, leadOf, type Conditions, type PostFilter } from './posts/filter.js'
import { ledBy, newestOf } from './posts/read.js'
import { NAMES, OTHERS, type PostView } from './posts/row.js'
import { commentIndex, keysIn, rarely, wordIndex } from './search.js'
import type { Db } from './tables.js'

/** What ranks a post. */
export interface PostHit {
  number: number
  postId: string
  title: string
  /** The beginning of its text. */
  text: string
  votesCount: number
  /** The votes that it may rank by: none where the reader does not see them. */
  ranking: number
  createdAt: string
}

/** A comment that was found, with its post. */
export interface CommentHit extends PostHit {
  id: string
  /** The first characters of the post's text. Empty if `text` is false. */
  ofPost: string
  writtenAt: string
  authorId: string | null
  authorName: string | null
  authorUsername: string | null
  authorAvatar: string | null
}

/** Characters of a text that are read to rank it. */
const READ = 4000

const columnsOf = (isCovered: boolean, text: RawBuilder<unknown>) =>
  sql`posts.number, posts."postId", posts.title, ${text} as text, posts."votesCount", ${isCovered ? sql`case when ${IS_COVERED} then 0 else posts."votesCount" end` : sql`posts."votesCount"`} as ranking, posts."createdAt"`
const BEGINNING = sql.raw(`substr(coalesce(posts."contentMarkdown", ''), 1, ${READ})`)
const NO_TEXT = sql.raw(`''`)

/** Whether the votes of some posts are hidden from the reader. */
interface Covering {
  isCovered: boolean
}

interface Reading extends Covering {
  most: number
  /** Whether to read the text of the post, which is most of the data. */
  text: boolean
  /** See `PostIndex`. */
  isRare?: boolean
}

/** The newest posts that pass a filter, and have what `match` says. */
export async function postHits(
  db: Db,
  filter: PostFilter,
  match: string | undefined,
  { most, text, isRare = false, isCovered }: Reading,
): Promise<PostHit[]> {
  const columns = columnsOf(isCovered, text ? BEGINNING : NO_TEXT)
  const conditions = conditionsOf(db, filter)
  if (!conditions) return []
  if (match === undefined && !leadOf(conditions))
    return compiled(db, `newestHits ${most} ${text} ${isCovered}`, conditions, (given) => ({
      compile: () => sql<PostHit>`select ${columns} from (${newestOf(given, most)}) as posts order by posts."createdAt" desc, posts."postId" desc`.compile(db), // prettier-ignore
    }))
  // An index of another table leads to the posts: of words, or of a filter such as tags
  const led: Conditions = { ...(match !== undefined && { [isRare ? 'rareWords' : 'words']: [match] }), ...conditions }
  return compiled(db, `postHits ${most} ${text} ${isCovered}`, led, (given) => ({
    compile: () =>
      sql<PostHit>`select ${columns} from ${ledBy(db, given, { created: 'desc', most })} order by posts.number desc`.compile(
        db,
      ),
  }))
}

/** Whether the index has so many posts of which `match` is true. */
export async function areMany(db: Db, match: string, many: number): Promise<boolean> {
  const [row] = await compiled(db, `areMany ${many}`, { match }, (given) => ({
    compile: () =>
      sql<{ count: number }>`select count(*) as count from (${keysIn(wordIndex(db), given.match, { created: 'desc', most: many })}) as found`.compile(db), // prettier-ignore
  }))
  return (row?.count ?? 0) >= many
}

/** Those of some numbers that pass a filter. */
export async function hitsNumbered(
  db: Db,
  filter: PostFilter,
  numbers: readonly number[],
  { isCovered }: Covering,
): Promise<PostHit[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return []
  return compiled(db, `hitsNumbered ${isCovered}`, { ...conditions, numbers }, ({ numbers: given, ...where }) => ({
    compile: () =>
      sql<PostHit>`select ${columnsOf(isCovered, BEGINNING)} from posts where ${sql.join([sql`posts.number in (${sql.join(given)})`, ...conditionsOn(db, where)], sql` and `)} order by posts.number`.compile(
        db,
      ),
  }))
}

/** Returns the posts that match and that other posts were merged into. */
export async function rootsWith(db: Db, ids: readonly string[], match: string): Promise<string[]> {
  const index = wordIndex(db)
  const rows = await compiled(db, 'rootsWith', { ids, match }, (given) => ({
    compile: () =>
      sql<{ postId: string }>`select posts."postId" from posts where posts."postId" in (${sql.join(given.ids)})
        and exists (select 1 from merges where merges."rootId" = posts."postId")
        and exists (select 1 from ${sql.table(index.table)} where ${sql.ref(`${index.table}.${index.column}`)} = posts.number and ${index.matches(given.match)})`.compile(
        db,
      ),
  }))
  const found = new Set(rows.map(({ postId }) => postId))
  return ids.filter((id) => found.has(id))
}

/** Which comments a reader may see. */
export interface Readable extends Covering {
  internal: boolean
  spam: boolean
  viewer: string | null
}

/** The newest comments that have what `match` says, on posts that pass a filter. */
export async function commentHits(
  db: Db,
  filter: PostFilter,
  { internal, spam, viewer, isCovered }: Readable,
  match: string,
  { most, text, isRare = false }: Omit<Reading, 'isCovered'>,
): Promise<CommentHit[]> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return []
  const name = `commentHits ${most} ${text} ${isRare} ${internal} ${spam} ${viewer !== null} ${isCovered}`
  return compiled(
    db,
    name,
    { ...conditions, match, viewer: viewer ?? undefined },
    ({ match: given, viewer: own, ...where }) => {
      const index = commentIndex(db)
      const keys = keysIn(isRare ? rarely(db, index) : index, given, { created: 'desc', most })
      const postgres = isPostgres(db)
      const numbers = sql.raw(postgres ? 'cross join indexed_comments' : '')
      const conditionsOfComments = [
        postgres
          ? sql`indexed_comments.number = found.post and comments.id = indexed_comments.comment_id`
          : sql`comments.number = found.post`,
        sql`posts."postId" = comments.post_id`,
        ...(internal ? [] : [sql`comments.is_internal = 0`]),
        ...(spam ? [] : [own === undefined ? sql`comments.is_spam = 0` : sql`(comments.is_spam = 0 or comments.author_id = ${own})`]), // prettier-ignore
        ...conditionsOn(db, where),
      ]
      return {
        compile: () =>
          sql<CommentHit>`select ${columnsOf(isCovered, sql`substr(comments.body, 1, ${sql.lit(READ)})`)},
            ${text ? BEGINNING : NO_TEXT} as "ofPost",
            comments.id, comments.created_at as "writtenAt", comments.author_id as "authorId",
            users.name as "authorName", users.username as "authorUsername", users.avatar as "authorAvatar"
          from (${keys}) as found ${numbers} cross join comments cross join posts
          left join users on users."userId" = comments.author_id
          where ${sql.join(conditionsOfComments, sql` and `)} order by found.post desc`.compile(db),
      }
    },
  )
}

/** Posts by their numbers. */
export const postsNumbered = async (db: Db, numbers: readonly number[]): Promise<PostView[]> =>
  numbers.length === 0
    ? []
    : compiled(db, 'postsNumbered', { numbers }, (given) => ({
        compile: () => sql<PostView>`${NAMES} from posts ${OTHERS} where posts.number in (${sql.join(given.numbers)}) order by posts.number`.compile(db), // prettier-ignore
      }))
