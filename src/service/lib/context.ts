import type { Db } from '../../db/tables.js'
import type { MailSettings } from '../../mail/transport.js'
import type { Actor } from './access.js'

/** Everything an operation may use beside its input. */
export interface Context {
  db: Db
  actor: Actor
  now(this: void): Date
  /** What signs tokens. Read when it is first needed: most commands never do. */
  secret(this: void): string
  mail: MailSettings | null
  /** Where people reach the site; links in mails start with it. No slash at the end. */
  siteUrl: string
  /** Where the request came from: `http`, or `cli:` and the login name at the machine. */
  origin: string
  /** All checks and the same answer, but nothing stays written. */
  dryRun: boolean
}
