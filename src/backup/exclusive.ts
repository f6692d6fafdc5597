import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.js'
import { requestMaintenance } from '../db/maintenance.js'
import { openDatabase } from '../db/connect.js'
import { listServers, SEEN_WITHIN_MS } from '../db/servers.js'

/** Exclusive access to a database for a restore. */
export interface ExclusiveAccess {
  /** Whether servers use the database, which then have to close it. */
  isServed: boolean
  /** Requests maintenance, and waits until the servers have closed the database. Throws DATABASE_IN_USE. */
  acquire(this: void): Promise<void>
  /** Lets the servers open the database again. */
  release(this: void): Promise<void>
}

interface Request {
  url: string
  now: Date
  /** Seconds that a server may take to finish its requests. */
  seconds: number
  /**
   * Throws DATABASE_IN_USE while another process has the database open. On SQLite it gives commands some milliseconds
   * to end.
   */
  assertUnused(this: void, options?: { patience?: number }): Promise<void>
  /** Whether servers may be asked to close the database. */
  isAllowed: boolean
  /** The setting database.prepare. */
  prepare: boolean
  /** Called again and again during the wait. May throw, which ends it. */
  waiting(this: void): void
}

/** Milliseconds between two checks of the database. */
const POLL_MS = 200
/** Milliseconds that a server may need beside the time for its requests: it polls for maintenance. */
const MARGIN_MS = 10_000
/** Milliseconds that a server may need to close the database when it has removed its note. */
const CLOSING_MS = 3000

/**
 * Prepares exclusive access. Throws DATABASE_IN_USE where something uses the database that is no server, or servers do
 * and `isAllowed` is false.
 */
export async function exclusiveAccess({
  url,
  now,
  seconds,
  assertUnused,
  waiting,
  isAllowed,
  prepare,
}: Request): Promise<ExclusiveAccess> {
  const isServedNow = () => isServed(url, { now, prepare })
  const isFree = () => isUnused(assertUnused({ patience: 0 }))
  const unserved = { isServed: false, acquire: () => Promise.resolve(), release: () => Promise.resolve() }
  if (await isFree()) return unserved
  if (!isAllowed || !(await isServedNow())) {
    await assertUnused()
    return unserved
  }
  let endMaintenance: (() => Promise<void>) | undefined
  return {
    isServed: true,
    async acquire() {
      endMaintenance = await requestMaintenance(url, new Date())
      const end = performance.now() + seconds * 1000 + MARGIN_MS
      let leftAt: number | undefined
      while (!(await isFree())) {
        waiting()
        leftAt = (await isServedNow()) ? undefined : (leftAt ?? performance.now())
        // What uses the database beside servers does not react to a request
        if (performance.now() > Math.min(end, (leftAt ?? Infinity) + CLOSING_MS)) return assertUnused({ patience: 0 })
        await sleep(POLL_MS)
      }
    },
    release: async () => endMaintenance?.(),
  }
}

/** Whether no other process has the database open. */
async function isUnused(unused: Promise<void>): Promise<boolean> {
  try {
    await unused
    return true
  } catch (error) {
    if (!isInUse(error)) throw error
    return false
  }
}

const isInUse = (error: unknown): boolean => error instanceof AppError && error.code === 'DATABASE_IN_USE'

/** Whether servers use the database, by their own notes. An older schema has none. */
async function isServed(url: string, { now, prepare }: Pick<Request, 'now' | 'prepare'>): Promise<boolean> {
  const { db, close } = await openDatabase(url, { prepare })
  try {
    return (await listServers(db, new Date(now.getTime() - SEEN_WITHIN_MS).toISOString())).length > 0
  } catch {
    return false
  } finally {
    await close()
  }
}
