import type { AppError } from '../../core/errors.js'
import type { LimitName, Rates } from '../../core/limits.js'
import type { FilePiece } from '../../core/zip.js'
import type { Db, TotpRow } from '../../db/tables.js'
import type { MailSettings } from '../../mail/transport.js'
import type { Actor } from './access.js'
import type { Body, Piece } from './body.js'
import type { Source } from './clients.js'

/** Who sent a request over HTTP. */
export interface Client extends Source {
  /** The header `User-Agent`, at most 200 characters; empty if it was not sent. */
  userAgent: string
}

/** For how many seconds sessions of browsers live. */
export interface BrowserSessions {
  /** Without a request. */
  idle: number
  /** Since the sign-in. */
  absolute: number
}

/** The browser that a page is for. Sessions that begin with its requests are its own, and live while they are used. */
interface Browser {
  /** Takes the token of a session that has begun, lives longer, or has another id. It is of use until then, ISO 8601. */
  keep(this: void, token: string, until: string): void
}

/** Counts what is limited. Requests without a `client` are not. */
export interface Limiter {
  /** Runs the work, and counts how it ends. Work of a greater weight counts as so many. Throws RATE_LIMITED. */
  guard<T>(
    name: LimitName,
    ctx: Context,
    account: string | undefined,
    work: () => Promise<T>,
    weight?: number,
  ): Promise<T>
  /** Whether it counts for this caller. */
  applies(name: LimitName, ctx: Context, account: string | undefined): Promise<boolean>
  /** What it would refuse now. */
  refusal(name: LimitName, ctx: Context, account: string | undefined): Promise<AppError | undefined>
  /** Forgets what was counted for an account. */
  forgive(name: LimitName, ctx: Context, account: string): Promise<void>
}

/** A backup in the folder of this machine. */
export interface BackupFile {
  /** The name. */
  file: string
  bytes: number
  createdAt: string
  version: string
  schema: string
  encrypted: boolean
  redacted: boolean
}

/** The folder of backups. */
interface BackupFolder {
  /** Seconds between scheduled backups; null without a schedule. */
  every: number | null
  /** The newest first. */
  list(this: void): Promise<BackupFile[]>
}

/** What takes the whole site out. */
interface SiteExports {
  /** Lines of JSON, without passwords: of the whole site, or of these boards. */
  lines(this: void, options: { boards: readonly string[] | undefined }): AsyncIterable<Piece>
  /** Tables for spreadsheets. */
  sheets(this: void, options: { bom: boolean }): AsyncIterable<FilePiece>
  /** The pages that visitors see at this time. */
  pages(this: void, at: Date): AsyncIterable<FilePiece>
  /** The same pieces, which are read at once, however slowly they are taken. */
  spooled(this: void, pieces: AsyncIterable<Piece>): AsyncIterable<Piece>
}

/** How far the import of a site is, or what it has done. */
type ImportProgress =
  | { step: string; table: string; rows: number; all: number | undefined }
  | {
      done: {
        same: boolean
        passwords: boolean
        owner: { email: string; hasPassword: boolean } | null
        types: { type: string; lines: number }[]
      }
    }

/** What puts a whole site in. */
interface SiteImports {
  /** Imports an export into the empty site here, all of it or nothing. It ends when its caller stops reading. */
  lines(
    this: void,
    bytes: Body['bytes'],
    options: {
      dryRun: boolean
      sendsMail: boolean
      mayGoOn(this: void): Promise<void>
      encryptedFor(this: void, totp: TotpRow, userId: string): string | undefined
    },
  ): AsyncIterable<ImportProgress>
  files: ImportFiles
}

/** Files that were sent to be imported. */
interface ImportFiles {
  /**
   * Stores an upload until it is removed. With `forPerson`, stores it for an hour, in place of the person's earlier one. Yields
   * the number of bytes so far, and at the end the id of the file.
   */
  receive(
    this: void,
    bytes: Body['bytes'],
    options: { untilRemoved: true } | { forPerson: string },
  ): AsyncIterable<{ received: number } | { id: string }>
  /** Throws NOT_FOUND for a file that is not here, and BAD_REQUEST for one that nobody can import. */
  open(
    this: void,
    id: string,
    options: { product: string | undefined; map: ReadonlyMap<string, string> },
  ): Promise<ImportFile>
  remove(this: void, id: string): Promise<void>
  /** The ids of the files that are here. */
  ids(this: void): Promise<string[]>
  /** Removes what a server that was killed has left, once it is old. */
  removeAbandoned(this: void): Promise<void>
  /** Keeps a file that is being read, also if the person sends another one. Call what it returns at the end. */
  hold(this: void, id: string): Promise<() => void>
  /** Says that a file is in use, so that nobody takes it for abandoned. */
  keep(this: void, id: string): Promise<void>
}

interface ImportFile {
  /** The word for what it is from. */
  product: string
  /** The name of the source that the file itself gives. */
  source?: string | undefined
  /** Of a table: what its columns were taken for, and its first rows. */
  preview: ImportPreview | undefined
  bytes(this: void): Body['bytes']
  /** Yields lines for `POST /import/records`. `note` receives sentences about what is left out; `signal` ends the reading. */
  records(this: void, note: (sentence: string) => void, signal?: AbortSignal): AsyncIterable<string>
}

export interface ImportPreview {
  columns: { column: string; header: string }[]
  rows: Readonly<Record<string, string>>[]
}

/** What an operation has besides its input. */
export interface Context {
  /** The event that the change takes back, which its own events say. */
  undoes?: number | undefined
  db: Db
  actor: Actor
  now(this: void): Date
  /** Signs tokens. Read at first use; most commands never need it. */
  secret(this: void): string
  /** Verifies tokens until a time, after the secret was rotated. */
  previousSecret?(this: void): { secret: string; until: Date } | undefined
  mail: MailSettings | null
  /** The public address of the site, without a slash at the end. Links in mails start with it. */
  siteUrl: string
  /** That of readers who ask for none of `LANGUAGES`, and of mails to people who chose none. Absent: the first. */
  siteLanguage?: string | undefined
  /** Whether the most common passwords are refused. Absent: they are allowed. */
  commonPasswords?: 'allow' | 'refuse' | undefined
  /** What people may do before they confirm their address. Absent: all they may. */
  unverified?: 'allow' | 'read' | undefined
  /** Whether sign-in and reset tell that an address has no account. Absent: they do. */
  unknownAccounts?: 'tell' | 'hide' | undefined
  /** For how many seconds an account is new, unless the site says it. Absent or null: no account is. */
  newFor?: number | null | undefined
  /** The limits of the configuration. Absent: none. */
  rates?: Rates | undefined
  /** Absent: 30 days without a request, a year in all. */
  browserSessions?: BrowserSessions | undefined
  /** What setup needs over HTTP. Absent: nothing. */
  setupToken?: string | undefined
  /** Absent where no server runs that has one. */
  backups?: BackupFolder | undefined
  /** Absent where no server runs. */
  exports?: SiteExports | undefined
  imports?: SiteImports | undefined
  /** Where the request comes from: `http`, or `cli:` and the login name. */
  origin: string
  /** Absent at the command line. */
  client?: Client
  /** Absent: the request is not one for a page. */
  browser?: Browser
  /** Absent: nothing is limited. */
  limits?: Limiter
  /** What is uploaded. */
  body?: Body | undefined
  /** Who sends the request by now. A download asks again while it runs, as does an upload. Absent at the command line. */
  actorNow?(this: void): Promise<Actor>
  /** Limits how long the response is cached: until this time, Unix ms. */
  lasts?(this: void, until: number): void
  /** Called after each change that recorded events. */
  recorded?(this: void): void
  /** Runs all checks and returns the same result, but writes nothing. */
  dryRun: boolean
}

/** What a cached operation reads: only what stays the same until a row changes, or the server restarts. */
export type CachedContext = Pick<Context, 'db' | 'actor' | 'siteUrl' | 'siteLanguage'>

/** What a cached operation has besides its input. */
export interface HourlyContext extends CachedContext {
  /** The start of the current hour. An operation that reads it is cached until the hour ends at most. */
  hour(this: void): Date
}

/** Hides the rest, so that no cast can reach the clock, the secret or the client. */
export const narrowed = ({ db, actor, siteUrl, siteLanguage, now, lasts }: Context): HourlyContext => ({
  db,
  actor,
  siteUrl,
  siteLanguage,
  hour() {
    const began = hourOf(now())
    lasts?.(began.getTime() + HOUR_MS)
    return began
  },
})

const HOUR_MS = 60 * 60 * 1000

/** The start of the current hour, for an operation that may be cached or not. */
export const currentHour = (ctx: Pick<HourlyContext, 'hour'> | Pick<Context, 'now'>): Date =>
  'hour' in ctx ? ctx.hour() : hourOf(ctx.now())

/** When the hour of a time began. */
export const hourOf = (time: Date): Date => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS)
