import { LRUCache } from 'lru-cache'
import { AppError } from '../../core/errors.js'
import { ForeignKeyError } from '../../db/references.js'

const HOUR_MS = 60 * 60 * 1000

/** The hour of the last use of each key or session that this process has stored. */
const stored = new LRUCache<string, number>({ max: 1000 })

/**
 * Stores the hour of a use with `put`, unless this process has done so: one write an hour, not one for each request.
 * Returns the end of the hour, Unix ms. Until then, a response may be cached.
 */
export async function recordUse(id: string, now: Date, put: (usedAt: string) => Promise<unknown>): Promise<number> {
  const hour = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  if (stored.get(id) !== hour) {
    stored.set(id, hour)
    await whereWritable(() => put(new Date(hour).toISOString()))
  }
  return hour + HOUR_MS
}

/**
 * Writes, and returns undefined where that fails: a request works where nothing can be written, as on a full disk, and
 * while its key or session ends.
 */
export async function whereWritable<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof AppError || error instanceof ForeignKeyError) return undefined
    throw error
  }
}
