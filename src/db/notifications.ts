import { sql, type Insertable, type SqlBool } from 'kysely'
import { HELD } from '../core/hidden.js'
import type { NotificationKind } from '../core/notificationkinds.js'
import type { MailWay } from '../core/notificationways.js'
import { compiled } from './cache/compiled.js'
import { searchPage, within, type Period, type Sorting } from './paging.js'
import type { Db, Tables } from './tables.js'

/** Whose notifications, and what they may read: by now, whatever they could read when they were told. */
export interface Inbox {
  userId: string
  /** Whether they read posts of private boards. */
  privatePosts: boolean
  /** Whether they read internal comments. */
  internal: boolean
  /** Whether they may decide about reported and held posts, and about such comments. */
  decides: { posts: boolean; comments: boolean }
}

interface InboxFilter extends Inbox, Period {
  unread: boolean
}

/** A name for each query that the filter makes. */
const named = (name: string, { privatePosts, internal, unread, decides }: InboxFilter): string =>
  [
    name,
    privatePosts && 'private',
    internal && 'internal',
    unread && 'unread',
    decides.posts && 'posts',
    decides.comments && 'comments',
  ]
    .filter(Boolean)
    .join(' ')

/** A report shows its held post or comment: its readers decide about it. */
const heldNews = (column: 'posts.is_spam' | 'comments.is_spam') =>
  sql<SqlBool>`(notifications.kind = 'report' and ${sql.ref(column)} = ${sql.lit(HELD)})`

/**
 * The time of the decision about a reported post or comment. From then on the report is news to nobody of the team. Null
 * before the decision, and for other kinds of notifications.
 */
export const settledAt = sql<string | null>`case when notifications.kind = 'report' then coalesce(
  (select reviews."decidedAt" from reviews where reviews."commentId" = notifications."commentId" and reviews."isOpen" = 0 and reviews."decidedAt" > notifications."createdAt"),
  (select reviews."decidedAt" from reviews where reviews."postId" = notifications."postId" and notifications."commentId" is null and reviews."isOpen" = 0 and reviews."decidedAt" > notifications."createdAt")) end`

/** Only the team gets reports, so only its notifications depend on decisions. */
const isOfTeam = ({ decides }: Pick<Inbox, 'decides'>): boolean => decides.posts || decides.comments

/** Reads of unread ones look at this many of the newest: somebody may have tens of thousands of decided reports. */
const NEWEST = 2000
const isAmongNewest = (userId: string) =>
  sql<SqlBool>`notifications."eventId" >= coalesce((select newest."eventId" from notifications as newest where newest."userId" = ${userId} and newest."isOnPage" = 1 and newest."readAt" is null order by newest."eventId" desc limit 1 offset ${sql.lit(NEWEST)}), 0)`

const filtered = (db: Db, { privatePosts, internal, unread, decides }: InboxFilter, userId: string) =>
  db
    .selectFrom('notifications')
    .innerJoin('posts', 'posts.postId', 'notifications.postId')
    .leftJoin('comments', 'comments.id', 'notifications.commentId')
    .where('notifications.userId', '=', userId)
    .where('notifications.isOnPage', '=', sql.lit(1))
    .$if(unread, (query) => query.where('notifications.readAt', 'is', null))
    .$if(unread && isOfTeam({ decides }), (query) =>
      query.where(isAmongNewest(userId)).where(sql<SqlBool>`${settledAt} is null`),
    )
    .where((eb) =>
      privatePosts ? eb.or([eb('posts.is_spam', '=', 0), heldNews('posts.is_spam')]) : eb('posts.display', '=', 1),
    )
    .where((eb) =>
      eb.or([
        eb('notifications.kind', '<>', 'report'),
        ...(decides.posts ? [eb('notifications.commentId', 'is', null)] : []),
        ...(decides.comments ? [eb('notifications.commentId', 'is not', null)] : []),
      ]),
    )
    .where((eb) =>
      eb.or([
        eb('notifications.commentId', 'is', null),
        eb.and([
          eb.or([eb('comments.is_spam', '=', 0), heldNews('comments.is_spam')]),
          ...(internal ? [] : [eb('comments.is_internal', '=', 0)]),
        ]),
      ]),
    )

/** The most notifications that a search reads. Low, because anyone with an account can search. */
export const MOST_READ = 1000
/** Notifications per query of a search: each comes with its comment, which can be long. */
const BATCH = 50

export type NotificationView = Awaited<ReturnType<typeof listNotifications>>[number]

interface NotificationPage {
  limit: number
  offset?: number | undefined
  after?: number | undefined
}

/** `after` is the id of the last notification of the page before. */
export const listNotifications = (
  db: Db,
  filter: InboxFilter & Sorting,
  { limit, offset = 0, after }: NotificationPage,
) =>
  compiled(
    db,
    named(`listNotifications ${filter.created}`, filter),
    { userId: filter.userId, limit, offset, after, since: filter.since, until: filter.until },
    (given) =>
      within(filtered(db, filter, given.userId), 'notifications.createdAt', given)
        .leftJoin('users', 'users.userId', 'notifications.actorId')
        .leftJoin('roadmaps', 'roadmaps.id', 'notifications.roadmapId')
        .selectAll('notifications')
        .select(['posts.number', 'posts.title', 'posts.slug', 'comments.body'])
        .select(['users.name', 'users.username', 'users.avatar'])
        .select([
          'roadmaps.name as roadmapName',
          'roadmaps.url as roadmapUrl',
          'roadmaps.color as roadmapColor',
          'roadmaps.kind as roadmapKind',
          'roadmaps.display as roadmapDisplay',
        ])
        .$if(given.after !== undefined, (query) =>
          query.where('notifications.eventId', filter.created === 'asc' ? '>' : '<', given.after ?? 0),
        )
        .orderBy('notifications.eventId', filter.created)
        .limit(given.limit)
        .offset(given.offset),
    { notifications: [filter.userId] },
  )

/** Returns one page of the notifications that match. */
export const searchNotifications = (
  db: Db,
  filter: InboxFilter & Sorting,
  { after, ...page }: NotificationPage,
  matches: (row: NotificationView) => boolean,
): Promise<NotificationView[]> =>
  searchPage<NotificationView, number>(
    { ...page, ...(after !== undefined && { after }) },
    {
      read: (part) => listNotifications(db, filter, part),
      at: ({ eventId }) => eventId,
      matches,
      most: MOST_READ,
      batch: BATCH,
    },
  )

/** The times of the decisions about reports, by event id. Undecided reports are left out. */
export async function settledAmong(
  db: Db,
  userId: string,
  rows: readonly Pick<NotificationView, 'eventId' | 'kind' | 'readAt'>[],
): Promise<ReadonlyMap<number, string>> {
  const ids = rows.flatMap(({ eventId, kind, readAt }) => (kind === 'report' && readAt === null ? [eventId] : []))
  if (ids.length === 0) return new Map()
  const found = await db
    .selectFrom('notifications')
    .select(['eventId', settledAt.as('settledAt')])
    .where('userId', '=', userId)
    .where('eventId', 'in', ids)
    .execute()
  return new Map(found.flatMap(({ eventId, settledAt: at }) => (at === null ? [] : [[eventId, at] as const])))
}

/** Counts the unread ones, up to `most`. */
export async function countUnread(db: Db, inbox: Inbox, most: number): Promise<number> {
  const filter = { ...inbox, unread: true }
  const rows = await compiled(
    db,
    named('countUnread', filter),
    { userId: inbox.userId, most },
    (given) => filtered(db, filter, given.userId).select('notifications.eventId').limit(given.most),
    { notifications: [inbox.userId] },
  )
  return rows.length
}

/** Tells people of an event, each once; of a comment that was hidden meanwhile, not again. */
export const insertNotifications = (db: Db, rows: Insertable<Tables['notifications']>[]): Promise<unknown> =>
  db
    .insertInto('notifications')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()

/** Takes back what nobody has read or was mailed yet: that a post has had this status since a time. */
export const dropStatusNews = (
  db: Db,
  { postId, roadmapId, since }: { postId: string; roadmapId: string; since: string },
): Promise<unknown> =>
  db
    .deleteFrom('notifications')
    .where('postId', '=', postId)
    .where('kind', '=', 'status')
    .where('roadmapId', '=', roadmapId)
    .where('createdAt', '>=', since)
    .where('readAt', 'is', null)
    .where('mailedAt', 'is', null)
    .execute()

/** Those of some people who were told of a post as a kind of news. */
export async function toldAmong(
  db: Db,
  userIds: readonly string[],
  { postId, kind }: { postId: string; kind: NotificationKind },
): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('notifications')
    .select('userId')
    .where('postId', '=', postId)
    .where('commentId', 'is', null)
    .where('kind', '=', kind)
    .where('userId', 'in', userIds)
    .execute()
  return new Set(rows.map(({ userId }) => userId))
}

/** Marks one as read, all up to an event, or all. Returns how many were unread. */
export async function markRead(
  db: Db,
  userId: string,
  { id, until, at }: { id?: number | undefined; until?: number | undefined; at: string },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('notifications')
    .set({ readAt: at })
    .where('userId', '=', userId)
    .where('readAt', 'is', null)
    .$if(id !== undefined, (query) => query.where('eventId', '=', id ?? 0))
    .$if(until !== undefined, (query) => query.where('eventId', '<=', until ?? 0))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Times before which notifications are old: those that were read, and those that were not. */
export interface Bounds {
  read: string
  unread: string
}

const oldOnes = (db: Db, isRead: boolean, before: string, most: number) =>
  db
    .selectFrom('notifications')
    .select(['userId', 'eventId'])
    .where('readAt', isRead ? 'is not' : 'is', null)
    .where('createdAt', '<', before)
    .orderBy('createdAt')
    .limit(most)
    .execute()

export const isNotificationOld = async (db: Db, { read, unread }: Bounds): Promise<boolean> =>
  (await oldOnes(db, true, read, 1)).length > 0 || (await oldOnes(db, false, unread, 1)).length > 0

/** Deletes old ones, at most so many. Returns how many it found. */
export async function deleteOldNotifications(db: Db, { read, unread }: Bounds, most: number): Promise<number> {
  const found = await oldOnes(db, true, read, most)
  if (found.length < most) found.push(...(await oldOnes(db, false, unread, most - found.length)))
  if (found.length === 0) return 0
  const keys = found.map(({ userId, eventId }) => sql`(${userId}, cast(${eventId} as bigint))`)
  await sql`delete from notifications where ("userId", "eventId") in (values ${sql.join(keys)})`.execute(db)
  return found.length
}

/**
 * Gives what waits to be mailed to a person about some kinds of things another mail, or none. A mail that leaves soon
 * anyway keeps its time.
 */
export const movePendingMails = (
  db: Db,
  userId: string,
  kinds: readonly NotificationKind[],
  { isOnPage, mail, mailAt }: { isOnPage: boolean; mail: MailWay | null; mailAt: string | null },
): Promise<unknown> =>
  db
    .updateTable('notifications')
    .set({ mail, mailAt, ...(isOnPage && { isOnPage: 1 }) })
    .where('userId', '=', userId)
    .where('mailAt', 'is not', null)
    .where('kind', 'in', kinds)
    .$if(mail === 'now', (query) => query.where('mail', '<>', 'now'))
    .execute()

/** Those of some people who hold a permission now, by a role or as the owner. */
export async function holdersAmong(db: Db, userIds: readonly string[], permission: string): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const { rows } = await sql<{ userId: string }>`
    select users."userId" from users where users."userId" in (${sql.join(userIds)}) and (users."isOwner" = 1 or exists (
      select 1 from roles_users
      cross join roles cross join role_permissions
      where roles_users.user_id = users."userId" and roles.id = roles_users.role_id
        and role_permissions.role_id = roles.id and role_permissions.permission = ${permission}
        and (roles.require_totp = 0 or exists (
          select 1 from totp where totp."userId" = users."userId" and totp."enabledAt" is not null))))`.execute(db)
  return new Set(rows.map(({ userId }) => userId))
}

export type ToldView = Awaited<ReturnType<typeof toldOfPost>>[number]

/** How many people each event told about a post, of each kind, in no order; with `eventId` that event alone. */
export function toldOfPost(db: Db, postId: string, eventId?: number) {
  const counts = db
    .selectFrom('notifications')
    .select((eb) => [
      'eventId',
      'kind',
      eb.fn.countAll<number>().as('people'),
      eb.fn.sum<number>('isOnPage').as('page'),
      eb.fn.sum<number>(eb.case().when('mail', 'in', ['now', 'quiet']).then(1).else(0).end()).as('now'),
      eb.fn.sum<number>(eb.case().when('mail', '=', 'digest').then(1).else(0).end()).as('digest'),
      eb.fn.count<number>('mailedAt').as('mailed'),
      eb.fn.count<number>('readAt').as('read'),
      eb.fn.min('createdAt').as('createdAt'),
      eb.fn.min('actorId').as('actorId'),
      eb.fn.min('commentId').as('commentId'),
    ])
    .where('postId', '=', postId)
    .$if(eventId !== undefined, (query) => query.where('eventId', '=', eventId ?? 0))
    .groupBy(['eventId', 'kind'])
  return db
    .selectFrom(counts.as('told'))
    .leftJoin('users', 'users.userId', 'told.actorId')
    .leftJoin('comments', 'comments.id', 'told.commentId')
    .leftJoin('events', 'events.id', 'told.eventId')
    .selectAll('told')
    .select('events.action')
    .select(['users.name', 'users.username', 'users.avatar', 'comments.is_internal as isInternal'])
    .execute()
}
