import { settledAt } from './notifications.js'
import type { Db } from './tables.js'

/** Whether any notification is due to be mailed. */
export async function isMailDue(db: Db, now: string): Promise<boolean> {
  const row = await db.selectFrom('notifications').select('userId').where('mailAt', '<=', now).limit(1).executeTakeFirst() // prettier-ignore
  return row !== undefined
}

/** Some people to whom a mail is to be written, those who waited longest first. `most` bounds the rows that are read. */
export async function peopleToMail(db: Db, now: string, most: number): Promise<string[]> {
  const rows = await db
    .selectFrom('notifications')
    .select('userId')
    .where('mailAt', '<=', now)
    .orderBy('mailAt')
    .limit(most)
    .execute()
  return [...new Set(rows.map(({ userId }) => userId))]
}

export type PendingMail = Awaited<ReturnType<typeof pendingMails>>[number]

/** Notifications with what a mail says of them, and what decides whether it may. */
const mailed = (db: Db) =>
  db
    .selectFrom('notifications')
    .innerJoin('posts', 'posts.postId', 'notifications.postId')
    .leftJoin('comments', 'comments.id', 'notifications.commentId')
    .leftJoin('roadmaps', 'roadmaps.id', 'notifications.roadmapId')
    .leftJoin('users as actors', 'actors.userId', 'notifications.actorId')
    .leftJoin('notification_settings', 'notification_settings.userId', 'notifications.userId')
    .leftJoin('follows', (join) =>
      join
        .onRef('follows.postId', '=', 'notifications.postId')
        .onRef('follows.userId', '=', 'notifications.userId')
        .on('follows.isFollowing', '=', 0),
    )
    .selectAll('notifications')
    .select(settledAt.as('settledAt'))
    .select([
      'posts.number',
      'posts.title',
      'posts.slug',
      'posts.display',
      'posts.is_spam',
      'posts.roadmap_id as presentRoadmapId',
    ]) // prettier-ignore
    .select(['comments.body', 'comments.is_internal as isInternal', 'comments.is_spam as isCommentSpam'])
    .select(['roadmaps.name as roadmapName', 'roadmaps.color as roadmapColor', 'roadmaps.display as roadmapDisplay'])
    .select(['actors.name as actorName', 'actors.username as actorUsername', 'follows.isFollowing as isMuted'])
    .select('notification_settings.ways')

/** The newest of what waits to be mailed to a person, due or not, in the order of events. */
export const pendingMails = async (db: Db, userId: string, most: number) =>
  (
    await mailed(db)
      .where('notifications.userId', '=', userId)
      .where('notifications.mailAt', 'is not', null)
      .orderBy('notifications.eventId', 'desc')
      .limit(most)
      .execute()
  ).toReversed()

/** Marks what waits of a person as done that is older than an event. */
export const dropPending = (db: Db, userId: string, before: number): Promise<unknown> =>
  db
    .updateTable('notifications')
    .set({ mailAt: null })
    .where('userId', '=', userId)
    .where('mailAt', 'is not', null)
    .where('eventId', '<', before)
    .execute()

/** What a mail says that was written to an address at a time. */
export const newsOfMail = (db: Db, recipient: string, at: string): Promise<PendingMail[]> =>
  mailed(db)
    .innerJoin('users', 'users.userId', 'notifications.userId')
    .where('users.email', '=', recipient)
    .where('notifications.mailedAt', '=', at)
    .execute()

/** Of the people to whom a mail is written. Those who are blocked, or whose address is not confirmed, are left out. */
export const receiversOfMail = (db: Db, userIds: readonly string[]) =>
  db
    .selectFrom('users')
    .leftJoin('mail_bounces', 'mail_bounces.userId', 'users.userId')
    .leftJoin('notification_settings', 'notification_settings.userId', 'users.userId')
    .select([
      'users.userId',
      'users.email',
      'users.name',
      'users.language',
      'notification_settings.quietFrom',
      'notification_settings.quietUntil',
      'notification_settings.timeZone',
    ])
    .where('users.userId', 'in', userIds)
    .where('users.isBlocked', '=', 0)
    .where((eb) => eb.or([eb('users.isVerified', '=', 1), eb('users.isOwner', '=', 1)]))
    .where('mail_bounces.suppressedAt', 'is', null)
    .execute()

/** Marks what waits of a person as done. Returns the ids of the events that nobody else has marked meanwhile. */
export async function claimPending(db: Db, userId: string, eventIds: readonly number[]): Promise<Set<number>> {
  const rows = await db
    .updateTable('notifications')
    .set({ mailAt: null })
    .where('userId', '=', userId)
    .where('eventId', 'in', eventIds)
    .where('mailAt', 'is not', null)
    .returning('eventId')
    .execute()
  return new Set(rows.map(({ eventId }) => eventId))
}

/** Shows a person on the page what a mail was to tell alone. */
export const showOnPage = (db: Db, userId: string, eventIds: readonly number[]): Promise<unknown> =>
  db
    .updateTable('notifications')
    .set({ isOnPage: 1 })
    .where('userId', '=', userId)
    .where('isOnPage', '=', 0)
    .where('eventId', 'in', eventIds)
    .execute()

/** Lets what is due of a person wait for another attempt. */
export const postponeMail = (db: Db, userId: string, { now, until }: { now: string; until: string }) =>
  db
    .updateTable('notifications')
    .set({ mailAt: until })
    .where('userId', '=', userId)
    .where('mailAt', '<=', now)
    .execute()

/** Records that a mail was written about events: with the time of the mail, by which it is found again. */
export const recordMailed = (db: Db, userId: string, eventIds: readonly number[], at: string) =>
  db
    .updateTable('notifications')
    .set({ mailedAt: at })
    .where('userId', '=', userId)
    .where('eventId', 'in', eventIds)
    .execute()

/** Records that no mail was written about something after all. With `mailAt` another one is, then. */
export const recordUnmailed = (
  db: Db,
  { userId, eventId }: Pick<PendingMail, 'userId' | 'eventId'>,
  mailAt: string | null,
): Promise<unknown> =>
  db
    .updateTable('notifications')
    .set({ mailedAt: null, mailAt })
    .where('userId', '=', userId)
    .where('eventId', '=', eventId)
    .execute()
