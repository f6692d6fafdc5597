import { transaction } from '../db/connect.js'
import { deleteUnused, imagesBefore, type Place } from '../db/images.js'
import type { Job } from './runner.js'

/** Hours for which an image is kept that no text shows: somebody may still be writing. */
const KEPT_HOURS = 24
/** Images that are looked at a minute. Most are shown, so a look at all would take long on a large site. */
const LOOKED_AT = 500
/** Images that are deleted in one transaction: other writers wait meanwhile. */
const TOGETHER = 20

/** Deletes images that no post or comment shows. It goes through all images again and again. */
export function images(): Job {
  let after: Place | undefined
  const nextUnused = async ({ db, now }: Pick<Parameters<Job['run']>[0], 'db' | 'now'>): Promise<string[]> => {
    const before = new Date(now().getTime() - KEPT_HOURS * 3_600_000).toISOString()
    const page = await imagesBefore(db, before, { after, limit: LOOKED_AT })
    const unused = page.filter(({ isUsed }) => isUsed === 0)
    if (unused.length === 0) after = page.length < LOOKED_AT ? undefined : page.at(-1)
    return unused.map(({ imageId }) => imageId)
  }
  return {
    name: 'unused images',
    every: 60_000,
    exclusive: true,
    isDue: async (site) => (await nextUnused(site)).length > 0,
    async run(site) {
      const unused = await nextUnused(site)
      await transaction(site.db, (inside) => deleteUnused(inside, unused.slice(0, TOGETHER)))
      return unused.length > TOGETHER ? 'more' : undefined
    },
  }
}
