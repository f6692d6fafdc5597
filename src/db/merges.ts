import { sql, type RawBuilder } from 'kysely'
import { HELD, MERGED, SHOWN, UNLISTED } from '../core/hidden.js'
import { asStored } from '../core/ids.js'
import { compiled } from './cache/compiled.js'
import { rowsForEach } from './dialect.js'
import { pageOf, type Page } from './paging.js'
import { lockPosts } from './posts/row.js'
import { indexAgain, indexMerged, READ } from './search.js'
import { referringTo } from './references.js'
import type { Db, MergeRow } from './tables.js'

/**
 * Posts that were merged form a tree: each names the post that it was merged into, and the root, which stays. Votes and
 * comments of all of them belong to the root, and keep the post where they were written. Of several votes of one person
 * the oldest counts. The others wait in `merged_votes`, so which votes count depends on the tree alone, not on the order
 * of the merges.
 */

/** The post that a merged post belongs to now. */
export async function rootOf(db: Db, postId: string): Promise<string | undefined> {
  const [merge] = await compiled(db, 'rootOf', { postId }, (given) =>
    db.selectFrom('merges').select('rootId').where('postId', '=', given.postId),
  )
  return merge?.rootId
}

/** Of what was merged into a post, how much is looked at to say why it is found. */
export const MOST_REASONS = 40

interface MergedText {
  rootId: string
  title: string
  contentMarkdown: string | null
}

/** What was merged into these posts: of each the newest, and of a text as much as the search knows. */
export const textsMergedInto = async (
  db: Db,
  rootIds: readonly string[],
  { hidden }: { hidden: boolean },
): Promise<MergedText[]> =>
  rootIds.length === 0
    ? []
    : (
        await rowsForEach(
          db,
          rootIds,
          (rootId) => sql<MergedText>`
            select merges."rootId", posts.title, substr(posts."contentMarkdown", 1, ${sql.lit(READ)}) as "contentMarkdown"
            from merges inner join posts on posts."postId" = merges."postId"
            left join boards on boards."boardId" = posts."boardId" where merges."rootId" = ${rootId}
              and (coalesce(boards.display, 1) = 1 and merges."wasHeld" = 0 or ${sql.lit(hidden ? 1 : 0)} = 1)
            order by merges."mergedAt" desc limit ${sql.lit(MOST_REASONS)}`,
        ).execute(db)
      ).rows

const isOlder = (one: string, other: string) =>
  sql.raw(`(${one}."createdAt", ${one}."voteId") < (${other}."createdAt", ${other}."voteId")`)

/** What a merge moves. */
export interface Moved {
  votes: number
  comments: number
}

interface Merging {
  postId: string
  intoId: string
  at: string
  by: string | null
  /** Whether nobody but the team and its author sees the post. */
  isHeld?: boolean
}

/** Merges a post that is a root into another root. Hold the lock of `post_counts`, and call `endMerges` after the last. */
export const mergePost = (db: Db, merge: Merging): Promise<Moved> =>
  referringTo({ users: merge.by, posts: merge.intoId }, () => merging(db, merge))

async function merging(db: Db, { postId, intoId, at, by, isHeld = false }: Merging): Promise<Moved> {
  await lockPosts(db, [postId, intoId])
  const answerId = await answerToGiveUp(db, postId, intoId)
  const votes = await mergeVotes(db, postId, intoId)
  await moveImportedVotes(db, postId, intoId, 1)
  const comments = await sql`
    update comments set from_post_id = coalesce(from_post_id, ${postId}), post_id = ${intoId} where post_id = ${postId}`.execute(
    db,
  )
  await sql`update mentions set "postId" = ${intoId} where "postId" = ${postId}`.execute(db)
  // What was reported is the merged post alone
  await sql`update notifications set "postId" = ${intoId} where "postId" = ${postId} and not (kind = 'report' and "commentId" is null)`.execute(
    db,
  )
  await sql`update merges set "rootId" = ${intoId} where "rootId" = ${postId}`.execute(db)
  const merge = { postId, intoId, rootId: intoId, answerId, mergedAt: at, mergedBy: by, wasHeld: isHeld ? 1 : 0 }
  await db.insertInto('merges').values(merge).execute()
  await db.updateTable('posts').set({ is_spam: MERGED, display: UNLISTED }).where('postId', '=', postId).execute()
  return { votes, comments: Number(comments.numAffectedRows ?? 0) }
}

/** Gives a post the followers and the words of all that is merged into it. */
export async function endMerges(db: Db, rootId: string): Promise<void> {
  await copyFollows(db, rootId)
  await indexMerged(db, sql`merges."rootId" = ${rootId}`)
}

/** A post has one answer. That of the post that stays remains; the other is kept as a comment. */
async function answerToGiveUp(db: Db, postId: string, intoId: string): Promise<string | null> {
  const answers = await db
    .selectFrom('comments')
    .select(['id', 'post_id'])
    .where('post_id', 'in', [postId, intoId])
    .where('official', '=', sql.lit('answer'))
    .execute()
  const given = answers.find(({ post_id: of }) => of === postId)
  if (!given || answers.length < 2) return null
  await db.updateTable('comments').set({ official: null }).where('id', '=', given.id).execute()
  return given.id
}

/** Returns how many votes the post had, also of those who had voted for the other. */
async function mergeVotes(db: Db, postId: string, intoId: string): Promise<number> {
  const pairs = sql`votes as own cross join votes as other
    where own."postId" = ${postId} and other."postId" = ${intoId} and other."userId" = own."userId"`
  const keepLater = async (name: string, than: string): Promise<number> => {
    const kept = await sql`
      insert into merged_votes ("voteId", "userId", "postId", "createdAt")
      select ${sql.raw(`${name}."voteId", ${name}."userId", coalesce(${name}."fromPostId", ${name}."postId"), ${name}."createdAt"`)} from ${pairs} and not ${isOlder(name, than)}`.execute(
      db,
    )
    return Number(kept.numAffectedRows ?? 0)
  }
  const own = await keepLater('own', 'other')
  const others = await keepLater('other', 'own')
  // Skipped where nothing is repeated, because it reads all votes of both posts
  if (own + others > 0)
    await sql`
      delete from votes where "postId" in (${postId}, ${intoId})
      and exists (select 1 from merged_votes where merged_votes."voteId" = votes."voteId")`.execute(db)
  const moved = await sql`
    update votes set "fromPostId" = coalesce("fromPostId", ${postId}), "postId" = ${intoId} where "postId" = ${postId}`.execute(
    db,
  )
  return own + Number(moved.numAffectedRows ?? 0)
}

/** A merged post keeps the number of its own, and of what was merged into it before. */
const moveImportedVotes = (db: Db, postId: string, rootId: string, by: 1 | -1) =>
  sql`
    update posts set "importedVotes" = "importedVotes" + ${sql.lit(by)} * (select part."importedVotes" from posts as part where part."postId" = ${postId})
    where "postId" = ${rootId} and exists (select 1 from posts as part where part."postId" = ${postId} and part."importedVotes" <> 0)`.execute(
    db,
  )

/** The post and what is merged into it, as it is stored. */
const groupOf = (rootId: string): RawBuilder<unknown> =>
  sql`(select ${rootId} as "postId" union all select merges."postId" from merges where merges."rootId" = ${rootId})`

/** Takes the newest merge of a post back, with all that was merged into it before. Hold the lock of `post_counts`. */
export async function unmergePost(db: Db, { postId, rootId, answerId, wasHeld }: MergeRow): Promise<void> {
  await lockPosts(db, [postId, rootId])
  await db.deleteFrom('merges').where('postId', '=', postId).execute()
  await sql`
    with recursive part(id) as (
      select "postId" from merges where "intoId" = ${postId}
      union all select merges."postId" from merges join part on merges."intoId" = part.id)
    update merges set "rootId" = ${postId} where "postId" in (select id from part)`.execute(db)
  const group = groupOf(postId)
  await sql`
    update votes set "postId" = ${postId}, "fromPostId" = nullif("fromPostId", ${postId})
    where "postId" = ${rootId} and "fromPostId" in ${group}`.execute(db)
  await moveImportedVotes(db, postId, rootId, -1)
  await restoreVotes(db, rootId)
  await restoreVotes(db, postId)
  // A reply stays with what it replies to
  await sql`
    with recursive part(id) as (
      select id from comments where post_id = ${rootId} and from_post_id in ${group}
      union select comments.id from comments join part on comments.parent_id = part.id where comments.post_id = ${rootId})
    update comments set post_id = ${postId}, from_post_id = case when from_post_id <> ${postId} and from_post_id in ${group} then from_post_id end
    where id in (select id from part)`.execute(db)
  await restoreAnswer(db, postId, answerId)
  await sql`
    update mentions set "postId" = ${postId} where "postId" = ${rootId}
    and (exists (select 1 from comments where comments.id = mentions."commentId" and comments.post_id = ${postId})
      or ("commentId" is null and "textId" in ${group}))`.execute(db)
  await sql`
    delete from notifications where "postId" = ${rootId} and kind = 'merged'
    and exists (select 1 from events where events.id = notifications."eventId" and events.subject_id = ${postId})`.execute(
    db,
  )
  await sql`
    update notifications set "postId" = ${postId} where "postId" = ${rootId}
    and (exists (select 1 from comments where comments.id = notifications."commentId" and comments.post_id = ${postId})
      or exists (select 1 from events where events.id = notifications."eventId" and events.subject_id in ${group}))`.execute(
    db,
  )
  // The one that parts has copies of what was taken out of it while it was merged
  for (const id of [rootId, postId]) {
    await sql`delete from follows where "postId" = ${id} and "fromPostId" is not null`.execute(db)
    await copyFollows(db, id)
  }
  // What was held is held again: nobody has published it
  await sql`
    update posts set is_spam = ${wasHeld === 1 ? HELD : SHOWN}, display = case when ${sql.lit(wasHeld)} = 1 then 0 else coalesce((select display from boards where boards."boardId" = posts."boardId"), 1) end
    where "postId" = ${postId}`.execute(db)
  await indexAgain(db, [postId, rootId])
}

/** Gives people without a vote on a post the oldest of those that they cast on what is merged into it. */
async function restoreVotes(db: Db, postId: string): Promise<void> {
  const group = groupOf(postId)
  await sql`
    insert into votes ("voteId", "userId", "postId", "createdAt", "fromPostId")
    select "voteId", "userId", ${postId}, "createdAt", nullif("postId", ${postId}) from (
      select merged_votes.*, row_number() over (partition by "userId" order by "createdAt", "voteId") as place
      from merged_votes where "postId" in ${group}
      and not exists (select 1 from votes where votes."userId" = merged_votes."userId" and votes."postId" = ${postId})
    ) as found where place = 1`.execute(db)
  await sql`
    delete from merged_votes where "postId" in ${group}
    and exists (select 1 from votes where votes."voteId" = merged_votes."voteId")`.execute(db)
}

/** What a post gave up as it was merged, or as that one was merged on. What was given up to it stays so. */
async function restoreAnswer(db: Db, postId: string, answerId: string | null): Promise<void> {
  await sql`
    update comments set official = 'answer' where post_id = ${postId} and official is null and is_internal = 0
    and id = coalesce(${answerId}, (select max(merges."answerId") from merges inner join comments as given on given.id = merges."answerId"
      where given.post_id = ${postId} and merges."rootId" <> ${postId}))
    and not exists (select 1 from comments as others where others.post_id = ${postId} and others.official = 'answer')`.execute(
    db,
  )
}

/** The voters, commenters and followers of a merged post and of the posts merged into it. `rootId` is its root. */
export async function peopleOf(db: Db, postId: string, rootId: string): Promise<Set<string>> {
  const part = sql`(select id from part)`
  const { rows } = await sql<{ userId: string }>`
    with recursive part(id) as (
      select "postId" from posts where "postId" = ${postId}
      union all select merges."postId" from merges join part on merges."intoId" = part.id)
    select "userId" from votes where "postId" = ${rootId} and "fromPostId" in ${part}
    union select "userId" from merged_votes where "postId" in ${part}
    union select author_id from comments where post_id = ${rootId} and from_post_id in ${part} and author_id is not null
    union select "userId" from follows where "postId" = ${rootId} and "fromPostId" in ${part}`.execute(db)
  return new Set(rows.map(({ userId }) => userId))
}

/**
 * Whoever followed a post follows what it was merged into, unless they chose otherwise there. Whoever chose not to follow
 * a post follows it still by what they did on another.
 */
async function copyFollows(db: Db, rootId: string): Promise<void> {
  const members = sql`(select "postId" from merges where "rootId" = ${rootId})`
  const group = groupOf(rootId)
  const person = sql`follows."userId"`
  const isLeft = (post: RawBuilder<unknown>) =>
    sql`exists (select 1 from follows as choices where choices."postId" = ${post} and choices."userId" = ${person} and choices."isFollowing" = 0 and choices."fromPostId" is null)`
  const hasOther = sql`(
    exists (select 1 from votes where votes."userId" = ${person} and votes."postId" = ${rootId} and not ${isLeft(sql`coalesce(votes."fromPostId", votes."postId")`)})
    or exists (select 1 from merged_votes where merged_votes."userId" = ${person} and merged_votes."postId" in ${group} and not ${isLeft(sql`merged_votes."postId"`)})
    or exists (select 1 from comments where comments.author_id = ${person} and comments.post_id = ${rootId} and comments.is_internal = 0 and comments.is_spam = 0 and not ${isLeft(sql`coalesce(comments.from_post_id, comments.post_id)`)})
    or exists (select 1 from posts where posts."userId" = ${person} and posts."postId" in ${group} and not ${isLeft(sql`posts."postId"`)}))`
  await sql`
    insert into follows ("postId", "userId", "isFollowing", "createdAt", "fromPostId")
    select ${rootId}, "userId", "isFollowing", "createdAt", "postId" from follows
    where "postId" in ${members} and "fromPostId" is null and ("isFollowing" = 1 or not ${hasOther}) order by "createdAt" desc, "postId" desc
    on conflict ("postId", "userId") do nothing`.execute(db)
  // Voters and authors of comments follow by what moves with the post, and its author by nothing else
  await sql`
    insert into follows ("postId", "userId", "isFollowing", "createdAt", "fromPostId")
    select ${rootId}, posts."userId", 1, posts."createdAt", posts."postId" from posts
    where posts."postId" in ${members} and posts."userId" is not null
    and not exists (select 1 from notification_settings where notification_settings."userId" = posts."userId" and "followsAuthored" = 0)
    order by posts."createdAt", posts."postId"
    on conflict ("postId", "userId") do nothing`.execute(db)
}

/**
 * Takes the posts of others out of those of a person, which are about to be deleted. Returns their ids, and those of posts
 * that lose a merged post, and its words.
 */
export async function partFromPostsOf(db: Db, userId: string): Promise<{ parted: string[]; losing: string[] }> {
  const own = sql<string>`(select "postId" from posts where "userId" = ${userId})`
  await sql`update merges set "intoId" = "rootId" where "intoId" in ${own} and "rootId" not in ${own}`.execute(db)
  const { rows } = await sql<Pick<MergeRow, 'postId'>>`
    select "postId" from merges where "intoId" in ${own} and "postId" not in ${own} order by "mergedAt" desc, "postId"`.execute(
    db,
  )
  for (const { postId } of rows) {
    const found = await findMerge(db, postId) // its root is another if a post between them was taken out
    if (found) await unmergePost(db, found)
  }
  const losing = await sql<Pick<MergeRow, 'rootId'>>`
    select distinct "rootId" from merges where "postId" in ${own} and "rootId" not in ${own}`.execute(db)
  return { parted: rows.map(({ postId }) => postId), losing: losing.rows.map(({ rootId }) => rootId) }
}

/** Deletes a person's uncounted votes on a post and on the posts merged into it. */
export async function deleteMergedVotes(db: Db, { userId, postId }: { userId: string; postId: string }): Promise<void> {
  await sql`delete from merged_votes where "userId" = ${userId} and "postId" in ${groupOf(postId)}`.execute(db)
}

/** What a post was merged into. */
export const findMerge = (db: Db, postId: string): Promise<MergeRow | undefined> =>
  db.selectFrom('merges').selectAll().where('postId', '=', postId).executeTakeFirst()

/** The ids of the posts that were merged into a post. */
export const membersOf = async (db: Db, rootId: string): Promise<string[]> =>
  (await db.selectFrom('merges').select('postId').where('rootId', '=', rootId).execute()).map(({ postId }) => postId)

export interface MergedFilter {
  rootId: string
  /** Whether those of private boards, and those that were held, are among them. */
  hidden: boolean
}

const merged = (db: Db, { rootId, hidden }: MergedFilter) =>
  db
    .selectFrom('merges')
    .innerJoin('posts', 'posts.postId', 'merges.postId')
    .leftJoin('boards', 'boards.boardId', 'posts.boardId')
    .where('merges.rootId', '=', rootId)
    .$if(!hidden, (query) =>
      query
        .where('merges.wasHeld', '=', sql.lit(0))
        .where((eb) => eb.or([eb('posts.boardId', 'is', null), eb('boards.display', '=', 1)])),
    )

export type MergedView = Awaited<ReturnType<typeof listMerged>>[number]

/** The posts that were merged into a post, the newest merge first. */
export const listMerged = (db: Db, filter: MergedFilter, page: Page<MergeRow>) =>
  pageOf(
    merged(db, filter)
      .leftJoin('users as author', 'author.userId', 'posts.userId')
      .leftJoin('users as merger', 'merger.userId', 'merges.mergedBy')
      .selectAll('merges')
      .select(['posts.number', 'posts.title', 'posts.slug', 'posts.contentMarkdown', 'posts.createdAt', 'posts.userId'])
      .select(['author.name as authorName', 'author.username as authorUsername', 'author.avatar as authorAvatar'])
      .select(['merger.name as mergerName', 'merger.username as mergerUsername', 'merger.avatar as mergerAvatar']),
    { by: ['mergedAt', 'postId'], direction: 'desc', table: 'merges' },
    page,
  ).execute()

/** Finds a merged post by id, for a cursor. Returns undefined if it is not in the list. */
export const findMerged = (db: Db, filter: MergedFilter, id: string): Promise<MergeRow | undefined> =>
  merged(db, filter).selectAll('merges').where('merges.postId', '=', asStored(id)).executeTakeFirst()

export async function countMerged(db: Db, filter: MergedFilter): Promise<number> {
  const { count } = await merged(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
