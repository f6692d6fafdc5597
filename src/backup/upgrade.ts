import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { databaseFile } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { NEWEST } from '../db/schema.js'
import { openSnapshot } from '../db/snapshot.js'
import { createBackup } from './create.js'
import { stampOf } from './files.js'
import { listBackups } from './verify.js'

/** Number of copies from before upgrades that are kept. */
const KEPT = 3
/** Begins the names of these backups of PostgreSQL. */
const NAME = 'before-upgrade'

/** The copy from before an upgrade: a SQLite file, or a backup of a PostgreSQL database. */
export interface Before {
  file: string
  schema: string
  createdAt: string
}

/**
 * Keeps the database as it is before its schema is updated: a copy beside the SQLite file, or a backup of PostgreSQL in
 * the folder of backups. Returns its name; undefined where there is no schema yet, where another process keeps it at the
 * same moment, or has updated it already. Older ones are removed, but for a few.
 */
export async function keepBeforeUpgrade(
  config: Config,
  { version, now, dryRun = false }: { version: string; now: Date; dryRun?: boolean },
): Promise<string | undefined> {
  const url = config.get('database.url') ?? ''
  const { schema, site } = await schemaAndSite(url)
  if (schema === undefined || schema === NEWEST) return undefined
  const database = databaseFile(url)
  if (database === undefined) {
    try {
      const { file } = await createBackup(config, { to: undefined, version, now, name: NAME, dryRun })
      if (!dryRun)
        for (const each of (await backupsBefore(config, site)).slice(KEPT)) rmSync(each.file, { force: true })
      return file ?? undefined
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'BACKUP_EXISTS') return undefined
      if (error.code !== 'BACKUP_FAILED' && error.code !== 'STORAGE_FULL') throw error
      throw new AppError(
        error.code,
        `${error.message} It would keep the database as it is before an update, so nothing was changed. Set backup.dir to another folder, or run "feedbackctl migrate --no-backup".`,
        { cause: error },
      )
    }
  }
  const to = `${database}.${NAME}-${stampOf(now)}`
  if (dryRun || existsSync(to)) return to
  const { copyDatabase } = await import('../db/sqlite/copy.js')
  copyDatabase(database, to)
  for (const file of copiesOf(database).slice(KEPT)) rmSync(file, { force: true })
  return to
}

async function schemaAndSite(url: string): Promise<{ schema: string | undefined; site: string | undefined }> {
  const snapshot = await openSnapshot(url)
  try {
    return { schema: snapshot.schema, site: snapshot.site }
  } finally {
    await snapshot.close()
  }
}

/** The copies beside a SQLite file, newest first. */
function copiesOf(database: string): string[] {
  const begin = `${path.basename(database)}.${NAME}-`
  return readdirSync(path.dirname(database))
    .filter((name) => name.startsWith(begin) && /^\d{8}T\d{6}Z$/.test(name.slice(begin.length)))
    .toSorted((one, other) => (one < other ? 1 : -1))
    .map((name) => path.join(path.dirname(database), name))
}

const backupsBefore = async (config: Config, site: string | undefined) =>
  (await listBackups(config)).filter((each) => path.basename(each.file).startsWith(`${NAME}-`) && each.site === site)

/** The copy from before the last upgrade of the configured database. Throws BACKUP_NOT_FOUND. */
export async function lastBeforeUpgrade(config: Config): Promise<Before & { from: string }> {
  const url = config.get('database.url') ?? ''
  const { schema = '', site } = await schemaAndSite(url)
  const older = (each: Before): boolean => each.schema < schema
  const database = databaseFile(url)
  if (database === undefined) {
    const found = (await backupsBefore(config, site)).find(older)
    if (found) return { ...found, from: schema }
    throw notFound(`${config.get('backup.dir')} has no backup of this site from before an upgrade.`)
  }
  for (const file of copiesOf(database)) {
    const found = { file, schema: (await schemaAndSite(`sqlite:${file}`)).schema ?? '', createdAt: timeOf(file) }
    if (older(found)) return { ...found, from: schema }
  }
  throw notFound(`There is no copy of ${database} from before an upgrade.`)
}

const notFound = (what: string): AppError =>
  new AppError(
    'BACKUP_NOT_FOUND',
    `${what} To go back without one, restore a backup with the version of feedbackctl that made it. Nothing was changed.`,
  )

/** When a file was kept, by the end of its name. */
export const timeOf = (file: string): string =>
  file.replace(/^.*(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-\d+)?$/s, '$1-$2-$3T$4:$5:$6.000Z')
