import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { vi } from 'vitest'
import { LockedError } from '../../src/db/sqlite/errors.js'
import { Handle } from '../../src/db/sqlite/handle.js'
import type { Db } from '../../src/db/tables.js'
import type { Engine } from './databases.js'
import { makeGate } from './gate.js'

/** Resolves when SQLite has refused this process a lock that somebody else holds. The attempts go on after that. */
export function lockRefused(): Promise<void> {
  const { opened, open } = makeGate()
  const { run } = Handle.prototype
  vi.spyOn(Handle.prototype, 'run').mockImplementation(function refused(this: Handle, ...call) {
    try {
      return run.apply(this, call)
    } catch (error) {
      if (error instanceof LockedError) open()
      throw error
    }
  })
  return opened
}

/**
 * Runs work that must wait for a lock, and resolves as soon as it waits. Fails where it ends without that: then the race
 * of the test has not happened. `db` sees who waits on PostgreSQL.
 */
export async function untilLocked(engine: Engine, db: Db, work: () => Promise<unknown>): Promise<void> {
  const refused = engine === 'sqlite' ? lockRefused() : undefined
  const state = { isOver: false }
  const end = () => void (state.isOver = true)
  const ended = work().then(end, end)
  await Promise.race([refused ?? someoneWaits(db, state), ended])
  if (state.isOver) throw new Error('What was to wait for a lock has ended without one.')
}

const WAITING = sql`select 1 from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'`

async function someoneWaits(db: Db, state: { isOver: boolean }): Promise<void> {
  while (!state.isOver && (await WAITING.execute(db)).rows.length === 0) await turn()
}
