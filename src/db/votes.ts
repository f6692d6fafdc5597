import { sql, type Insertable } from 'kysely'
import { asStored } from '../core/ids.js'
import type { Db, Tables, VoteRow } from './tables.js'
import { compiled } from './cache/compiled.js'
import { rowsForEach } from './dialect.js'
import { countAfter, pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import { referringTo } from './references.js'

/** A vote, its user, and the post that it was cast on if that one was merged. */
export type ListedVote = Awaited<ReturnType<typeof listVotes>>[number]
/** A vote and its user. */
export type Voter = Omit<ListedVote, 'throughNumber' | 'throughTitle' | 'throughDisplay' | 'throughHeld'>

const voters = (db: Db) =>
  db
    .selectFrom('votes')
    .innerJoin('users', 'users.userId', 'votes.userId')
    .leftJoin('posts as through', 'through.postId', 'votes.fromPostId')
    .leftJoin('boards', 'boards.boardId', 'through.boardId')
    .leftJoin('merges', 'merges.postId', 'votes.fromPostId')
    .selectAll('votes')
    .select(['users.name', 'users.username', 'users.avatar'])
    .select([
      'through.number as throughNumber',
      'through.title as throughTitle',
      'boards.display as throughDisplay',
      'merges.wasHeld as throughHeld',
    ])

const orderOf = ({ created: direction }: Sorting) =>
  ({ by: ['createdAt', 'voteId'], direction, table: 'votes' }) as const

/** The votes of a post. */
export const listVotes = (db: Db, filter: VoteFilter & Sorting, page: Page<VoteRow>) =>
  pageOf(
    within(voters(db), 'votes.createdAt', filter).where('votes.postId', '=', filter.postId),
    orderOf(filter),
    page,
  ).execute()

/** Which votes. */
export interface VoteFilter extends Period {
  postId: string
}

const filtered = (db: Db, { postId, ...period }: VoteFilter) =>
  within(db.selectFrom('votes'), 'votes.createdAt', period).where('postId', '=', postId)

/** How many votes of a period the post has. */
export async function countVotes(db: Db, filter: VoteFilter): Promise<number> {
  const some = filtered(db, filter).select((eb) => eb.fn.countAll<number>().as('count'))
  return (await some.executeTakeFirstOrThrow()).count
}

/**
 * The newest votes of each post, in the order of the posts. Reads a short range of an index per post; a window
 * function would read all their votes.
 */
export const newestVotes = (db: Db, postIds: readonly string[], each: number): Promise<Voter[]> =>
  postIds.length === 0
    ? Promise.resolve([])
    : compiled(
        db,
        'newestVotes',
        { postIds, each },
        (given) => ({
          compile: () =>
            rowsForEach(
              db,
              given.postIds,
              (postId) =>
                sql<Voter>`${VOTER} where votes."postId" = ${postId} order by votes."createdAt" desc, votes."voteId" desc limit ${given.each}`,
            ).compile(db),
        }),
        { votes: postIds, users: (voters) => voters.map(({ userId }) => userId), posts: [] },
      )

const VOTER = sql.raw(`select votes."voteId", votes."userId", votes."postId", votes."createdAt",
    users.name, users.username, users.avatar
  from votes inner join users on users."userId" = votes."userId"`)

/** The votes of a user on some posts. */
export const votesOf = (db: Db, userId: string, postIds: readonly string[]): Promise<Omit<VoteRow, 'fromPostId'>[]> =>
  postIds.length === 0 || userId === ''
    ? Promise.resolve([])
    : compiled(
        db,
        'votesOf',
        { userId, postIds },
        (given) =>
          db
            .selectFrom('votes')
            .select(['voteId', 'userId', 'postId', 'createdAt'])
            .where('userId', '=', given.userId)
            .where('postId', 'in', given.postIds),
        { votes: postIds },
      )

export const findVote = (db: Db, voteId: string): Promise<ListedVote | undefined> =>
  voters(db).where('votes.voteId', '=', asStored(voteId)).executeTakeFirst()

export const votesAfter = async (db: Db, filter: VoteFilter & Sorting, vote: VoteRow): Promise<number> =>
  (await countAfter(filtered(db, filter), orderOf(filter), vote).executeTakeFirstOrThrow()).count

/** Returns undefined if the user has already voted for the post. */
export async function insertVote(db: Db, vote: Insertable<Tables['votes']>): Promise<VoteRow | undefined> {
  const [row] = await referringTo({ users: vote.userId, posts: vote.postId }, () =>
    compiled(db, 'insertVote', vote, (given) =>
      db
        .insertInto('votes')
        .values(given)
        .onConflict((conflict) => conflict.columns(['userId', 'postId']).doNothing())
        .returningAll(),
    ),
  )
  return row
}

export async function deleteVote(
  db: Db,
  { userId, postId }: Pick<VoteRow, 'userId' | 'postId'>,
): Promise<VoteRow | undefined> {
  const [row] = await compiled(db, 'deleteVote', { userId, postId }, (given) =>
    db.deleteFrom('votes').where('userId', '=', given.userId).where('postId', '=', given.postId).returningAll(),
  )
  return row
}
