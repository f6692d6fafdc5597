import { deleteUnusedImages, hasUnusedImage } from '../db/images.js'
import { transaction } from '../db/connect.js'
import type { Job } from './runner.js'

/** Hours for which an image is kept that no text shows: somebody may still be writing, or take a deletion back. */
const KEPT_HOURS = 24
/** Images that are deleted in one transaction: other writers wait meanwhile. */
const TOGETHER = 20

const boundAt = (now: Date): string => new Date(now.getTime() - KEPT_HOURS * 3_600_000).toISOString()

/** Deletes images that no post or comment shows. */
export const images: Job = {
  name: 'unused images',
  every: 600_000,
  exclusive: true,
  isDue: ({ db, now }) => hasUnusedImage(db, boundAt(now())),
  run: async ({ db, now }) =>
    (await transaction(db, (inside) => deleteUnusedImages(inside, boundAt(now()), TOGETHER))) === TOGETHER
      ? 'more'
      : undefined,
}
