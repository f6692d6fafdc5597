import { sql } from 'kysely'
import type { Db } from './tables.js'

/** An event about a post, which people may have been told of. */
export interface OfPost {
  postId: string
  eventId: number
}

/** Who was told of an event, and how, of some people, in no order. */
export const listTold = (db: Db, { postId, eventId }: OfPost, userIds: readonly string[]) =>
  db
    .selectFrom('notifications')
    .innerJoin('users', 'users.userId', 'notifications.userId')
    .select(['users.userId', 'users.name', 'users.username', 'users.avatar'])
    .select([
      'notifications.kind',
      'notifications.isOnPage',
      'notifications.mail',
      'notifications.mailAt',
      'notifications.mailedAt',
      'notifications.readAt',
    ])
    .where('notifications.postId', '=', postId)
    .where('notifications.eventId', '=', eventId)
    .where('notifications.userId', 'in', userIds)
    .execute()

export type ToldPerson = Awaited<ReturnType<typeof listTold>>[number]

/** Who caused an event, as its notifications name them. Undefined where nobody was told. */
export async function doerTold(db: Db, { postId, eventId }: OfPost): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('notifications')
    .select('actorId')
    .where('postId', '=', postId)
    .where('eventId', '=', eventId)
    .limit(1)
    .executeTakeFirst()
  return row?.actorId
}

export async function toldIds(db: Db, { postId, eventId }: OfPost): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('notifications')
    .select('userId')
    .where('postId', '=', postId)
    .where('eventId', '=', eventId)
    .execute()
  return new Set(rows.map(({ userId }) => userId))
}

/**
 * Who has to do with a post, whatever they chose, and since when: its author, who voted, wrote a public comment or is
 * mentioned, and who chose to follow it or not to.
 */
export async function concernedIn(db: Db, postId: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ userId: string; at: string }>`
    select "userId", min(at) as at from (
      select "userId", "createdAt" as at from posts where "postId" = ${postId} and "userId" is not null
      union all select "userId", "createdAt" from votes where "postId" = ${postId}
      union all select author_id, created_at from comments where post_id = ${postId} and author_id is not null and is_internal = 0 and is_spam = 0
      union all select "userId", "createdAt" from mentions where "postId" = ${postId}
      union all select "userId", "createdAt" from follows where "postId" = ${postId}) as found
    group by "userId"`.execute(db)
  return new Map(rows.map(({ userId, at }) => [userId, at]))
}

/** Of some people: who they are, and whether they are blocked. */
export const peopleOf = (db: Db, userIds: readonly string[]) =>
  db
    .selectFrom('users')
    .select(['userId', 'name', 'username', 'avatar', 'isBlocked'])
    .where('userId', 'in', userIds)
    .execute()
