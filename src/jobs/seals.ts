import { transaction } from '../db/connect.js'
import { eventsOfBlock, hashOfBlock, insertSeal, newestEventId, newestSeal, SEAL_VERSION } from '../db/seals.js'
import { listServers, SEEN_WITHIN_MS } from '../db/servers.js'
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
  run: sealBlock,
}

/** Seals the next block. After 'more' there is another. */
function sealBlock({ db, now }: Pick<Run, 'db' | 'now'>): Promise<'more' | undefined> {
  return transaction(db, async (tx) => {
    const before = await newestSeal(tx)
    const after = before?.last_id ?? 0
    const events = await eventsOfBlock(tx, { after, limit: MAX_EVENTS })
    const last = events.at(-1)
    if (!last) return undefined
    await insertSeal(tx, {
      after_id: after,
      last_id: last.id,
      events: events.length,
      hash: hashOfBlock(before?.hash ?? '', events, SEAL_VERSION),
      version: SEAL_VERSION,
      sealed_at: now().toISOString(),
    })
    return events.length === MAX_EVENTS ? 'more' : undefined
  })
}

/** Blocks that a command seals at most, so that it ends soon where none was sealed for long. */
const MOST_BLOCKS = 10

/** Seals events written by commands, unless a running server does it. */
export async function sealAfterCommand({ db, now }: Pick<Run, 'db' | 'now'>): Promise<void> {
  const since = new Date(now().getTime() - SEEN_WITHIN_MS).toISOString()
  if ((await listServers(db, since)).length > 0) return
  for (let blocks = 0; blocks < MOST_BLOCKS && (await sealBlock({ db, now })) === 'more'; blocks++);
}

/** Seals what is left when a server stops, until `signal` aborts. Of two processes only one continues the chain. */
export async function sealRest(run: Run): Promise<void> {
  const isDue = await seals.isDue?.(run)
  if (isDue && !run.signal.aborted && (await seals.run(run)) === 'more') await sealRest(run)
}
