import { rmSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import type { Config } from './config.js'
import { AppError } from './core/errors.js'
import { makePrivateFolder } from './core/files.js'
import { durationOf, secondsOf } from './core/durations.js'
import { isPostgres, openDatabase, transaction, type Database } from './db/connect.js'
import { lockCreation } from './db/dialect.js'
import { countSessions, deleteAllSessions } from './db/sessions.js'
import { readSettings } from './db/settings.js'
import type { Db } from './db/tables.js'
import { ensureTriggers, migrate, migrationNames } from './db/migrate.js'
import { newer, newestApplied, schemaState } from './db/schema.js'
import { countTotp } from './db/totp.js'
import type { MailSettings } from './mail/transport.js'
import { assertDatabaseKept, assertSiteThere, markSite } from './marker.js'
import { hasSecret, lazySecrets, replaceSecret, rotateSecret, secretFile } from './secret.js'
import { operator } from './service/lib/access.js'
import { change, namingMissing } from './service/lib/change.js'
import type { Context } from './service/lib/context.js'
import { execute, type Call } from './service/lib/operation.js'
import { operatorAs } from './service/lib/onbehalf.js'
import { assertSecretFits, bindSecret } from './service/lib/tokens.js'

export { markSite } from './marker.js'
export { exposedSecret, secretFile } from './secret.js'

/** The open database, and the context that all operations share. */
export interface App extends Database {
  databaseUrl: string
  /** Each caller adds the actor, the origin and `dryRun`. */
  base: Omit<Context, 'actor' | 'origin' | 'client' | 'dryRun'>
}

export interface OpenOptions {
  /** Updates the schema of a PostgreSQL database, over a connection of its own that nothing limits. */
  migrating?: boolean
  /** Of feedbackctl. */
  version?: string
  /** Makes a SQLite database that does not exist, instead of refusing to look at it. */
  creating?: boolean
  /** Limits how long a request waits for PostgreSQL. Commands wait as long as their work takes. */
  serving?: boolean
  /** Told of an update of the schema, where what was there is kept. */
  upgraded?: ((done: Migrated) => void) | undefined
  /** Told of every SQL statement, without its parameters, and of the milliseconds it took. */
  trace?: ((statement: string, ms: number) => void) | undefined
}

/**
 * Opens the configured database. A SQLite database is migrated if it is outdated; a PostgreSQL database only if
 * `migrating`, because other processes may use it.
 */
export async function openApp(
  config: Config,
  { migrating = false, creating = false, serving = false, version = '', upgraded = () => {}, trace }: OpenOptions = {},
): Promise<App> {
  assertDatabaseKept(config)
  const url = config.get('database.url') ?? ''
  if (!creating) assertSiteThere(config)
  const tell = (done: Migrated) => void (done.kept !== null && upgraded(done))
  if (migrating && isPostgres(url)) tell(await migrateDatabase(config, { version }))
  const database = await openDatabase(url, {
    prepare: isPrepared(config),
    trace,
    timeout: serving ? secondsOf(config.get('database.timeout') ?? '5s') * 1000 : undefined,
  })
  const { db } = database
  let isBound = false
  try {
    const done = await prepareSchema(db, isPostgres(url) ? undefined : () => keepBefore(config, { version }))
    if (done) tell(done)
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
    newFor: durationOf(config.get('accounts.new') ?? 'off'),
    siteUrl: (config.get('site.url') ?? '').replace(/\/+$/, ''),
    siteLanguage: config.get('site.language'),
    recorded: () => void (hasRecorded = true),
  }
  let hasRecorded = false
  const close = async () => {
    if (hasRecorded && !serving) await sealed(base)
    await database.close()
  }
  return { ...database, close, databaseUrl: url, base }
}

/** Seals the events of a command. If that fails, the command still succeeds: the next command or server seals them. */
const sealed = async (base: App['base']): Promise<void> =>
  (await import('./jobs/seals.js')).sealAfterCommand(base).catch(() => {})

/** Opens an empty site in a temporary folder, which is removed when it is closed: a dry run creates nothing. */
export async function openTrial(config: Config): Promise<App> {
  assertDatabaseKept(config)
  const folder = makePrivateFolder('feedbackctl-')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const url = `sqlite:${path.join(folder, 'feedback.db')}`
    const get: Config['get'] = (key) => (key === 'database.url' ? url : key === 'data.dir' ? folder : config.get(key))
    const app = await openApp({ ...config, get }, { creating: true })
    return { ...app, close: () => app.close().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

const isPrepared = (config: Config): boolean => config.get('database.prepare') !== 'false'

/** Without `keep`, which keeps the database as it is, an outdated schema is refused. */
async function prepareSchema(
  db: Db,
  keep: (() => Promise<string | undefined>) | undefined,
): Promise<Migrated | undefined> {
  const state = await schemaState(db)
  if (state === 'newer') throw newer()
  if (state === 'current') {
    await ensureTriggers(db)
    return undefined
  }
  if (!keep)
    throw new AppError(
      'DATABASE_OUTDATED',
      (await newestApplied(db)) === undefined
        ? 'The PostgreSQL database has no tables of feedbackctl yet. Run "feedbackctl setup" for a new site, or "feedbackctl migrate" for empty tables.'
        : 'The PostgreSQL database has an older schema. Make a backup, then run "feedbackctl migrate".',
    )
  return upgrade(db, keep)
}

/** Where another process was faster, that one says so. */
async function upgrade(db: Db, keep: () => Promise<string | undefined>): Promise<Migrated> {
  const kept = await keep()
  const applied = await migrate(db)
  return { applied, kept: applied.length > 0 ? (kept ?? null) : null }
}

async function keepBefore(config: Config, options: { version: string; dryRun?: boolean }): Promise<string | undefined> {
  const { keepBeforeUpgrade } = await import('./backup/upgrade.js')
  return keepBeforeUpgrade(config, { ...options, now: new Date() })
}

/** The last migration of the configured database, and how it compares with this program. It changes nothing. */
export async function schemaOf(
  config: Config,
): Promise<{ schema: string | undefined; state: Awaited<ReturnType<typeof schemaState>> }> {
  assertDatabaseKept(config)
  assertSiteThere(config)
  const { db, close } = await openDatabase(config.get('database.url') ?? '', { prepare: isPrepared(config) })
  try {
    return { schema: await newestApplied(db), state: await schemaState(db) }
  } finally {
    await close()
  }
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
      { ...operatorContext({ base }, { dryRun }), ...(as !== undefined && { actor: await operatorAs(base, as) }) },
      input,
    )

/**
 * Calls operations in this process as one transaction, which an error takes back. With `looks`, no other that looks for
 * what it creates runs meanwhile.
 */
export const localTransaction = <T>(
  { base }: Pick<App, 'base'>,
  { looks = false, as }: Pick<LocalOptions, 'as'> & { looks?: boolean },
  work: (call: Call) => Promise<T>,
): Promise<T> =>
  namingMissing(base.db, () =>
    transaction(base.db, async (db) => {
      if (looks) await lockCreation(db)
      return work(localCall({ base: { ...base, db } }, { as }))
    }),
  )

/** The operator's context, for what only this machine may do. */
export const operatorContext = ({ base }: Pick<App, 'base'>, { dryRun = false } = {}): Context => ({
  ...base,
  actor: operator,
  origin: `cli:${loginName()}`,
  dryRun,
})

function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // in a container, the user may have no name
  }
}

/** What another secret ends: the sessions that are open, and the authenticator apps whose codes are wrong then. */
export const lossOfSecret = async ({ base: { db, now } }: App): Promise<{ sessions: number; apps: number }> => ({
  sessions: await countSessions(db, now().toISOString()),
  apps: await countTotp(db),
})

/**
 * Gives the site another secret: the setting, or a new one in the data folder. Every session ends. A server that runs
 * notices a new file within a second; with the setting it keeps the old secret until it is started again.
 */
export async function resetSecret(app: App, config: Config): Promise<void> {
  if (config.get('secret') === undefined) replaceSecret(config)
  const secrets = lazySecrets(config, { isBound: true })
  await change({ ...operatorContext(app), ...secrets }, async (tx) => {
    await bindSecret(tx)
    await deleteAllSessions(tx.db)
    tx.record('site.secret_replaced', 'site')
  })
}

/**
 * Replaces the secret in the data folder, and returns its file. Tokens of the old one are verified for some hours more.
 * Servers that read the file notice within seconds. A dry run checks the same.
 */
export async function rotateSecretFile(
  app: App,
  config: Config,
  { hours, dryRun = false }: { hours: number; dryRun?: boolean },
): Promise<string> {
  if (config.get('secret') !== undefined)
    throw new AppError(
      'USAGE',
      `The secret is the setting "secret" (from ${config.origin('secret')}), which this command cannot change. Set another one, then run "feedbackctl secret new": everyone has to sign in again.`,
    )
  await assertSecretFits(app.base)
  if (dryRun) return secretFile(config)
  const previous = app.base.secret()
  rotateSecret(config, new Date(app.base.now().getTime() + hours * 60 * 60 * 1000))
  await bindSecret({ db: app.db, ...lazySecrets(config, { isBound: true }) }, previous)
  return secretFile(config)
}

/** What an update of the schema has done, or would do. */
export interface Migrated {
  /** The names of the migrations, oldest first. */
  applied: string[]
  /** Where the database is kept as it was: a file, or a backup. Null where there was nothing to keep. */
  kept: string | null
}

/** Finds the migrations that the configured database lacks. It changes nothing. */
export async function pendingMigrations(
  config: Config,
  options: { version: string; keep?: boolean },
): Promise<Migrated> {
  const { schema = '', state } = await schemaOf(config)
  if (state === 'newer') throw newer()
  const applied = (await migrationNames()).filter((name) => name > schema)
  const keeps = schema !== '' && applied.length > 0 && (options.keep ?? true)
  return { applied, kept: (keeps && (await keepBefore(config, { ...options, dryRun: true }))) || null }
}

/** Migrates the configured database, which is kept as it was unless `keep` is false. */
export async function migrateDatabase(
  config: Config,
  { version, keep = true }: { version: string; keep?: boolean },
): Promise<Migrated> {
  assertDatabaseKept(config)
  const { db } = await openDatabase(config.get('database.url') ?? '', { prepare: isPrepared(config) })
  try {
    const isOutdated = (await newestApplied(db)) !== undefined && (await schemaState(db)) === 'outdated'
    return await upgrade(db, async () => (isOutdated && keep ? keepBefore(config, { version }) : undefined))
  } finally {
    await db.destroy()
  }
}

function mailSettings(config: Config): MailSettings | null {
  const url = config.get('mail.url')
  return url === undefined ? null : { url, from: config.get('mail.from') ?? '' }
}
