import { UNKNOWN, type Revision, type Watch } from '../cache/revision.js'
import type { FileDriver } from './driver.js'

/** How often an answer of SQLite is relied on, at most. */
const RELIED_ON = 64

/**
 * Asks SQLite itself what others have committed. What is ready to be read when a turn of the event loop begins was sent before, so one
 * answer does for all of that turn, but for a connection that asks again. Only a request that has just been read asks by `revision`:
 * what is asked later in a turn would still be relied on in the next.
 */
export function watchFile(driver: FileDriver): Watch {
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
