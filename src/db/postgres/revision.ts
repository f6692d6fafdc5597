import pg from 'pg'
import { MAX_CHANGES, missesChanges, type Change, type Invalidation } from '../cache/invalidation.js'
import { UNKNOWN, type Revision, type RevisionSource } from '../cache/revision.js'

/** Milliseconds that a look may take, and that nobody looks after one that took longer or failed. */
const TIMEOUT = 500
const REST = 500
/** Attempts of one look. The first may fail because its connection was cut. */
const ATTEMPTS = 3

/**
 * Changes that are visible now, and were not in an earlier snapshot: exact whatever the order in which transactions
 * commit.
 */
const SINCE = `
  select pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as server, topic, ref
  from (select 1) as one left join row_changes
    on xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(xid, $1::pg_snapshot)
  limit ${MAX_CHANGES + 1}`

const NOW = 'select pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as server'

interface Row extends Change {
  snapshot: string
  /** Another server, such as a standby that was promoted, counts transactions anew. */
  server: string
}

interface SnapshotRevisions extends RevisionSource {
  /** To be called after a commit of this process. */
  committed(this: void): void
}

/**
 * Reads the log of row changes over a connection of its own. A look costs a round trip, so all who ask while one is under way
 * share the next, and whoever does not need it exact shares the last for `staleness` milliseconds. After a look that
 * failed nothing is cached for a while: the request that reads the data reports what is wrong.
 */
export function snapshotRevisions(
  url: string,
  invalidation: Invalidation,
  { staleness, prepare }: { staleness: number; prepare: boolean },
): SnapshotRevisions {
  let seen: Pick<Row, 'snapshot' | 'server'> | undefined
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: TIMEOUT,
    query_timeout: TIMEOUT,
    idleTimeoutMillis: 0,
    keepAlive: true,
    application_name: 'feedbackctl cache',
    ...(prepare && { statement_timeout: TIMEOUT }),
  })
  pool.on('error', () => {}) // an idle connection was cut
  pool.on('connect', (client) => {
    client.on('error', () => {}) // the connection was cut while in use; its query fails
    seen = undefined // the new connection may lead to another server, whose log of row changes is different
  })
  let looked = -Infinity
  let failed = -Infinity
  let failures = 0
  let commits = 0
  let seenCommits = 0
  let looking: Promise<Revision> | undefined
  let next: Promise<Revision> | undefined

  const read = async (): Promise<void> => {
    const [since, commitsBefore, began] = [seen, commits, performance.now()]
    const { rows } = await pool.query<Row>(
      since ? { ...(prepare && { name: 'changes since' }), text: SINCE, values: [since.snapshot] } : NOW,
    )
    const [first] = rows
    const changes = rows.filter(({ topic }) => topic !== null)
    // `seen` is another one where the query ran on a new connection
    if (!since || seen !== since || first?.server !== since.server || missesChanges(changes))
      invalidation.invalidateAll()
    else if (changes.length > 0) invalidation.invalidate(changes)
    seen = first
    seenCommits = commitsBefore
    failures = 0
    failed = -Infinity
    if (commits === commitsBefore) looked = began
  }
  const look = async (): Promise<Revision> => {
    for (const began = performance.now(); ;) {
      try {
        await read()
        return invalidation.revision
      } catch {
        failed = performance.now()
        seen = undefined
        // A connection that was cut fails at once, and the next may be fine
        if (++failures >= ATTEMPTS || failed - began >= TIMEOUT) return UNKNOWN
      }
    }
  }
  /** A look that begins after this call. */
  const lookAgain = (): Promise<Revision> => {
    if (!looking) return (looking = look().finally(() => (looking = undefined)))
    const after = (revision: Revision) => {
      next = undefined
      return Number.isNaN(revision) ? UNKNOWN : lookAgain()
    }
    return (next ??= looking.then(after))
  }
  return {
    revision: (exact) => {
      const now = performance.now()
      if (!exact && now - looked <= staleness) return invalidation.revision
      return now - failed < REST ? UNKNOWN : lookAgain()
    },
    isAway: () => failures > 0,
    missesCommits: () => commits !== seenCommits,
    committed: () => {
      commits++
      looked = -Infinity
      failures = 0 // it is there, even if the connection of the cache is not
    },
    close: () => pool.end(),
  }
}
