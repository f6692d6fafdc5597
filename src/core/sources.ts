import type { Key } from './settings.js'

/** A value and its source: `--listen`, `FEEDBACKCTL_LISTEN`, a file, or `default`. */
export interface Origin {
  value: string
  origin: string
  /** The line of a file. */
  line?: number | undefined
}

/** What one source sets. */
export type Layer = Map<Key, Origin>

/** Where a value is written, for people. Only files have lines. */
export const placeOf = ({ origin, line }: Omit<Origin, 'value'>): string | undefined =>
  line === undefined ? undefined : `line ${line} of ${origin}`

/** A site that a configuration file names. */
export interface Context {
  settings: Layer
  /** Whether commands ask for its name before they change it. */
  isProtected: boolean
  file: string
}

export type Contexts = ReadonlyMap<string, Context>

/** Runs the work for one key. With `lenient` an error in one key does not stop the others. */
export type Attempt = (work: () => void) => void
