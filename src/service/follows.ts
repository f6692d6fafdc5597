import * as Type from 'typebox'
import { countFollowers, isFollower, listFollowers, putFollow, REASONS, type Follower } from '../db/follows.js'
import type { PostView } from '../db/posts/row.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { pageFields, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { authorOf, PublicUser } from './lib/people.js'
import { fields, inPath, oneOf } from './lib/schemas.js'
import { personOf, viewerOf } from './lib/sessions.js'
import { keptPost, visiblePost } from './lib/whichpost.js'

const inPost = { post_id: inPath('Id, slug or number of the post', 'post') }
const subject = (ctx: Context, { post_id: given }: Record<string, unknown>) => visiblePost(ctx, given)
const following = Type.Object({ following: Type.Boolean() })

export const followed = operation({
  id: 'posts.followed',
  summary: 'Show whether you follow a post',
  http: 'GET /posts/:post_id/follow 200',
  access: 'signed-in',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields(inPost),
  output: following,
  subject,
  async run(ctx, _input, { postId }) {
    const userId = await viewerOf(ctx)
    return { following: userId !== null && (await isFollower(ctx.db, { postId, userId })) }
  },
})

const choosing = (isFollowing: boolean) => ({
  access: 'signed-in' as const,
  writes: 'content' as const,
  errors: ['POST_NOT_FOUND', 'USER_NOT_FOUND'] as const,
  input: fields(inPost),
  output: following,
  subject,
  run: (ctx: Context, _input: Record<string, unknown>, post: PostView) =>
    change(ctx, async (tx) => {
      const { postId } = await keptPost(tx, post.postId) // it may have been deleted, hidden or merged since the first look-up
      const userId = await personOf(tx)
      await putFollow(tx.db, { postId, userId, isFollowing, at: tx.now().toISOString() })
      tx.record(isFollowing ? 'post.followed' : 'post.unfollowed', postId, undefined, userId)
      return { following: isFollowing }
    }),
})

export const follow = operation({
  id: 'posts.follow',
  summary: 'Follow a post, to be notified of updates',
  http: 'PUT /posts/:post_id/follow 200',
  ...choosing(true),
})

export const unfollow = operation({
  id: 'posts.unfollow',
  summary: 'Stop following a post, even if you wrote it, voted, commented or are mentioned',
  http: 'DELETE /posts/:post_id/follow 200',
  ...choosing(false),
})

const FOLLOWERS: Listing<Follower> = { row: 'follower', rows: 'Followers', id: 'userId', size: 100 }
const Followed = Type.Object({
  ...PublicUser.properties,
  reason: oneOf(REASONS, {
    description:
      'The first that holds: they wrote it, voted, wrote a public comment, are mentioned in a text, or chose to',
  }),
})
export type Followed = Type.Static<typeof Followed>

export const followers = operation({
  id: 'posts.followers',
  summary: 'List who follows a post, and why, the oldest accounts first; for the team',
  http: 'GET /posts/:post_id/followers 200',
  access: 'post:update',
  errors: ['POST_NOT_FOUND'],
  input: fields({ ...inPost, ...pageFields(FOLLOWERS) }),
  output: Type.Object({ followers: Type.Array(Followed), total_count: Type.Integer(), ...uncountedKeys }),
  subject,
  async run(ctx, { post_id: _post, ...page }, { postId }) {
    const { rows, keys } = await uncountedPage(FOLLOWERS, page, {
      find: async (after) => ({ userId: after }),
      read: (slice) => listFollowers(ctx.db, postId, slice),
      show: (found) =>
        found.map(({ reason, ...person }) => ({ ...authorOf(ctx, person), reason: REASONS[reason] ?? 'chosen' })),
    })
    return { followers: rows, total_count: await countFollowers(ctx.db, postId), ...keys }
  },
})
