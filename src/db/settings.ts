import type { Updateable } from 'kysely'
import type { Db, SettingsRow, Tables } from './tables.js'
import { isPostgres, mergedJson } from './dialect.js'

export const readSettings = (db: Db): Promise<SettingsRow> =>
  db.selectFrom('settings').selectAll().executeTakeFirstOrThrow()

/** Reads the settings, which nobody else changes until the transaction ends. */
export const lockSettings = (db: Db): Promise<SettingsRow> =>
  db
    .selectFrom('settings')
    .selectAll()
    .$if(isPostgres(db), (query) => query.forUpdate())
    .executeTakeFirstOrThrow()

export const updateSettings = (db: Db, change: Updateable<Tables['settings']>): Promise<SettingsRow> =>
  db.updateTable('settings').set(change).returningAll().executeTakeFirstOrThrow()

/** Sets only the given labs, so that a concurrent change of others is not lost. */
export const updateLabs = (db: Db, labs: Readonly<Record<string, boolean>>): Promise<SettingsRow> =>
  db
    .updateTable('settings')
    .set({ labs: mergedJson(db, 'labs', labs) })
    .returningAll()
    .executeTakeFirstOrThrow()

/** Stores the fingerprint of the secret if there is none yet, and returns the stored one. */
export async function claimFingerprint(db: Db, fingerprint: string): Promise<string | null> {
  const { secretFingerprint } = await readSettings(db)
  if (secretFingerprint !== null) return secretFingerprint
  await db
    .updateTable('settings')
    .set({ secretFingerprint: fingerprint })
    .where('secretFingerprint', 'is', null)
    .execute()
  return (await readSettings(db)).secretFingerprint
}
