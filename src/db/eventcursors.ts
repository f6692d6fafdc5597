import { newestEventId } from './seals.js'
import type { Db, EventRow } from './tables.js'

/** The last event that a consumer has handled; undefined before its first start. */
export async function readCursor(db: Db, consumer: string): Promise<number | undefined> {
  const row = await db.selectFrom('event_cursors').select('last_id').where('consumer', '=', consumer).executeTakeFirst()
  return row?.last_id
}

/** Begins a cursor at the newest event, unless there is one. Returns where the cursor is. */
export async function beginCursor(db: Db, consumer: string): Promise<number> {
  await db
    .insertInto('event_cursors')
    .values({ consumer, last_id: await newestEventId(db) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await readCursor(db, consumer)) ?? 0
}

/** Moves a cursor. Returns false where another process has moved it meanwhile. */
export async function moveCursor(db: Db, consumer: string, from: number, to: number): Promise<boolean> {
  const row = await db
    .updateTable('event_cursors')
    .set({ last_id: to })
    .where('consumer', '=', consumer)
    .where('last_id', '=', from)
    .returning('consumer')
    .executeTakeFirst()
  return row !== undefined
}

interface Range {
  /** The event before the first. */
  after: number
  /** The last. */
  until: number
}

const wanted = (db: Db, { after, until }: Range, actions: readonly string[]) =>
  db.selectFrom('events').where('id', '>', after).where('id', '<=', until).where('action', 'in', actions)

/** Whether a range of the log has an event with one of these actions. */
export async function isAnyEvent(db: Db, range: Range, actions: readonly string[]): Promise<boolean> {
  const row = await wanted(db, range, actions).select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** The events of some actions in a range, in commit order. */
export const eventsIn = (db: Db, range: Range, actions: readonly string[], limit: number): Promise<EventRow[]> =>
  wanted(db, range, actions).selectAll().orderBy('id').limit(limit).execute()
