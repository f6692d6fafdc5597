import type { App } from '../app/open.js'
import type { Config } from '../config.js'
import type { AppError } from '../core/errors.js'
import type { NAMES } from './names.js'

export type CheckId = keyof typeof NAMES

/** The fix of a finding that `--fix` applies. It is safe beside a running server, and loses nothing. */
export interface Mend {
  /** Findings with the same one are mended together. */
  id: string
  /** Description for people: `make /srv/secret readable by its owner only`. */
  does: string
  run(this: void, onProgress?: OnProgress): Promise<void> | void
}

/** Called with the share that is done, from 0 to 1. */
export type OnProgress = (part: number) => void

export interface Finding {
  /** `error`: something does not work, or is unsafe. `warning`: it will, or may. */
  severity: 'warning' | 'error'
  /** The evidence, as a sentence without secrets. */
  evidence: string
  /** The remedy: a command, or a sentence. */
  fix: string
  mend?: Mend
}

/** The result of a check: findings, evidence that all is in order, or why it was skipped. */
export type Seen = { findings: readonly Finding[] } | { evidence: string } | { skipped: string }

export interface Check {
  /** `data`: an open database with the schema of this program. `url`: the option --url. */
  needs?: 'data' | 'url'
  /** It reads all rows: on a large site only where it is named, or with --deep. */
  isDeep?: true
  /** Looks, and changes nothing. */
  look(this: void, site: Site, onProgress?: OnProgress): Promise<Seen> | Seen
}

/** The database, or why it cannot be used. */
export type Opened =
  { app: App; schema: string } | { problem: AppError } | { schema: string | undefined; state: 'outdated' | 'newer' }

/** The site that checks examine. */
export interface Site {
  config: Config
  now: Date
  version: string
  /** Whether checks may use nothing but this machine and the database. */
  offline: boolean
  /** Whether checks that read all rows run on a large site too. */
  deep: boolean
  /** The public URL of the site. */
  url: string | undefined
  /** The SQLite file; undefined with PostgreSQL. */
  file: string | undefined
  /** The data folder. */
  folder: string
  /** The current working directory of the command. */
  cwd: string
  /** Opens the database at the first call. Never rejects. */
  opened(this: void): Promise<Opened>
  /** The open database. Rejects with what is wrong with it. */
  app(this: void): Promise<App>
}

/** `evidence` where there are no findings. */
export const seen = (findings: readonly Finding[], evidence: string): Seen =>
  findings.length > 0 ? { findings } : { evidence }

/** The public URL, with a slash at its end. */
export const baseOf = ({ url = '' }: Site): URL => new URL(url.endsWith('/') ? url : `${url}/`)
