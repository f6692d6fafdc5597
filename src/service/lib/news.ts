import type { FieldChange } from '../../core/details.js'
import { findComment } from '../../db/comments.js'
import { followersOf, isReachable } from '../../db/follows.js'
import { holdersAmong, insertNotifications } from '../../db/notifications.js'
import { receiversAmong } from '../../db/notificationsettings.js'
import { findPost, type PostView } from '../../db/posts/row.js'
import { readSettings } from '../../db/settings.js'
import type { Db, EventRow, NotificationRow } from '../../db/tables.js'
import type { Permission } from '../../core/permissions.js'
import { toldHow } from './ways.js'

/** What an event tells people. */
interface News extends Pick<NotificationRow, 'kind' | 'commentId' | 'roadmapId'> {
  post: PostView
  /** Whose doing it is: they are not told. */
  by: string | null
  /** What a person must be permitted to read it now. */
  needs: readonly Permission[]
  /** The person it concerns, who alone is told unless they chose not to follow the post. Undefined: everyone who follows it. */
  only?: string | null
}

/** An event as a consumer gets it. */
type Told = Pick<EventRow, 'id' | 'subject_id' | 'actor_id' | 'created_at'> & {
  action: string
  details: readonly FieldChange[]
}

/**
 * Tells everyone concerned of an event, each once, whatever is repeated. Nobody is told of what they did themselves, or of
 * what they may not read at this moment.
 */
export async function tell(
  db: Db,
  event: Told,
  { now, signal }: { now: () => Date; signal: AbortSignal },
): Promise<void> {
  const news = await newsOf(db, event)
  if (!news) return
  const { notificationWays: site } = await readSettings(db)
  const { post, by, kind, commentId, roadmapId, needs, only } = news
  for await (const people of only === undefined ? followerIds(db, post.postId) : concerned(db, post.postId, only)) {
    signal.throwIfAborted()
    const others = people.filter((id) => id !== by)
    const receivers = await receiversAmong(db, await readersAmong(db, others, needs))
    const rows = receivers.flatMap((receiver) => {
      const how = toldHow(receiver, kind, { site, now: now() })
      if (!how) return []
      return {
        userId: receiver.userId,
        eventId: event.id,
        kind,
        postId: post.postId,
        commentId,
        roadmapId,
        actorId: by,
        createdAt: event.created_at,
        readAt: null,
        ...how,
      }
    })
    if (rows.length > 0) await insertNotifications(db, rows)
  }
}

async function* followerIds(db: Db, postId: string): AsyncGenerator<string[]> {
  for await (const some of followersOf(db, postId)) yield some.map(({ userId }) => userId)
}

async function* concerned(db: Db, postId: string, userId: string | null): AsyncGenerator<string[]> {
  if (userId !== null && (await isReachable(db, { postId, userId }))) yield [userId]
}

/** Those of some people who hold each of these permissions. */
async function readersAmong(db: Db, people: readonly string[], needs: readonly Permission[]): Promise<string[]> {
  let readers = [...people]
  for (const permission of needs) {
    const holders = await holdersAmong(db, readers, permission)
    readers = readers.filter((id) => holders.has(id))
  }
  return readers
}

/** Undefined where the event tells nobody anything, as the post is gone, hidden, or stands elsewhere by now. */
async function newsOf(db: Db, event: Told): Promise<News | undefined> {
  switch (event.action) {
    case 'post.updated':
      return statusNews(db, event)
    case 'comment.created':
    case 'comment.kept':
      return replyNews(db, event)
    case 'comment.updated':
      return answerNews(db, event)
    default:
      return undefined
  }
}

const changed = ({ details }: Told, field: string): FieldChange | undefined =>
  details.find((each) => each.field === field)

/** A new status, with what the team said about it, or that alone. */
async function statusNews(db: Db, event: Told): Promise<News | undefined> {
  const [status, message] = [changed(event, 'roadmap_id'), changed(event, 'update')]
  if (!status && !message) return undefined
  const post = await shownPost(db, event.subject_id)
  if (!post) return undefined
  const comment = typeof message?.after === 'string' ? await shownComment(db, message.after) : undefined
  // A status that was changed again has news of its own
  const isPresent = status !== undefined && post.roadmap_id !== null && post.roadmap_id === status.after
  if (!comment && !isPresent) return undefined
  const isPrivate = isPresent && post.roadmapDisplay !== 1
  return {
    kind: isPresent ? 'status' : 'update',
    post,
    by: event.actor_id,
    commentId: comment?.id ?? null,
    roadmapId: isPresent ? post.roadmap_id : null,
    needs: [...neededFor(post), ...(isPrivate && !comment ? (['roadmap:read'] as const) : [])],
  }
}

/** Milliseconds. A comment that was held or hidden for longer is no news when it is shown. */
const LATEST_MS = 30 * 24 * 60 * 60 * 1000

/** Tells the author of a comment of replies to it, and the author of a post of comments on it: once these are shown. */
async function replyNews(db: Db, event: Told): Promise<News | undefined> {
  const comment = await shownComment(db, event.subject_id)
  const post = comment && (await shownPost(db, comment.post_id))
  if (
    !post ||
    comment.official === 'update' || // which the change of the post tells of
    Date.parse(event.created_at) - Date.parse(comment.created_at) > LATEST_MS
  )
    return undefined
  const needs = [...neededFor(post), ...(comment.is_internal === 1 ? (['comment:view_internal'] as const) : [])]
  const only = comment.parent_id === null ? post.userId : comment.parentAuthor
  return { kind: 'reply', post, by: comment.author_id, commentId: comment.id, roadmapId: null, needs, only }
}

/** A comment that the team marked as the answer. */
async function answerNews(db: Db, event: Told): Promise<News | undefined> {
  if (changed(event, 'official')?.after !== 'answer') return undefined
  const comment = await shownComment(db, event.subject_id)
  if (comment?.official !== 'answer') return undefined
  const post = await shownPost(db, comment.post_id)
  return (
    post && { kind: 'answer', post, by: event.actor_id, commentId: comment.id, roadmapId: null, needs: neededFor(post) }
  )
}

async function shownPost(db: Db, postId: string): Promise<PostView | undefined> {
  const post = await findPost(db, postId)
  return post?.is_spam === 0 ? post : undefined
}

async function shownComment(db: Db, id: string) {
  const comment = await findComment(db, id)
  return comment?.is_spam === 0 ? comment : undefined
}

const neededFor = ({ display }: PostView): Permission[] => (display === 1 ? [] : ['board:read'])
