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
