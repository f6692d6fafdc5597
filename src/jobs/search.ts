import { backfillStep, pendingKinds } from '../db/searchindex.js'
import type { Job } from './runner.js'

/** After an update of the program: puts what is new of the search index into that of a site that has posts. */
export const search: Job = {
  name: 'search index',
  every: 60_000,
  exclusive: true,
  isDue: async ({ db }) => (await pendingKinds(db)).length > 0,
  run: async ({ db }) => ((await backfillStep(db)) ? 'more' : undefined),
}
