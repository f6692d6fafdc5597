import { MAX_CHANGES, missesChanges, type Change, type Invalidation } from '../cache/invalidation.js'
import { UNKNOWN, type RevisionSource } from '../cache/revision.js'
import type { FileDriver } from './driver.js'

interface Row extends Change {
  id: number
}

const SINCE = `select id, topic, ref from change_log where id > ? order by id limit ${MAX_CHANGES + 1}`

/** Reads the change log after a commit of this process, or of another, which `PRAGMA data_version` tells in a microsecond. */
export function fileRevisions(driver: FileDriver, invalidation: Invalidation): RevisionSource {
  let seen: { commits: number; version: number; id: number } | undefined

  const look = () => {
    const { commits, version } = driver
    if (seen?.commits === commits && seen.version === version) return
    const rows = seen ? driver.readNow<Row>(SINCE, [seen.id]) : []
    if (!seen || missesChanges(rows)) {
      const [last] = driver.readNow<{ id: number | null }>('select max(id) as id from change_log')
      invalidation.invalidateAll()
      seen = { commits, version, id: last?.id ?? 0 }
    } else {
      if (rows.length > 0) invalidation.invalidate(rows)
      seen = { commits, version, id: rows.at(-1)?.id ?? seen.id }
    }
  }
  return {
    revision: () => {
      try {
        look()
        return invalidation.revision
      } catch {
        seen = undefined // the request that reads the data reports what is wrong
        return UNKNOWN
      }
    },
    close: async () => {},
  }
}
