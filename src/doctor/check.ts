import type { App } from '../app/open.js'
import type { Config } from '../config.js'
import type { AppError } from '../core/errors.js'
import type { NAMES } from './names.js'

export type CheckId = keyof typeof NAMES

/** What `--fix` does about a finding. It is safe beside a running server, and loses nothing. */
export interface Mend {
  /** Findings with the same one are mended together. */
  id: string
  /** What it does, for people: `make /srv/secret readable by its owner only`. */
  does: string
  run(this: void): Promise<void> | void
}

export interface Finding {
  /** `error`: something does not work, or is unsafe. `warning`: it will, or may. */
  severity: 'warning' | 'error'
  /** What was seen, as a sentence. It holds no secret. */
  evidence: string
  /** What a person does about it: a command, or a sentence. */
  fix: string
  mend?: Mend
}

/** What a check saw: the findings, what is in order, or why there was nothing to look at. */
export type Seen = { findings: readonly Finding[] } | { evidence: string } | { skipped: string }

export interface Check {
  /** `data`: an open database with the schema of this program. `url`: the option --url. */
  needs?: 'data' | 'url'
  /** It reads all rows: on a large site only where it is named, or with --deep. */
  isDeep?: true
  /** Looks, and changes nothing. */
  look(this: void, site: Site): Promise<Seen> | Seen
}

/** The database, or why it cannot be used. */
export type Opened =
  { app: App; schema: string } | { problem: AppError } | { schema: string | undefined; state: 'outdated' | 'newer' }

/** What checks look at. */
export interface Site {
  config: Config
  now: Date
  version: string
  /** Whether only this machine and the database may be asked. */
  offline: boolean
  /** Whether checks that read all rows run on a large site too. */
  deep: boolean
  /** Where visitors open the site. */
  url: string | undefined
  /** The SQLite file; undefined with PostgreSQL. */
  file: string | undefined
  /** The data folder. */
  folder: string
  /** Opens the database at the first call. Never rejects. */
  opened(this: void): Promise<Opened>
  /** The open database. Rejects with what is wrong with it. */
  app(this: void): Promise<App>
}

/** `evidence` where there are no findings. */
export const seen = (findings: readonly Finding[], evidence: string): Seen =>
  findings.length > 0 ? { findings } : { evidence }

/** Where visitors open the site, with a slash at its end. */
export const baseOf = ({ url = '' }: Site): URL => new URL(url.endsWith('/') ? url : `${url}/`)
