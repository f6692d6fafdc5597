import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { databaseFile } from '../core/addresses.js'
import { isRunning } from '../core/processes.js'
import { replaceFile } from '../core/atomicfile.js'
import { secondsOf } from '../core/durations.js'
import { AppError } from '../core/errors.js'
import { inFolder } from '../core/files.js'
import { openDatabase, transaction } from '../db/connect.js'
import { clear, holdWrites, load, type Contents } from '../db/load.js'
import { newestApplied } from '../db/schema.js'
import type { Db } from '../db/tables.js'
import { secretFile } from '../secret.js'
import { readHeader } from './container.js'
import { createBackup } from './create.js'
import { exclusiveAccess, type ExclusiveAccess } from './exclusive.js'
import { assertUnused, filledFile, hasContent, placeMark, stampOf } from './files.js'
import { filesIn, leftoversIn, removeLeftovers } from './leftovers.js'
import { readRecords, type Envelope, type Manifest, type OnProgress } from './records.js'
import { counter, rowsOf, type OnStep } from './steps.js'
import { assertSchemaKnown, fileOf, verifyBackup } from './verify.js'

/** The result of a restore, or of its dry run. */
export interface Restored {
  /** The SQLite file, or null with PostgreSQL. */
  file: string | null
  /** The previous database: a SQLite file, or a backup of PostgreSQL. Null if there was none. */
  kept: string | null
  createdAt: string
  /** The last migration of the backup. */
  schema: string
  /** The secret: the same as before, written from the backup, a setting that differs, or not in the backup. */
  secret: 'same' | 'restored' | 'differs' | 'none'
  /** Where the configuration of the backup is written; null where it is not in the backup, or as it is here. */
  config: string | null
  /** Whether servers used the site, and closed it meanwhile. */
  served: boolean
  tables: Manifest['tables']
}

interface RestoreOptions {
  /** A new data folder, in place of the configured database. */
  into?: string | undefined
  version: string
  now: Date
  dryRun?: boolean
  /** Whether the schema is updated to that of this program; true where it is left out. */
  update?: boolean
  /** Whether servers may be asked to close the database; true where it is left out. */
  beside?: boolean
  /** Prefix of the name of the backup of the previous PostgreSQL database. */
  name?: string
  onProgress?: OnStep | undefined
}

/** The target of a restore. */
interface Target {
  url: string
  file: string | undefined
  secretFile: string
  /** The secret that is a setting. */
  secret: string | undefined
}

/**
 * Puts the site of a backup in place of what is there, which is kept. The backup is read to its end first. Servers close
 * the database meanwhile; throws DATABASE_IN_USE while another process has it open. Killed at any moment, the old site is
 * there or the new one.
 */
export async function restoreBackup(config: Config, given: string, options: RestoreOptions): Promise<Restored> {
  const file = fileOf(config, given)
  const target = targetOf(config, options.into)
  const read = await readHeader(file)
  const { schema } = read.header
  await assertSchemaKnown(file, read)
  const { onProgress = () => {} } = options
  const counted = counter(onProgress)
  const { manifest, verified } = await verifyBackup(config, file, counted('check', undefined))
  const access = await exclusiveAccess({
    url: target.url,
    now: options.now,
    seconds: secondsOf(config.get('shutdown.timeout') ?? '25s'),
    assertUnused: (options) => assertUnused(target, options),
    waiting: () => onProgress('wait', '', 0, undefined),
    isAllowed: options.beside ?? true,
    prepare: config.get('database.prepare') !== 'false',
  })
  const { secret, config: texts } = await siteOf(config, file)
  const state = secretState(target, secret)
  // No server starts with a secret that is not that of the data
  if (access.isServed && (state === 'differs' || state === 'none')) await assertUnused(target)
  const envelope: Partial<Envelope> = {}
  const contents = {
    ...(await contentsOf(config, file, { envelope, onProgress: counted('restore', rowsOf(manifest)) })),
    indexed: (table: string, rows: number, all: number) => onProgress('index', table, rows, all),
    update: options.update ?? true,
  }
  const done = { createdAt: verified.createdAt, schema, served: access.isServed, tables: manifest.tables }
  if (options.dryRun) {
    const shown = configFileFor(config, target, texts)
    return { file: target.file ?? null, kept: keptName(target, options.now), ...done, secret: state, config: shown }
  }
  const { file: database } = target
  try {
    const kept =
      database === undefined
        ? await intoPostgres(config, target.url, contents, { ...options, access })
        : await inFolder(path.dirname(database), async () => intoFile(database, contents, { now: options.now, access }))
    return {
      file: database ?? null,
      kept,
      ...done,
      secret: keepSecret(target, secret, options.now),
      config: keepConfig(config, target, texts),
    }
  } finally {
    await access.release()
  }
}

/**
 * Replaces the contents of the configured database, and keeps the previous one. If it is killed, the database has the old
 * contents or the new ones. Throws DATABASE_IN_USE while another process uses it.
 */
export async function replaceContents(
  config: Config,
  contents: Contents,
  options: Pick<RestoreOptions, 'version' | 'now' | 'name'>,
): Promise<string | null> {
  const target = targetOf(config, undefined)
  const { file, url } = target
  const access = { acquire: () => assertUnused(target) }
  if (file === undefined) return intoPostgres(config, url, contents, { ...options, access })
  return inFolder(path.dirname(file), async () => intoFile(file, contents, { now: options.now, access }))
}

/** The secret and the configuration in a backup, which are on its first line. */
async function siteOf(config: Config, file: string): Promise<{ secret: string | null; config: string | null }> {
  const envelope: Partial<Envelope> = {}
  const { rows } = await contentsOf(config, file, { envelope, onProgress: () => {} })
  const lines = rows[Symbol.asyncIterator]()
  await lines.next()
  await lines.return?.()
  return { secret: envelope.site?.secret ?? null, config: envelope.site?.config ?? null }
}

function targetOf(config: Config, into: string | undefined): Target {
  if (into !== undefined) {
    const folder = path.resolve(into)
    const target = { file: path.join(folder, 'feedback.db'), secretFile: path.join(folder, 'secret') }
    for (const each of Object.values(target))
      if (existsSync(each)) throw new AppError('BACKUP_EXISTS', `${each} exists. --into takes a folder without a site.`)
    return { url: `sqlite:${target.file}`, ...target, secret: undefined }
  }
  const url = config.get('database.url') ?? ''
  const file = databaseFile(url)
  return { url, file, secretFile: secretFile(config), secret: config.get('secret') }
}

async function contentsOf(
  config: Config,
  file: string,
  { envelope, onProgress }: { envelope: Partial<Envelope>; onProgress: OnProgress },
): Promise<Contents> {
  const opened = await readHeader(file)
  const rows = readRecords(file, opened, { passphrase: config.get('backup.passphrase'), envelope, onProgress })
  return { schema: opened.header.schema, rows, sequences: () => envelope.manifest?.sequences ?? {} }
}

/** A free name: there may have been a restore in the same second. */
function keptName({ file }: Pick<Target, 'file'>, now: Date): string | null {
  if (file === undefined || !hasContent(file)) return null
  const name = `${file}.before-restore-${stampOf(now)}`
  let free = name
  for (let number = 2; existsSync(free); number++) free = `${name}-${number}`
  return free
}

/** Temporary files of restores: the process, where it runs, and a random end. */
const RESTORING = /\.restoring-(\d+)-([\da-f]{8})?[\da-f]{8}(-wal|-shm|-journal)?$/

/** What killed restores of this place have left, and what nobody of elsewhere has written to for long. */
function abandoned(file: string, now: Date): { file: string }[] {
  const folder = path.dirname(file)
  const killed = filesIn(folder, RESTORING).filter((each) => {
    const [, pid, mark] = RESTORING.exec(each.file) ?? []
    return mark === placeMark() && !isRunning(Number(pid))
  })
  return [...killed, ...leftoversIn(folder, RESTORING, now)].filter((each) => each.file.startsWith(`${file}.`))
}

/** Fills a new file beside the old one, and takes its name. A name is one or the other, whatever happens meanwhile. */
async function intoFile(
  file: string,
  contents: Contents,
  { now, access }: { now: Date; access: Pick<ExclusiveAccess, 'acquire'> },
): Promise<string | null> {
  removeLeftovers(abandoned(file, now))
  const fresh = await filledFile(file, 'restoring', contents)
  try {
    await access.acquire()
    const { lockFile } = await import('../db/sqlite/alone.js')
    const lock = hasContent(file) ? lockFile(file) : undefined
    const kept = keptName({ file }, now)
    try {
      if (kept !== null) lock?.keep(kept)
      fresh.replace()
    } finally {
      lock?.release()
    }
    return kept
  } finally {
    fresh.discard()
  }
}

/** One transaction removes the old tables and makes the new ones. What was there is kept as a backup. */
async function intoPostgres(
  config: Config,
  url: string,
  contents: Contents,
  options: RestoreOptions & { access: Pick<ExclusiveAccess, 'acquire'> },
): Promise<string | null> {
  await options.access.acquire()
  const prepare = config.get('database.prepare') !== 'false'
  const { db, close } = await openDatabase(url, { prepare })
  try {
    const { version, now, name = 'before-restore' } = options
    const isThere = (await newestApplied(db)) !== undefined
    let kept: string | null = null
    const drop = () => kept !== null && rmSync(kept, { force: true })
    try {
      await transaction(db, async (inside: Db) => {
        if (isThere) {
          await holdWrites(inside) // what somebody writes after the backup would be lost
          drop() // of an attempt before
          kept = (await createBackup(config, { to: undefined, version, now, name, numbered: true })).file
        }
        await clear(inside)
        await load(inside, contents)
      })
    } catch (error) {
      // Without an answer to the commit it is unknown whether the old site is still there
      if (!(error instanceof AppError && error.code === 'DATABASE_UNREACHABLE')) drop()
      throw error
    }
    return kept
  } finally {
    await close()
  }
}

function secretState({ secret, secretFile: file }: Target, restored: string | null): Restored['secret'] {
  if (restored === null) return 'none'
  if (secret !== undefined) return secret === restored ? 'same' : 'differs'
  return existsSync(file) && readFileSync(file, 'utf8').trim() === restored ? 'same' : 'restored'
}

/** Writes the secret of the backup, unless it is there already. Another one is kept beside it. */
function keepSecret(target: Target, restored: string | null, now: Date): Restored['secret'] {
  const state = secretState(target, restored)
  if (state !== 'restored') return state
  const file = target.secretFile
  const old = `${file}.before-restore-${stampOf(now)}`
  if (existsSync(file)) renameSync(file, old)
  replaceFile(file, `${restored}\n`)
  return state
}

function configFileFor(config: Config, { secretFile: file }: Target, restored: string | null): string | null {
  if (restored === null) return null
  if (existsSync(config.file) && readFileSync(config.file, 'utf8') === restored) return null
  return path.join(path.dirname(file), 'config.toml.from-backup')
}

/**
 * Writes the configuration of the backup beside the secret, where no command reads it: its database, addresses and mail
 * server are those of the machine of the backup, and a trial elsewhere must not use them.
 */
function keepConfig(config: Config, target: Target, restored: string | null): string | null {
  const file = configFileFor(config, target, restored)
  if (file !== null && restored !== null) replaceFile(file, restored)
  return file
}
