import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { imagePath, type ImageAddress } from '../core/images/address.js'
import { encodeImage } from '../core/images/encoding.js'
import { IMAGE_TYPES, MAX_IMAGE_BYTES } from '../core/images/types.js'
import { newId } from '../core/ids.js'
import { quoted } from '../core/text.js'
import { deleteImage, imageData, insertImage } from '../db/images.js'
import type { ImageRow } from '../db/tables.js'
import { can, notAllowed } from './lib/access.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { imageFor, isOwn, type Reader } from './lib/images.js'
import { operation } from './lib/operation.js'
import { fields, inPath } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { upload } from './lib/upload.js'

export const Image = Type.Object({
  imageId: Type.String({ format: 'uuid' }),
  url: Type.String({ description: 'Address of the image, for Markdown: ![alternative text](url)' }),
  mediaType: Type.String({ description: 'Always image/webp, whatever was sent' }),
  width: Type.Integer({ description: 'In pixels' }),
  height: Type.Integer({ description: 'In pixels' }),
  bytes: Type.Integer(),
  createdAt: Type.String({ format: 'date-time' }),
})
export type Image = Type.Static<typeof Image>

export const toImage = ({ siteUrl }: Pick<Context, 'siteUrl'>, image: ImageRow): Image => ({
  imageId: image.imageId,
  url: `${siteUrl}${imagePath(image)}`,
  mediaType: image.mediaType,
  width: image.width,
  height: image.height,
  bytes: image.bytes,
  createdAt: image.createdAt,
})

export const create = upload({
  id: 'images.create',
  summary: 'Upload an image for a post, a comment or the logo; one that nothing shows within a day is deleted',
  http: 'POST /images 201',
  access: 'signed-in',
  writes: 'content',
  limit: 'images',
  errors: ['IMAGE_REFUSED', 'IMAGES_UNAVAILABLE'],
  accepts: IMAGE_TYPES,
  maxBytes: MAX_IMAGE_BYTES,
  input: fields({}),
  output: Type.Object({ image: Image }),
  async run(ctx, _input, { bytes }) {
    const chunks: Uint8Array[] = []
    for await (const chunk of bytes) chunks.push(chunk)
    const { about, bytes: data } = await encodeImage(Buffer.concat(chunks), await personOf(ctx))
    return change(ctx, async (tx) => {
      const image = {
        imageId: newId(),
        userId: await personOf(tx),
        mediaType: 'image/webp',
        ...about,
        bytes: data.length,
        createdAt: tx.now().toISOString(),
      }
      await insertImage(tx.db, image, data)
      tx.record('image.created', image.imageId)
      return { image: toImage(ctx, image) }
    })
  },
})

export const remove = operation({
  id: 'images.delete',
  summary: 'Delete an image, wherever it is shown; needs post:destroy unless you uploaded it',
  http: 'DELETE /images/:image_id 204',
  access: 'signed-in',
  writes: 'content',
  errors: ['IMAGE_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ image_id: inPath('Id of the image', 'image') }),
  output: Type.Undefined(),
  async subject(ctx, { image_id: given }) {
    const seen = typeof given === 'string' ? await imageFor(ctx, given) : undefined
    if (!seen) throw new AppError('IMAGE_NOT_FOUND', `Image ${quoted(String(given))} not found.`)
    if (!can(ctx.actor, 'post:destroy') && !(await isOwn(ctx, seen.image))) throw notAllowed(['post:destroy'])
    return seen.image
  },
  run: (ctx, _input, { imageId }) =>
    change(ctx, async (tx) => {
      if (!(await deleteImage(tx.db, imageId)))
        throw new AppError('IMAGE_NOT_FOUND', `Image ${quoted(imageId)} not found.`)
      tx.record('image.deleted', imageId)
      return undefined
    }),
})

/** The bytes of an image, if the actor may see it, and whether everybody may. */
export async function imageFile(
  ctx: Reader,
  { imageId, width, height }: ImageAddress,
): Promise<{ mediaType: string; isPublic: boolean; data(this: void): Promise<Buffer> } | undefined> {
  const found = await imageFor(ctx, imageId)
  if (found?.image.width !== width || found.image.height !== height) return undefined
  return { mediaType: found.image.mediaType, isPublic: found.isPublic, data: () => imageData(ctx.db, imageId) }
}
