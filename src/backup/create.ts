import { createWriteStream, existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Writable } from 'node:stream'
import type { Config } from '../config.js'
import { atomicFile } from '../core/atomicfile.js'
import { AppError } from '../core/errors.js'
import { whyNotWritten } from '../core/filecauses.js'
import { inFolder, openNewFile } from '../core/files.js'
import { NEWEST, newer } from '../db/schema.js'
import { openSnapshot, type Snapshot } from '../db/snapshot.js'
import { assertDatabaseKept, assertSiteThere } from '../marker.js'
import { secretFile } from '../secret.js'
import { writeContainer } from './container.js'
import { ENDING, stampOf } from './files.js'
import { backupLeftovers, removeLeftovers } from './leftovers.js'
import { linesOf, type Manifest, type SiteFiles, type OnProgress } from './records.js'

/** A backup that was made. `file` is null where it went to a stream. */
export interface Made {
  file: string | null
  schema: string
  createdAt: string
  encrypted: boolean
  redacted: boolean
  bytes: number | null
  sha256: string | null
  tables: Record<string, { rows: number }>
}

interface BackupOptions {
  /** A file that does not exist, a folder, or a stream. Default: the folder of backups. */
  to: string | Writable | undefined
  version: string
  now: Date
  redact?: boolean
  dryRun?: boolean
  onProgress?: OnProgress | undefined
  /** The beginning of the name in a folder. */
  name?: string
  /** Adds a number to a name in a folder that is taken: there may have been a backup in the same second. */
  numbered?: boolean
}

/** Writes a backup of the configured site, whole or not at all. Nothing waits for it, not even what writes. */
export async function createBackup(config: Config, options: BackupOptions): Promise<Made> {
  const { to = config.get('backup.dir') ?? '', version, now, redact = false, dryRun = false, onProgress } = options
  assertDatabaseKept(config)
  assertSiteThere(config)
  const target = typeof to === 'string' ? fileFor(to, now, options) : undefined
  if (target !== undefined && existsSync(target)) throw exists(target)
  const snapshot = await openSnapshot(config.get('database.url') ?? '')
  try {
    const schema = schemaOf(snapshot)
    const passphrase = config.get('backup.passphrase')
    const header = {
      version,
      schema,
      site: snapshot.site,
      engine: snapshot.engine,
      createdAt: now.toISOString(),
      redacted: redact,
    }
    const base = { schema, createdAt: header.createdAt, encrypted: passphrase !== undefined, redacted: redact }
    if (dryRun) return { file: target ?? null, ...base, bytes: null, sha256: null, tables: {} }
    const held: { manifest?: Manifest } = {}
    const lines = linesOf(snapshot, siteFiles(config), {
      redact,
      onProgress,
      done: (manifest) => (held.manifest = manifest),
    })
    const write = (stream: Writable) => writeContainer(stream, header, { lines, passphrase })
    const sha256 = await (target === undefined ? write(to as Writable) : whole(target, write))
    const tables = Object.entries(held.manifest?.tables ?? {}).map(([name, { rows }]) => [name, { rows }])
    const bytes = target === undefined ? null : statSync(target).size
    return { file: target ?? null, ...base, bytes, sha256, tables: Object.fromEntries(tables) }
  } finally {
    await snapshot.close()
  }
}

function schemaOf({ schema }: Snapshot): string {
  if (schema === undefined) throw new AppError('SITE_NOT_FOUND', 'The database has no tables of feedbackctl yet.')
  if (schema > NEWEST) throw newer()
  return schema
}

/** The secret that signs tokens, without which a restored site signs everybody out, and the configuration. */
function siteFiles(config: Config): SiteFiles {
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : null)
  return { secret: config.get('secret') ?? read(secretFile(config))?.trim() ?? null, config: read(config.file) }
}

/** For names that cannot be those of a file. */
const wrongName = (error: unknown): AppError | undefined =>
  ['ENAMETOOLONG', 'ENOTDIR'].includes((error as { code?: string }).code ?? '')
    ? new AppError('VALIDATION_ERROR', `The backup cannot be written: ${whyNotWritten(error)}.`)
    : undefined

function isFolder(name: string): boolean {
  try {
    return statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? name.endsWith(path.sep)
  } catch (error) {
    throw wrongName(error) ?? error
  }
}

function fileFor(to: string, now: Date, { to: given, name = 'feedback', numbered = false }: BackupOptions): string {
  if (given !== undefined && !isFolder(to)) return path.resolve(to)
  const begin = path.resolve(to, `${name}-${stampOf(now)}`)
  const file = begin + ENDING
  return numbered && existsSync(file) ? nextFree(begin) : file
}

function nextFree(begin: string): string {
  for (let number = 2; ; number++) {
    const file = `${begin}-${number}${ENDING}`
    if (!existsSync(file)) return file
  }
}

const exists = (file: string): AppError =>
  new AppError('BACKUP_EXISTS', `${file} exists. Choose another name, or remove it first. Nothing was written.`)

/** Writes a file for its owner only, which has its name when all of it is on the disk. */
async function whole(file: string, write: (to: Writable) => Promise<string>): Promise<string> {
  try {
    return await inFolder(path.dirname(file), async () => writeWhole(file, write))
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (code === 'EEXIST') throw exists(file)
    const wrong = code === 'ENAMETOOLONG' ? wrongName(error) : undefined // others are BACKUP_FAILED, which the schedule reports and tries again
    if (wrong) throw wrong
    if (error instanceof AppError || !/^E[A-Z]+$/.test(code)) throw error
    throw new AppError(
      code === 'ENOSPC' || code === 'EDQUOT' ? 'STORAGE_FULL' : 'BACKUP_FAILED',
      `Cannot write ${file}: ${whyNotWritten(error)}. There is no backup.`,
      { cause: error },
    )
  }
}

async function writeWhole(file: string, write: (to: Writable) => Promise<string>): Promise<string> {
  const fresh = atomicFile(file, { ending: (_pid, random) => `.${random}.part` })
  try {
    removeLeftovers(backupLeftovers(path.dirname(file), new Date()))
    const stream = createWriteStream(fresh.temporary, { fd: openNewFile(fresh.temporary), flush: true })
    const failed = new Promise<never>((_resolve, reject) => stream.once('error', reject))
    const hash = await Promise.race([write(stream), failed])
    await Promise.race([new Promise<void>((resolve) => stream.end(resolve)), failed])
    fresh.create()
    return hash
  } finally {
    fresh.discard()
  }
}
