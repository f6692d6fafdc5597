import { MAX_CHANGES, missesChanges, type Change, type Invalidation } from '../cache/invalidation.js'
import { UNKNOWN, type RevisionSource } from '../cache/revision.js'
import type { FileDriver } from './driver.js'

interface Row extends Change {
  id: number
}

const SINCE = `select id, topic, ref from row_changes where id >= ? order by id limit ${MAX_CHANGES + 2}`
const NEWEST = 'select id, topic, ref from row_changes order by id desc limit 1'

/** What was read last, to tell whether the log still goes on from there. */
interface Seen {
  commits: number
  version: number
  files: number
  last: Row | undefined
}

/**
 * Reads the log of row changes after a commit of this process, or of another, which `PRAGMA data_version` tells in a
 * microsecond.
 */
export function fileRevisions(driver: FileDriver, invalidation: Invalidation): RevisionSource {
  let seen: Seen | undefined
  let isAway = false
  let seenCommits = driver.commits

  const look = () => {
    const { commits, version, files } = driver
    if (seen?.commits === commits && seen.version === version && seen.files === files) return
    if (seen?.files !== files) seen = undefined
    const rows = seen ? driver.readNow<Row>(SINCE, [seen.last?.id ?? 0]) : []
    const changes = seen?.last ? rows.slice(1) : rows
    if (!seen || !continues(rows, seen.last) || missesChanges(changes)) {
      invalidation.invalidateAll()
      seen = { commits, version, files, last: driver.readNow<Row>(NEWEST)[0] }
    } else {
      if (changes.length > 0) invalidation.invalidate(changes)
      seen = { commits, version, files, last: rows.at(-1) }
    }
  }
  return {
    revision: () => {
      try {
        look()
        isAway = false
        seenCommits = driver.commits
        return invalidation.revision
      } catch {
        isAway = true
        seen = undefined // the request that reads the data reports what is wrong
        return UNKNOWN
      }
    },
    isAway: () => isAway,
    missesCommits: () => driver.commits !== seenCommits,
    close: async () => {},
  }
}

/**
 * Whether the log still holds what was read last. It does not where it was pruned, or where the file was restored in
 * place.
 */
const continues = ([first]: Row[], last: Row | undefined): boolean =>
  !last || (first?.id === last.id && first.topic === last.topic && first.ref === last.ref)
