import { isPruningDue, pruneRowChanges, thinRowChanges } from '../db/rowchanges.js'
import { transaction } from '../db/connect.js'
import type { Job } from './runner.js'

/** Prunes changes that every cache has read. */
export const rowChanges: Job = {
  name: 'row changes',
  every: 60_000,
  exclusive: true,
  isDue: ({ db }) => isPruningDue(db),
  run: async ({ db }) => {
    await thinRowChanges(db)
    await transaction(db, pruneRowChanges)
  },
}
