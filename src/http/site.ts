import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from '../service/lib/context.js'

/** What the server needs beside the operations. */
export interface Site extends Omit<Context, 'actor' | 'origin' | 'dryRun'> {
  /** Rejects when the database does not answer. */
  ping(this: void): Promise<void>
  /** Without it nothing is cached. */
  cache?: DataCache
}

/** The cache of an open database. */
export interface DataCache {
  /**
   * A number that grows with every change of the data; NaN where it cannot be told. `exact` sees every commit before the call; otherwise
   * it may be as old as the database's staleness.
   */
  revision(exact: boolean): number | Promise<number>
  /** A database whose reads are cached, for a request that began at a revision. */
  forRequest(revision: number): { db: Context['db']; readSet: ReadSet }
}

/** What a request has read. */
export interface ReadSet {
  /** Whether it tells everything that the request has read. Otherwise its response must not be cached. */
  readonly isKnown: boolean
  /** Whether nothing of it can have changed. */
  isCurrent(this: void): boolean
  /** Whether nothing of it has changed: what may have is read again. */
  revalidate(this: void): Promise<boolean>
}

/** Where log lines go: one a request, and every unexpected error with its cause. */
export interface Log {
  level: string
  stream: { write(line: string): void }
}

/** Whoever has an account sees the data as they are now, and so what they wrote. */
export const isPersonal = ({ authorization, cookie }: IncomingHttpHeaders): boolean =>
  authorization !== undefined || cookie !== undefined
