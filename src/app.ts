import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import type { Config } from './config.js'
import { parseListen } from './core/addresses.js'
import { AppError } from './core/errors.js'
import { connect, isPostgres, openDatabase, type Database } from './db/connect.js'
import type { Db } from './db/tables.js'
import { migrate, newer, schemaState } from './db/schema.js'
import { deliver } from './mail/outbox.js'
import { openTransport, type MailSettings } from './mail/transport.js'
import { operator } from './service/lib/access.js'
import type { Context } from './service/lib/context.js'
import { execute, type Call } from './service/lib/operation.js'
import { operatorAs } from './service/lib/sessions.js'

/** The database of a configuration with what operations need beside it. The only place where the layers meet. */
export interface App extends Database {
  /** What every surface shares; who asks is added by each. */
  base: Omit<Context, 'actor' | 'origin' | 'dryRun'>
}

/** Opens the database. SQLite brings its schema up to date by itself; PostgreSQL waits for `feedbackctl migrate`, unless `migrating`. */
export async function openApp(config: Config, { migrating = false }: { migrating?: boolean } = {}): Promise<App> {
  const url = config.get('database.url') ?? ''
  const database = await openDatabase(url)
  const { db } = database
  try {
    await prepareSchema(db, migrating || !isPostgres(url))
  } catch (error) {
    await database.close()
    throw error
  }
  const base = {
    db,
    now: () => new Date(),
    secret: lazySecret(config),
    mail: mailSettings(config),
    siteUrl: (config.get('site.url') ?? '').replace(/\/+$/, ''),
  }
  return { ...database, base }
}

async function prepareSchema(db: Db, migrating: boolean): Promise<void> {
  const state = await schemaState(db)
  if (state === 'newer') throw newer()
  if (state === 'current') return
  if (!migrating)
    throw new AppError(
      'DATABASE_OUTDATED',
      'The PostgreSQL database has no or an older schema. Make a backup, then bring it up to date with "feedbackctl migrate".',
    )
  await migrate(db)
}

interface Local {
  dryRun?: boolean
  /** In whose name: id, e-mail address or user name. */
  as?: string | undefined
}

/** Calls operations in this process, as the operator: whoever can open the database has the owner's rights. */
export const localCall =
  ({ base }: Pick<App, 'base'>, { dryRun = false, as }: Local = {}): Call =>
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
    return String(process.getuid?.() ?? 'unknown') // a container's user may have no name
  }
}

/** Brings the schema up to date, and returns the names of the changes that were made. */
export async function migrateDatabase(config: Config): Promise<string[]> {
  const db = await connect(config.get('database.url') ?? '')
  try {
    return await migrate(db)
  } finally {
    await db.destroy()
  }
}

/** Why mail cannot be sent now, or undefined. Only an SMTP server is asked. */
export async function mailProblem(mail: MailSettings): Promise<string | undefined> {
  const transport = await openTransport(mail)
  try {
    await transport.verify()
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    transport.close()
  }
}

/** Delivers what is due, so that mail leaves even where no server runs. Stops at the first failure and returns it; tells why it waits. */
export async function deliverDue(
  { db, base: { now } }: App,
  mail: MailSettings,
  tell: (waiting: string) => void,
): Promise<{ recipient: string; reason: string } | undefined> {
  const unrecorded = (_mail: unknown, error: Error) =>
    tell(`A mail was delivered, and waits to be recorded: ${error.message}`)
  const transport = await openTransport(mail)
  try {
    for await (const { mail: sent, error } of deliver(db, transport, now, unrecorded))
      if (error) return { recipient: sent.recipient, reason: error.message }
    return undefined
  } finally {
    transport.close()
  }
}

function mailSettings(config: Config): MailSettings | null {
  const url = config.get('mail.url')
  return url === undefined ? null : { url, from: config.get('mail.from') ?? '' }
}

function lazySecret(config: Config): () => string {
  let secret: string | undefined
  return () => (secret ??= config.get('secret') ?? wholeSecret(path.join(config.get('data.dir') ?? '.', 'secret')))
}

function wholeSecret(file: string): string {
  const secret = secretFile(file)
  if (secret.length >= 16) return secret
  throw new AppError(
    'CONFIG_INVALID',
    `The secret in ${file} has ${secret.length} characters, and needs at least 16. Restore the file, or remove it if this site has issued no token yet.`,
  )
}

/** The secret of the data folder, made at first use. Of two processes that make it at once, one wins and both read the same. */
function secretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT')
      throw new AppError('CONFIG_INVALID', `Cannot read the secret in ${file}: ${(error as { code?: string }).code}.`)
  }
  const mine = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(mine, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(mine, file) // fails if the file has appeared meanwhile
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(mine)
  }
  return readFileSync(file, 'utf8').trim()
}

export const listenAddress = (config: Config): { host: string; port: number } =>
  parseListen(config.get('listen') ?? '') ?? { host: '127.0.0.1', port: 8000 }
