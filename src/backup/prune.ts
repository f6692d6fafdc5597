import { rmSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { syncFolder } from '../core/atomicfile.js'
import { AppError } from '../core/errors.js'
import { openSnapshot } from '../db/snapshot.js'
import { assertDatabaseKept, assertSiteThere } from '../marker.js'
import type { OnProgress } from './records.js'
import { readFolder, verifyBackup, type Listed } from './verify.js'

/** Names of what commands keep before they replace a site. Whoever ran them decides about these. */
const SAFETY = /^before-/

/** The backups of a folder that are removed, and those that are kept. */
export interface Pruned {
  folder: string
  removed: Listed[]
  kept: Listed[]
  /** The newest that was read to its end, and is whole. Null where so few are there that nothing had to be removed. */
  verified: string | null
  /** Backups that are not counted and not touched, and why. Other files are not even looked at. */
  left: { file: string; why: string }[]
}

interface PruneOptions {
  folder?: string | undefined
  /** How many backups are kept. Default: the setting backup.keep. */
  keep?: number | undefined
  onProgress?: OnProgress | undefined
}

/**
 * Finds the older backups of the configured site in a folder. The newest that is whole stays in any case. Throws what
 * is wrong with the newest where none is whole. Removes nothing.
 */
export async function planPrune(config: Config, options: PruneOptions = {}): Promise<Pruned> {
  const { folder = config.get('backup.dir') ?? '', keep = Number(config.get('backup.keep')) } = options
  const site = await siteOf(config)
  const { backups: all, unread } = await readFolder(config, folder)
  const left = all.flatMap((each) => {
    const why = reasonToLeave(each, site)
    return why === undefined ? [] : [{ file: each.file, why }]
  })
  left.push(...unread.map(({ file }) => ({ file, why: 'it cannot be read as a backup' })))
  const ours = all.filter((each) => reasonToLeave(each, site) === undefined)
  const older = ours.slice(keep)
  const whole = older.length === 0 ? undefined : await newestWhole(config, ours, options.onProgress)
  const removed = older.filter((each) => each !== whole)
  const kept = ours.filter((each) => !removed.includes(each))
  return { folder: path.resolve(folder), removed, kept, verified: whole?.file ?? null, left }
}

export async function removePlanned({ folder, removed }: Pruned): Promise<void> {
  for (const { file } of removed) remove(file)
  if (removed.length > 0) syncFolder(folder)
}

async function siteOf(config: Config): Promise<string> {
  assertDatabaseKept(config)
  assertSiteThere(config)
  const snapshot = await openSnapshot(config.get('database.url') ?? '')
  try {
    if (snapshot.site !== undefined) return snapshot.site
    throw new AppError('SITE_NOT_FOUND', 'The database has no tables of feedbackctl yet.')
  } finally {
    await snapshot.close()
  }
}

function reasonToLeave({ file, site, redacted }: Listed, ours: string): string | undefined {
  if (site === null) return 'it does not say which site it belongs to'
  if (site !== ours) return 'it belongs to another site'
  if (SAFETY.test(path.basename(file))) return 'kept by a command that replaced the site'
  return redacted ? 'redacted' : undefined
}

async function newestWhole(
  config: Config,
  backups: readonly Listed[],
  onProgress: OnProgress | undefined,
): Promise<Listed> {
  const errors: unknown[] = []
  for (const each of backups)
    try {
      await verifyBackup(config, each.file, onProgress)
      return each
    } catch (error) {
      errors.push(error)
    }
  const [first] = errors
  if (!(first instanceof AppError)) throw first
  throw new AppError(first.code, `${first.message} No other backup here is whole either. Nothing was removed.`, {
    cause: first,
  })
}

function remove(file: string): void {
  try {
    rmSync(file)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return // another process was faster
    throw new AppError('BACKUP_FAILED', `Cannot remove ${file}: ${code}.`, { cause: error })
  }
}
