import type { FieldChange } from '../core/details.js'
import { AppError } from '../core/errors.js'
import type { Action } from '../core/nouns.js'
import { beginCursor, eventsAfter, moveCursor, readCursor } from '../db/eventcursors.js'
import { newestEventId } from '../db/seals.js'
import type { EventRow } from '../db/tables.js'
import type { Job, Run } from './runner.js'

/** Milliseconds between two looks for new events. */
const EVERY_MS = 500
/** Events read at a time. */
const BATCH = 100

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
 * goes on where this one was stopped or killed. A server without new events only reads.
 */
export function consumer({ name, actions, handle }: Consumer): Job {
  const wanted = new Set<string>(actions)
  return {
    name: `consumer ${name}`,
    every: EVERY_MS,
    exclusive: true,
    isDue: async ({ db }) => {
      const cursor = await readCursor(db, name)
      return cursor === undefined || cursor < (await newestEventId(db))
    },
    async run(run) {
      const { db, signal } = run
      let cursor = await beginCursor(db, name)
      const events = await eventsAfter(db, cursor, BATCH)
      // After an error, what was handled before it is not handled again
      let last = cursor
      const save = async () => {
        if (last === cursor) return true
        const isMine = await moveCursor(db, name, cursor, last)
        cursor = last
        return isMine
      }
      try {
        for (const event of events) {
          if (signal.aborted) break
          if (isWanted(event, wanted)) {
            try {
              await handle({ ...event, details: event.details === null ? [] : JSON.parse(event.details) }, run)
            } catch (error) {
              throw naming(event, error, signal)
            }
            last = event.id
            // The next event may take long, and a process that is killed then must not repeat this one
            if (!(await save())) return undefined
          } else last = event.id
        }
      } finally {
        await save()
      }
      return events.length === BATCH && !signal.aborted ? 'more' : undefined
    },
  }
}

/** The log names the event that failed, as the consumer goes no further before it is handled. */
const naming = ({ id, action }: EventRow, error: unknown, signal: AbortSignal): unknown =>
  signal.aborted || error instanceof AppError
    ? error
    : new Error(`event ${id} (${action}): ${(error as Error).message}`, { cause: error })

const isWanted = (event: EventRow, wanted: ReadonlySet<string>): event is EventRow & { action: Action } =>
  wanted.has(event.action)
