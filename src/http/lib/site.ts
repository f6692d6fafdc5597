import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from '../../service/lib/context.js'

/** What the server needs to run operations. */
export interface Site extends Omit<Context, 'actor' | 'origin' | 'client' | 'browser' | 'dryRun'> {
  /** Rejects if the database does not respond. */
  ping(this: void): Promise<void>
  /** Absent: nothing is cached. */
  cache?: DataCache
}

/** The query cache of the database. */
export interface DataCache {
  /**
   * A number that grows with every change of the data, or NaN if it is unknown. With `exact` it includes every commit
   * before the call. Without, it may be as old as the configured staleness.
   */
  revision(exact: boolean): number | Promise<number>
  /** Whether the database does not answer. */
  isAway(): boolean
  /** Whether this process has committed what the cache has not seen. */
  missesCommits(): boolean
  /** When a request that begins now has to end, of `performance.now()`. */
  deadline(): number
  /** A database with cached reads, for a request that began at this revision. Queries fail after the deadline. */
  forRequest(revision: number, deadline?: number): { db: Context['db']; readSet: ReadSet }
}

/** The rows that a request has read. */
export interface ReadSet {
  /** Whether the set is complete. If not, the response must not be cached. */
  readonly isKnown: boolean
  /** Whether nothing in the set can have changed. */
  isCurrent(this: void): boolean
  /** Whether nothing in the set has changed. Rows that may have changed are read again. */
  revalidate(this: void, deadline: number): Promise<boolean>
}

/** Receives one line per request, and every unexpected error with its cause. */
export interface Log {
  level: string
  stream: { write(line: string): void }
}

/** Requests with credentials get exact revisions, so that users always see their own writes. */
export const hasCredentials = ({ authorization, cookie }: IncomingHttpHeaders): boolean =>
  authorization !== undefined || cookie !== undefined
