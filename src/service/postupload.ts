import { findBoard } from '../db/boards.js'
import { can } from './lib/access.js'
import type { Context } from './lib/context.js'
import { idOf } from './lib/names.js'
import type { Call } from './lib/operation.js'
import { boardIdFrom } from './lib/postplaces.js'
import type { DashboardPost, PostRow } from './lib/postshapes.js'
import { titleMissing } from './lib/posttitles.js'
import { uploadOf } from './lib/uploadof.js'
import { list } from './postlists.js'
import { create, show } from './posts.js'

export const uploadAll = uploadOf(create, {
  id: 'posts.upload',
  summary: 'Create many posts, from CSV or lines of JSON',
  http: 'POST /import/posts 200',
  main: 'title',
  missing: () => titleMissing('given'),
  columns: { contentMarkdown: 'body', boardId: 'board' },
  forAll: ['boardId'],
  brief: ({ post: { postId, number, slug } }) => ({ post: { postId, number, slug } }),
  find: postTitled,
  resolver(ctx) {
    const known = new Map<string, Promise<string | null>>()
    const boardOf = async (given: string) => boardIdFrom(ctx, await named(ctx, given))
    return async ({ boardId, ...row }) => {
      if (typeof boardId !== 'string' || boardId === '') return row
      const found = known.get(boardId) ?? boardOf(boardId)
      known.set(boardId, found)
      return { ...row, boardId: await found }
    }
  },
})

/** A board by its name or the start of its id, as in a command. What `create` finds by itself wins. */
async function named(ctx: Context, given: string): Promise<string> {
  const board = await findBoard(ctx.db, given)
  if (board && (board.display === 1 || can(ctx.actor, 'board:read'))) return given
  return (await idOf(ctx, 'board', given)) ?? given
}

/** The newest post with the title on the board, or, where none is given, without one. */
export async function postTitled(
  call: Call,
  { title, boardId }: Record<string, unknown>,
): Promise<{ post: PostRow } | undefined> {
  const wanted = String(title).trim()
  const { posts: found } = await call(list, {
    query: wanted,
    limit: 100,
    ...(boardId !== undefined && { boardId: [boardId] }),
  })
  const [post] = found.filter((each) => each.title === wanted && (boardId !== undefined || each.board === null))
  if (!post) return undefined
  return { post: rowOf((await call(show, { id: post.postId })).post) }
}

/** A post as `create` answers it. */
const rowOf = ({
  postId,
  number,
  title,
  slug,
  slugId,
  contentMarkdown,
  createdAt,
  updatedAt,
  ...post
}: DashboardPost): PostRow => ({
  postId,
  number,
  title,
  slug,
  contentMarkdown,
  createdAt,
  updatedAt,
  slugId,
  userId: post.author.userId,
  boardId: post.board?.boardId ?? null,
  roadmap_id: post.roadmap?.id ?? null,
})
