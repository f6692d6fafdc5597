import { renameSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { databaseFile } from '../core/addresses.js'
import { syncFolder } from '../core/atomicfile.js'
import { assertDatabaseKept, assertSiteThere } from '../marker.js'
import { stampOf } from './files.js'
import { restoreBackup } from './restore.js'
import type { OnStep } from './steps.js'
import { lastBeforeUpgrade, type Before } from './upgrade.js'

/** The result of a rollback, or of its dry run. */
export interface RolledBack extends Before {
  /** The schema before the rollback. */
  from: string
  /** The database before the rollback: a SQLite file, or a backup of PostgreSQL. */
  kept: string | null
}

interface RollbackOptions {
  version: string
  now: Date
  dryRun?: boolean
  onProgress?: OnStep | undefined
}

/**
 * Restores the database from before the last upgrade, with its older schema. The present one is kept. Throws
 * BACKUP_NOT_FOUND where nothing was kept, and DATABASE_IN_USE while another process has the database open.
 */
export async function rollBack(
  config: Config,
  { version, now, dryRun = false, onProgress }: RollbackOptions,
): Promise<RolledBack> {
  assertDatabaseKept(config)
  assertSiteThere(config)
  const before = await lastBeforeUpgrade(config)
  const { file, schema, createdAt, from } = before
  const done = { file, schema, createdAt, from }
  const database = databaseFile(config.get('database.url') ?? '')
  if (database === undefined) {
    const options = { version, now, dryRun, onProgress, update: false, beside: false, name: 'before-rollback' }
    const { kept } = await restoreBackup(config, file, options)
    return { ...done, kept }
  }
  const kept = `${database}.before-rollback-${stampOf(now)}`
  const [{ checkDatabase }, { lockFile }] = await Promise.all([
    import('../db/sqlite/copy.js'),
    import('../db/sqlite/alone.js'),
  ])
  checkDatabase(file)
  const lock = lockFile(database)
  try {
    if (!dryRun) {
      lock.keep(kept)
      renameSync(file, database)
    }
  } finally {
    lock.release()
  }
  syncFolder(path.dirname(database))
  return { ...done, kept }
}
