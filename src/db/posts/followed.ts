import { sql, type RawBuilder } from 'kysely'
import { compiled } from '../cache/compiled.js'
import type { Sorting } from '../paging.js'
import type { Db } from '../tables.js'

// The posts that one person follows. `followers` in `db/follows.ts` has who follows one post, by the same rules.

type Reason = 'followsAuthored' | 'followsVoted' | 'followsCommented' | 'followsMentioned'

/** Whether the person did not switch a reason off. */
const unlessOff = (reason: Reason, person: unknown) =>
  sql`not exists (select 1 from notification_settings where notification_settings."userId" = ${person} and ${sql.ref(`notification_settings.${reason}`)} = 0)`

const hasChosen = (isFollowing: 0 | 1, person: unknown, post: RawBuilder<unknown>) =>
  sql`exists (select 1 from follows as choices where choices."userId" = ${person} and choices."postId" = ${post} and choices."isFollowing" = ${sql.lit(isFollowing)})`

const IS_PUBLIC = sql`comments.is_internal = 0 and comments.is_spam = 0`

/** Mentions of a person in texts that are shown. */
const mentions = (person: unknown) =>
  sql`mentions left join comments as texts on texts.id = mentions."commentId" where mentions."userId" = ${person} and (mentions."commentId" is null or texts.is_spam = 0)`

/** The condition on a row of `posts`. */
function isFollowed(person: unknown): RawBuilder<boolean> {
  const post = sql`posts."postId"`
  return sql`(${hasChosen(1, person, post)} or (not ${hasChosen(0, person, post)} and (
    (posts."userId" = ${person} and ${unlessOff('followsAuthored', person)})
    or (exists (select 1 from votes where votes."userId" = ${person} and votes."postId" = ${post}) and ${unlessOff('followsVoted', person)})
    or (exists (select 1 from comments where comments.author_id = ${person} and comments.post_id = ${post} and ${IS_PUBLIC}) and ${unlessOff('followsCommented', person)})
    or (exists (select 1 from ${mentions(person)} and mentions."postId" = ${post}) and ${unlessOff('followsMentioned', person)}))))`
}

/** The ids of so many of the newest or oldest posts that a person follows. */
function keysOf(person: unknown, { created, most }: Sorting & { most: number }): RawBuilder<{ post: string }> {
  const direction = sql.raw(created)
  const limited = (post: RawBuilder<unknown>, from: RawBuilder<unknown>) =>
    sql`select * from (select distinct ${post} as post from ${from} and not ${hasChosen(0, person, post)} order by ${post} ${direction} limit ${sql.lit(most)}) as part`
  return sql`select post from (
    ${limited(sql`follows."postId"`, sql`follows where follows."userId" = ${person} and follows."isFollowing" = 1`)}
    union ${limited(sql`posts."postId"`, sql`posts where posts."userId" = ${person} and ${unlessOff('followsAuthored', person)}`)}
    union ${limited(sql`votes."postId"`, sql`votes where votes."userId" = ${person} and ${unlessOff('followsVoted', person)}`)}
    union ${limited(sql`comments.post_id`, sql`comments where comments.author_id = ${person} and ${IS_PUBLIC} and ${unlessOff('followsCommented', person)}`)}
    union ${limited(sql`mentions."postId"`, sql`${mentions(person)} and ${unlessOff('followsMentioned', person)}`)}
  ) as followed order by post ${direction} limit ${sql.lit(most)}`
}

/** Leads to the posts that a person follows. */
export const followedPosts = () => ({ key: 'postId', lowest: '', keys: keysOf, has: isFollowed }) as const

/** Which of some posts a person follows. */
export async function followedAmong(db: Db, userId: string, postIds: readonly string[]): Promise<Set<string>> {
  if (postIds.length === 0) return new Set()
  const rows = await compiled(
    db,
    'followedAmong',
    { userId, postIds },
    (given) => ({
      compile: () =>
        sql<{ postId: string }>`select posts."postId" from posts where posts."postId" in (${sql.join(given.postIds)}) and ${isFollowed(given.userId)}`.compile(db), // prettier-ignore
    }),
    { posts: postIds, boards: [], votes: postIds, comments: postIds, follows: postIds, mentions: postIds, notification_settings: [userId] }, // prettier-ignore
  )
  return new Set(rows.map(({ postId }) => postId))
}
