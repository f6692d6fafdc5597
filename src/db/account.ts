import { sql } from 'kysely'
import type { PostView } from './posts/row.js'
import type { CommentRow, Db, FollowRow, ImageRow, MergedVoteRow, NotificationRow, PostRow, VoteRow } from './tables.js'

// What a person has written, each in pages: rows after one, in the order of an index.

/** A post with what its board says of its votes, and whether its author votes for it: 1 or 0. */
export type OwnPost = PostRow & Pick<PostView, 'view_voters' | 'hides_votes'> & { hasVoted: number }

export const ownPosts = (
  db: Db,
  userId: string,
  { after, limit }: { after: Pick<PostRow, 'createdAt' | 'postId'> | undefined; limit: number },
): Promise<OwnPost[]> =>
  db
    .selectFrom('posts')
    .leftJoin('boards', 'boards.boardId', 'posts.boardId')
    .selectAll('posts')
    .select(['boards.view_voters', 'boards.hides_votes'])
    .select(
      sql<number>`case when exists (select 1 from votes where votes."postId" = posts."postId" and votes."userId" = ${userId}) then 1 else 0 end`.as(
        'hasVoted',
      ),
    )
    .where('posts.userId', '=', userId)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(posts."createdAt", posts."postId") > (${after?.createdAt}, ${after?.postId})`),
    )
    .orderBy('posts.createdAt')
    .orderBy('posts.postId')
    .limit(limit)
    .execute()

export const ownComments = (
  db: Db,
  userId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<CommentRow[]> =>
  db
    .selectFrom('comments')
    .selectAll()
    .where('author_id', '=', userId)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()

export const ownVotes = (
  db: Db,
  userId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<VoteRow[]> =>
  db
    .selectFrom('votes')
    .selectAll()
    .where('userId', '=', userId)
    .$if(after !== undefined, (query) => query.where('postId', '>', after ?? ''))
    .orderBy('postId')
    .limit(limit)
    .execute()

/** Votes beside another of the person, for posts that were merged. A person has one for each post. */
export const ownMergedVotes = (
  db: Db,
  userId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<MergedVoteRow[]> =>
  db
    .selectFrom('merged_votes')
    .selectAll()
    .where('userId', '=', userId)
    .$if(after !== undefined, (query) => query.where('postId', '>', after ?? ''))
    .orderBy('postId')
    .limit(limit)
    .execute()

/** User names that the person had before, in no order. */
export const formerUsernames = async (db: Db, userId: string): Promise<string[]> =>
  (await db.selectFrom('former_usernames').select('username').where('userId', '=', userId).execute()).map(
    ({ username }) => username,
  )

export const ownFollows = (
  db: Db,
  userId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<FollowRow[]> =>
  db
    .selectFrom('follows')
    .selectAll()
    .where('userId', '=', userId)
    .$if(after !== undefined, (query) => query.where('postId', '>', after ?? ''))
    .orderBy('postId')
    .limit(limit)
    .execute()

/** All at once, in the order of the boards: there are few. */
export const ownBoardFollows = async (db: Db, userId: string) =>
  (
    await db.selectFrom('board_follows').select(['boardId', 'createdAt']).where('userId', '=', userId).execute()
  ).toSorted((one, other) => (one.boardId < other.boardId ? -1 : 1))

/** The images that the person uploaded. */
export const ownImages = (
  db: Db,
  userId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<ImageRow[]> =>
  db
    .selectFrom('images')
    .selectAll()
    .where('userId', '=', userId)
    .$if(after !== undefined, (query) => query.where('imageId', '>', after ?? ''))
    .orderBy('imageId')
    .limit(limit)
    .execute()

export type OwnMention = Awaited<ReturnType<typeof ownMentions>>[number]

/** The texts that mention the person. */
export const ownMentions = (db: Db, userId: string, { after, limit }: { after: string | undefined; limit: number }) =>
  db
    .selectFrom('mentions')
    .select(['textId', 'postId', 'commentId', 'createdAt'])
    .where('userId', '=', userId)
    .$if(after !== undefined, (query) => query.where('textId', '>', after ?? ''))
    .orderBy('textId')
    .limit(limit)
    .execute()

export const ownNotifications = (
  db: Db,
  userId: string,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<NotificationRow[]> =>
  db
    .selectFrom('notifications')
    .selectAll()
    .where('userId', '=', userId)
    .$if(after !== undefined, (query) => query.where('eventId', '>', after ?? 0))
    .orderBy('eventId')
    .limit(limit)
    .execute()
