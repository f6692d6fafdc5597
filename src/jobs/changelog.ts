import { isPruningDue, pruneChangeLog, thinChangeLog } from '../db/changelog.js'
import { transaction } from '../db/connect.js'
import type { Job } from './runner.js'

/** Prunes changes that every cache has read. */
export const changeLog: Job = {
  name: 'change log',
  every: 60_000,
  exclusive: true,
  isDue: ({ db }) => isPruningDue(db),
  run: async ({ db }) => {
    await thinChangeLog(db)
    await transaction(db, pruneChangeLog)
  },
}
