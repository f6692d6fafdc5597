import { AppError } from '../../core/errors.js'
import { HELD, MERGED } from '../../core/hidden.js'
import { isId } from '../../core/ids.js'
import { quoted } from '../../core/text.js'
import { findMerge, rootOf } from '../../db/merges.js'
import { findPost, keepPost, type PostView } from '../../db/posts/row.js'
import type { Db } from '../../db/tables.js'
import { can, type Actor } from './access.js'
import type { Context } from './context.js'
import { isAuthor } from './postshapes.js'

/** As in the contract, an id wins over a slug. `id` and `postId` may hold a slug too. */
export function idGiven({ id, postId, slug }: Record<string, unknown>): unknown {
  const given = [id, postId, slug].filter((text): text is string => typeof text === 'string' && text.trim() !== '')
  return given.find((text) => text !== slug && isId(text.trim())) ?? (given.includes(slug as string) ? slug : given[0])
}

/**
 * The post by id, slug or number; for a merged one, the post that stands for it. Throws POST_NOT_FOUND, also where the
 * actor may not see it.
 */
export async function visiblePost(ctx: Reader, given: unknown): Promise<PostView> {
  return (await postsGiven(ctx, given)).stands
}

/**
 * The same in a transaction, for what is about to refer to the post by id: it is not merged before the transaction ends,
 * and may have been since the first look-up.
 */
export async function keptPost(tx: Reader, postId: string): Promise<PostView> {
  await keepPost(tx.db, postId)
  const post = await visiblePost(tx, postId)
  return post.postId === postId ? post : keptPost(tx, post.postId)
}

/**
 * The same for what changes or deletes a post. Throws POST_MERGED for a merged one: who names it may not know the post
 * that stands for it.
 */
export async function postItself(ctx: Reader, given: unknown): Promise<PostView> {
  const { post, stands } = await postsGiven(ctx, given)
  if (post !== stands)
    throw new AppError(
      'POST_MERGED',
      `Post #${post.number} was merged into #${stands.number}. Name that one, or undo the merge first.`,
    )
  return post
}

type Reader = Pick<Context, 'db' | 'actor'>

/** The post that was named, and the one that stands for it: another one if it was merged. */
export async function postsGiven({ db, actor }: Reader, given: unknown): Promise<{ post: PostView; stands: PostView }> {
  const which = typeof given === 'string' ? given.trim() : ''
  if (which === '') throw new AppError('POST_NOT_FOUND', 'Which post? Give its number, slug or id.')
  const { named, post } = await standingPost(db, which)
  if (!named || !post || (post.display === 0 && !can(actor, 'board:read') && !isOwnHeld(actor, post)))
    throw postNotFound(which)
  return { post: named, stands: post }
}

/**
 * Whether the actor may read the text of a merged post, who may read the post that stands for it: that of a private board
 * is for the team alone, and that of a post that was held for the team and its author.
 */
export const readsMerged = async (
  { db, actor }: Reader,
  { postId, userId, boardDisplay }: PostView,
): Promise<boolean> =>
  can(actor, 'board:read') ||
  (boardDisplay !== 0 && (userId === actor.userId || (await findMerge(db, postId))?.wasHeld !== 1))

/** The posts of `postsGiven`, whoever asks. */
export async function standingPost(db: Db, which: string): Promise<{ named?: PostView; post?: PostView }> {
  const named = await findPost(db, which)
  const root = named?.is_spam === MERGED ? await rootOf(db, named.postId) : undefined
  const post = root === undefined ? named : await findPost(db, root)
  return { ...(named && { named }), ...(post && { post }) }
}

/** The author sees what waits for a look, as everybody would, were it kept. */
const isOwnHeld = (actor: Actor, post: PostView): boolean =>
  post.is_spam === HELD && post.boardDisplay !== 0 && isAuthor(actor, post)

export const postNotFound = (given: string) => new AppError('POST_NOT_FOUND', `Post ${quoted(given)} not found.`)
