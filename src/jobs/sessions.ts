import { deleteExpiredSessions, isSessionExpired } from '../db/sessions.js'
import type { Job } from './runner.js'

/** Removes the sessions that have expired. */
export const sessions: Job = {
  name: 'sessions',
  every: 600_000,
  exclusive: true,
  isDue: ({ db, now }) => isSessionExpired(db, now().toISOString()),
  run: async ({ db, now }) => void (await deleteExpiredSessions(db, now().toISOString())),
}
