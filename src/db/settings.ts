import type { Updateable } from 'kysely'
import type { Db, SettingsRow, Tables } from './tables.js'
import { mergedJson } from './dialect.js'

export const readSettings = (db: Db): Promise<SettingsRow> =>
  db.selectFrom('settings').selectAll().executeTakeFirstOrThrow()

export const updateSettings = (db: Db, change: Updateable<Tables['settings']>): Promise<SettingsRow> =>
  db.updateTable('settings').set(change).returningAll().executeTakeFirstOrThrow()

/** Switches some of the labs, and leaves the others as whoever changes them meanwhile wants them. */
export const updateLabs = (db: Db, labs: Readonly<Record<string, boolean>>): Promise<SettingsRow> =>
  db
    .updateTable('settings')
    .set({ labs: mergedJson(db, 'labs', labs) })
    .returningAll()
    .executeTakeFirstOrThrow()

/** The fingerprint this database belongs to: the one given, if it had none yet. */
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
