import { newId } from '../../src/core/ids.js'
import { imagePath } from '../../src/core/images/address.js'
import { insertImage } from '../../src/db/images.js'
import type { Db } from '../../src/db/tables.js'

/** A picture of 2 × 1 pixels. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAD0lEQVQImWP4z8Dwn4EBAAj+Af/KOtJRAAAAAElFTkSuQmCC',
  'base64',
)

/** Stores an image as if it had been uploaded. Returns its id, and Markdown that shows it. */
export async function storeImage(
  db: Db,
  { userId = null, at = new Date(), data = PNG }: { userId?: string | null; at?: Date; data?: Buffer } = {},
): Promise<{ imageId: string; markdown: string; path: string }> {
  const image = {
    imageId: newId(),
    userId,
    mediaType: 'image/webp',
    width: 2,
    height: 1,
    bytes: data.length,
    createdAt: at.toISOString(),
  }
  await insertImage(db, image, data)
  return { imageId: image.imageId, markdown: `![A picture](${imagePath(image)})`, path: imagePath(image) }
}
