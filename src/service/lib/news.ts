import { EDITED, type FieldChange } from '../../core/details.js'
import { boardFollowers } from '../../db/boardfollows.js'
import { findComment, type CommentView } from '../../db/comments.js'
import { followersOf, followersOfAny, isReachable } from '../../db/follows.js'
import { holdersAmong, insertNotifications, toldAmong } from '../../db/notifications.js'
import { receiversAmong } from '../../db/notificationsettings.js'
import { membersOf } from '../../db/mentions.js'
import { findMerge, peopleOf } from '../../db/merges.js'
import { findPost, type PostView } from '../../db/posts/row.js'
import { readSettings } from '../../db/settings.js'
import { findOwner } from '../../db/users.js'
import type { Db, EventRow, NotificationRow } from '../../db/tables.js'
import type { MailSettings } from '../../mail/transport.js'
import type { Permission } from '../../core/permissions.js'
import { newlyMentioned, storeMentions } from './mentions.js'
import { waitingOf } from './reportnews.js'
import { toldHow, type NotificationDelivery } from './ways.js'

/** What an event tells people. */
export interface News extends Pick<NotificationRow, 'kind' | 'commentId' | 'roadmapId'> {
  post: PostView
  /** Whose doing it is: they are not told. */
  by: string | null
  /** What a person must be permitted to read it now. */
  needs: readonly Permission[]
  /** The people it concerns, who alone are told unless they chose not to follow the post. Undefined: everyone who follows it. */
  only?: readonly string[]
  /** Of those who are told, only these. */
  among?: ReadonlySet<string>
  /** Who follows the board of the post is told, or the team that decides about it, not who follows the post. */
  to?: 'board' | 'team'
}

/** The fields of news that decide who is told. */
export type Telling = Pick<News, 'by' | 'kind' | 'needs' | 'among'>

/** An event as a consumer gets it. */
type NewsEvent = Pick<EventRow, 'id' | 'subject_id' | 'actor_id' | 'origin' | 'created_at'> & {
  action: string
  details: readonly FieldChange[]
}

/** Somebody who is told, and in which ways. */
export type Reader = NotificationDelivery & { userId: string }

/**
 * Tells everyone concerned of an event, each once, whatever is repeated. Nobody is told of what they did themselves, or of
 * what they may not read at this moment.
 */
export async function tell(
  db: Db,
  given: NewsEvent,
  { now, signal, mail }: { now: () => Date; signal: AbortSignal; mail: MailSettings | null },
): Promise<void> {
  const event = { ...given, actor_id: await doerOf(db, given) }
  const tellOf = async (news: News | undefined) => {
    if (!news) return
    for await (const readers of readersOf(db, news, { now, mail })) {
      signal.throwIfAborted()
      const { kind, post } = news
      // A post that was hidden meanwhile is no new one, and is not published again. Of a comment there is one row a person
      const told = news.to === 'board' || (kind === 'published' && !news.commentId) ? await toldAmong(db, readers.map(({ userId }) => userId), { kind, postId: post.postId }) : undefined // prettier-ignore
      const rest = readers.filter(({ userId }) => !told?.has(userId))
      if (rest.length > 0) await insertNotifications(db, rowsFor(event, news, rest))
    }
  }
  // Nobody is told of the same event twice: who is told of a reply is not told of the mention in it, but of a mention in a
  // new post, and not of the post
  await tellOf(await newsOf(db, event))
  for (const text of await textsOf(db, event)) await tellMentioned(db, event, text, { now, mail })
  await tellOf(await newPost(db, event))
  await tellOf(await published(db, event))
  const waiting = await waitingOf(db, event)
  await tellOf(waiting && { kind: 'report', roadmapId: null, to: 'team', ...waiting })
}

/** Who caused an event. A change at the command line without --as counts as the owner's. */
export const doerOf = async (
  db: Db,
  { actor_id, origin }: Pick<NewsEvent, 'actor_id' | 'origin'>,
): Promise<string | null> => actor_id ?? (origin.startsWith('cli:') ? ((await findOwner(db))?.userId ?? null) : null)

const rowsFor = (event: NewsEvent, { kind, post, by, commentId, roadmapId }: News, readers: readonly Reader[]) =>
  readers.map((how): NotificationRow => ({
    eventId: event.id,
    kind,
    postId: post.postId,
    commentId,
    roadmapId,
    actorId: by,
    createdAt: event.created_at,
    readAt: null,
    mailedAt: null,
    ...how,
  }))

/** Tells those whom a text mentions for the first time and who may read it. They follow the post from then on. */
async function tellMentioned(
  db: Db,
  event: NewsEvent,
  { post, comment }: Mentioning,
  { now, mail }: { now: () => Date; mail: MailSettings | null },
): Promise<void> {
  const [text, authorId] = comment ? [comment.body, comment.author_id] : [post.contentMarkdown ?? '', post.userId]
  const where = { postId: post.postId, commentId: comment?.id ?? null }
  const people = await newlyMentioned(db, { ...where, markdown: text, authorId })
  const needs = comment ? neededForComment(post, comment) : neededFor(post)
  const readers = await readersAmong(db, people, needs)
  if (readers.length === 0) return
  const by = changed(event, EDITED.field) ? (event.actor_id ?? authorId) : authorId
  const news = { kind: 'mention', post, by, commentId: where.commentId, roadmapId: null, needs: [], only: readers } as const // prettier-ignore
  const told: Reader[] = []
  if (!changed(event, 'quiet')) for await (const some of readersOf(db, news, { now, mail })) told.push(...some)
  await storeMentions(db, where, { readers, told: rowsFor(event, news, told), at: event.created_at })
}

/** A text that may mention people: of a post, or of a comment on it. */
interface Mentioning {
  post: PostView
  comment?: CommentView | undefined
}

/** The texts that an event shows for the first time, or with changes. */
async function textsOf(db: Db, event: NewsEvent): Promise<Mentioning[]> {
  const [noun, verb] = event.action.split('.')
  if (noun === 'comment') {
    const comment = await shownComment(db, event.subject_id)
    // The change of the post tells of an update, once it is written
    const isTold = verb === 'updated' ? isShownAnew(event) : comment?.official !== 'update' || verb === 'kept'
    const post = comment && isTold ? await shownPost(db, comment.post_id) : undefined
    return post && isFresh(event, comment?.created_at) ? [{ post, comment }] : []
  }
  const message = changed(event, 'update')?.after
  if (verb === 'updated' && !isShownAnew(event) && message === undefined) return []
  const post = await shownPost(db, event.subject_id)
  if (!post) return []
  const comment = typeof message === 'string' ? await shownComment(db, message) : undefined
  const isText = verb === 'updated' ? isShownAnew(event) : isFresh(event, post.createdAt)
  return [...(isText ? [{ post }] : []), ...(comment ? [{ post, comment }] : [])]
}

/** Whether a change lets more people read a text, or changes it. */
const isShownAnew = (event: NewsEvent): boolean =>
  [EDITED.field, 'is_internal', 'is_spam'].some((field) => changed(event, field))

/** Whom news are told at this moment, some at a time. `mail` is null where the site sends none. */
export async function* readersOf(
  db: Db,
  news: News,
  { now, mail }: { now: () => Date; mail: MailSettings | null },
): AsyncGenerator<Reader[]> {
  const { post, only, to } = news
  const { notificationWays: site } = await readSettings(db)
  const everyone =
    to === 'board' ? boardFollowers(db, post.boardId) : to === 'team' ? teamIds(db) : followerIds(db, post.postId)
  for await (const people of only ? concerned(db, post.postId, only) : everyone)
    yield await toldOf(db, news, people, { site, now, mail })
}

/** Who is told the same news of several posts, each person once, some at a time. */
export async function* readersOfAny(
  db: Db,
  { news, postIds }: { news: Telling; postIds: readonly string[] },
  { now, mail }: { now: () => Date; mail: MailSettings | null },
): AsyncGenerator<Reader[]> {
  const { notificationWays: site } = await readSettings(db)
  for await (const people of followersOfAny(db, postIds)) yield await toldOf(db, news, people, { site, now, mail })
}

/** Those of some people who follow a post that are told its news. */
async function toldOf(
  db: Db,
  { by, kind, needs, among }: Telling,
  people: readonly string[],
  { site, now, mail }: { site: string; now: () => Date; mail: MailSettings | null },
): Promise<Reader[]> {
  const others = people.filter((id) => id !== by && (among?.has(id) ?? true))
  const receivers = await receiversAmong(db, await readersAmong(db, others, needs))
  return receivers.flatMap((receiver) => {
    const how = toldHow(receiver, kind, { site, now: now(), mail })
    return how ? [{ userId: receiver.userId, ...how }] : []
  })
}

async function* teamIds(db: Db): AsyncGenerator<string[]> {
  yield await membersOf(db)
}

async function* followerIds(db: Db, postId: string): AsyncGenerator<string[]> {
  for await (const some of followersOf(db, postId)) yield some.map(({ userId }) => userId)
}

async function* concerned(db: Db, postId: string, people: readonly string[]): AsyncGenerator<string[]> {
  for (const userId of people) if (await isReachable(db, { postId, userId })) yield [userId]
}

/** Those of some people who hold each of these permissions. */
export async function readersAmong(db: Db, people: readonly string[], needs: readonly Permission[]): Promise<string[]> {
  let readers = [...people]
  for (const permission of needs) {
    const holders = await holdersAmong(db, readers, permission)
    readers = readers.filter((id) => holders.has(id))
  }
  return readers
}

/** Undefined where the event tells nobody anything, as the post is gone, hidden, or stands elsewhere by now. */
async function newsOf(db: Db, event: NewsEvent): Promise<News | undefined> {
  switch (event.action) {
    case 'post.updated':
      return statusNews(db, event)
    case 'post.merged':
      return mergeNews(db, event)
    case 'comment.created':
    case 'comment.kept':
      return replyNews(db, event)
    case 'comment.updated':
      return answerNews(db, event)
    default:
      return undefined
  }
}

const changed = ({ details }: NewsEvent, field: string): FieldChange | undefined =>
  details.find((each) => each.field === field)

/** A post that is shown for the first time. */
async function newPost(db: Db, event: NewsEvent): Promise<News | undefined> {
  if (event.action !== 'post.created' && event.action !== 'post.kept') return undefined
  const post = await shownPost(db, event.subject_id)
  if (!post || !isFresh(event, post.createdAt)) return undefined
  return {
    kind: 'post',
    post,
    by: post.userId,
    commentId: null,
    roadmapId: null,
    needs: neededFor(post),
    to: 'board',
  }
}

/** Tells an author that the team has published a post or comment that was held. */
async function published(db: Db, event: NewsEvent): Promise<News | undefined> {
  const isKept = event.action === 'post.kept' || event.action === 'comment.kept'
  if (!isKept || changed(event, 'shown')?.before !== 'held') return undefined
  const comment = event.action === 'comment.kept' ? await shownComment(db, event.subject_id) : undefined
  const post = await shownPost(db, comment?.post_id ?? event.subject_id)
  const author = comment ? comment.author_id : (post?.userId ?? null)
  if (!post || author === null) return undefined
  const needs = comment ? neededForComment(post, comment) : neededFor(post)
  return { kind: 'published', post, by: event.actor_id, commentId: comment?.id ?? null, roadmapId: null, needs, only: [author] } // prettier-ignore
}

/** A new status, with what the team said about it, or that alone. */
async function statusNews(db: Db, event: NewsEvent): Promise<News | undefined> {
  const [status, message] = [changed(event, 'roadmap_id'), changed(event, 'update')]
  if ((!status && !message) || changed(event, 'quiet')) return undefined
  const post = await shownPost(db, event.subject_id)
  if (!post) return undefined
  const comment = typeof message?.after === 'string' ? await shownComment(db, message.after) : undefined
  // If the status was changed again, only the later change is told
  const isPresent = status !== undefined && post.roadmap_id !== null && post.roadmap_id === status.after
  return toFollowers(post, {
    by: event.actor_id ?? comment?.author_id ?? null,
    comment,
    roadmap: isPresent ? { id: status.after as string, isPrivate: post.roadmapDisplay !== 1 } : undefined,
  })
}

/** A post that was merged into another: those who followed it follow the other one, and have to know why. */
async function mergeNews(db: Db, event: NewsEvent): Promise<News | undefined> {
  if (changed(event, 'quiet')) return undefined
  const merge = await findMerge(db, event.subject_id)
  const post = merge && (await shownPost(db, merge.rootId))
  if (!post) return undefined
  return mergedInto(post, { by: event.actor_id, among: await concernedByMerge(db, event.subject_id, post.postId) })
}

/** The people who had to do with a merged post. `rootId` is the post that stays. */
export async function concernedByMerge(db: Db, postId: string, rootId: string): Promise<ReadonlySet<string>> {
  const [post, merge] = [await findPost(db, postId), await findMerge(db, postId)]
  const people = await peopleOf(db, postId, rootId)
  return post && merge?.wasHeld === 1 ? new Set(authorAmong(post, people)) : people
}

/** Of a merge of a held post, only its author is told: the others who saw it are the team. */
export const authorAmong = ({ userId }: PostView, people: Iterable<string>): string[] =>
  [...people].filter((id) => id === userId)

/** The news for people who followed a post that was merged into another. */
export const mergedInto = (post: PostView, whom: Pick<News, 'by' | 'among' | 'only'>): News => ({
  kind: 'merged',
  post,
  commentId: null,
  roadmapId: null,
  needs: neededFor(post),
  ...whom,
})

/** The news for those whom a message mentions. Undefined where it mentions nobody who may read it. */
export async function mentionNews(
  db: Db,
  { post, by, markdown }: { post: PostView; by: string | null; markdown: string },
): Promise<News | undefined> {
  const people = await newlyMentioned(db, { postId: post.postId, commentId: '', markdown, authorId: by })
  const only = await readersAmong(db, people, neededFor(post))
  return only.length === 0 ? undefined : { kind: 'mention', post, by, commentId: null, roadmapId: null, needs: [], only } // prettier-ignore
}

/** What a new status of a post, a message of the team, or both tell its followers. */
export function toFollowers<Post extends Pick<PostView, 'display'>>(
  post: Post,
  { by, comment, roadmap }: { by: string | null; comment: { id: string } | undefined; roadmap: Status | undefined },
): (Omit<News, 'post'> & { post: Post }) | undefined {
  if (!comment && !roadmap) return undefined
  return {
    kind: roadmap ? 'status' : 'update',
    post,
    by,
    commentId: comment?.id ?? null,
    roadmapId: roadmap?.id ?? null,
    needs: [...neededFor(post), ...(roadmap?.isPrivate && !comment ? (['roadmap:read'] as const) : [])],
  }
}

interface Status {
  id: string
  isPrivate: boolean
}

/** Milliseconds. A comment that was held or hidden for longer is no news when it is shown. */
const LATEST_MS = 30 * 24 * 60 * 60 * 1000

/** Tells the author of a comment of replies to it, and the author of a post of comments on it: once these are shown. */
async function replyNews(db: Db, event: NewsEvent): Promise<News | undefined> {
  const comment = await shownComment(db, event.subject_id)
  const post = comment && (await shownPost(db, comment.post_id))
  if (
    !post ||
    comment.official === 'update' || // which the change of the post tells of
    !isFresh(event, comment.created_at)
  )
    return undefined
  const needs = neededForComment(post, comment)
  const concerned = comment.parent_id === null ? post.userId : comment.parentAuthor
  const only = concerned === null ? [] : [concerned]
  return { kind: 'reply', post, by: comment.author_id, commentId: comment.id, roadmapId: null, needs, only }
}

/** A comment that the team marked as the answer. */
async function answerNews(db: Db, event: NewsEvent): Promise<News | undefined> {
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

/** Whether a text is shown soon enough after it was written to be news, or was changed. */
const isFresh = (event: NewsEvent, writtenAt = ''): boolean =>
  event.action.endsWith('.updated') || Date.parse(event.created_at) - Date.parse(writtenAt) <= LATEST_MS

const neededForComment = (post: PostView, { is_internal }: CommentView): Permission[] => [
  ...neededFor(post),
  ...(is_internal === 1 ? (['comment:view_internal'] as const) : []),
]

export const neededFor = ({ display }: Pick<PostView, 'display'>): Permission[] => (display === 1 ? [] : ['board:read'])
