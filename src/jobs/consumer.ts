import type { FieldChange } from '../core/details.js'
import { AppError } from '../core/errors.js'
import type { Action } from '../core/nouns.js'
import { beginCursor, eventsIn, isAnyEvent, moveCursor, readCursor } from '../db/eventcursors.js'
import { newestEventId } from '../db/seals.js'
import type { EventRow } from '../db/tables.js'
import type { Job, Run } from './runner.js'

/** Milliseconds between two looks for new events. */
const EVERY_MS = 500
/** Events read at a time. */
const BATCH = 100
/** Events that are passed over before the cursor follows: so many are read again after a restart. */
const PASSED_OVER = 1000

export interface ConsumedEvent extends Omit<EventRow, 'action' | 'details'> {
  action: Action
  details: readonly FieldChange[]
}

interface Consumer {
  /** Names the cursor: a consumer with another name begins at the newest event. */
  name: string
  /** The other events are passed over. */
  actions: readonly Action[]
  /**
   * Called for each event in commit order, by one server at a time. It may be called again for an event: after an error,
   * after a process was killed, or beside a process that was suspended for longer than a lease. So make it repeatable,
   * by the id of the event.
   */
  handle(this: void, event: ConsumedEvent, run: Run): Promise<void>
}

/**
 * Acts on events after they were committed, at least once for each. The cursor is in the database, so another server
 * goes on where this one was stopped or killed. Without events of its actions a server only reads.
 */
export function consumer({ name, actions, handle }: Consumer): Job {
  /** Up to this event, this process has found none of the actions after the cursor. */
  let seen = 0
  return {
    name: `consumer ${name}`,
    every: EVERY_MS,
    exclusive: true,
    isDue: async ({ db }) => {
      const cursor = await readCursor(db, name)
      if (cursor === undefined) return true
      const until = await newestEventId(db)
      if (until < seen) seen = 0 // a backup was restored
      const after = Math.max(cursor, seen)
      if (until <= after) return false
      if (await isAnyEvent(db, { after, until }, actions)) return true
      seen = until
      return until - cursor >= PASSED_OVER
    },
    async run(run) {
      const { db, signal } = run
      let cursor = (await readCursor(db, name)) ?? (await beginCursor(db, name))
      /** Returns false where another server has moved the cursor meanwhile. */
      const moveTo = async (id: number) => {
        const from = cursor
        cursor = id
        return moveCursor(db, name, from, id)
      }
      const until = await newestEventId(db)
      const events = await eventsIn(db, { after: cursor, until }, actions, BATCH)
      for (const event of events) {
        if (signal.aborted) return undefined
        try {
          await handle(consumed(event), run)
        } catch (error) {
          throw naming(event, error, signal)
        }
        // The next event may take long, and a process that is killed then must not repeat this one
        if (!(await moveTo(event.id))) return undefined
      }
      if (events.length === BATCH) return 'more'
      if (until - cursor >= PASSED_OVER) await moveTo(until)
      return undefined
    },
  }
}

/** An event of the actions of a consumer. */
const consumed = (event: EventRow): ConsumedEvent => ({
  ...event,
  action: event.action as Action,
  details: event.details === null ? [] : JSON.parse(event.details),
})

/** The log names the event that failed, as the consumer goes no further before it is handled. */
const naming = ({ id, action }: EventRow, error: unknown, signal: AbortSignal): unknown =>
  signal.aborted || error instanceof AppError
    ? error
    : new Error(`event ${id} (${action}): ${(error as Error).message}`, { cause: error })
