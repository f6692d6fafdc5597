import type { Context, Reads, Watch } from '../service/lib/context.js'

/** What the server needs beside the operations. */
export interface Site extends Omit<Context, 'actor' | 'origin' | 'dryRun'> {
  /** Rejects when the database does not answer. */
  ping(this: void): Promise<void>
  /** Tells whether the data have changed. Without it every request is worked out anew. */
  watch?: Watch
  /** Reads for it, where reading again is cheap. */
  reads?: Reads | undefined
}

/** Where log lines go: one a request, and every unexpected error with its cause. */
export interface Log {
  level: string
  stream: { write(line: string): void }
}
