import * as Type from 'typebox'
import { VOTES_HIDDEN } from '../../core/boardrules.js'
import { asStored } from '../../core/ids.js'
import type { PostView } from '../../db/posts/row.js'
import { newestVotes, votesOf } from '../../db/votes.js'
import { can, notAllowed, type Actor } from './access.js'
import { avatarOf } from './avatars.js'
import type { CachedContext, Context } from './context.js'
import { viewerOf } from './sessions.js'

const Vote = {
  voteId: Type.String({ format: 'uuid' }),
  userId: Type.String({ format: 'uuid' }),
  postId: Type.String({ format: 'uuid' }),
  createdAt: Type.String({ format: 'date-time' }),
}

export const votesHidden = Type.Optional(
  Type.Boolean({
    description: 'true where the board shows votes only to those who voted for the post; otherwise absent',
  }),
)

/** The votes of a post, as they are embedded in it. */
export const PostVote = Type.Object({
  votes: Type.Array(Type.Object({ ...Vote, name: Type.String(), username: Type.String(), avatar: Type.String() }), {
    description: 'The newest six; empty if the board hides its voters',
  }),
  votesCount: Type.Integer({ description: 'How many voted; 0 where votes_hidden' }),
  votes_hidden: votesHidden,
  viewerVote: Type.Optional(Type.Object(Vote, { description: 'The vote of the signed-in user' })),
  importedVotes: Type.Optional(
    Type.Integer({
      description: 'Of the votes, those counted where the post was imported from, without their voters; absent if none',
    }),
  ),
})
export type PostVote = Type.Static<typeof PostVote>

const MAX_EMBEDDED = 6

/** What says who sees the votes of a post. */
type Voted = Pick<PostView, 'boardId' | 'view_voters' | 'hidesVoters' | 'hides_votes'>

/** Whether everybody who sees how many voted sees who did: the board may hide that. */
const showsVoters = ({ boardId, view_voters: shown, hidesVoters: hidden }: Voted): boolean =>
  boardId === null ? hidden === 0 : shown === 1

/** Whether everybody who sees the post sees how many voted: the board may show that only to those who did. */
const showsVotes = ({ boardId, hidesVoters: hidden, hides_votes: hides }: Voted): boolean =>
  boardId === null ? hidden !== VOTES_HIDDEN : hides !== 1

/** What others would see in place of `to` that `from` hides. Undefined where they would see no more. */
export const shownBy = (from: Voted, to: Voted): 'votes' | 'voters' | undefined =>
  showsVotes(to) && !showsVotes(from) ? 'votes' : showsVoters(to) && !showsVoters(from) ? 'voters' : undefined

/** Who has dashboard:read sees also hidden voters. */
export const seesVoters = (actor: Actor, post: Voted): boolean => showsVoters(post) || can(actor, 'dashboard:read')

/** Whether somebody sees how many voted, where they have voted or not. */
export const seesVotes = (actor: Actor, post: Voted, hasVoted: boolean): boolean =>
  showsVotes(post) || hasVoted || can(actor, 'dashboard:read')

/** Those of some posts of which the actor sees how many voted. */
export async function votesSeen<Post extends Voted & Pick<PostView, 'postId'>>(
  ctx: CachedContext,
  posts: readonly Post[],
): Promise<ReadonlySet<string>> {
  const hidden = posts.filter((post) => !seesVotes(ctx.actor, post, false)).map(({ postId }) => postId)
  const viewer = hidden.length > 0 ? await viewerOf(ctx) : null
  const voted = viewer === null ? [] : await votesOf(ctx.db, viewer, hidden)
  const seen = new Set(voted.map(({ postId }) => postId))
  return new Set(posts.map(({ postId }) => postId).filter((id) => seen.has(id) || !hidden.includes(id)))
}

export interface VotesAsked {
  /** Whether the newest votes are embedded. To read them takes longer than to read their posts. */
  votes?: boolean | undefined
  /** What `voterGiven` has. */
  voter?: unknown
}

/** Throws unless the caller sees the vote count of each post. Voters follow a post, so counts of followers reveal votes. */
export async function assertVotesSeen(
  ctx: CachedContext,
  posts: readonly (Voted & Pick<PostView, 'postId'>)[],
): Promise<void> {
  const seen = await votesSeen(ctx, posts)
  if (posts.some(({ postId }) => !seen.has(postId))) throw notAllowed(['dashboard:read'])
}

/** Throws unless the caller sees who voted for a post. Voters follow it, so a list of followers reveals them. */
export function assertVotersSeen(actor: Actor, post: Voted): void {
  if (!seesVoters(actor, post)) throw notAllowed(['dashboard:read'])
}

/**
 * The embedded votes of several posts, in two queries. A visitor sees as `viewerVote` the vote of the person they name,
 * where the voters are shown.
 */
export async function votersOf(
  ctx: Pick<Context, 'db' | 'actor' | 'siteUrl'>,
  posts: readonly PostView[],
  { votes = true, voter: given }: VotesAsked = {},
): Promise<PostVote[]> {
  const { db, actor } = ctx
  const open = posts.filter((post) => post.votesCount > 0 && seesVoters(actor, post))
  const counted = votes ? open.map(({ postId }) => postId) : []
  const shown = await newestVotes(db, counted, MAX_EMBEDDED)
  const viewer = await viewerOf(ctx)
  const voter = viewer ?? (typeof given === 'string' ? asStored(given) : '')
  const own = await votesOf(db, voter, (viewer === null ? open : posts).map(({ postId }) => postId)) // prettier-ignore
  return posts.map((post) => {
    const { postId, votesCount, importedVotes } = post
    const mine = own.find((vote) => vote.postId === postId)
    if (!seesVotes(actor, post, viewer !== null && mine !== undefined))
      return { votes: [], votesCount: 0, votes_hidden: true }
    return {
      votes: shown.filter((vote) => vote.postId === postId).map((vote) => ({ ...vote, avatar: avatarOf(ctx, vote) })),
      votesCount,
      ...(mine && { viewerVote: mine }),
      ...(importedVotes > 0 && { importedVotes }),
    }
  })
}

/** Clients before 0.9 name their user here instead of sending a token. Others send anything. */
export const voterGiven = Type.Optional(
  Type.Unknown({ description: 'Without a token: whose vote to show as viewerVote, if the board shows its voters' }),
)

export const votesGiven = Type.Optional(
  Type.Boolean({
    description:
      'Include the newest votes of each post (default); false leaves voters.votes empty, for a smaller response',
  }),
)
