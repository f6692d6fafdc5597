import { ratesOf, type Config } from '../config.js'
import { durationOf, secondsOf } from '../core/durations.js'
import { isPostgres, openDatabase, type Database } from '../db/connect.js'
import { readSettings } from '../db/settings.js'
import type { MailSettings } from '../mail/transport.js'
import { assertDatabaseKept, assertSiteThere, markSite, missingFile } from '../marker.js'
import { hasSecret, lazySecrets } from '../secret.js'
import type { Context } from '../service/lib/context.js'
import { assertCurrent, isPrepared, keepBefore, migrateDatabase, prepareSchema, type Migrated } from './schema.js'

export { markSite } from '../marker.js'

/** The open database, and the context that all operations share. */
export interface App extends Database {
  databaseUrl: string
  openedAt: Date
  /** Each caller adds the actor, the origin and `dryRun`. */
  base: Omit<Context, 'actor' | 'origin' | 'client' | 'dryRun'>
}

export interface OpenOptions {
  /** Updates the schema of a PostgreSQL database, over a connection of its own that nothing limits. */
  migrating?: boolean
  /** Opens the database without changing it, and waits this many milliseconds for PostgreSQL. An older schema is an error. */
  glance?: number | undefined
  /** Of feedbackctl. */
  version?: string
  /** Makes a SQLite database that does not exist, instead of refusing to look at it. */
  creating?: boolean
  /** Limits how long a request waits for PostgreSQL. Commands wait as long as their work takes. */
  serving?: boolean
  /** Called after an update of the schema that kept the database as it was. */
  onMigrated?: ((done: Migrated) => void) | undefined
  /** Called with the path of a SQLite database that was made, as there was none. */
  onCreated?: ((file: string) => void) | undefined
  /** Called after every SQL statement, without its parameters, with the milliseconds that it took. */
  trace?: ((statement: string, ms: number) => void) | undefined
}

/**
 * Opens the configured database. A SQLite database is migrated if it is outdated; a PostgreSQL database only if
 * `migrating`, because other processes may use it.
 */
export async function openApp(
  config: Config,
  {
    migrating = false,
    glance,
    creating = false,
    serving = false,
    version = '',
    onMigrated = () => {},
    onCreated = () => {},
    trace,
  }: OpenOptions = {},
): Promise<App> {
  assertDatabaseKept(config)
  const url = config.get('database.url') ?? ''
  if (!creating) assertSiteThere(config)
  const made = missingFile(config)
  const tell = (done: Migrated) => void (done.kept !== null && onMigrated(done))
  if (migrating && isPostgres(url)) tell(await migrateDatabase(config, { version }))
  const database = await openDatabase(url, {
    prepare: isPrepared(config),
    trace,
    timeout: serving ? secondsOf(config.get('database.timeout') ?? '5s') * 1000 : glance,
  })
  const { db } = database
  let isBound = false
  try {
    if (glance === undefined) {
      const done = await prepareSchema(db, isPostgres(url) ? undefined : () => keepBefore(config, { version }))
      if (done) tell(done)
    } else await assertCurrent(db)
    if (made !== undefined) onCreated(made)
    if (serving) markSite(config)
    if (!hasSecret(config)) isBound = (await readSettings(db)).secretFingerprint !== null
  } catch (error) {
    await database.close()
    throw error
  }
  const base = {
    db,
    now: () => new Date(),
    ...lazySecrets(config, { isBound }),
    mail: mailSettings(config),
    setupToken: config.get('setup.token'),
    commonPasswords: config.get('passwords.common') as 'allow' | 'refuse', // checked by the table of settings
    unverified: config.get('accounts.unverified') as 'allow' | 'read',
    unknownAccounts: config.get('accounts.unknown') as 'tell' | 'hide',
    browserSessions: {
      idle: secondsOf(config.get('sessions.idle') ?? '30d'),
      absolute: secondsOf(config.get('sessions.absolute') ?? '365d'),
    },
    newFor: durationOf(config.get('accounts.new') ?? 'off'),
    rates: ratesOf(config),
    siteUrl: (config.get('site.url') ?? '').replace(/\/+$/, ''),
    siteLanguage: config.get('site.language'),
    recorded: () => void (hasRecorded = true),
  }
  const openedAt = base.now()
  let hasRecorded = false
  const close = async () => {
    if (hasRecorded && !serving) await sealed(base)
    await database.close()
  }
  return { ...database, close, databaseUrl: url, openedAt, base }
}

/** Seals the events of a command. If that fails, the command still succeeds: the next command or server seals them. */
const sealed = async (base: App['base']): Promise<void> =>
  (await import('../jobs/seals.js')).sealAfterCommand(base).catch(() => {})

function mailSettings(config: Config): MailSettings | null {
  const url = config.get('mail.url')
  return url === undefined
    ? null
    : { url, from: config.get('mail.from') ?? '', gather: durationOf(config.get('mail.gather') ?? 'off') ?? 0 }
}
