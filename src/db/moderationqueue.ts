import { sql, type RawBuilder } from 'kysely'
import { HELD } from '../core/hidden.js'
import { compiled } from './cache/compiled.js'
import type { Sorting } from './paging.js'
import type { Db } from './tables.js'

/** Why something waits for a decision. */
export const REASONS = ['new', 'edited', 'reported', 'spam', 'blocked'] as const
export type Reason = (typeof REASONS)[number]

/** A post or comment that waits. */
export interface Candidate {
  reason: Reason
  kind: 'post' | 'comment'
  id: string
  /** When it was edited, if it waits because of that. */
  createdAt: string
  /** Of the post. */
  boardId: string | null
}

/** Which parts of the queue a person may decide about. */
export interface QueueRights {
  posts: boolean
  comments: boolean
  /** Whether to include posts of private boards, and internal comments. */
  hidden: boolean
  internal: boolean
}

export interface QueueFilter extends QueueRights, Sorting {
  reasons: readonly Reason[]
  /** Only the post or comment with this id. */
  id?: string
  /** Posts and comments from this time on are new. ISO 8601. */
  since: string
  /** The present hour. What is snoozed beyond it does not wait. */
  hour: string
}

type Times = Pick<QueueFilter, 'since' | 'hour'>

/** Candidates per reason and kind: the first in list order; of reports and of what was snoozed, the oldest. */
export const MOST = 1000
/** Counting stops at this number. */
export const COUNTED = 100

/** Lists what waits for a decision, in no order. An item appears once for each reason. */
export async function listCandidates(db: Db, filter: QueueFilter): Promise<Candidate[]> {
  const found = await Promise.all(queries(filter).map(async ({ query }) => (await query.execute(db)).rows))
  return found.flat()
}

/** Counts what waits, up to `COUNTED`: for each reason, and in total. The total counts each item once. */
export async function countCandidates(
  db: Db,
  { since, hour, ...rights }: QueueRights & Times,
): Promise<{ total: number; counts: Record<Reason, number> }> {
  const counts = { new: 0, edited: 0, reported: 0, spam: 0, blocked: 0 }
  const shape = Object.entries(rights).flatMap(([right, has]) => (has ? [right] : []))
  const rows = await compiled(
    db,
    `countCandidates ${shape.join()}`,
    { since, hour },
    (given) => ({ compile: () => countOf({ ...given, ...rights }).compile(db) }),
    { votes: [] },
  )
  for (const { reasons, count } of rows)
    for (const [index, reason] of REASONS.entries())
      if (reasons & (1 << index)) counts[reason] = Math.min(counts[reason] + count, COUNTED)
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  return { counts, total: Math.min(total, COUNTED) }
}

/** Snoozed posts and comments that a person may decide about, a query for each kind. */
const snoozedOf = ({ hour, hidden, internal, ...kinds }: QueueRights & { hour: string }) => {
  const shown = hidden ? sql`and posts.display + 0 < 2` : sql`and posts.display + 0 = 1`
  const isSnoozed = sql`reviews."snoozedUntil" > ${hour} ${shown}`
  const post = { kind: 'post', id: sql`posts."postId"`, createdAt: sql`posts."createdAt"`, rows: sql`reviews inner join posts on ${OF.post} where ${isSnoozed}` } as const // prettier-ignore
  const comment = { kind: 'comment', id: sql`comments.id`, createdAt: sql`comments.created_at`, rows: sql`reviews inner join comments on ${OF.comment} inner join posts on posts."postId" = comments.post_id where ${isSnoozed} ${internal ? sql`` : sql`and comments.is_internal = 0`}` } as const // prettier-ignore
  return [...(kinds.posts ? [post] : []), ...(kinds.comments ? [comment] : [])]
}

/** Snoozed posts and comments: of each kind, those that come back first. */
export async function listSnoozed(
  db: Db,
  filter: QueueRights & { hour: string },
): Promise<Omit<Candidate, 'reason'>[]> {
  const found = await Promise.all(
    snoozedOf(filter).map(({ kind, id, createdAt, rows }) =>
      sql<
        Omit<Candidate, 'reason'>
      >`select ${sql.lit(kind)} as kind, ${id} as id, ${createdAt} as "createdAt", posts."boardId" from ${rows} order by reviews."snoozedUntil", reviews."reviewId" limit ${sql.lit(MOST)}`.execute(
        db,
      ),
    ),
  )
  return found.flatMap(({ rows }) => rows)
}

/** Counts what is snoozed, up to `COUNTED`. */
export async function countSnoozed(db: Db, { hour, ...rights }: QueueRights & { hour: string }): Promise<number> {
  const parts = (given: { hour: string }) =>
    snoozedOf({ ...rights, ...given }).map(({ rows }) => sql`select 1 as one from ${rows}`)
  if (parts({ hour }).length === 0) return 0
  const shape = Object.entries(rights).flatMap(([right, has]) => (has ? [right] : []))
  const [row] = await compiled(db, `countSnoozed ${shape.join()}`, { hour }, (given) => ({
    compile: () =>
      sql<{
        snoozed: number
      }>`select count(*) as snoozed from (${sql.join(parts(given), sql` union all `)} limit ${sql.lit(COUNTED)}) as part`.compile(
        db,
      ),
  }))
  return row?.snoozed ?? 0
}

/** Decisions are counted up to this number. */
export const MOST_DECIDED = 1000

/** How many posts and comments were kept or hidden since then. Those that are deleted since do not count. */
export async function countDecided(
  db: Db,
  { since, posts, comments }: Pick<QueueRights, 'posts' | 'comments'> & { since: string },
): Promise<number> {
  const kinds = [...(posts ? [sql`"postId" is not null`] : []), ...(comments ? [sql`"commentId" is not null`] : [])]
  if (kinds.length === 0) return 0
  const [row] = await compiled(db, `countDecided ${posts} ${comments}`, { since }, (given) => ({
    compile: () =>
      sql<{
        decided: number
      }>`select count(*) as decided from (select 1 from reviews where "decidedAt" >= ${given.since} and (${sql.join(kinds, sql` or `)}) limit ${sql.lit(MOST_DECIDED)}) as part`.compile(
        db,
      ),
  }))
  return row?.decided ?? 0
}

/** Counts items by their set of reasons. A set has a bit for each reason. */
function countOf(filter: QueueRights & Times): RawBuilder<{ reasons: number; count: number }> {
  const parts = queries({ ...filter, reasons: REASONS, created: 'desc' }, COUNTED).map(
    ({ reason, query }) => sql`select id, ${sql.lit(1 << REASONS.indexOf(reason))} as reason from (${query}) as part`,
  )
  return sql`select reasons, count(*) as count from (select cast(sum(distinct reason) as integer) as reasons from (${sql.join(parts, sql` union all `)}) as waiting group by id) as items group by reasons`
}

/** Keeps PostgreSQL from a join that reads all rows. It assumes that most rows are reviewed. */
const EACH = sql`limit 1 offset 0`

/** The `decidedAt` of what nobody has decided about, but somebody edited or snoozed: before all times. */
export const NEVER = new Date(0).toISOString()

const OF = {
  post: sql`reviews."postId" = posts."postId"`,
  comment: sql`reviews."commentId" = comments.id`,
}

/** Whether it is snoozed. */
const snoozed = (kind: Candidate['kind'], hour: string) =>
  sql`exists (select 1 from reviews where ${OF[kind]} and reviews."snoozedUntil" > ${hour} ${EACH})`

/** Whether somebody has decided about it, edited it since, or snoozed it. */
const reviewed = (kind: Candidate['kind'], hour: string) =>
  sql`exists (select 1 from reviews where ${OF[kind]} and (reviews."decidedAt" > ${sql.lit(NEVER)} or reviews."isOpen" = 1 or reviews."snoozedUntil" > ${hour}) ${EACH})`

/**
 * The owner, and whoever has a role that decides about posts or comments: what they write needs no look. It waits only
 * where it is reported.
 */
export const byOthers = (author: RawBuilder<unknown>) =>
  sql`and not exists (select 1 from users where users."userId" = ${author} and users."isOwner" = 1 ${EACH}) and not exists (select 1 from roles_users cross join role_permissions where roles_users.user_id = ${author} and role_permissions.role_id = roles_users.role_id and role_permissions.permission in ('post:destroy', 'comment:update:any') ${EACH})`

interface Query {
  reason: Reason
  query: RawBuilder<Candidate>
}

/** A cross join makes SQLite, which has no statistics, begin with the few users who are blocked. */
function queries(
  { reasons, since, hour, hidden, internal, created, id, ...kinds }: QueueFilter,
  items = MOST,
): Query[] {
  const shown = hidden ? sql`and posts.display + 0 < 2` : sql`and posts.display + 0 = 1` // merged posts have 2
  const seen = sql`${internal ? sql`` : sql`and comments.is_internal = 0`} ${shown}`
  const ofPost = sql`inner join posts on posts."postId" = comments.post_id`
  // An item may have many reports.
  const most = (reason: Reason) => sql.lit(reason === 'reported' ? MOST : items)
  const direction = sql.raw(created)
  const found: Query[] = []
  const post = (reason: Reason, time: RawBuilder<unknown>, rest: RawBuilder<unknown>, order = sql``) => {
    if (!kinds.posts || !reasons.includes(reason)) return
    const one = id === undefined ? sql`` : sql`and posts."postId" = ${id}`
    const query = sql<Candidate>`select ${sql.lit(reason)} as reason, 'post' as kind, posts."postId" as id, ${time} as "createdAt", posts."boardId" from ${rest} ${one} ${order} limit ${most(reason)}`
    found.push({ reason, query })
  }
  const comment = (reason: Reason, time: RawBuilder<unknown>, rest: RawBuilder<unknown>, order = sql``) => {
    if (!kinds.comments || !reasons.includes(reason)) return
    const one = id === undefined ? sql`` : sql`and comments.id = ${id}`
    const query = sql<Candidate>`select ${sql.lit(reason)} as reason, 'comment' as kind, comments.id, ${time} as "createdAt", posts."boardId" from ${rest} ${one} ${order} limit ${most(reason)}`
    found.push({ reason, query })
  }
  const [posted, commented, edited] = [sql`posts."createdAt"`, sql`comments.created_at`, sql`reviews."editedAt"`]
  const ofBlocked = sql`users."isBlocked" = 1 and not`
  const [postSeen, commentSeen] = [reviewed('post', hour), reviewed('comment', hour)]
  const [postIsIn, commentIsIn] = [sql`and not ${snoozed('post', hour)}`, sql`and not ${snoozed('comment', hour)}`]
  // With || '' SQLite reads in the order of the snoozes, not by the index of decisions
  const isBack = sql`reviews."snoozedUntil" <= ${hour} and reviews."decidedAt" || '' = ${sql.lit(NEVER)} and reviews."isOpen" = 0`
  const isIn = sql`and (reviews."snoozedUntil" is null or reviews."snoozedUntil" <= ${hour})`
  const inOrder = {
    post: sql`order by posts."createdAt" ${direction}, posts."postId" ${direction}`,
    comment: sql`order by comments.created_at ${direction}, comments.id ${direction}`,
    edited: sql`order by reviews."editedAt" ${direction}, reviews."reviewId" ${direction}`,
    back: sql`order by reviews."snoozedUntil", reviews."reviewId"`,
    reported: sql`order by reports."createdAt", reports."reportId"`,
  }
  for (const display of hidden ? [1, 0] : [1])
    post('new', posted, sql`posts where posts.display = ${sql.lit(display)} and posts."createdAt" >= ${since} and not ${postSeen} ${byOthers(sql`posts."userId"`)}`, inOrder.post) // prettier-ignore
  comment('new', commented, sql`comments ${ofPost} where comments.created_at >= ${since} and not ${commentSeen} ${byOthers(sql`comments.author_id`)} ${seen}`, inOrder.comment) // prettier-ignore
  // Whoever has waited longer than what counts as new waits still
  if (hidden) post('new', posted, sql`posts where posts.is_spam = ${sql.lit(HELD)} ${postIsIn}`, inOrder.post)
  comment('new', commented, sql`comments ${ofPost} where comments.is_spam = ${sql.lit(HELD)} ${seen} ${commentIsIn}`, inOrder.comment) // prettier-ignore
  post('new', posted, sql`reviews cross join posts where ${OF.post} and ${isBack} ${byOthers(sql`posts."userId"`)} ${shown}`, inOrder.back) // prettier-ignore
  comment('new', commented, sql`reviews cross join comments ${ofPost} where ${OF.comment} and ${isBack} ${byOthers(sql`comments.author_id`)} ${seen}`, inOrder.back) // prettier-ignore
  post('edited', edited, sql`reviews inner join posts on posts."postId" = reviews."postId" where reviews."isOpen" = 1 ${isIn} ${shown}`, inOrder.edited) // prettier-ignore
  comment('edited', edited, sql`reviews inner join comments on comments.id = reviews."commentId" ${ofPost} where reviews."isOpen" = 1 ${isIn} ${seen}`, inOrder.edited) // prettier-ignore
  post('reported', posted, sql`reports inner join posts on posts."postId" = reports."postId" where reports."isOpen" = 1 ${postIsIn} ${shown}`, inOrder.reported) // prettier-ignore
  comment('reported', commented, sql`reports inner join comments on comments.id = reports."commentId" ${ofPost} where reports."isOpen" = 1 ${commentIsIn} ${seen}`, inOrder.reported) // prettier-ignore
  comment('spam', commented, sql`comments ${ofPost} where comments.is_spam = 1 and not ${commentSeen} ${seen}`, inOrder.comment) // prettier-ignore
  post('blocked', posted, sql`users cross join posts where posts."userId" = users."userId" and ${ofBlocked} ${postSeen} ${shown}`) // prettier-ignore
  comment('blocked', commented, sql`users cross join comments ${ofPost} where comments.author_id = users."userId" and ${ofBlocked} ${commentSeen} ${seen}`) // prettier-ignore
  return found
}
