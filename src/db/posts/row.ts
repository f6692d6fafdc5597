import { sql, type Insertable, type Updateable } from 'kysely'
import { asStored, isId } from '../../core/ids.js'
import { slugIdOf } from '../../core/slugs.js'
import type { StatusKind } from '../../core/statuskinds.js'
import { compiled } from '../cache/compiled.js'
import type { Refs } from '../cache/dependencies.js'
import { isPostgres } from '../dialect.js'
import { recordUses } from '../images.js'
import { referringTo } from '../references.js'
import { indexMerged, indexPost } from '../search.js'
import type { Db, PostRow, Tables } from '../tables.js'

/** A post with what is shown of its author, board and roadmap; null where there is none. */
export interface PostView extends PostRow {
  authorName: string | null
  authorUsername: string | null
  authorAvatar: string | null
  boardName: string | null
  boardUrl: string | null
  boardColor: string | null
  boardCreatedAt: string | null
  boardDisplay: number | null
  view_voters: number | null
  archived: number | null
  hides_votes: number | null
  roadmapName: string | null
  roadmapUrl: string | null
  roadmapColor: string | null
  roadmapKind: StatusKind | null
  roadmapDisplay: number | null
}

// Written as text: building these queries from parts takes Kysely three times as long as the database needs to answer
// them.
export const BESIDE = `author.name as "authorName", author.username as "authorUsername", author.avatar as "authorAvatar",
    board.name as "boardName", board.url as "boardUrl", board.color as "boardColor", board."createdAt" as "boardCreatedAt", board.display as "boardDisplay", board.view_voters, board.archived, board.hides_votes,
    roadmap.name as "roadmapName", roadmap.url as "roadmapUrl", roadmap.color as "roadmapColor", roadmap.kind as "roadmapKind", roadmap.display as "roadmapDisplay"`
export const NAMES = sql.raw(`select posts.*, ${BESIDE}`)
export const OTHERS = sql.raw(`left join users as author on author."userId" = posts."userId"
  left join boards as board on board."boardId" = posts."boardId"
  left join roadmaps as roadmap on roadmap.id = posts.roadmap_id`)

export const idsOf = (posts: readonly Pick<PostRow, 'postId'>[]): string[] => posts.map(({ postId }) => postId)

export const authorsOf = (posts: readonly Pick<PostRow, 'userId'>[]): string[] =>
  posts.flatMap(({ userId }) => userId ?? [])

/** A post that was found; one that was not may come with any change. */
const OF_POST: Refs<PostRow> = {
  posts: (found) => (found.length > 0 ? idsOf(found) : undefined),
  votes: idsOf,
  comments: idsOf,
  users: authorsOf,
  boards: (found) => found.flatMap(({ boardId }) => boardId ?? []),
  roadmaps: (found) => found.flatMap(({ roadmap_id }) => roadmap_id ?? []),
}

/**
 * By id, slug, or number with or without `#`. A slug that the post had before its title changed finds it too: the id at
 * the end stays. A slug wins over a number.
 */
export async function findPost(db: Db, given: string): Promise<PostView | undefined> {
  if (isId(given)) return postWhere(db, 'postId', asStored(given))
  const [slugId, number] = [slugIdOf(given), numberOf(given)]
  return (
    (slugId && (await postWhere(db, 'slugId', slugId))) ||
    (await postWhere(db, 'slug', given)) ||
    (number === undefined ? undefined : postWhere(db, 'number', number))
  )
}

/** At most nine digits, as the column holds no more than ten, and no zero first, as ids begin so. */
const numberOf = (given: string): number | undefined => Number(/^#?([1-9]\d{0,8})$/.exec(given)?.[1]) || undefined

async function postWhere(
  db: Db,
  column: 'postId' | 'slugId' | 'slug' | 'number',
  value: string | number,
): Promise<PostView | undefined> {
  const [post] = await compiled(
    db,
    `postWhere ${column}`,
    { value },
    (given) => ({
      compile: () =>
        sql<PostView>`${NAMES} from posts ${OTHERS} where ${sql.ref(`posts.${column}`)} = ${given.value}`.compile(db),
    }),
    OF_POST,
  )
  return post
}

/** How many votes a post has now; 0 once it is deleted. */
export async function votesCountOf(db: Db, postId: string): Promise<number> {
  const [post] = await compiled(
    db,
    'votesCountOf',
    { postId },
    (given) => db.selectFrom('posts').select('votesCount').where('postId', '=', given.postId),
    { posts: [postId], votes: [postId], comments: [], boards: [] },
  )
  return post?.votesCount ?? 0
}

/** `images` are those that the text may show. The number is not in what it returns: a trigger writes it after the insertion. */
export async function insertPost(
  db: Db,
  post: Insertable<Tables['posts']>,
  images: readonly string[],
): Promise<Pick<PostRow, 'postId' | 'title'>> {
  const { userId: users, boardId: boards, roadmap_id: roadmaps } = post
  const [row] = await referringTo({ users, boards, roadmaps }, () =>
    compiled(db, 'insertPost', post, (given) => db.insertInto('posts').values(given).returning(['postId', 'title'])),
  )
  await indexPost(db, { ...post, contentMarkdown: post.contentMarkdown ?? null })
  await recordUses(db, { postId: post.postId, markdown: post.contentMarkdown ?? null }, images, { isNew: true })
  return row as Pick<PostRow, 'postId' | 'title'> // an insert that does not fail returns its row
}

/** `images` are those that a new text may show, beside those that it showed before. */
export async function updatePost(
  db: Db,
  postId: string,
  change: Updateable<Tables['posts']>,
  images: readonly string[] = [],
): Promise<PostRow | undefined> {
  const post = await referringTo({ users: change.userId, boards: change.boardId, roadmaps: change.roadmap_id }, () =>
    db.updateTable('posts').set(change).where('postId', '=', postId).returningAll().executeTakeFirst(),
  )
  if (post && (change.title !== undefined || change.contentMarkdown !== undefined)) {
    await indexPost(db, post)
    await indexMerged(db, sql`merges."rootId" = ${postId}`)
  }
  if (post && change.contentMarkdown !== undefined)
    await recordUses(db, { postId, markdown: post.contentMarkdown }, images, { isNew: false })
  return post
}

/**
 * Those of some posts of an author on which anyone else has voted or publicly commented, or into which others were merged. Without `offset 0`, PostgreSQL
 * may read all comments of the site once, in place of those of each post.
 */
export async function postsWithOthers(db: Db, postIds: readonly string[], author: string): Promise<string[]> {
  const rows = await compiled(
    db,
    'postsWithOthers',
    { postIds, author },
    (given) => ({
      compile: () =>
        sql<{
          postId: string
        }>`select posts."postId" from posts where posts."postId" in (${sql.join(given.postIds)}) and (
          exists (select 1 from votes where votes."postId" = posts."postId" and votes."userId" <> ${given.author} limit 1 offset 0)
          or exists (select 1 from comments where comments.post_id = posts."postId" and is_internal = 0 and is_spam = 0
            and (author_id is null or author_id <> ${given.author}) limit 1 offset 0)
          or exists (select 1 from merges where merges."rootId" = posts."postId" limit 1 offset 0))`.compile(db),
    }),
    { posts: postIds, boards: [], votes: postIds, comments: postIds, merges: postIds },
  )
  return rows.map(({ postId }) => postId)
}

/** Whether anyone but the author has voted or publicly commented. Locks the post until the transaction ends. */
export async function hasOthers(db: Db, { postId, userId }: Pick<PostRow, 'postId' | 'userId'>): Promise<boolean> {
  await db.selectFrom('posts').select('postId').where('postId', '=', postId).$if(isPostgres(db), (query) => query.forUpdate()).execute() // prettier-ignore
  return (await postsWithOthers(db, [postId], userId ?? '')).length > 0
}

/** Holds posts until the transaction ends. Whoever votes for one of them or comments on it waits, in `keepPost`. */
export async function lockPosts(db: Db, postIds: readonly string[]): Promise<void> {
  if (isPostgres(db))
    await db.selectFrom('posts').select('postId').where('postId', 'in', postIds).orderBy('postId').forUpdate().execute()
}

/** Keeps a post from a merge until the transaction ends. */
export async function keepPost(db: Db, postId: string): Promise<void> {
  if (isPostgres(db)) await db.selectFrom('posts').select('postId').where('postId', '=', postId).forKeyShare().execute()
}

/** With its votes and comments. */
export const deletePost = (db: Db, postId: string): Promise<PostRow | undefined> =>
  db.deleteFrom('posts').where('postId', '=', postId).returningAll().executeTakeFirst()
