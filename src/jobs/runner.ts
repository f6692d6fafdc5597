import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '../db/tables.js'
import { leaseOf } from './lease.js'

/** Wait after a run that failed, in milliseconds. */
const BACK_OFF_MS = 5_000

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What all jobs share. */
interface Site {
  db: Db
  now: () => Date
  log: Log
}

interface Run extends Site {
  /** Aborts when the server stops, or when another process took the lease over: the run then ends at its next good place. */
  signal: AbortSignal
}

export interface Job {
  name: string
  /** Milliseconds from the end of a run to the next. */
  every: number
  /** Of all processes on the database, only one at a time runs it. Without it, each does. */
  exclusive?: boolean
  /** Whether there is anything to do, told by reading: a server with nothing to do then writes nothing, not even a lease. */
  isDue?(this: void, site: Site): Promise<boolean>
  /** Does what there is to do. After 'more' the next run follows at once. */
  run(this: void, run: Run): Promise<'more' | void>
}

export interface Jobs {
  /** Aborts what runs, and waits so many seconds for it to end. */
  stop(seconds: number): Promise<void>
}

/** Runs each job in a loop of its own until it is stopped. The database stays the caller's to close. */
export function startJobs(jobs: readonly Job[], site: Site, { backOff = BACK_OFF_MS } = {}): Jobs {
  const stopping = new AbortController()
  const loops = Promise.all(jobs.map((job) => loop(job, site, { stopping: stopping.signal, backOff })))
  return {
    async stop(seconds) {
      stopping.abort()
      await Promise.race([loops, pause(seconds * 1000, undefined, { ref: false })])
    },
  }
}

interface Until {
  stopping: AbortSignal
  backOff: number
}

async function loop(job: Job, site: Site, { stopping, backOff }: Until): Promise<void> {
  const lease = job.exclusive ? leaseOf(job.name, { ...site, stopping }) : undefined
  while (!stopping.aborted) {
    let wait = job.every
    let signal: AbortSignal | undefined
    try {
      if (!job.isDue || (await job.isDue(site))) signal = lease ? await lease.acquire() : stopping
      if (signal && !signal.aborted && (await job.run({ ...site, signal })) === 'more') wait = 0
    } catch (error) {
      if (!signal?.aborted || (error as Error).name !== 'AbortError') {
        site.log.error({ err: error, job: job.name }, 'a job failed, and will be tried again')
        wait = backOff
      }
    } finally {
      await lease?.release().catch(() => {}) // it runs out by itself
    }
    await pause(wait, undefined, { signal: stopping }).catch(() => {}) // aborted: the loop ends by itself
  }
}
