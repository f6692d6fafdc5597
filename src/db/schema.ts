import type { Migrator } from 'kysely'
import { AppError } from '../core/errors.js'
import type { Db } from './tables.js'
import { isMissingTable, sortingOnDisk } from './dialect.js'

/** The newest migration this program knows; a test keeps it equal to the last of `migrations/`, which is loaded only to migrate. */
export const NEWEST = '0006_job_leases'

/** Whether the database's schema is older than, the same as, or newer than this program's. */
export async function schemaState(db: Db): Promise<'current' | 'outdated' | 'newer'> {
  const applied = await newestApplied(db)
  if (applied === NEWEST) return 'current'
  return applied !== undefined && applied > NEWEST ? 'newer' : 'outdated'
}

async function newestApplied(db: Db): Promise<string | undefined> {
  try {
    const row = await (db as unknown as MigrationDb)
      .selectFrom('kysely_migration')
      .select('name')
      .orderBy('name', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row?.name
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}

type MigrationDb = import('kysely').Kysely<{ kysely_migration: { name: string } }> // Kysely's own table, in no type of ours

/** Brings the schema up to date, all or nothing and one process at a time, and returns the names of what was applied. */
export async function migrate(db: Db): Promise<string[]> {
  if ((await schemaState(db)) === 'newer') throw newer()
  const { error, results = [] } = await sortingOnDisk(db, async () => (await migrator(db)).migrateToLatest())
  if (error) throw error
  return results.map((result) => result.migrationName)
}

export const newer = (): AppError =>
  new AppError(
    'DATABASE_NEWER',
    'The database was written by a newer feedbackctl, and this one could damage it. Install the newer version, or restore a backup made by this one.',
  )

async function migrator(db: Db): Promise<Migrator> {
  const [kysely, { migrations }] = await Promise.all([import('kysely'), import('./migrations/index.js')])
  return new kysely.Migrator({ db, provider: { getMigrations: async () => migrations } })
}
