import type { Insertable, Selectable } from 'kysely'
import { isPostgres } from './dialect.js'
import { referringTo } from './references.js'
import type { Db, Tables } from './tables.js'

export async function insertUndo(db: Db, undo: Insertable<Tables['undos']>): Promise<void> {
  await referringTo({ users: undo.userId }, () => db.insertInto('undos').values(undo).execute())
}

/** Locks the undo until the transaction ends, so that of two at the same time only one takes the change back. */
export const lockUndo = (db: Db, undoId: string): Promise<Selectable<Tables['undos']> | undefined> =>
  db
    .selectFrom('undos')
    .selectAll()
    .where('undoId', '=', undoId)
    .$if(isPostgres(db), (query) => query.forUpdate())
    .executeTakeFirst()

export async function deleteUndo(db: Db, undoId: string): Promise<void> {
  await db.deleteFrom('undos').where('undoId', '=', undoId).execute()
}

export async function deleteExpiredUndos(db: Db, now: string): Promise<void> {
  await db.deleteFrom('undos').where('expiresAt', '<=', now).execute()
}
