import type { Migration, Migrator } from 'kysely'
import { insistently, transaction } from './connect.js'
import { isPostgres, lockCreation, withTempFiles } from './dialect.js'
import { NEWEST, newer, schemaState, TRIGGERS } from './schema.js'
import type { Db } from './tables.js'

/** Applies all new migrations in one transaction, and returns their names. A lock makes other processes wait. */
export async function migrate(db: Db): Promise<string[]> {
  if ((await schemaState(db)) === 'newer') throw newer()
  const results = await insistently(async () => {
    const { error, results: applied = [] } = await withTempFiles(db, async () => (await migrator(db)).migrateToLatest())
    if (error) throw error
    return applied
  })
  return results.map((result) => result.migrationName)
}

/** The migrations. The newest one also creates the triggers, in its transaction. */
export async function migrationsWithTriggers(): Promise<Record<string, Migration>> {
  const [{ migrations }, { createTriggers }] = await Promise.all([
    import('./migrations/index.js'),
    import('./triggers/index.js'),
  ])
  const newest: Migration = {
    up: async (db) => {
      await migrations[NEWEST]?.up(db)
      await createTriggers(db)
    },
  }
  return { ...migrations, [NEWEST]: newest }
}

/**
 * Creates the triggers if a database with the newest schema lacks those of this program. A newer version that goes back
 * to this schema does not know them.
 */
export async function ensureTriggers(db: Db): Promise<void> {
  if (await hasTriggers(db)) return
  const { createTriggers } = await import('./triggers/index.js')
  await transaction(db, async (inside) => {
    await lockCreation(inside)
    if (!(await hasTriggers(inside))) await createTriggers(inside)
  })
}

const hasTriggers = async (db: Db): Promise<boolean> => {
  const row = await db.selectFrom('schema_triggers').select('fingerprint').executeTakeFirst()
  return row?.fingerprint === TRIGGERS[isPostgres(db) ? 'postgres' : 'sqlite']
}

/** The names of all migrations, oldest first. */
export const migrationNames = async (): Promise<string[]> =>
  Object.keys((await import('./migrations/index.js')).migrations).toSorted()

async function migrator(db: Db): Promise<Migrator> {
  const [kysely, migrations] = await Promise.all([import('kysely'), migrationsWithTriggers()])
  return new kysely.Migrator({ db, provider: { getMigrations: async () => migrations } })
}
