import * as Type from 'typebox'
import { boardFollowerCount, followBoard, isBoardFollower, unfollowBoard } from '../db/boardfollows.js'
import { readable } from './boards.js'
import { can } from './lib/access.js'
import { change } from './lib/change.js'
import type { CachedContext, Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { fields, inPath, nullable } from './lib/schemas.js'
import { personOf, viewerOf } from './lib/sessions.js'

const following = Type.Object({ following: Type.Boolean() })
const errors = ['BOARD_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'] as const
const input = fields({ url: inPath('Url or id of the board', 'board') })
const boardOf = (ctx: CachedContext, { url }: { url: string }) => readable(ctx, url)

export const followed = operation({
  id: 'boards.followed',
  summary: 'Show whether you follow a board',
  http: 'GET /boards/:url/follow 200',
  access: 'signed-in',
  cache: 'actor',
  errors,
  input,
  output: Type.Object({
    following: Type.Boolean(),
    followers: nullable('integer', {
      description: 'How many people follow it; null for people without dashboard:read',
    }),
  }),
  async run(ctx, given) {
    const { boardId } = await boardOf(ctx, given)
    const userId = await viewerOf(ctx)
    return {
      following: userId !== null && (await isBoardFollower(ctx.db, { boardId, userId })),
      followers: can(ctx.actor, 'dashboard:read') ? await boardFollowerCount(ctx.db, boardId) : null,
    }
  },
})

const choosing = (isFollowing: boolean) => ({
  access: 'signed-in' as const,
  writes: 'content' as const,
  errors: [...errors, 'USER_NOT_FOUND'] as const,
  input,
  output: following,
  run: (ctx: Context, given: { url: string }) =>
    change(ctx, async (tx) => {
      const { boardId, name } = await boardOf(tx, given)
      const userId = await personOf(tx)
      if (isFollowing) await followBoard(tx.db, { boardId, userId, at: tx.now().toISOString() })
      else await unfollowBoard(tx.db, { boardId, userId })
      tx.record(isFollowing ? 'board.followed' : 'board.unfollowed', boardId, name, userId)
      return { following: isFollowing }
    }),
})

export const follow = operation({
  id: 'boards.follow',
  summary: 'Follow a board, to be notified of new posts',
  http: 'PUT /boards/:url/follow 200',
  ...choosing(true),
})

export const unfollow = operation({
  id: 'boards.unfollow',
  summary: 'Stop following a board',
  http: 'DELETE /boards/:url/follow 200',
  ...choosing(false),
})
