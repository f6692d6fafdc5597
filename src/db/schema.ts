import type { Migrator } from 'kysely'
import { AppError } from '../core/errors.js'
import type { Db } from './tables.js'
import { isMissingTable, withTempFiles } from './dialect.js'

/** The last of `migrations/`, checked by a test. Repeated here because migrations are loaded only when needed. */
export const NEWEST = '0028_reports_logged'

/** Compares the schema of the database with this program's. */
export async function schemaState(db: Db): Promise<'current' | 'outdated' | 'newer'> {
  const applied = await newestApplied(db)
  if (applied === NEWEST) return 'current'
  return applied !== undefined && applied > NEWEST ? 'newer' : 'outdated'
}

/** The name of the last migration that the database has; undefined without any. */
export async function newestApplied(db: Db): Promise<string | undefined> {
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

type MigrationDb = import('kysely').Kysely<{ kysely_migration: { name: string } }> // Kysely's own table

/** Applies all new migrations in one transaction, and returns their names. A lock makes other processes wait. */
export async function migrate(db: Db): Promise<string[]> {
  if ((await schemaState(db)) === 'newer') throw newer()
  const { error, results = [] } = await withTempFiles(db, async () => (await migrator(db)).migrateToLatest())
  if (error) throw error
  return results.map((result) => result.migrationName)
}

/** The names of all migrations, oldest first. */
export const migrationNames = async (): Promise<string[]> =>
  Object.keys((await import('./migrations/index.js')).migrations).toSorted()

export const newer = (): AppError =>
  new AppError(
    'DATABASE_NEWER',
    'The database was written by a newer feedbackctl, and this one could damage it. Install the newer version, or restore a backup made by this one.',
  )

async function migrator(db: Db): Promise<Migrator> {
  const [kysely, { migrations }] = await Promise.all([import('kysely'), import('./migrations/index.js')])
  return new kysely.Migrator({ db, provider: { getMigrations: async () => migrations } })
}
