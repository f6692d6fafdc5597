import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { openDatabase } from '../db/connect.js'
import { ensureTriggers, migrate, migrationNames } from '../db/migrate.js'
import { newer, newestApplied, schemaState } from '../db/schema.js'
import type { Db } from '../db/tables.js'
import { assertDatabaseKept, assertSiteThere } from '../marker.js'

/** The result of a migration, or of its dry run. */
export interface Migrated {
  /** The names of the migrations, oldest first. */
  applied: string[]
  /** The copy of the database from before: a file, or a backup. Null if there was nothing to keep. */
  kept: string | null
}

/** Whether statements are prepared at the server, which some poolers do not allow. */
export const isPrepared = (config: Config): boolean => config.get('database.prepare') !== 'false'

/** Without `keep`, which keeps the database as it is, an outdated schema is refused. */
export async function prepareSchema(
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

/** Throws DATABASE_OUTDATED or DATABASE_NEWER if the schema is not that of this program. It changes nothing. */
export async function assertCurrent(db: Db): Promise<void> {
  const state = await schemaState(db)
  if (state === 'newer') throw newer()
  if (state === 'outdated')
    throw new AppError('DATABASE_OUTDATED', 'The database has an older schema. Run "feedbackctl migrate".')
}

/** Returns no copy if another process has migrated first: that one reports it. */
async function upgrade(db: Db, keep: () => Promise<string | undefined>): Promise<Migrated> {
  const kept = await keep()
  const applied = await migrate(db)
  return { applied, kept: applied.length > 0 ? (kept ?? null) : null }
}

export async function keepBefore(
  config: Config,
  options: { version: string; dryRun?: boolean },
): Promise<string | undefined> {
  const { keepBeforeUpgrade } = await import('../backup/upgrade.js')
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
