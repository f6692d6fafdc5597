import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { followedAmong } from './posts/followed.js'
import { referringTo } from './references.js'
import type { Db } from './tables.js'

/** Why somebody follows a post. */
export const REASONS = ['author', 'voter', 'commenter', 'mentioned', 'chosen'] as const

/** Whether a person did not switch a reason off. */
const unless = (
  reason: 'followsAuthored' | 'followsVoted' | 'followsCommented' | 'followsMentioned',
  person: string,
) => sql<SqlBool>`
  not exists (select 1 from notification_settings where notification_settings."userId" = ${sql.raw(person)} and ${sql.ref(`notification_settings.${reason}`)} = 0)`

/**
 * Who follows a post: its author, who voted, who wrote a public comment, whom a text mentions, and who chose to. Whoever
 * chose not to does not, nor who switched off the reason. `posts/followed.ts` has which posts one person follows, by the
 * same rules.
 * It is read from what they did, so that a vote that is withdrawn is no longer a reason.
 */
const followers = (of: (column: string) => RawBuilder<unknown>) => sql`
  select posts."userId" as "userId", 0 as reason, posts."postId" as "postId" from posts where ${of('posts.postId')} and posts."userId" is not null and ${unless('followsAuthored', 'posts."userId"')}
  union all select votes."userId", 1, votes."postId" from votes where ${of('votes.postId')} and ${unless('followsVoted', 'votes."userId"')}
  union all select comments.author_id, 2, comments.post_id from comments where ${of('comments.post_id')} and comments.author_id is not null and comments.is_internal = 0 and comments.is_spam = 0 and ${unless('followsCommented', 'comments.author_id')}
  union all select mentions."userId", 3, mentions."postId" from mentions left join comments on comments.id = mentions."commentId" where ${of('mentions.postId')} and (mentions."commentId" is null or comments.is_spam = 0) and ${unless('followsMentioned', 'mentions."userId"')}
  union all select follows."userId", 4, follows."postId" from follows where ${of('follows.postId')} and follows."isFollowing" = 1`

const ofPost = (postId: string) => followers((column) => sql`${sql.ref(column)} = ${postId}`)

export interface Follower {
  userId: string
  name: string
  username: string
  avatar: string
  reason: number
}

/** Who follows a post by id, with the first of their reasons, in no particular order. Blocked people are among them. */
export async function reasonsOf(db: Db, postId: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ userId: string; reason: number }>`${ofPost(postId)}`.execute(db)
  const found = new Map<string, number>()
  for (const { userId, reason } of rows) found.set(userId, Math.min(reason, found.get(userId) ?? reason))
  for (const userId of await unfollowersOf(db, postId)) found.delete(userId)
  return found
}

/** Who chose not to follow a post. */
export async function unfollowersOf(db: Db, postId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('follows')
    .select('userId')
    .where('postId', '=', postId)
    .where('isFollowing', '=', 0)
    .execute()
  return new Set(rows.map(({ userId }) => userId))
}

/** Ids that a query names at most. */
const MOST_NAMED = 500

/**
 * Followers of a post in the order of their ids, some at a time. All ids are read first: those of 100,000 followers take some
 * megabytes meanwhile.
 */
export async function* followersOf(db: Db, postId: string, after = ''): AsyncGenerator<Follower[]> {
  const reasons = await reasonsOf(db, postId)
  const ids = [...reasons.keys()].filter((id) => id > after).toSorted()
  for (let at = 0; at < ids.length; at += MOST_NAMED) {
    const people = await db
      .selectFrom('users')
      .select(['userId', 'name', 'username', 'avatar'])
      .where('userId', 'in', ids.slice(at, at + MOST_NAMED))
      .where('isBlocked', '=', 0)
      .execute()
    yield people
      .toSorted((one, other) => (one.userId < other.userId ? -1 : 1))
      .map((person) => ({ ...person, reason: reasons.get(person.userId) ?? REASONS.length - 1 }))
  }
}

/** Posts whose followers are read at a time: one of them may have as many as a site has people. */
const POSTS_AT_ONCE = 10

/** Yields the ids of people who follow at least one of these posts, each once, in batches and in no order. */
export async function* followersOfAny(db: Db, postIds: readonly string[]): AsyncGenerator<string[]> {
  const seen = new Set<string>()
  for (let at = 0; at < postIds.length; at += POSTS_AT_ONCE) {
    const some = postIds.slice(at, at + POSTS_AT_ONCE)
    const { rows } = await sql<{ userId: string }>`
      select distinct found."userId" from (${followers((column) => sql`${sql.ref(column)} in (${sql.join(some)})`)}) as found cross join users
      where users."userId" = found."userId" and users."isBlocked" = 0
        and not exists (select 1 from follows where follows."postId" = found."postId" and follows."userId" = found."userId" and follows."isFollowing" = 0)`.execute(
      db,
    )
    const found = rows.map(({ userId }) => userId).filter((userId) => !seen.has(userId))
    for (const userId of found) seen.add(userId)
    for (let from = 0; from < found.length; from += MOST_NAMED) yield found.slice(from, from + MOST_NAMED)
  }
}

/** A page of them. */
export async function listFollowers(
  db: Db,
  postId: string,
  { limit, offset = 0, after }: { limit: number; offset?: number; after?: Pick<Follower, 'userId'> },
): Promise<Follower[]> {
  const found: Follower[] = []
  for await (const some of followersOf(db, postId, after?.userId)) {
    found.push(...some)
    if (found.length >= offset + limit) break
  }
  return found.slice(offset, offset + limit)
}

export async function countFollowers(db: Db, postId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct users."userId") as count from (${ofPost(postId)}) as found cross join users
    where users."userId" = found."userId" and users."isBlocked" = 0
      and not exists (select 1 from follows where follows."postId" = ${postId} and follows."userId" = users."userId" and follows."isFollowing" = 0)`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/** Whether a person follows a post. */
export const isFollower = async (db: Db, { postId, userId }: { postId: string; userId: string }): Promise<boolean> =>
  (await followedAmong(db, userId, [postId])).has(postId)

/** Whether a person may be told of a post that concerns them: they are not blocked, and did not choose not to follow it. */
export async function isReachable(db: Db, { postId, userId }: { postId: string; userId: string }): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('users.userId')
    .where('users.userId', '=', userId)
    .where('users.isBlocked', '=', 0)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('follows')
            .select('follows.postId')
            .where('follows.postId', '=', postId)
            .where('follows.userId', '=', userId)
            .where('follows.isFollowing', '=', 0),
        ),
      ),
    )
    .executeTakeFirst()
  return row !== undefined
}

/** Stores what a person chose. */
export const putFollow = (
  db: Db,
  { postId, userId, isFollowing, at }: { postId: string; userId: string; isFollowing: boolean; at: string },
): Promise<unknown> =>
  referringTo({ users: userId, posts: postId }, () =>
    db
      .insertInto('follows')
      .values({ postId, userId, isFollowing: isFollowing ? 1 : 0, createdAt: at })
      .onConflict((conflict) =>
        conflict
          .columns(['postId', 'userId'])
          .doUpdateSet({ isFollowing: isFollowing ? 1 : 0, createdAt: at, fromPostId: null }),
      )
      .execute(),
  )
