import * as Type from 'typebox'
import { KINDS } from '../core/notificationkinds.js'
import {
  countUnread,
  listNotifications,
  markRead,
  MOST_READ,
  searchNotifications,
  settledAmong,
  type Inbox,
  type NotificationView,
} from '../db/notifications.js'
import { mergedBy, type MergedPost } from '../db/mergednews.js'
import { findMailStop } from '../db/notificationsettings.js'
import { AppError } from '../core/errors.js'
import { can } from './lib/access.js'
import { change } from './lib/change.js'
import type { CachedContext, Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { assertOnePlace, uncountedInfo, uncountedKeys } from './lib/paging.js'
import { authorOf, PublicUser } from './lib/people.js'
import { Place, roadmapOf } from './lib/postshapes.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { personOf, viewerOf } from './lib/sessions.js'
import { textField, textMatcher } from './lib/textsearch.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'

const Notification = Type.Object({
  id: Type.Integer({ description: 'Number of the event; a later one is greater' }),
  kind: oneOf(KINDS, {
    description: 'status: a post has a new status; update: the team says something about it; answer: a comment answers it; reply: somebody replied to you; published: what you wrote was held, and is shown now; report: something waits for your decision', // prettier-ignore
  }),
  post: Type.Object({
    postId: Type.String({ format: 'uuid' }),
    number: Type.Integer(),
    title: Type.String(),
    slug: Type.String(),
  }),
  comment: Type.Union([Type.Object({ id: Type.String({ format: 'uuid' }), body: Type.String() }), Type.Null()], {
    description: 'What was said',
  }),
  roadmap: Type.Union([Place.roadmap, Type.Null()], { description: 'The new status' }),
  user: Type.Union([PublicUser, Type.Null()], { description: 'Who did it; null where the account is deleted' }),
  createdAt: Type.String({ format: 'date-time' }),
  readAt: nullable('string', {
    description: 'null: unread. A report that nobody read has the time at which somebody of the team decided',
  }),
  merged: Type.Optional(
    Type.Object(
      { postId: Type.String({ format: 'uuid' }), number: Type.Integer(), title: Type.String(), slug: Type.String() },
      { description: 'The post that was merged into this one; only for kind merged, and only if you may read it' },
    ),
  ),
})
export type Notification = Type.Static<typeof Notification>

const number = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, fromText: true })

/** More than these are not counted. */
export const MOST_UNREAD = 100

/** What the actor may read now. */
const inboxOf = ({ actor }: CachedContext, userId: string): Inbox => ({
  userId,
  privatePosts: can(actor, 'board:read'),
  internal: can(actor, 'comment:view_internal'),
  decides: { posts: can(actor, 'post:destroy'), comments: can(actor, 'comment:update:any') },
})

export const list = operation({
  id: 'notifications.list',
  summary: 'List your notifications, newest first',
  http: 'GET /notifications 200',
  access: 'signed-in',
  cache: 'actor',
  errors: [],
  input: fields({
    unread: Type.Boolean({ default: false, fromText: true, description: 'Only unread ones' }),
    query: textField('notifications', { within: 'post title or comment', most: MOST_READ }),
    ...orderFields('desc', 'Sort by time: desc is newest first'),
    after: Type.Optional({ ...number, description: 'The id of the notification that the page comes after' }),
    limit: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 20,
      fromText: true,
      description: 'Notifications on a page',
    }),
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, fromText: true, description: 'Page number (default: 1)' }),
    ),
    ...periodFields('notifications'),
  }),
  output: Type.Object({ notifications: Type.Array(Notification), ...uncountedKeys }),
  async run(ctx, { unread, query, created, since, until, after, limit, page }) {
    assertOnePlace(page, after === undefined ? undefined : String(after))
    const number = after === undefined ? (page ?? 1) : null
    const userId = await viewerOf(ctx)
    const slice = { limit: limit + 1, offset: ((number ?? 1) - 1) * limit, after }
    const hasText = textMatcher(query)
    const when = { created, ...periodFrom({ since, until }) }
    const find = async (filter: Inbox & typeof when & { unread: boolean }) =>
      hasText
        ? searchNotifications(ctx.db, filter, slice, ({ title, body }) => hasText(title, body))
        : listNotifications(ctx.db, filter, slice)
    const found = userId === null ? [] : await find({ ...inboxOf(ctx, userId), unread, ...when })
    const rows = found.slice(0, limit)
    const page_info = uncountedInfo(
      rows.map(({ eventId }) => String(eventId)),
      { number, more: found.length > limit },
    )
    const merged = await mergedBy(ctx.db, rows, { userId: userId ?? '', hidden: can(ctx.actor, 'board:read') })
    const settled = await settledAmong(ctx.db, userId ?? '', rows)
    return { notifications: rows.map((row) => toNotification(ctx, row, merged, settled)), page_info }
  },
})

export const show = operation({
  id: 'notifications.show',
  summary: 'Show one of your notifications',
  http: 'GET /notifications/:id 200',
  access: 'signed-in',
  errors: ['NOTIFICATION_NOT_FOUND'],
  input: fields({
    id: { ...number, description: 'Id of the notification' },
  }),
  output: Type.Object({ notification: Notification }),
  async run(ctx, { id }) {
    const row = await rowOf(ctx, await viewerOf(ctx), id)
    const merged = await mergedBy(ctx.db, [row], { userId: row.userId, hidden: can(ctx.actor, 'board:read') })
    return { notification: toNotification(ctx, row, merged, await settledAmong(ctx.db, row.userId, [row])) }
  },
})

async function rowOf(ctx: Context, userId: string | null, id: number): Promise<NotificationView> {
  const [row] = userId === null ? [] : await listNotifications(ctx.db, { ...inboxOf(ctx, userId), unread: false, created: 'desc' }, { limit: 1, after: id + 1 }) // prettier-ignore
  if (row?.eventId !== id)
    throw new AppError('NOTIFICATION_NOT_FOUND', `You have no notification ${id}, or may not read it any more.`)
  return row
}

export const count = operation({
  id: 'notifications.count',
  summary: 'Count your unread notifications, and say whether mail to you has stopped',
  http: 'GET /notifications/count 200',
  access: 'signed-in',
  cache: 'actor',
  errors: [],
  input: fields({}),
  output: Type.Object({
    unread: Type.Integer({ description: `At most ${MOST_UNREAD}` }),
    isMailStopped: Type.Boolean({ description: 'Whether mails to you came back, so that none is sent any more' }),
  }),
  async run(ctx) {
    const userId = await viewerOf(ctx)
    if (userId === null) return { unread: 0, isMailStopped: false }
    return {
      unread: await countUnread(ctx.db, inboxOf(ctx, userId), MOST_UNREAD),
      isMailStopped: (await findMailStop(ctx.db, userId)) !== undefined,
    }
  },
})

export const read = operation({
  id: 'notifications.read',
  summary: 'Mark notifications as read: one, all up to one, or all',
  http: 'POST /notifications/read 200',
  access: 'signed-in',
  errors: ['USER_NOT_FOUND', 'NOTIFICATION_NOT_FOUND'],
  input: fields({
    id: Type.Optional({ ...number, description: 'Id of a notification' }),
    until: Type.Optional({ ...number, description: 'All up to the one with this id; without id and until, all' }),
  }),
  output: Type.Object({
    read: Type.Integer({ description: 'How many it marked, including decided reports' }),
  }),
  run: (ctx, { id, until }) =>
    change(ctx, async (tx) => {
      const userId = await personOf(tx)
      if (id !== undefined) await rowOf(tx, userId, id)
      return { read: await markRead(tx.db, userId, { id, until, at: tx.now().toISOString() }) }
    }),
})

function toNotification(
  ctx: CachedContext,
  row: NotificationView,
  merged: ReadonlyMap<number, MergedPost>,
  settled: ReadonlyMap<number, string>,
): Notification {
  const { eventId: id, kind, postId, number, title, slug, commentId, body, createdAt, readAt } = row
  const by = merged.get(id)
  return {
    id,
    kind,
    post: { postId, number, title, slug },
    comment: commentId === null || body === null ? null : { id: commentId, body },
    roadmap: roadmapOf(ctx.actor, { ...row, roadmap_id: row.roadmapId }) ?? null,
    user: row.actorId === null ? null : authorOf(ctx, { ...row, userId: row.actorId }),
    createdAt,
    readAt: readAt ?? settled.get(id) ?? null,
    ...(by && { merged: { postId: by.postId, number: by.number, title: by.title, slug: by.slug } }),
  }
}
