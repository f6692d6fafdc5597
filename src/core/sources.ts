import type { Key } from './settings.js'

/** A value and its source: `--listen`, `FEEDBACKCTL_LISTEN`, a file, or `default`. */
export interface Origin {
  value: string
  origin: string
}

/** What one source sets. */
export type Layer = Map<Key, Origin>

/** Sites that the configuration files name, and the settings of each. */
export type Contexts = ReadonlyMap<string, Layer>

/** Runs the work for one key. With `lenient` an error in one key does not stop the others. */
export type Attempt = (work: () => void) => void
