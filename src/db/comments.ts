import { sql, type Insertable, type Updateable } from 'kysely'
import { asStored } from '../core/ids.js'
import { compiled } from './cache/compiled.js'
import { pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import { referringTo } from './references.js'
import { recordUses } from './images.js'
import { indexComments, numbered } from './searchindex.js'
import type { CommentRow, Db, Tables } from './tables.js'

/** Which comments of a post the viewer may see. */
export interface CommentFilter {
  postId: string
  visibility: readonly ('public' | 'internal')[]
  /** Whether spam of other authors is included. The viewer's own always is. */
  spam: boolean
  viewer: string | null
  author: string | undefined
  /** Only updates of the team and the answer. */
  official?: boolean
  period: Period
}

/**
 * A comment with its author, and what decides whether its parent is visible. Names are null once the account is
 * deleted.
 */
export type CommentView = Awaited<ReturnType<typeof listComments>>[number]

export const flagOf = (visibility: 'public' | 'internal'): number => (visibility === 'internal' ? 1 : 0)

const filtered = (db: Db, { postId, visibility, spam, viewer, author, official, period }: CommentFilter) =>
  within(db.selectFrom('comments'), 'comments.created_at', period)
    .where('comments.post_id', '=', postId)
    .where((eb) => (visibility.length === 0 ? eb.lit(false) : eb('comments.is_internal', 'in', visibility.map(flagOf))))
    .$if(author !== undefined, (query) => query.where('comments.author_id', '=', author ?? null))
    .$if(official === true, (query) => query.where('comments.official', 'is not', null))
    .$if(!spam, (query) =>
      query.where((eb) => eb.or([eb('comments.is_spam', '=', 0), eb('comments.author_id', '=', viewer)])),
    )

const orderOf = ({ created: direction }: Sorting) =>
  ({ by: ['created_at', 'id'], direction, table: 'comments' }) as const

/**
 * Columns that decide what a reader sees beside a comment: the comment that it replies to, the roadmap of an update, the
 * merged post that it came with, and whether the board is archived.
 */
export const BESIDE = [
  'parent.is_internal as parentInternal',
  'parent.is_spam as parentSpam',
  'parent.author_id as parentAuthor',
  'stage.name as roadmapName',
  'stage.url as roadmapUrl',
  'stage.color as roadmapColor',
  'stage.kind as roadmapKind',
  'stage.display as roadmapDisplay',
  'origin.number as originNumber',
  'origin.title as originTitle',
  'origin_board.display as originDisplay',
  'place_board.archived',
] as const

const withNames = (query: ReturnType<typeof filtered>) =>
  query
    .leftJoin('users', 'users.userId', 'comments.author_id')
    .leftJoin('comments as parent', 'parent.id', 'comments.parent_id')
    .leftJoin('roadmaps as stage', 'stage.id', 'comments.roadmap_id')
    .leftJoin('posts as origin', 'origin.postId', 'comments.from_post_id')
    .leftJoin('boards as origin_board', 'origin_board.boardId', 'origin.boardId')
    .leftJoin('posts as place', 'place.postId', 'comments.post_id')
    .leftJoin('boards as place_board', 'place_board.boardId', 'place.boardId')
    .selectAll('comments')
    .select(['users.name', 'users.username', 'users.avatar'])
    .select((eb) => [
      eb.ref('place.locked').$notNull().as('locked'),
      eb.ref('place.number').$notNull().as('postNumber'),
    ])
    .select(BESIDE)

export const listComments = (db: Db, filter: CommentFilter & Sorting, page: Page<CommentRow>) =>
  pageOf(filtered(db, filter).$call(withNames), orderOf(filter), page).execute()

/** Counts on each call: an index has the comments of one post side by side. */
export async function countComments(db: Db, filter: CommentFilter): Promise<number> {
  const row = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

export const findComment = (db: Db, id: string): Promise<CommentView | undefined> =>
  db.selectFrom('comments').$call(withNames).where('comments.id', '=', asStored(id)).executeTakeFirst()

/** Locks the row until the transaction ends. Returns undefined if the comment has been deleted. */
export const lockComment = (
  db: Db,
  id: string,
): Promise<Pick<CommentRow, 'id' | 'is_internal' | 'is_spam'> | undefined> =>
  db
    .updateTable('comments')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returning(['id', 'is_internal', 'is_spam'])
    .executeTakeFirst()

export async function hasPublicReply(db: Db, id: string): Promise<boolean> {
  const reply = await db
    .selectFrom('comments')
    .select('id')
    .where('parent_id', '=', id)
    .where('is_internal', '=', 0)
    .executeTakeFirst()
  return reply !== undefined
}

/** Those of some comments of an author to which anyone else has publicly replied. */
export async function commentsWithReplies(
  db: Db,
  comments: readonly Pick<CommentRow, 'id' | 'post_id'>[],
  author: string,
): Promise<string[]> {
  const ids = comments.map(({ id }) => id)
  const rows = await compiled(
    db,
    'commentsWithReplies',
    { ids, author },
    (given) =>
      db
        .selectFrom('comments')
        .select('parent_id')
        .distinct()
        .where('parent_id', 'in', given.ids)
        .where('is_internal', '=', 0)
        .where('is_spam', '=', 0)
        .where((eb) => eb.or([eb('author_id', 'is', null), eb('author_id', '<>', given.author)])),
    { comments: comments.map(({ post_id: postId }) => postId) },
  )
  return rows.flatMap(({ parent_id: id }) => id ?? [])
}

/** Returns which of these posts have a comment, also one that is hidden or internal. */
export async function commentedAmong(db: Db, postIds: readonly string[]): Promise<string[]> {
  if (postIds.length === 0) return []
  const rows = await compiled(
    db,
    'commentedAmong',
    { postIds },
    (given) => db.selectFrom('comments').select('post_id').distinct().where('post_id', 'in', given.postIds),
    { comments: postIds },
  )
  return rows.map(({ post_id: postId }) => postId)
}

/** Makes a comment the answer of its post and unmarks the one before; null only unmarks. Lock the post first. */
export async function setAnswer(db: Db, postId: string, id: string | null, at: string): Promise<void> {
  const answers = db.updateTable('comments').where('post_id', '=', postId)
  await answers.set({ official: null, updated_at: at }).where('official', '=', sql.lit('answer')).execute()
  if (id !== null) await answers.set({ official: 'answer', updated_at: at }).where('id', '=', id).execute()
}

/** `images` are those that the text may show. */
export async function insertComment(
  db: Db,
  comment: Insertable<Tables['comments']>,
  images: readonly string[],
): Promise<void> {
  const [row = comment] = await numbered(db, [comment])
  await referringTo({ users: comment.author_id, posts: comment.post_id }, () =>
    db.insertInto('comments').values(row).execute(),
  )
  await indexComments(db, [comment])
  await recordUses(db, { commentId: comment.id, markdown: comment.body }, images, { isNew: true })
}

/** `images` are those that a new text may show, beside those that it showed before. */
export async function updateComment(
  db: Db,
  id: string,
  change: Updateable<Tables['comments']>,
  images: readonly string[] = [],
): Promise<void> {
  await db.updateTable('comments').set(change).where('id', '=', id).execute()
  if (change.body === undefined) return
  await indexComments(db, [{ id, body: change.body }])
  await recordUses(db, { commentId: id, markdown: change.body }, images, { isNew: false })
}

/** Replies stay, without a parent. */
export const deleteComment = (db: Db, id: string): Promise<CommentRow | undefined> =>
  db.deleteFrom('comments').where('id', '=', id).returningAll().executeTakeFirst()
