import { AppError, type ErrorCode } from '../../core/errors.js'
import { rolledBack, transaction } from '../../db/connect.js'
import { insertEvents } from '../../db/events.js'
import { ForeignKeyError, missingReference, type ReferencedTable } from '../../db/references.js'
import { assertSignedIn } from './access.js'
import type { Context } from './context.js'

/** What happened, in the past tense, to a row of the noun before the dot. */
export type Action =
  | `${'board' | 'post' | 'comment' | 'roadmap' | 'role' | 'user'}.${'created' | 'updated' | 'deleted'}`
  | 'post.voted'
  | 'post.unvoted'
  | 'roadmap.moved'
  | `role.${'assigned' | 'unassigned'}`
  | `user.${'signed_up' | 'verified' | 'verification_requested' | 'reset_requested' | 'password_set' | 'blocked' | 'unblocked' | 'signed_out'}`
  | `site.${'set_up' | 'updated'}`

/** A context inside a transaction, which notes what happened. */
export interface Change extends Context {
  /** `subject` is what the row is called now; leave it out for people, whose name is theirs to erase, and for votes. `personId` is whom it was done to or for, besides. */
  record(this: void, action: Action, subjectId: string, subject?: string, personId?: string): void
}

/**
 * Every write of the service goes through here: it and its events are one transaction, or nothing. Await nothing but the
 * database in `work`; of a dry run nothing stays; after a collision with another transaction it runs again, so it looks up anew what must exist.
 */
export async function change<T>(ctx: Context, work: (change: Change) => Promise<T>): Promise<T> {
  if (ctx.dryRun) assertSignedIn('signed-in', ctx.actor) // it takes the lock that writers need, for nothing: not for visitors
  try {
    return await (ctx.dryRun ? rolledBack : transaction)(ctx.db, (db) => noted(ctx, db, work))
  } catch (error) {
    throw error instanceof ForeignKeyError ? await referenceError(ctx.db, error) : error
  }
}

const NOT_FOUND: Record<ReferencedTable, [code: ErrorCode, noun: string]> = {
  users: ['USER_NOT_FOUND', 'account'],
  posts: ['POST_NOT_FOUND', 'post'],
  boards: ['BOARD_NOT_FOUND', 'board'],
  roadmaps: ['ROADMAP_NOT_FOUND', 'roadmap'],
}

/** Another transaction deleted a row between its look-up and the write; where no row is missing, the write is a bug. */
async function referenceError(db: Context['db'], error: ForeignKeyError): Promise<unknown> {
  const table = await missingReference(db, error.references)
  if (table === undefined) return error.cause
  const [code, noun] = NOT_FOUND[table]
  return new AppError(code, `This ${noun} does not exist any more.`, { cause: error })
}

async function noted<T>(ctx: Context, db: Context['db'], work: (change: Change) => Promise<T>): Promise<T> {
  const events: Parameters<typeof insertEvents>[1] = []
  const record: Change['record'] = (action, subjectId, subject, personId) =>
    void events.push({
      action,
      subject_id: subjectId,
      subject: subject ?? null,
      person_id: personId ?? null,
      actor_id: ctx.actor.userId,
      origin: ctx.origin,
      created_at: ctx.now().toISOString(),
    })
  const result = await work({ ...ctx, db, record })
  await insertEvents(db, events) // last: on PostgreSQL it waits for whoever writes events until they are committed
  return result
}
