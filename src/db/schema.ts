import { AppError } from '../core/errors.js'
import { isMissingTable } from './dialect.js'
import type { Db } from './tables.js'

/** The last of `migrations/`, checked by a test. Repeated here because migrations are loaded only when needed. */
export const NEWEST = '0084_word_statistics'

/** The fingerprints of `triggers/`, checked by a test. A change of them needs a new migration, even an empty one. */
export const TRIGGERS = { sqlite: 'e03ba32f56aaea2f', postgres: '485d7dfd71e37997' } as const

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

export const newer = (): AppError =>
  new AppError(
    'DATABASE_NEWER',
    'The database was written by a newer feedbackctl, and this one could damage it. Install the newer version, or restore a backup made by this one.',
  )
