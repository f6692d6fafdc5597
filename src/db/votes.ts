import { sql, type Insertable } from 'kysely'
import { asStored } from '../core/ids.js'
import type { Db, Tables, VoteRow } from './tables.js'
import { compiled } from './cache/compiled.js'
import { referringTo } from './references.js'

/** A vote with who cast it. */
export type Voter = Awaited<ReturnType<typeof listVotes>>[number]

const voters = (db: Db) =>
  db
    .selectFrom('votes')
    .innerJoin('users', 'users.userId', 'votes.userId')
    .selectAll('votes')
    .select(['users.name', 'users.username', 'users.avatar'])

const newestFirst = (db: Db, postId: string) =>
  voters(db).where('votes.postId', '=', postId).orderBy('votes.createdAt', 'desc').orderBy('votes.voteId', 'desc')

const isAfter = ({ createdAt, voteId }: VoteRow) =>
  sql<boolean>`(votes."createdAt", votes."voteId") < (${createdAt}, ${voteId})`

/** The votes of a post, newest first. */
export const listVotes = (
  db: Db,
  postId: string,
  { limit, offset, after }: { limit: number; offset?: number; after?: VoteRow },
) =>
  newestFirst(db, postId)
    .$if(after !== undefined, (query) => query.where(isAfter(after as VoteRow)))
    .limit(limit)
    .$if(offset !== undefined, (query) => query.offset(offset ?? 0))
    .execute()

/** The newest few votes of each of some posts. Each is a short range of an index: a window over all their votes would read them all. */
export const newestVotes = (db: Db, postIds: readonly string[], each: number): Promise<Voter[]> =>
  postIds.length === 0
    ? Promise.resolve([])
    : compiled(db, 'newestVotes', { postIds, each }, (given) => rangesOf(db, given), {
        votes: postIds,
        users: (voters) => voters.map(({ userId }) => userId),
        posts: [],
      })

function rangesOf(db: Db, { postIds, each }: { postIds: readonly string[]; each: number }) {
  const [first, ...others] = postIds.map((postId) =>
    db.selectFrom(newestFirst(db, postId).limit(each).as('range')).selectAll('range'),
  )
  return others.reduce((all, range) => all.unionAll(range), first as NonNullable<typeof first>)
}

/** The votes of one person among some posts. */
export const votesOf = (db: Db, userId: string, postIds: readonly string[]): Promise<VoteRow[]> =>
  postIds.length === 0
    ? Promise.resolve([])
    : compiled(
        db,
        'votesOf',
        { userId, postIds },
        (given) =>
          db.selectFrom('votes').selectAll().where('userId', '=', given.userId).where('postId', 'in', given.postIds),
        { votes: postIds },
      )

export const findVote = (db: Db, voteId: string): Promise<Voter | undefined> =>
  voters(db).where('votes.voteId', '=', asStored(voteId)).executeTakeFirst()

/** How many votes of its post are older: the contract's `current_page` of a cursor page needs it. */
export async function votesBehind(db: Db, vote: VoteRow): Promise<number> {
  const row = await db
    .selectFrom('votes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('postId', '=', vote.postId)
    .where(isAfter(vote))
    .executeTakeFirstOrThrow()
  return row.count
}

/** Returns undefined when this person has voted for this post already: the unique index decides. */
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
