import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import type { FieldChange } from '../core/details.js'
import { KINDS, type NotificationKind } from '../core/notificationkinds.js'
import type { Permission } from '../core/permissions.js'
import { boardFollowers } from '../db/boardfollows.js'
import { findComment } from '../db/comments.js'
import type { NamedEvent } from '../db/events.js'
import { reasonsOf, unfollowersOf } from '../db/follows.js'
import { receiversAmong } from '../db/notificationsettings.js'
import type { PostView } from '../db/posts/row.js'
import { readSettings } from '../db/settings.js'
import type { Db } from '../db/tables.js'
import { concernedIn, doerTold, listTold, peopleOf, toldIds, type ToldPerson } from '../db/told.js'
import { eventId, eventOf, postOf } from './events.js'
import type { Context } from './lib/context.js'
import { concernedByMerge, doerOf, neededFor, readersAmong } from './lib/news.js'
import { operation } from './lib/operation.js'
import { pageFields, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { authorOf, PublicUser } from './lib/people.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { assertVotersSeen } from './lib/voters.js'
import { toldHow } from './lib/ways.js'
import { visiblePost } from './lib/whichpost.js'
import { mayKnow } from './told.js'

/** Why somebody was not told, the first that holds. */
const UNTOLD = ['quiet', 'own', 'blocked', 'later', 'muted', 'unfollowed', 'unreadable', 'off', 'unknown'] as const
type Untold = (typeof UNTOLD)[number]

const PEOPLE: Listing<{ userId: string }> = { row: 'person', rows: 'People', id: 'userId', size: 100 }

const Person = Type.Object({
  ...PublicUser.properties,
  told: Type.Boolean(),
  kind: Type.Union([oneOf(KINDS), Type.Null()], { description: 'As what they were told' }),
  page: Type.Boolean({ description: 'Told on their page of notifications' }),
  mail: Type.Union([oneOf(['now', 'digest']), Type.Null()], { description: 'The mail that tells them, too or alone' }),
  mailed_at: nullable('string', { description: 'When the mail was written; null if it waits, or was left out' }),
  mail_due_at: nullable('string', { description: 'When the mail is to be written; null if none waits' }),
  read_at: nullable('string', { description: 'When they read it on their page' }),
  reason: Type.Union([oneOf(UNTOLD), Type.Null()], {
    description:
      'Why they were not told, as things stand now: nobody was to be told; they did it themselves; they are blocked; they had nothing to do with the post before; they unfollowed it; they do not follow what they wrote, voted for or commented on; they may not read it; they chose not to be told of such things; or the cause is not known any more',
  }),
})
export type Person = Type.Static<typeof Person>

export const toldPeople = operation({
  id: 'events.told',
  summary: 'List who was told of an event about a post, or who was not and why; for the team',
  http: 'GET /events/:id/people 200',
  access: 'post:update',
  errors: ['EVENT_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({
    id: eventId,
    told: Type.Boolean({ default: true, fromText: true, description: 'Those who were told, not those who were not' }),
    ...pageFields(PEOPLE),
  }),
  output: Type.Object({ people: Type.Array(Person), ...uncountedKeys }),
  async run(ctx, { id, told, ...page }) {
    const event = await eventOf(ctx.db, id)
    const post = await visibleOf(ctx, event)
    assertVotersSeen(ctx.actor, post)
    const place = { postId: post.postId, eventId: id }
    const whom = await toldIds(ctx.db, place)
    const untold = told ? undefined : await untoldOf(ctx.db, event, post, whom)
    const ids = untold?.ids ?? [...whom].toSorted()
    const { rows, keys } = await uncountedPage(PEOPLE, page, {
      find: async (userId) => ({ userId }),
      read: async ({ limit, offset = 0, after }) =>
        ids
          .filter((userId) => after === undefined || userId > after.userId)
          .slice(offset, offset + limit)
          .map((userId) => ({ userId })),
      async show(found): Promise<Person[]> {
        const shown = found.map(({ userId }) => userId)
        if (shown.length === 0) return []
        if (untold) return shownUntold(ctx, untold, shown)
        const rows = await listTold(ctx.db, place, shown)
        return rows.toSorted(byId).map((row) => shownTold(ctx, row))
      },
    })
    return { people: rows, ...keys }
  },
})

const byId = (one: { userId: string }, other: { userId: string }) => (one.userId < other.userId ? -1 : 1)

/** The post that an event is about. Throws EVENT_NOT_FOUND where there is none that the caller may know of. */
async function visibleOf(ctx: Context, event: NamedEvent): Promise<PostView> {
  const none = new AppError('EVENT_NOT_FOUND', `There is no event ${event.id} about a post.`)
  const postId = await postOf(ctx.db, event)
  if (postId === undefined) throw none
  const comment = event.action.startsWith('comment.') ? await findComment(ctx.db, event.subject_id) : undefined
  const kind = event.action.endsWith('.reported') ? 'report' : 'reply'
  if (!mayKnow(ctx.actor, { kind, isInternal: comment?.is_internal ?? null })) throw none
  return visiblePost(ctx, postId).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'POST_NOT_FOUND' ? none : error
  })
}

const shownTold = (
  ctx: Context,
  { kind, isOnPage, mail, mailAt, mailedAt, readAt, ...person }: ToldPerson,
): Person => ({
  ...authorOf(ctx, person),
  told: true,
  kind,
  page: isOnPage === 1,
  mail: mail === 'quiet' ? 'now' : mail,
  mailed_at: mailedAt,
  mail_due_at: mailAt,
  read_at: readAt,
  reason: null,
})

/** People who were not told of an event, and what their reasons depend on. */
interface UntoldOf {
  event: NamedEvent
  post: PostView
  ids: readonly string[]
  kind: NotificationKind
  needs: readonly Permission[]
  /** Since when each has to do with the post. Undefined where that is no reason, as for a board. */
  since: ReadonlyMap<string, string> | undefined
}

async function untoldOf(db: Db, event: NamedEvent, post: PostView, told: ReadonlySet<string>): Promise<UntoldOf> {
  const concern = await concernOf(db, event, post)
  const ids = [...(concern?.people ?? [])].filter((userId) => !told.has(userId)).toSorted()
  return { event, post, ids, kind: concern?.kind ?? 'status', needs: concern?.needs ?? [], since: concern?.since }
}

const changed = ({ details }: NamedEvent, field: string): FieldChange | undefined =>
  (JSON.parse(details ?? '[]') as FieldChange[]).find((each) => each.field === field)

interface Concern extends Pick<UntoldOf, 'kind' | 'needs' | 'since'> {
  people: Iterable<string>
}

/** Whom an event could concern. Undefined where it is no news. */
async function concernOf(db: Db, event: NamedEvent, post: PostView): Promise<Concern | undefined> {
  const { postId } = post
  const needs = neededFor(post)
  const ofPost = async (kind: NotificationKind): Promise<Concern> => {
    const since = await concernedIn(db, postId)
    return { kind, needs, since, people: since.keys() }
  }
  switch (event.action) {
    case 'post.updated':
      if (changed(event, 'roadmap_id')) {
        const concern = await ofPost('status')
        const isSecret = post.roadmapDisplay === 0 && !changed(event, 'update')
        return isSecret ? { ...concern, needs: [...needs, 'roadmap:read'] } : concern
      }
      return changed(event, 'update') ? ofPost('update') : undefined
    case 'post.merged':
      return { kind: 'merged', needs, since: undefined, people: await concernedByMerge(db, event.subject_id, postId) }
    case 'post.created':
    case 'post.kept': {
      const people: string[] = []
      for await (const some of boardFollowers(db, post.boardId)) people.push(...some)
      return { kind: 'post', needs, since: undefined, people }
    }
    case 'comment.updated':
      return changed(event, 'official')?.after === 'answer' ? ofPost('answer') : undefined
    case 'comment.created':
    case 'comment.kept': {
      const comment = await findComment(db, event.subject_id)
      if (!comment || comment.official === 'update') return undefined
      const concerned = comment.parent_id === null ? post.userId : comment.parentAuthor
      const internal = comment.is_internal === 1 ? (['comment:view_internal'] as const) : []
      return { kind: 'reply', needs: [...needs, ...internal], since: undefined, people: concerned === null ? [] : [concerned] } // prettier-ignore
    }
    default:
      return undefined
  }
}

/** The people with the first reason of `UNTOLD` that holds for each. */
async function shownUntold(ctx: Context, untold: UntoldOf, ids: readonly string[]): Promise<Person[]> {
  const { db } = ctx
  const { event, post, kind, since } = untold
  const told = await doerTold(db, { postId: post.postId, eventId: event.id })
  const doer = told ?? (await doerOf(db, event)) // the site may have another owner by now
  const author = event.action.startsWith('comment.') ? (await findComment(db, event.subject_id))?.author_id : undefined
  const muted = await unfollowersOf(db, post.postId)
  const followers = since && (await reasonsOf(db, post.postId))
  const readers = new Set(await readersAmong(db, ids, untold.needs))
  const receivers = new Map((await receiversAmong(db, ids)).map((each) => [each.userId, each]))
  const { notificationWays: site } = await readSettings(db)
  const wants = (userId: string) => {
    const receiver = receivers.get(userId)
    return receiver && toldHow(receiver, kind, { site, now: ctx.now(), mail: ctx.mail }) !== undefined
  }
  const reasonOf = ({ userId, isBlocked }: { userId: string; isBlocked: number }): Untold => {
    if (changed(event, 'quiet')) return 'quiet'
    if (userId === (kind === 'reply' ? (author ?? doer) : doer)) return 'own'
    if (isBlocked === 1) return 'blocked'
    if ((since?.get(userId) ?? '') > event.created_at) return 'later'
    if (muted.has(userId) && kind !== 'post') return 'muted'
    if (followers && !followers.has(userId)) return 'unfollowed'
    if (!readers.has(userId)) return 'unreadable'
    return wants(userId) ? 'unknown' : 'off'
  }
  return (await peopleOf(db, ids)).toSorted(byId).map((person) => ({
    ...authorOf(ctx, person),
    told: false,
    kind: null,
    page: false,
    mail: null,
    mailed_at: null,
    mail_due_at: null,
    read_at: null,
    reason: reasonOf(person),
  }))
}
