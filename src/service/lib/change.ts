import { changeOf, UNDOES, type FieldChange } from '../../core/details.js'
import { AppError } from '../../core/errors.js'
import { notFoundCode, NOUNS, type Action } from '../../core/nouns.js'
import { rolledBack, transaction } from '../../db/connect.js'
import { lockCreation } from '../../db/dialect.js'
import { insertEvents } from '../../db/events.js'
import { ForeignKeyError, missingReference } from '../../db/references.js'
import { assertSignedIn } from './access.js'
import type { Context } from './context.js'

/** A context inside a transaction. */
export interface Change extends Context {
  /**
   * Adds an event. `subject` is the present name of the row; leave it out for people, who may erase theirs, and for
   * votes. `personId` is the other person concerned. `changes` says what changed.
   */
  record(
    this: void,
    action: Action,
    subjectId: string,
    subject?: string,
    personId?: string,
    changes?: readonly FieldChange[],
  ): void
}

/**
 * Runs every write of the service: the write and its events are one transaction. A dry run is rolled back. `work`
 * awaits only the database. It runs again after a deadlock or a serialization failure, so it looks up what must exist
 * itself.
 */
export async function change<T>(ctx: Context, work: (change: Change) => Promise<T>): Promise<T> {
  // A dry run takes the write lock, which visitors must not block
  if (ctx.dryRun) assertSignedIn('signed-in', ctx.actor)
  return namingMissing(ctx.db, async () => {
    const result = await (ctx.dryRun ? rolledBack : transaction)(ctx.db, (db) => withEvents(ctx, db, work))
    if (!ctx.dryRun) ctx.recorded?.()
    return result
  })
}

/**
 * Runs several operations as one transaction, which an error takes back. With `looks`, nothing else that looks for what it
 * creates runs meanwhile. With `takenBack`, it is taken back at its end too.
 */
export const together = <Ctx extends Pick<Context, 'db'>, T>(
  ctx: Ctx,
  { looks, takenBack = false }: { looks: boolean; takenBack?: boolean },
  work: (inside: Ctx) => Promise<T>,
): Promise<T> =>
  namingMissing(ctx.db, () =>
    (takenBack ? rolledBack : transaction)(ctx.db, async (db) => {
      if (looks) await lockCreation(db)
      return work({ ...ctx, db })
    }),
  )

/**
 * Runs a transaction. If a write in it refers to a row that is gone, it throws the error that names the row: after the
 * outermost transaction, as PostgreSQL rejects queries in one that failed.
 */
async function namingMissing<T>(db: Context['db'], run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof ForeignKeyError && !db.isTransaction ? await referenceError(db, error) : error
  }
}

/** Another transaction deleted a row between its look-up and the write; where no row is missing, the write is a bug. */
async function referenceError(db: Context['db'], error: ForeignKeyError): Promise<unknown> {
  const noun = await missingReference(db, error.references)
  if (noun === undefined) return error.cause
  return new AppError(notFoundCode(noun), `This ${NOUNS[noun].label} does not exist any more.`, { cause: error })
}

async function withEvents<T>(ctx: Context, db: Context['db'], work: (change: Change) => Promise<T>): Promise<T> {
  const events: Parameters<typeof insertEvents>[1] = []
  const undone = ctx.undoes === undefined ? [] : [changeOf(UNDOES, null, ctx.undoes)]
  const record: Change['record'] = (action, subjectId, subject, personId, given = []) => {
    const changes = [...given, ...undone]
    events.push({
      action,
      subject_id: subjectId,
      subject: subject ?? null,
      person_id: personId ?? null,
      actor_id: ctx.actor.userId,
      origin: ctx.origin,
      address: ctx.client?.address ?? null,
      key_id: ctx.actor.key?.keyId ?? null,
      created_at: ctx.now().toISOString(),
      details: changes.length > 0 ? JSON.stringify(changes) : null,
    })
  }
  const result = await work({ ...ctx, db, record })
  await insertEvents(db, events) // last: on PostgreSQL it takes the lock of all writers of events
  return result
}
