import { sql } from 'kysely'
import type { Db } from './tables.js'
import { moveUserTags } from './usertags.js'

/** What a merge moved to the account. */
export interface Merged {
  posts: number
  comments: number
  votes: number
  /** Votes for posts for which both had voted. */
  repeated: number
}

/**
 * Makes one person the author of what another wrote, and the voter of what they voted for. The other one stays, with their
 * roles, keys and sessions, which nobody else may get. Hold the lock of `post_counts`, and both users.
 */
export async function mergeUser(db: Db, { userId, intoId }: { userId: string; intoId: string }): Promise<Merged> {
  const posts = await reassign(db, 'posts', 'userId', userId, intoId)
  const comments = await reassign(db, 'comments', 'author_id', userId, intoId)
  const repeated = await dropRepeated(db, userId, intoId)
  const votes = await reassign(db, 'votes', 'userId', userId, intoId)
  await reassign(db, 'merged_votes', 'userId', userId, intoId)
  await dropMergedTwice(db, intoId)
  for (const [table, key] of KEYED)
    await sql`
      update ${sql.table(table)} set "userId" = ${intoId} where "userId" = ${userId} and ${sql.ref(key)} is not null
      and not exists (select 1 from ${sql.table(table)} as own where own."userId" = ${intoId} and own.${sql.ref(key)} = ${sql.ref(`${table}.${key}`)})`.execute(
      db,
    )
  await moveUserTags(db, userId, intoId)
  for (const [table, column] of SIGNED) await reassign(db, table, column, userId, intoId)
  await keepUsername(db, userId, intoId)
  await sql`update imported_rows set "rowId" = ${intoId} where kind = 'person' and "rowId" = ${userId}`.execute(db)
  return { posts, comments, votes, repeated }
}

/** Tables with one row per person and key, which may be null. The account's own row stays. */
const KEYED = [
  ['follows', 'postId'],
  ['board_follows', 'boardId'],
  ['reports', 'postId'],
  ['reports', 'commentId'],
  ['mentions', 'textId'],
] as const

const SIGNED = [
  ['images', 'userId'],
  ['merges', 'mergedBy'],
  ['post_moves', 'actorId'],
  ['reviews', 'snoozedBy'],
  ['former_usernames', 'userId'],
] as const

async function reassign(db: Db, table: string, column: string, userId: string, intoId: string): Promise<number> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${intoId} where ${sql.ref(column)} = ${userId}`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Keeps links to their profile and mentions working. The account may have had the name before. */
const keepUsername = (db: Db, userId: string, intoId: string) =>
  sql`
    insert into former_usernames (username, "userId") select username, cast(${intoId} as text) from users where "userId" = ${userId}
    on conflict (username) do update set "userId" = excluded."userId"`.execute(db)

/**
 * Of two votes for one post the oldest counts, as where posts are merged: one that was cast on another post, which was
 * merged into this one, waits in `merged_votes`.
 */
async function dropRepeated(db: Db, userId: string, intoId: string): Promise<number> {
  const pairs = sql`votes as own join votes as other on other."postId" = own."postId" and other."userId" = ${intoId} where own."userId" = ${userId}`
  const ownIsOlder = sql`(own."createdAt", own."voteId") < (other."createdAt", other."voteId")`
  const later = (column: string) =>
    sql`case when ${ownIsOlder} then other.${sql.ref(column)} else own.${sql.ref(column)} end`
  const origin = (name: string) => sql`coalesce(${sql.ref(`${name}.fromPostId`)}, ${sql.ref(`${name}.postId`)})`
  await sql`
    insert into merged_votes ("voteId", "userId", "postId", "createdAt")
    select ${later('voteId')}, ${intoId}, case when ${ownIsOlder} then ${origin('other')} else ${origin('own')} end, ${later('createdAt')}
    from ${pairs} and ${origin('own')} <> ${origin('other')}`.execute(db)
  const { numAffectedRows } = await sql`
    delete from votes where "voteId" in (select ${later('voteId')} from ${pairs})`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** One vote for each of the posts that were merged. */
async function dropMergedTwice(db: Db, userId: string): Promise<void> {
  await sql`
    delete from merged_votes where "userId" = ${userId} and (
      exists (select 1 from votes where votes."userId" = ${userId} and coalesce(votes."fromPostId", votes."postId") = merged_votes."postId")
      or exists (select 1 from merged_votes as other where other."userId" = ${userId} and other."postId" = merged_votes."postId"
        and (other."createdAt", other."voteId") < (merged_votes."createdAt", merged_votes."voteId")))`.execute(db)
}
