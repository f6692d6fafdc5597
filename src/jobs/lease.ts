import { newId } from '../core/ids.js'
import { acquireJobLease, isJobLeaseFree, releaseJobLease, renewJobLease } from '../db/jobs.js'
import type { Db } from '../db/tables.js'

/** How long a lease lasts unless it is renewed: a job whose holder was killed waits no longer than this. */
export const LEASE_MS = 10_000
const RENEW_MS = 3_000

export interface Lease {
  /** Returns a signal for a run, which aborts once the lease is lost; undefined while another process holds it. */
  acquire(): Promise<AbortSignal | undefined>
  /** Lets another process acquire it at once. */
  release(): Promise<void>
}

interface Held {
  until: Date
  lost: AbortController
  signal: AbortSignal
  renewing: NodeJS.Timeout
}

interface Needs {
  db: Db
  now: () => Date
  stopping: AbortSignal
}

/**
 * The lease of one job, renewed while it runs. It saves work and does not exclude two runs for certain: a process
 * that was suspended for longer than a lease goes on for a moment beside the next holder.
 */
export function leaseOf(name: string, { db, now, stopping }: Needs): Lease {
  const holder = newId()
  let held: Held | undefined

  const fromNow = () => new Date(now().getTime() + LEASE_MS)
  const drop = () => {
    clearInterval(held?.renewing)
    held?.lost.abort()
    held = undefined
  }
  const renew = async (mine: Held) => {
    const until = fromNow()
    try {
      if (await renewJobLease(db, { name, holder, until: until.toISOString() })) mine.until = until
      else if (held === mine) drop()
    } catch {
      if (held === mine && now() >= mine.until) drop() // until then the next renewal may succeed
    }
  }

  return {
    async acquire() {
      const [at, until] = [now().toISOString(), fromNow()]
      if (!(await isJobLeaseFree(db, name, at))) return undefined
      if (!(await acquireJobLease(db, { name, holder, until: until.toISOString(), now: at }))) return undefined
      const lost = new AbortController()
      const signal = AbortSignal.any([stopping, lost.signal])
      const mine: Held = { until, lost, signal, renewing: setInterval(() => void renew(mine), RENEW_MS) }
      held = mine
      return signal
    },
    async release() {
      if (!held) return
      drop()
      await releaseJobLease(db, { name, holder })
    },
  }
}
