import pg from 'pg'
import { MAX_CHANGES, missesChanges, type Change, type Invalidation } from '../cache/invalidation.js'
import { UNKNOWN, type Revision, type RevisionSource } from '../cache/revision.js'

/** Milliseconds that a look may take, and that nobody looks after one that took longer or failed. */
const TIMEOUT = 500
const REST = 1000

/**
 * Changes that are visible now, and were not in an earlier snapshot: exact whatever the order in which transactions
 * commit.
 */
const SINCE = `
  select pg_current_snapshot()::text as snapshot, topic, ref
  from (select 1) as one left join change_log
    on xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(xid, $1::pg_snapshot)
  limit ${MAX_CHANGES + 1}`

interface Row extends Change {
  snapshot: string
}

interface SnapshotRevisions extends RevisionSource {
  /** To be called after a commit of this process. */
  committed(this: void): void
}

/**
 * Reads the change log over a connection of its own. A look costs a round trip, so all who ask while one is under way
 * share the next, and whoever does not need it exact shares the last for `staleness` milliseconds. After a look that
 * failed nothing is cached for a while: the request that reads the data reports what is wrong.
 */
export function snapshotRevisions(
  url: string,
  invalidation: Invalidation,
  { staleness, prepare }: { staleness: number; prepare: boolean },
): SnapshotRevisions {
  let snapshot: string | undefined
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: TIMEOUT,
    query_timeout: TIMEOUT,
    application_name: 'feedbackctl cache',
  })
  pool.on('error', () => (snapshot = undefined)) // the next look may meet another server, with a log of its own
  let looked = -Infinity
  let failed = -Infinity
  let commits = 0
  let looking: Promise<Revision> | undefined
  let next: Promise<Revision> | undefined

  const look = async (): Promise<Revision> => {
    const [began, commitsBefore] = [performance.now(), commits]
    try {
      if (snapshot === undefined) {
        const { rows } = await pool.query<Row>('select pg_current_snapshot()::text as snapshot')
        invalidation.invalidateAll()
        snapshot = rows[0]?.snapshot
      } else {
        const { rows } = await pool.query<Row>({
          ...(prepare && { name: 'changes since' }),
          text: SINCE,
          values: [snapshot],
        })
        const changes = rows.filter(({ topic }) => topic !== null)
        if (missesChanges(changes)) invalidation.invalidateAll()
        else if (changes.length > 0) invalidation.invalidate(changes)
        snapshot = rows[0]?.snapshot
      }
      if (commits === commitsBefore) looked = began
      return invalidation.revision
    } catch {
      failed = performance.now()
      snapshot = undefined
      return UNKNOWN
    }
  }
  /** A look that begins after this call. */
  const lookAgain = (): Promise<Revision> => {
    if (!looking) return (looking = look().finally(() => (looking = undefined)))
    const after = () => {
      next = undefined
      return lookAgain()
    }
    return (next ??= looking.then(after, after))
  }
  return {
    revision: (exact) => {
      const now = performance.now()
      if (!exact && now - looked <= staleness) return invalidation.revision
      return now - failed < REST ? UNKNOWN : lookAgain()
    },
    committed: () => {
      commits++
      looked = -Infinity
    },
    close: () => pool.end(),
  }
}
