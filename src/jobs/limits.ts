import { deleteExpiredCounters, isCounterExpired } from '../db/limits.js'
import type { Job } from './runner.js'

/** Removes the counters of limits that have expired. */
export const limits: Job = {
  name: 'limits',
  every: 600_000,
  exclusive: true,
  isDue: ({ db, now }) => isCounterExpired(db, now().toISOString()),
  run: async ({ db, now }) => void (await deleteExpiredCounters(db, now().toISOString())),
}
