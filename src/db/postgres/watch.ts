import pg from 'pg'
import { UNKNOWN, type Revision, type Watch } from '../cache/revision.js'

/** How long a look may take, and how long nobody looks after one that took longer or failed, in milliseconds. */
const LOOK = 500
const REST = 1000

/**
 * Asks for the snapshot that a query would see now. Two that are equal see the same rows, whoever writes and however: nothing has to be
 * announced, so nothing can be missed. It costs a round trip, so a look is shared by all who ask within `staleness` milliseconds; where it
 * fails nothing is kept for a while, and whoever asks for data hears what is wrong.
 */
export function watchPostgres(url: string, staleness: number): Watch {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: LOOK,
    query_timeout: LOOK,
    application_name: 'feedbackctl watch',
  })
  pool.on('error', () => {}) // the next look opens another connection
  let seen: { revision: Revision; at: number } | undefined
  let writes = 0
  let failed = -Infinity
  let looking: Promise<Revision> | undefined
  let next: Promise<Revision> | undefined

  const look = async (): Promise<Revision> => {
    const [at, before] = [performance.now(), writes]
    try {
      const { rows } = await pool.query<{ revision: string }>('select pg_current_snapshot()::text as revision')
      const revision = rows[0]?.revision ?? ''
      if (before === writes) seen = { revision, at }
      return revision
    } catch {
      failed = performance.now()
      return UNKNOWN
    }
  }
  /** A look that begins after this call: whoever asks while one is under way shares the one after it. */
  const ask = (): Promise<Revision> => {
    if (!looking) return (looking = look().finally(() => (looking = undefined)))
    const after = () => {
      next = undefined
      return ask()
    }
    return (next ??= looking.then(after, after))
  }
  return {
    revision: (exact) => {
      const now = performance.now()
      if (!exact && seen && now - seen.at <= staleness) return seen.revision
      return now - failed < REST ? UNKNOWN : ask()
    },
    forget: () => {
      writes++
      seen = undefined
    },
    close: () => pool.end(),
  }
}
