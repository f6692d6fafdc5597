import { sql, type Insertable, type RawBuilder, type SqlBool } from 'kysely'
import { MERGED, SHOWN } from '../core/hidden.js'
import { isPostgres } from './dialect.js'
import { byOthers, NEVER, type Candidate } from './moderationqueue.js'
import { referringTo } from './references.js'
import type { Db, Tables } from './tables.js'

/** What a person can report, and the team decides about. */
export type Item = { postId: string } | { commentId: string }

const [column, id] = [
  (item: Item) => ('postId' in item ? 'postId' : 'commentId'),
  (item: Item) => ('postId' in item ? item.postId : item.commentId),
]

/** What the team sees of a post or comment that waits. */
export interface ItemView {
  id: string
  postId: string
  slug: string
  number: number
  postTitle: string
  text: string | null
  createdAt: string
  updatedAt: string
  isSpam: number
  isInternal: number
  userId: string | null
  name: string | null
  username: string | null
  avatar: string | null
  isBlocked: number | null
  isOwner: number | null
  isVerified: number | null
  joinedAt: string | null
  posts: number | null
  boardName: string | null
  boardUrl: string | null
}

export async function itemsOf(db: Db, kind: Candidate['kind'], ids: readonly string[]): Promise<ItemView[]> {
  if (ids.length === 0) return []
  const author = sql`author."userId", author.name, author.username, author.avatar, author."isBlocked", author."isOwner", author."isVerified", author."createdAt" as "joinedAt", author.post_count as posts`
  const place = sql`posts."postId", posts.slug, posts.number, posts.title as "postTitle", board.name as "boardName", board.url as "boardUrl"`
  const board = sql`left join boards as board on board."boardId" = posts."boardId"`
  const query =
    kind === 'post'
      ? sql<ItemView>`select posts."postId" as id, ${place}, posts."contentMarkdown" as text, posts."createdAt", posts."updatedAt", posts.is_spam as "isSpam", 0 as "isInternal", ${author} from posts ${board} left join users as author on author."userId" = posts."userId" where posts."postId" ${among(db, ids)}`
      : sql<ItemView>`select comments.id, ${place}, comments.body as text, comments.created_at as "createdAt", comments.updated_at as "updatedAt", comments.is_spam as "isSpam", comments.is_internal as "isInternal", ${author} from comments inner join posts on posts."postId" = comments.post_id ${board} left join users as author on author."userId" = comments.author_id where comments.id ${among(db, ids)}`
  return (await query.execute(db)).rows
}

/** The title and text of posts, and the text of comments, by id. */
export async function textsOf(
  db: Db,
  items: readonly Pick<Candidate, 'kind' | 'id'>[],
): Promise<Map<string, readonly (string | null)[]>> {
  const idsOf = (kind: Candidate['kind']) => items.flatMap((item) => (item.kind === kind ? [item.id] : []))
  const posts = await db
    .selectFrom('posts')
    .select(['postId', 'title', 'contentMarkdown'])
    .where(sql<SqlBool>`"postId" ${among(db, idsOf('post'))}`)
    .execute()
  const comments = await db
    .selectFrom('comments')
    .select(['id', 'body'])
    .where(sql<SqlBool>`id ${among(db, idsOf('comment'))}`)
    .execute()
  return new Map<string, readonly (string | null)[]>([
    ...posts.map(({ postId, title, contentMarkdown }) => [postId, [title, contentMarkdown]] as const),
    ...comments.map(({ id, body }) => [id, [body]] as const),
  ])
}

const among = (db: Db, ids: readonly string[]): RawBuilder<unknown> =>
  isPostgres(db) ? sql`= any(${sql.val(ids)}::text[])` : sql`in (${sql.join(ids)})`

/** Counts the internal notes of each post, up to `most` each. Posts without notes are left out. */
export async function notesOf(db: Db, postIds: readonly string[], most: number): Promise<ReadonlyMap<string, number>> {
  if (postIds.length === 0) return new Map()
  const one = (postId: string) =>
    sql`select ${postId} as "postId", count(*) as notes from (select 1 from comments where post_id = ${postId} and is_internal = 1 and is_spam = 0 limit ${sql.lit(most)}) as part`
  const query = sql<{ postId: string; notes: number }>`${sql.join(postIds.map(one), sql` union all `)}`
  const { rows } = await query.execute(db)
  return new Map(rows.flatMap(({ postId, notes }) => (notes > 0 ? [[postId, notes] as const] : [])))
}

/** The open reports of these posts or comments, in no order. */
export const openReports = (db: Db, kind: Candidate['kind'], ids: readonly string[]) =>
  db
    .selectFrom('reports')
    .innerJoin('users', 'users.userId', 'reports.userId')
    .select([
      'reports.postId',
      'reports.commentId',
      'reports.reason',
      'reports.createdAt',
      'users.name',
      'users.username',
    ])
    .where('reports.isOpen', '=', 1)
    .where(kind === 'post' ? 'reports.postId' : 'reports.commentId', 'in', ids.length > 0 ? [...ids] : [''])
    .execute()

/** Whether a post or comment has an open report from after this time. */
export const isReportedSince = async (db: Db, item: Item, time: string): Promise<boolean> =>
  (await db
    .selectFrom('reports')
    .select('reportId')
    .where(column(item), '=', id(item))
    .where('isOpen', '=', 1)
    .where('createdAt', '>', time)
    .limit(1)
    .executeTakeFirst()) !== undefined

/** The decision about a post or comment, and whether it is snoozed. */
export const findReview = (db: Db, item: Item) =>
  db
    .selectFrom('reviews')
    .select(['decidedAt', 'editedAt', 'isOpen', 'snoozedUntil', 'snoozedBy'])
    .where(column(item), '=', id(item))
    .executeTakeFirst()

/** The last decision about a post or comment, and who made it. The name is null at the command line and for a deleted account. */
export const lastDecision = (db: Db, kind: Candidate['kind'], subjectId: string) =>
  db
    .selectFrom('events')
    .leftJoin('users', 'users.userId', 'events.actor_id')
    .select(['events.action', 'events.created_at as at', 'users.name', 'users.username'])
    .where('events.subject_id', '=', subjectId)
    .where('events.subject', 'is not', null) // as the index has it
    .where('events.action', 'in', [
      `${kind}.kept`,
      `${kind}.marked_spam`,
      `${kind}.snoozed`,
      `${kind}.woken`,
      `${kind}.reopened`,
    ]) // prettier-ignore
    .orderBy('events.id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Restores the decision from before, or removes the present one where there was none. Who snoozed it may be deleted since. */
export async function restoreReview(
  db: Db,
  item: Item,
  review: Awaited<ReturnType<typeof findReview>> | null,
): Promise<void> {
  if (review) {
    const snoozedBy = sql<string | null>`(select "userId" from users where "userId" = ${review.snoozedBy})`
    await db
      .updateTable('reviews')
      .set({ ...review, snoozedBy })
      .where(column(item), '=', id(item))
      .execute()
  } else await db.deleteFrom('reviews').where(column(item), '=', id(item)).execute()
}

/** The first open reports of a post or comment. */
export async function openReportIds(db: Db, item: Item, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('reports')
    .select('reportId')
    .where('isOpen', '=', 1)
    .where(column(item), '=', id(item))
    .orderBy('createdAt')
    .limit(limit)
    .execute()
  return rows.map(({ reportId }) => reportId)
}

export async function reopenReports(db: Db, reportIds: readonly string[]): Promise<void> {
  if (reportIds.length > 0)
    await db.updateTable('reports').set({ isOpen: 1 }).where('reportId', 'in', reportIds).execute()
}

/** Stores a report, once for each person and item. Returns whether it is a new one; an earlier one is open again. */
export async function putReport(db: Db, report: Insertable<Tables['reports']>): Promise<boolean> {
  const rows = await referringTo({ users: report.userId, posts: report.postId, comments: report.commentId }, () =>
    db
      .insertInto('reports')
      .values(report)
      .onConflict((conflict) =>
        conflict
          .columns([report.postId ? 'postId' : 'commentId', 'userId'])
          .doUpdateSet((eb) => ({
            isOpen: 1,
            reason: eb.fn.coalesce(eb.ref('excluded.reason'), eb.ref('reports.reason')),
          }))
          // A second report counts where it gives the reason that the first did not
          .where((eb) =>
            eb.or([
              eb('reports.isOpen', '=', 0),
              eb.and([eb('reports.reason', 'is', null), eb('excluded.reason', 'is not', null)]),
            ]),
          ),
      )
      .returning('reportId')
      .execute(),
  )
  return rows.length > 0
}

export const setReportsOpen = (db: Db, item: Item, open: boolean) =>
  db
    .updateTable('reports')
    .set({ isOpen: open ? 1 : 0 })
    .where(column(item), '=', id(item))
    .execute()

const AWAKE = { snoozedUntil: null, snoozedBy: null }

/** Snoozes a post or comment. What was never decided about waits again then, however old it is. */
export const snooze = (
  db: Db,
  item: Item,
  { reviewId, ...until }: { reviewId: string; snoozedUntil: string; snoozedBy: string | null },
) =>
  referringTo(
    { users: until.snoozedBy, ...('postId' in item ? { posts: item.postId } : { comments: item.commentId }) },
    () =>
      db
        .insertInto('reviews')
        .values({ reviewId, ...item, decidedAt: NEVER, ...until })
        .onConflict((conflict) => conflict.column(column(item)).doUpdateSet(until))
        .execute(),
  )

/** Wakes what is snoozed beyond this hour. */
export const wake = (db: Db, item: Item, hour: string) =>
  db
    .updateTable('reviews')
    .set({ snoozedUntil: hour, snoozedBy: null })
    .where(column(item), '=', id(item))
    .where('snoozedUntil', '>', hour)
    .execute()

/** Until when these posts or comments are snoozed beyond this hour, and who did it. */
export const snoozesOf = (db: Db, kind: Candidate['kind'], ids: readonly string[], hour: string) =>
  db
    .selectFrom('reviews')
    .leftJoin('users', 'users.userId', 'reviews.snoozedBy')
    .select(['reviews.postId', 'reviews.commentId', 'reviews.snoozedUntil', 'users.name', 'users.username'])
    .where(kind === 'post' ? 'reviews.postId' : 'reviews.commentId', 'in', [...ids])
    .where('reviews.snoozedUntil', '>', hour)
    .execute()

export const putReview = (db: Db, item: Item, review: { reviewId: string; decidedAt: string }) =>
  referringTo('postId' in item ? { posts: item.postId } : { comments: item.commentId }, () =>
    db
      .insertInto('reviews')
      .values({ ...review, ...item })
      .onConflict((conflict) =>
        conflict.column(column(item)).doUpdateSet({ decidedAt: review.decidedAt, isOpen: 0, ...AWAKE }),
      )
      .execute(),
  )

/** Takes the decision back. What was edited waits again however old it is, as before the decision. */
export async function reopenReview(db: Db, item: Item): Promise<void> {
  const ofItem = { column: column(item), id: id(item) } as const
  await db
    .updateTable('reviews')
    .set({ isOpen: 1, ...AWAKE })
    .where(ofItem.column, '=', ofItem.id)
    .where('editedAt', 'is not', null)
    .execute()
  await db.deleteFrom('reviews').where(ofItem.column, '=', ofItem.id).where('editedAt', 'is', null).execute()
}

/**
 * Puts what somebody edited in the queue, unless the editor is of the team: what was kept, and what was never decided
 * about where `reviewId` is given.
 */
export async function putBack(
  db: Db,
  item: Item,
  { userId, editedAt, reviewId }: { userId: string; editedAt: string; reviewId: string | undefined },
): Promise<void> {
  const { rows } = await sql`select 1 as other where 1 = 1 ${byOthers(sql.val(userId))}`.execute(db)
  if (rows.length === 0) return
  const kept = await db
    .updateTable('reviews')
    .set({ editedAt, isOpen: 1, ...AWAKE })
    .where(column(item), '=', id(item))
    .executeTakeFirst()
  if (kept.numUpdatedRows > 0n || reviewId === undefined) return
  await db
    .insertInto('reviews')
    .values({ reviewId, ...item, decidedAt: NEVER, editedAt, isOpen: 1 })
    .onConflict((conflict) => conflict.column(column(item)).doUpdateSet({ editedAt, isOpen: 1, ...AWAKE })) // decided meanwhile
    .execute()
}

/** Whether a person has written a post or comment that is not hidden. */
export async function hasShown(db: Db, userId: string): Promise<boolean> {
  const shown = sql.lit(SHOWN)
  const post = db
    .selectFrom('posts')
    .leftJoin('merges', 'merges.postId', 'posts.postId')
    .select('posts.postId')
    .where('posts.userId', '=', userId)
    .where('posts.is_spam', 'in', [shown, sql.lit(MERGED)])
    .where((eb) => eb(eb.fn.coalesce('merges.wasHeld', sql.lit(0)), '=', sql.lit(0)))
  if (await post.limit(1).executeTakeFirst()) return true
  const comment = db.selectFrom('comments').select('id').where('author_id', '=', userId).where('is_spam', '=', shown)
  return (await comment.limit(1).executeTakeFirst()) !== undefined
}
