import { newId } from '../core/ids.js'
import { acquireJobLease, isJobLeaseFree, releaseJobLease, renewJobLease } from '../db/jobs.js'
import type { Db } from '../db/tables.js'

/** The lifetime of a lease that is not renewed, and so the delay of a job whose holder was killed. */
export const LEASE_MS = 5_000
const RENEW_INTERVAL_MS = 1_500

export interface Lease {
  /** Returns a signal that aborts when the lease is lost, or undefined if another process holds the lease. */
  acquire(): Promise<AbortSignal | undefined>
  release(): Promise<void>
}

interface Held {
  until: Date
  lost: AbortController
  signal: AbortSignal
  renewing: NodeJS.Timeout
}

interface LeaseOptions {
  db: Db
  now: () => Date
  stopping: AbortSignal
}

/**
 * The lease of a job, renewed while the job runs. It does not strictly prevent two runs at once: a process that was
 * suspended for longer than a lease continues for a moment beside the next holder.
 */
export function leaseOf(name: string, { db, now, stopping }: LeaseOptions): Lease {
  const holder = newId()
  let held: Held | undefined

  const fromNow = () => new Date(now().getTime() + LEASE_MS)
  /** Another server's clock may be ahead by as long as a lease. */
  const limit = () => new Date(now().getTime() + 2 * LEASE_MS).toISOString()
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
      if (held === mine && now() >= mine.until) drop() // before that, the next renewal may succeed
    }
  }

  return {
    async acquire() {
      const [moment, until] = [{ now: now().toISOString(), limit: limit() }, fromNow()]
      if (!(await isJobLeaseFree(db, name, moment))) return undefined
      if (!(await acquireJobLease(db, { name, holder, until: until.toISOString(), ...moment }))) return undefined
      const lost = new AbortController()
      const signal = AbortSignal.any([stopping, lost.signal])
      const mine: Held = { until, lost, signal, renewing: setInterval(() => void renew(mine), RENEW_INTERVAL_MS) }
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
