import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { whyNotRead } from '../core/filecauses.js'
import { migrationNames } from '../db/migrate.js'
import { checkHash, readHeader, type Header, type Opened } from './container.js'
import { ENDING } from './files.js'
import { readRecords, type Envelope, type Manifest, type OnProgress } from './records.js'

/** The header of a backup, which needs no passphrase. */
export interface Listed {
  file: string
  bytes: number
  createdAt: string
  version: string
  schema: string
  /** Tells the site from others; null where the backup does not say. */
  site: string | null
  engine: Header['engine']
  encrypted: boolean
  redacted: boolean
}

const listed = (file: string, { header, size }: Opened): Listed => {
  const { createdAt, version, schema, site = null, engine, encryption, redacted } = header
  return { file, bytes: size, createdAt, version, schema, site, engine, encrypted: encryption !== null, redacted }
}

/** A file with the name of a backup that is none, or cannot be read. */
interface Unread {
  file: string
  /** A sentence that names the file. */
  why: string
}

/** The backups in the folder of backups, or another, newest first, and the files there that only have the name of one. */
export async function readFolder(
  config: Config,
  folder = config.get('backup.dir') ?? '',
): Promise<{ backups: Listed[]; unread: Unread[] }> {
  const backups: Listed[] = []
  const unread: Unread[] = []
  for (const name of namesIn(folder).filter((each) => each.endsWith(ENDING))) {
    const file = path.resolve(folder, name)
    try {
      backups.push(listed(file, await readHeader(file)))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code !== 'BACKUP_NOT_FOUND') unread.push({ file, why: error.message }) // else removed meanwhile, or a folder
    }
  }
  backups.sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
  return { backups, unread }
}

/** The backups in the folder of backups, or another, newest first. Other files are left out. */
export const listBackups = async (config: Config, folder?: string): Promise<Listed[]> =>
  (await readFolder(config, folder)).backups

/** The file that a person names: the name alone will do in backup.dir, as "backup list" shows it. */
export function fileOf(config: Config, given: string): string {
  const listedName = path.join(config.get('backup.dir') ?? '', given)
  return path.basename(given) === given && !existsSync(given) && existsSync(listedName) ? listedName : given
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR' || code === 'ENAMETOOLONG') throw new AppError('BACKUP_NOT_FOUND', `${folder} is not a folder.`) // prettier-ignore
    throw new AppError('BACKUP_FAILED', `Cannot read the folder ${folder}: ${whyNotRead(error)}.`, { cause: error })
  }
}

/**
 * Throws DATABASE_NEWER where this program does not know the schema of the backup, and BACKUP_DAMAGED where the schema
 * is only misread: a flipped bit in its name looks like a newer one.
 */
export async function assertSchemaKnown(file: string, opened: Opened): Promise<void> {
  const { schema } = opened.header
  if ((await migrationNames()).includes(schema)) return
  await checkHash(file, opened)
  throw new AppError(
    'DATABASE_NEWER',
    `${file} was made by a newer feedbackctl (schema ${schema}). Install that version, and restore with it. Nothing was changed.`,
  )
}

/** A backup of which every byte, row and count was checked. */
export interface Verified extends Listed {
  tables: Manifest['tables']
}

/** Reads all of a backup. Throws BACKUP_DAMAGED where it is not what was written. */
export async function verifyBackup(
  config: Config,
  given: string,
  onProgress?: OnProgress,
): Promise<{ opened: Opened; manifest: Manifest; verified: Verified }> {
  const file = fileOf(config, given)
  const opened = await readHeader(file)
  await checkHash(file, opened)
  const envelope: Partial<Envelope> = {}
  const records = readRecords(file, opened, { passphrase: config.get('backup.passphrase'), envelope, onProgress })
  while (!(await records.next()).done);
  const manifest = envelope.manifest ?? { tables: {}, sequences: {} } // readRecords throws where there is none
  return { opened, manifest, verified: { ...listed(path.resolve(file), opened), tables: manifest.tables } }
}
