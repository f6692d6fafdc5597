import { AppError } from '../../core/errors.js'
import { imagesIn } from '../../core/images/address.js'
import { findComment } from '../../db/comments.js'
import { findImage, isShownToAll, usesOf } from '../../db/images.js'
import type { ImageRow } from '../../db/tables.js'
import { maySee } from './commentshapes.js'
import type { Context } from './context.js'
import { viewerOf } from './sessions.js'
import { postsGiven, readsMerged } from './whichpost.js'

export type Reader = Pick<Context, 'db' | 'actor'>

/** Whether the actor uploaded the image. The operator uploads as the owner. */
export const isOwn = async (ctx: Reader, { userId }: ImageRow): Promise<boolean> =>
  userId !== null && userId === (await viewerOf(ctx))

/** An image that the actor may see; `isPublic` says that everybody may. */
export async function imageFor(
  ctx: Reader,
  imageId: string,
): Promise<{ image: ImageRow; isPublic: boolean } | undefined> {
  const image = await findImage(ctx.db, imageId)
  if (!image) return undefined
  const isPublic = await isShownToAll(ctx.db, imageId)
  return isPublic || (await isOwn(ctx, image)) || (await isShownTo(ctx, imageId)) ? { image, isPublic } : undefined
}

/** Images of one text that may be shown. A text may name more, which are not shown because of it. */
const MOST_IN_TEXT = 50

/**
 * The images of a text that its author may see, and so may show to others. Who only knows the address of an image must not
 * make it public.
 */
export async function imagesToShow(ctx: Reader, markdown: string | null | undefined): Promise<string[]> {
  const found: string[] = []
  for (const imageId of imagesIn(markdown ?? '').slice(0, MOST_IN_TEXT))
    if (await imageFor(ctx, imageId)) found.push(imageId)
  return found
}

/** Whether the actor may read a text that shows the image. */
async function isShownTo(ctx: Reader, imageId: string): Promise<boolean> {
  if (ctx.actor.refusal) return false // visitors see what everybody sees
  for (const { postId, commentId } of await usesOf(ctx.db, imageId)) {
    const comment = commentId === null ? undefined : await findComment(ctx.db, commentId)
    if (commentId !== null && (!comment || !maySee(ctx.actor, comment))) continue
    if (await mayRead(ctx, comment?.post_id ?? postId)) return true
  }
  return false
}

/** Whoever may read a post may not read the texts of all that was merged into it. */
async function mayRead(ctx: Reader, postId: string | null): Promise<boolean> {
  try {
    const { post, stands } = await postsGiven(ctx, postId)
    return post === stands || (await readsMerged(ctx, post))
  } catch (error) {
    if (error instanceof AppError && error.code === 'POST_NOT_FOUND') return false
    throw error
  }
}
