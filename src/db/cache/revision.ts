/**
 * A number that grows whenever the log of row changes names a change. NaN where the database cannot tell: nothing is cached
 * then.
 */
export type Revision = number

export const UNKNOWN: Revision = NaN

/** Reads the log of row changes of one database into its `Invalidation`. */
export interface RevisionSource {
  /**
   * The revision now. `exact` sees every commit before this call; otherwise the answer may be as old as the engine's
   * staleness, which is zero on SQLite. A promise only where the database has to be asked over a network.
   */
  revision(this: void, exact: boolean): Revision | Promise<Revision>
  /**
   * Whether the database does not answer: the last looks failed. What was cached before is then the best there is. False
   * again after a look that succeeds.
   */
  isAway(this: void): boolean
  /** Whether this process has committed since the last look: what was cached may then be older than its own writes. */
  missesCommits(this: void): boolean
  close(this: void): Promise<void>
}
