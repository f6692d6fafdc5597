import { userInfo } from 'node:os'
import type { Config } from './config.js'
import { AppError } from './core/errors.js'
import { isPostgres, openDatabase, type Database } from './db/connect.js'
import { readSettings } from './db/settings.js'
import type { Db } from './db/tables.js'
import { migrate, newer, schemaState } from './db/schema.js'
import type { MailSettings } from './mail/transport.js'
import { assertDatabaseKept, assertSiteThere, markSite } from './marker.js'
import { hasSecret, lazySecrets, replaceSecret, rotateSecret, secretFile } from './secret.js'
import { operator } from './service/lib/access.js'
import type { Context } from './service/lib/context.js'
import { execute, type Call } from './service/lib/operation.js'
import { operatorAs } from './service/lib/sessions.js'
import { assertSecretFits, bindSecret } from './service/lib/tokens.js'

export { markSite } from './marker.js'
export { exposedSecret } from './secret.js'

/** The open database, and the context that all operations share. */
export interface App extends Database {
  /** Each caller adds the actor, the origin and `dryRun`. */
  base: Omit<Context, 'actor' | 'origin' | 'client' | 'dryRun'>
}

export interface OpenOptions {
  /** Updates the schema of a PostgreSQL database, over a connection of its own that nothing limits. */
  migrating?: boolean
  /** Makes a SQLite database that does not exist, instead of refusing to look at it. */
  creating?: boolean
  /** Limits how long a request waits for PostgreSQL. Commands wait as long as their work takes. */
  serving?: boolean
}

/**
 * Opens the configured database. A SQLite database is migrated if it is outdated; a PostgreSQL database only if
 * `migrating`, because other processes may use it.
 */
export async function openApp(
  config: Config,
  { migrating = false, creating = false, serving = false }: OpenOptions = {},
): Promise<App> {
  assertDatabaseKept(config)
  const url = config.get('database.url') ?? ''
  if (!creating) assertSiteThere(config)
  if (migrating && isPostgres(url)) await migrateDatabase(config)
  const database = await openDatabase(url, {
    prepare: isPrepared(config),
    timeout: serving ? Number.parseInt(config.get('database.timeout') ?? '5', 10) * 1000 : undefined,
  })
  const { db } = database
  let isBound = false
  try {
    await prepareSchema(db, !isPostgres(url))
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
    siteUrl: (config.get('site.url') ?? '').replace(/\/+$/, ''),
  }
  return { ...database, base }
}

const isPrepared = (config: Config): boolean => config.get('database.prepare') !== 'false'

async function prepareSchema(db: Db, migrating: boolean): Promise<void> {
  const state = await schemaState(db)
  if (state === 'newer') throw newer()
  if (state === 'current') return
  if (!migrating)
    throw new AppError(
      'DATABASE_OUTDATED',
      'The PostgreSQL database has no schema yet, or an older one. Make a backup, then run "feedbackctl migrate".',
    )
  await migrate(db)
}

interface LocalOptions {
  dryRun?: boolean
  /** The account to act as: id, e-mail address or user name. Default: the operator. */
  as?: string | undefined
}

/**
 * Calls operations in this process. The operator has the owner's permissions, as anyone who can open the database could
 * take them.
 */
export const localCall =
  ({ base }: Pick<App, 'base'>, { dryRun = false, as }: LocalOptions = {}): Call =>
  async (op, input) =>
    execute(
      op,
      {
        ...base,
        actor: as === undefined ? operator : await operatorAs(base, as),
        origin: `cli:${loginName()}`,
        dryRun,
      },
      input,
    )

function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // in a container, the user may have no name
  }
}

/**
 * Gives the site another secret: the setting, or a new one in the data folder, whose name is returned then. Every session
 * ends. A server that runs keeps the old secret until it is started again.
 */
export async function resetSecret(app: App, config: Config): Promise<string | undefined> {
  const isFile = config.get('secret') === undefined
  if (isFile) replaceSecret(config)
  await bindSecret({ db: app.db, ...lazySecrets(config, { isBound: true }) })
  return isFile ? secretFile(config) : undefined
}

/**
 * Replaces the secret in the data folder, and returns its file. Tokens of the old one are verified for some hours more.
 * Servers that read the file notice within seconds.
 */
export async function rotateSecretFile(app: App, config: Config, hours: number): Promise<string> {
  if (config.get('secret') !== undefined)
    throw new AppError(
      'USAGE',
      `The secret is the setting "secret" (from ${config.origin('secret')}), which this command cannot change. Set another one, then run "feedbackctl secret reset": everybody has to sign in again.`,
    )
  await assertSecretFits(app.base)
  const previous = app.base.secret()
  rotateSecret(config, new Date(app.base.now().getTime() + hours * 60 * 60 * 1000))
  await bindSecret({ db: app.db, ...lazySecrets(config, { isBound: true }) }, previous)
  return secretFile(config)
}

/** Migrates the configured database, and returns the names of the migrations that were applied. */
export async function migrateDatabase(config: Config): Promise<string[]> {
  assertDatabaseKept(config)
  const { db } = await openDatabase(config.get('database.url') ?? '', { prepare: isPrepared(config) })
  try {
    return await migrate(db)
  } finally {
    await db.destroy()
  }
}

function mailSettings(config: Config): MailSettings | null {
  const url = config.get('mail.url')
  return url === undefined ? null : { url, from: config.get('mail.from') ?? '' }
}
