import { quoted } from '../core/text.js'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import { deleteMergedVotes } from '../db/merges.js'
import type { Sorting } from '../db/paging.js'
import { votesCountOf, type PostView } from '../db/posts/row.js'
import { readSettings } from '../db/settings.js'
import type { UserRow } from '../db/tables.js'
import {
  countVotes,
  deleteVote,
  findVote,
  insertVote,
  listVotes,
  votesAfter,
  votesOf,
  type VoteFilter,
  type ListedVote,
} from '../db/votes.js'
import { teamAmong } from '../db/team.js'
import { userTagsOf } from '../db/usertags.js'
import { can } from './lib/access.js'
import { voteCells } from './lib/cells.js'
import { change, type Change } from './lib/change.js'
import type { CachedContext, Context } from './lib/context.js'
import { csvOf } from './lib/csvof.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { fields, inPath } from './lib/schemas.js'
import { personOf, viewerOf } from './lib/sessions.js'
import { labsOf } from './settings.js'
import { authorOf, findPerson, PublicUser } from './lib/people.js'
import { isWithin, orderFields, periodFields, periodFrom } from './lib/times.js'
import { assertTakes } from './lib/taking.js'
import { PostVote, seesVoters, seesVotes, votersOf } from './lib/voters.js'
import { keptPost, visiblePost } from './lib/whichpost.js'

const Vote = Type.Object({
  voteId: Type.String({ format: 'uuid' }),
  user: PublicUser,
  createdAt: Type.Optional(Type.String({ format: 'date-time', description: 'In the list of votes alone' })),
  through: Type.Optional(
    Type.Object(
      { postId: Type.String({ format: 'uuid' }), number: Type.Integer(), title: Type.String() },
      { description: 'The post where the vote was cast, if it was merged into this one, and you may see it' },
    ),
  ),
  tags: Type.Optional(
    Type.Array(Type.String(), { description: 'What the team calls the voter; in the list alone, and with user:read' }),
  ),
})
export type Vote = Type.Static<typeof Vote>

const postId = Type.String({ description: 'Id, slug or number of the post', names: 'post' })
const inPost = inPath('Id, slug or number of the post', 'post')

/** Where a post takes no votes. */
const LOCKED = ['POST_LOCKED', 'BOARD_ARCHIVED'] as const

const VOTES: Listing<ListedVote> = { row: 'vote', rows: 'Votes', id: 'voteId', size: 20 }

export const list = operation({
  id: 'votes.list',
  summary: 'List the votes for a post, newest first; empty if the board hides its voters',
  http: 'GET /posts/:post_id/votes 200',
  access: 'public',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields({ post_id: inPost, ...orderFields('desc'), ...pageFields(VOTES), ...periodFields('votes') }),
  output: Type.Object({
    votes: Type.Object({ results: Type.Array(Vote), ...pageKeys, viewerVote: Type.Optional(Vote) }),
  }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { created, since, until, ...page }, post) {
    const { db, actor } = ctx
    const { postId: id } = post
    const filter: VoteFilter & Sorting = { postId: id, created, ...periodFrom({ since, until }) }
    const viewer = await viewerOf(ctx)
    const [own] = viewer === null ? [] : await votesOf(db, viewer, [id])
    const isOpen = seesVotes(actor, post, own !== undefined)
    const total = !isOpen
      ? 0
      : filter.since === undefined && filter.until === undefined
        ? post.votesCount - post.importedVotes // of those, nobody knows the voters
        : await countVotes(db, filter)
    const open = isOpen && seesVoters(actor, post)
    const { rows: results, keys } = await pageOf(VOTES, page, {
      total,
      find: async (after) => {
        const vote = await findVote(db, after)
        return open && vote?.postId === id && isWithin(filter, vote.createdAt) ? vote : undefined
      },
      countAfter: (vote) => votesAfter(db, filter, vote),
      read: async (slice) => (open ? listVotes(db, filter, slice) : []),
      show: (rows) => votesShown(ctx, rows),
    })
    const mine = own && (await findVote(db, own.voteId))
    // The contract has no number for the first page.
    const page_info = {
      ...keys.page_info,
      ...(page.after === undefined && page.page === undefined && { current_page: null }),
    }
    return { votes: { results, ...keys, page_info, ...(mine && { viewerVote: toVote(ctx, mine) }) } }
  },
})

export const downloadAll = csvOf(list, {
  id: 'votes.download',
  summary: 'Download all votes for a post as CSV or JSON lines',
  http: 'GET /export/posts/:post_id/votes 200',
  file: 'votes',
  rows: ({ votes }) => votes.results,
  infoOf: ({ votes }) => votes,
  cells: voteCells,
})

export const add = operation({
  id: 'votes.add',
  summary: 'Vote for a post',
  http: 'POST /votes 201',
  access: 'vote:create',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'VOTE_EXISTS', ...LOCKED],
  input: fields({ postId }, ['userId']),
  output: Type.Object({ voters: PostVote }),
  subject: (ctx, { postId: given }) => visiblePost(ctx, given),
  run: (ctx, _input, post) =>
    change(ctx, async (tx) => {
      const vote = await cast(tx, post, await personOf(tx))
      return { voters: await votersNow(tx, vote.post) }
    }),
})

export const remove = operation({
  id: 'votes.remove',
  summary: 'Delete a vote',
  http: 'DELETE /votes 200',
  access: 'vote:destroy',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'VOTE_NOT_FOUND', ...LOCKED],
  input: fields({ postId }, ['userId']),
  output: Type.Object({ voters: PostVote }),
  subject: (ctx, { postId: given }) => visiblePost(ctx, given),
  run: (ctx, _input, post) =>
    change(ctx, async (tx) => {
      await withdraw(tx, post, await personOf(tx))
      return { voters: await votersNow(tx, await visiblePost(tx, post.postId)) }
    }),
})

const onBehalf = fields({ post_id: inPost, user_id: inPath('Id, e-mail address or user name of the user', 'user') })

export const assign = operation({
  id: 'votes.assign',
  summary: 'Vote for a post on behalf of a user; needs voteOnBehalf in labs',
  http: 'POST /posts/:post_id/votes/:user_id 200',
  access: 'vote:assign',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'LABS_DISABLED', 'USER_NOT_FOUND', 'VOTE_EXISTS', ...LOCKED],
  input: onBehalf,
  output: Type.Object({ vote: Vote }),
  subject: postOnBehalf,
  run: (ctx, input, post) => voteOnBehalf(ctx, input.user_id, post, cast),
})

export const unassign = operation({
  id: 'votes.unassign',
  summary: 'Delete the vote of a user; needs voteOnBehalf in labs',
  http: 'DELETE /posts/:post_id/votes/:user_id 202',
  access: 'vote:unassign',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'LABS_DISABLED', 'USER_NOT_FOUND', 'VOTE_NOT_FOUND', ...LOCKED],
  input: onBehalf,
  output: Type.Object({ vote: Vote }),
  subject: postOnBehalf,
  run: (ctx, input, post) => voteOnBehalf(ctx, input.user_id, post, withdraw),
})

/** The contract answers LABS_DISABLED before NOT_ENOUGH_PERMISSION. */
async function postOnBehalf(ctx: Context, { post_id: given }: Record<string, unknown>): Promise<PostView> {
  const post = await visiblePost(ctx, given)
  if (!labsOf(await readSettings(ctx.db)).voteOnBehalf)
    throw new AppError('LABS_DISABLED', 'Voting on behalf of others is switched off. Switch on voteOnBehalf in labs.')
  return post
}

const voteOnBehalf = (ctx: Context, given: string, post: PostView, act: typeof cast | typeof withdraw) =>
  change(ctx, async (tx) => {
    const user = await personGiven(tx, given)
    const { voteId } = await act(tx, post, user.userId)
    return { vote: { voteId, user: authorOf(ctx, user) } }
  })

async function personGiven(ctx: Context, given: string): Promise<UserRow> {
  const user = await findPerson(ctx, given)
  if (user) return user
  throw new AppError('USER_NOT_FOUND', `User ${quoted(given)} not found. Give their id, e-mail address or user name.`)
}

/** Looks the post up inside the transaction: it may have been deleted, hidden or merged since the first look-up. */
async function cast(tx: Change, { postId: given }: PostView, userId: string) {
  const post = await keptPost(tx, given)
  assertTakes(tx.actor, 'votes', post)
  const { postId: id } = post
  const vote = await insertVote(tx.db, { voteId: newId(), userId, postId: id, createdAt: tx.now().toISOString() })
  if (!vote) throw new AppError('VOTE_EXISTS', 'This user has already voted for this post.')
  tx.record('post.voted', id, undefined, userId)
  return { ...vote, post }
}

async function withdraw(tx: Change, { postId: given }: PostView, userId: string) {
  const post = await keptPost(tx, given)
  const { postId: id } = post
  assertTakes(tx.actor, 'votes', post)
  const vote = await deleteVote(tx.db, { userId, postId: id })
  await deleteMergedVotes(tx.db, { userId, postId: id })
  if (!vote) throw new AppError('VOTE_NOT_FOUND', 'This user has not voted for this post.')
  tx.record('post.unvoted', id, undefined, userId)
  return vote
}

async function votersNow(tx: Change, post: PostView): Promise<PostVote> {
  const [voters] = await votersOf(tx, [{ ...post, votesCount: await votesCountOf(tx.db, post.postId) }])
  return voters ?? { votes: [], votesCount: 0 }
}

async function votesShown(ctx: CachedContext, rows: readonly ListedVote[]): Promise<Vote[]> {
  const people = rows.map(({ userId }) => userId)
  const team = await teamAmong(ctx.db, people)
  if (!can(ctx.actor, 'user:read')) return rows.map((vote) => toVote(ctx, vote, team))
  const tags = await userTagsOf(ctx.db, people)
  return rows.map((vote) => ({
    ...toVote(ctx, vote, team),
    tags: tags.filter(({ userId }) => userId === vote.userId).map(({ tag }) => tag),
  }))
}

function toVote(ctx: CachedContext, vote: ListedVote, team?: ReadonlySet<string>): Vote {
  const { voteId, createdAt, fromPostId: postId, throughNumber: number, throughTitle: title, throughDisplay, throughHeld, ...user } = vote // prettier-ignore
  const isShown = (throughDisplay !== 0 && throughHeld !== 1) || can(ctx.actor, 'board:read')
  return {
    voteId,
    user: authorOf(ctx, user, team),
    createdAt,
    ...(postId !== null && number !== null && title !== null && isShown && { through: { postId, number, title } }),
  }
}
