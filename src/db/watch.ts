import type { Db } from './connect.js'
import type { FileDriver } from './filedriver.js'

/** Tells whether the data have changed, whoever changed them, without reading them. */
export interface Watch {
  /**
   * What the data are like: a value that is another one after every change. `exact` means as of now; otherwise it may be as
   * old as the watch allows, which on SQLite is not at all. A promise only where somebody has to be asked. To be called when a request
   * has just been read; `asker` is the connection that it came by.
   */
  revision(exact: boolean, asker: object): Revision | Promise<Revision>
  /** The same at any other moment, where it can be told at once. */
  now?(this: void): Revision
  /** To be called after a write of this process: whatever was known is asked anew. */
  forget(): void
  close(): Promise<void>
}

export type Revision = string | number

/** Nobody can tell: unlike any other, and itself, so nothing is kept. */
export const UNKNOWN = NaN

/** How old the last look at PostgreSQL may be that an answer to a visitor relies on, in milliseconds. */
const STALENESS = 50

/** The watch of an open database. `url` is its address. */
export async function openWatch(db: Db, url: string, { staleness = STALENESS } = {}): Promise<Watch> {
  const { adapter } = db.getExecutor()
  const { FileAdapter } = await import('./sqlite.js')
  return adapter instanceof FileAdapter ? watchFile(adapter.dialect.driver) : (await import('./postgres.js')).watchPostgres(url, staleness)
}

/** How often an answer of SQLite is relied on, at most. */
const RELIED_ON = 64

/**
 * Asks SQLite itself what others have committed. What is ready to be read when a turn of the event loop begins was sent before, so one
 * answer does for all of that turn, but for a connection that asks again. Only a request that has just been read asks by `revision`:
 * what is asked later in a turn would still be relied on in the next.
 */
function watchFile(driver: FileDriver): Watch {
  const askers = new Set<object>()
  let isKnown = false
  const forget = () => {
    isKnown = false
    askers.clear()
  }
  const look = (): Revision => {
    try {
      return driver.revision()
    } catch {
      return UNKNOWN // whoever reads the data hears what is wrong with them
    }
  }
  const again = (): Revision => {
    if (!isKnown) setImmediate(forget)
    askers.clear()
    const revision = look()
    isKnown = !Number.isNaN(revision) // a look that failed is relied on by nobody
    return revision
  }
  return {
    revision: (_exact, asker) => {
      const revision = !isKnown || askers.has(asker) || askers.size >= RELIED_ON ? again() : driver.changes.revision
      askers.add(asker)
      return revision
    },
    now: () => (isKnown ? driver.changes.revision : look()),
    forget,
    close: async () => {},
  }
}
