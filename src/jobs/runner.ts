import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, serverError } from '../core/errors.js'
import { Repeats } from '../core/repeats.js'
import type { Db } from '../db/tables.js'
import { leaseOf } from './lease.js'

/** The delay after a failed run. */
const BACKOFF_MS = 5_000

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface Site {
  db: Db
  now: () => Date
  log: Log
}

export interface Run extends Site {
  /** Aborts when the server stops or the lease is lost. The run should then end at the next safe point. */
  signal: AbortSignal
}

export interface Job {
  name: string
  /** Milliseconds between the end of a run and the next. */
  every: number
  /** Only one process on the database runs the job at a time. Otherwise each process does. */
  exclusive?: boolean
  /** Whether there is work. It only reads, so that an idle server writes nothing, not even a lease. */
  isDue?(this: void, site: Site): Promise<boolean>
  /** After 'more', the next run follows at once. */
  run(this: void, run: Run): Promise<'more' | void>
}

export interface Jobs {
  /** Aborts running jobs, and waits at most this many seconds for them to end. */
  stop(seconds: number): Promise<void>
  /** When each job last ended well or had nothing to do, and how many runs failed. */
  successes: ReadonlyMap<string, Date>
  failures: ReadonlyMap<string, number>
}

/** Runs each job in its own loop until `stop`. The caller closes the database. */
export function startJobs(jobs: readonly Job[], site: Site, { backOff = BACKOFF_MS } = {}): Jobs {
  const stopping = new AbortController()
  setMaxListeners(jobs.length + 1, stopping.signal) // each loop waits for it
  const repeats = new Repeats(() => site.log)
  const successes = new Map<string, Date>()
  const failures = new Map<string, number>()
  let lastCheck: Promise<boolean> = Promise.resolve(false)
  const inTurn = (check: () => Promise<boolean>) => (lastCheck = lastCheck.then(check, check))
  const loops = Promise.all(
    jobs.map((job) => loop(job, site, { stopping: stopping.signal, backOff, inTurn, repeats, successes, failures })),
  )
  return {
    successes,
    failures,
    async stop(seconds) {
      stopping.abort()
      await Promise.race([loops, sleep(seconds * 1000, undefined, { ref: false })])
    },
  }
}

interface LoopOptions {
  stopping: AbortSignal
  backOff: number
  /** Runs one check at a time, so that jobs that start together share a connection to PostgreSQL. */
  inTurn(this: void, check: () => Promise<boolean>): Promise<boolean>
  repeats: Repeats
  successes: Map<string, Date>
  failures: Map<string, number>
}

async function loop(
  job: Job,
  site: Site,
  { stopping, backOff, inTurn, repeats, successes, failures }: LoopOptions,
): Promise<void> {
  const lease = job.exclusive ? leaseOf(job.name, { ...site, stopping }) : undefined
  const check = async () => !stopping.aborted && (!job.isDue || (await job.isDue(site)))
  let isFirst = true
  while (!stopping.aborted) {
    let wait = job.every
    let signal: AbortSignal | undefined
    try {
      const isDue = await (isFirst && job.isDue ? inTurn(check) : check())
      if (stopping.aborted) break
      isFirst = false
      if (isDue) signal = lease ? await lease.acquire() : stopping
      if (signal && !signal.aborted && (await job.run({ ...site, signal })) === 'more') wait = 0
      if (!isDue || signal) successes.set(job.name, site.now()) // otherwise another process runs it
    } catch (error) {
      if (!signal?.aborted || (error as Error).name !== 'AbortError') {
        const known = error instanceof AppError ? error : serverError(error)
        repeats.report(known, job.name, { job: job.name }, 'a job failed, and will be tried again')
        failures.set(job.name, (failures.get(job.name) ?? 0) + 1)
        wait = backOff
      }
    } finally {
      await lease?.release().catch(() => {}) // it expires
    }
    await sleep(wait, undefined, { signal: stopping }).catch(() => {}) // rejects when aborted, which ends the loop
  }
}
