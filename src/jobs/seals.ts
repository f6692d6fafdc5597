import { transaction } from '../db/connect.js'
import { eventsOfBlock, hashOfBlock, insertSeal, newestEventId, newestSeal } from '../db/seals.js'
import type { Job, Run } from './runner.js'

/** Events in a block. */
const MAX_EVENTS = 1000

/**
 * Chains the events by hash, a block at a time, so that "audit verify" finds what was changed or removed. A job does it,
 * because a writer would have to wait for the hash of the writer before.
 */
export const seals: Job = {
  name: 'seals',
  every: 10_000,
  exclusive: true,
  isDue: async ({ db }) => (await newestEventId(db)) > ((await newestSeal(db))?.last_id ?? 0),
  run: ({ db, now }) =>
    transaction(db, async (tx) => {
      const before = await newestSeal(tx)
      const after = before?.last_id ?? 0
      const events = await eventsOfBlock(tx, { after, limit: MAX_EVENTS })
      const last = events.at(-1)
      if (!last) return undefined
      await insertSeal(tx, {
        after_id: after,
        last_id: last.id,
        events: events.length,
        hash: hashOfBlock(before?.hash ?? '', events),
        sealed_at: now().toISOString(),
      })
      return events.length === MAX_EVENTS ? 'more' : undefined
    }),
}

/** Seals what is left when a server stops, until `signal` aborts. Of two processes only one continues the chain. */
export async function sealRest(run: Run): Promise<void> {
  const isDue = await seals.isDue?.(run)
  if (isDue && !run.signal.aborted && (await seals.run(run)) === 'more') await sealRest(run)
}
