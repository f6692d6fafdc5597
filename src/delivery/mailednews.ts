import { endOfQuiet } from '../core/digesttimes.js'
import { isForFollowers, topicOf } from '../core/notificationkinds.js'
import { effectiveWays, mailOf } from '../core/notificationways.js'
import { HELD, SHOWN } from '../core/hidden.js'
import type { Permission } from '../core/permissions.js'
import { transaction } from '../db/connect.js'
import { cancelLeased } from '../db/deliveries.js'
import { newsOfMail, receiversOfMail, recordUnmailed, showOnPage, type PendingMail } from '../db/notificationmails.js'
import { holdersAmong } from '../db/notifications.js'
import { followedAmong } from '../db/posts/followed.js'
import { readSettings } from '../db/settings.js'
import type { Db, DeliveryRow } from '../db/tables.js'

/** Milliseconds. What waited longer, as no server ran, is no news any more. */
const LATEST_MS = 30 * 24 * 60 * 60 * 1000

const PERMISSIONS = [
  'board:read',
  'comment:view_internal',
  'roadmap:read',
  'post:destroy',
  'comment:update:any',
] as const satisfies Permission[]

/** Whether a person has a permission now. */
export type MayRead = (userId: string, permission: (typeof PERMISSIONS)[number]) => boolean

/** Which of some people may read private posts, notes of the team and private roadmaps, and decide about reports, now. */
export async function rightsOf(db: Db, userIds: readonly string[]): Promise<MayRead> {
  const holders = new Map<string, Set<string>>()
  for (const permission of PERMISSIONS) holders.set(permission, await holdersAmong(db, userIds, permission))
  return (userId, permission) => holders.get(permission)?.has(userId) ?? false
}

/** Of the posts that news of a person are about, those that the person follows now. */
export const followedIn = (db: Db, userId: string, news: readonly PendingMail[]): Promise<ReadonlySet<string>> =>
  followedAmong(db, userId, [...new Set(news.filter(({ kind }) => isForFollowers(kind)).map(({ postId }) => postId))])

/**
 * Whether a mail may tell of something at this moment: it was not read on the page or decided, and is there, public or permitted,
 * followed, and a thing that the person is mailed about. `site` are the ways of the site, as stored, and `followed` is
 * from `followedIn`.
 */
export function isNews(
  row: PendingMail,
  { mayRead, followed, site, now }: { mayRead: MayRead; followed: ReadonlySet<string>; site: string; now: Date },
): boolean {
  const { userId, roadmapId } = row
  if (row.readAt !== null || row.settledAt !== null || isHidden(row, row.is_spam) || row.isMuted !== null) return false
  if (isForFollowers(row.kind) && !followed.has(row.postId)) return false
  if (now.getTime() - Date.parse(row.createdAt) > LATEST_MS) return false
  if (!mailOf(effectiveWays(site, row.ways ?? undefined)[topicOf(row.kind)])) return false
  if (row.display !== 1 && !mayRead(userId, 'board:read')) return false
  if (row.kind === 'report' && !mayRead(userId, row.commentId === null ? 'post:destroy' : 'comment:update:any')) return false // prettier-ignore
  if (row.commentId !== null) {
    if (row.body === null || isHidden(row, row.isCommentSpam)) return false
    return row.isInternal === 0 || mayRead(userId, 'comment:view_internal')
  }
  if (row.kind !== 'status') return true
  // If the status was changed again, only the later change is told
  if (roadmapId === null || roadmapId !== row.presentRoadmapId) return false
  return row.roadmapDisplay === 1 || mayRead(userId, 'roadmap:read')
}

/** Held posts and comments are hidden, except in a report to those who decide about them. */
const isHidden = ({ kind }: PendingMail, hidden: number | null): boolean =>
  hidden !== SHOWN && !(kind === 'report' && hidden === HELD)

/** The header of a mail that says how many news it tells: by then some may be deleted, with their post or comment. */
export const COUNT_HEADER = 'X-News-Count'

function toldIn({ headers }: DeliveryRow, found: number): number {
  const { [COUNT_HEADER]: count } = JSON.parse(headers ?? '{}') as Record<string, string>
  return count === undefined ? found : Number(count) // an earlier version wrote none
}

type Times = Awaited<ReturnType<typeof receiversOfMail>>[number]

/** When the quiet hours of a person end; undefined outside of them, or for who has chosen no times. */
const quietUntil = ({ quietFrom, quietUntil: until, timeZone }: Times, now: Date): Date | undefined =>
  quietFrom === null || until === null || timeZone === null
    ? undefined
    : endOfQuiet({ quietFrom, quietUntil: until, timeZone }, now)

/**
 * Looks again at a mail that is about to be sent, as it may have waited for long: for the mail server, or for the rate. If
 * it says something that its receiver may not be told any more, it is cancelled, and the rest is written into another
 * mail. If the quiet hours of its receiver have begun, another is written when they end. Returns whether it was cancelled.
 */
export async function withdraw(db: Db, delivery: DeliveryRow, now: Date): Promise<boolean> {
  const { recipient, createdAt, lease } = delivery
  const rows = await newsOfMail(db, recipient, createdAt)
  const userIds = rows.slice(0, 1).map(({ userId }) => userId) // an address is of one person
  const [receiver] = userIds.length > 0 ? await receiversOfMail(db, userIds) : []
  const { notificationWays: site } = await readSettings(db)
  const mayRead = await rightsOf(db, userIds)
  const [userId] = userIds
  const followed = userId === undefined ? new Set<string>() : await followedIn(db, userId, rows)
  const news = rows.filter((row) => receiver && isNews(row, { mayRead, followed, site, now }))
  const later = receiver && quietUntil(receiver, now)
  if (!later && news.length > 0 && news.length === toldIn(delivery, rows.length)) return false
  return transaction(db, async (inside) => {
    if (lease === null || !(await cancelLeased(inside, lease, now.toISOString()))) return true
    if (userId !== undefined && !receiver) await showOnPage(inside, userId, rows.map(({ eventId }) => eventId)) // prettier-ignore
    for (const row of rows) await recordUnmailed(inside, row, news.includes(row) ? (later ?? now).toISOString() : null)
    return true
  })
}
