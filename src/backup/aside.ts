import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.js'
import { askAside } from '../db/aside.js'
import { openDatabase } from '../db/connect.js'
import { listServers, SEEN_WITHIN_MS } from '../db/servers.js'

/** How a restore gets a database for itself. */
export interface Way {
  /** Whether servers have to stand aside. */
  isServed: boolean
  /** Asks the servers to close the database, and waits until they have. Throws DATABASE_IN_USE. */
  clear(this: void): Promise<void>
  /** Lets the servers open the database again. */
  done(this: void): Promise<void>
}

interface Options {
  url: string
  now: Date
  /** Seconds that a server may take to finish its requests. */
  seconds: number
  /**
   * Throws DATABASE_IN_USE while another process has the database open. On SQLite it gives commands some milliseconds
   * to end.
   */
  assertUnused(this: void, options?: { patience?: number }): Promise<void>
  /** Whether servers may be asked to stand aside. */
  isAllowed: boolean
  /** The setting database.prepare. */
  prepare: boolean
  /** Called again and again during the wait. May throw, which ends it. */
  waiting(this: void): void
}

/** Milliseconds between two looks at the database. */
const LOOK_MS = 200
/** Milliseconds that a server may need beside the time for its requests: it looks only now and then. */
const MARGIN_MS = 10_000
/** Milliseconds that a server may need to close the database when it has removed its note. */
const CLOSING_MS = 3000

/** Throws DATABASE_IN_USE where the database is in use, but not by servers that can stand aside. */
export async function wayTo({ url, now, seconds, assertUnused, waiting, isAllowed, prepare }: Options): Promise<Way> {
  const isServedNow = () => isServed(url, { now, prepare })
  const isFree = () => isUnused(assertUnused({ patience: 0 }))
  const unserved = { isServed: false, clear: () => Promise.resolve(), done: () => Promise.resolve() }
  if (await isFree()) return unserved
  if (!isAllowed || !(await isServedNow())) {
    await assertUnused()
    return unserved
  }
  let release: (() => Promise<void>) | undefined
  return {
    isServed: true,
    async clear() {
      release = await askAside(url, new Date())
      const end = performance.now() + seconds * 1000 + MARGIN_MS
      let leftAt: number | undefined
      while (!(await isFree())) {
        waiting()
        leftAt = (await isServedNow()) ? undefined : (leftAt ?? performance.now())
        // What uses the database beside servers does not stand aside
        if (performance.now() > Math.min(end, (leftAt ?? Infinity) + CLOSING_MS)) return assertUnused({ patience: 0 })
        await sleep(LOOK_MS)
      }
    },
    done: async () => release?.(),
  }
}

/** Whether nobody else has the database open. */
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
async function isServed(url: string, { now, prepare }: Pick<Options, 'now' | 'prepare'>): Promise<boolean> {
  const { db, close } = await openDatabase(url, { prepare })
  try {
    return (await listServers(db, new Date(now.getTime() - SEEN_WITHIN_MS).toISOString())).length > 0
  } catch {
    return false
  } finally {
    await close()
  }
}
