import { hostname } from 'node:os'
import { putServer, removeServer, removeServersBefore, SEEN_WITHIN_MS } from '../db/servers.js'
import type { Db } from '../db/tables.js'
import type { Job } from './runner.js'

export interface Presence {
  url: string
  version: string
  /** The number of this process among the workers of a server; 0 where it is the only one. */
  worker: number
}

/** A server that was killed is forgotten after a day. */
const FORGET_AFTER_MS = 24 * 60 * 60 * 1000

const keyOf = (worker: number) => ({
  host: hostname(),
  pid: worker === 0 ? process.pid : process.ppid,
  worker,
})

/** Notes in the database that this process serves it, which is `announced` once. A third of the renewals may fail. */
export function presence({ worker, ...server }: Presence, startedAt: Date): Job & { announced: Promise<void> } {
  let announce = () => {}
  return {
    announced: new Promise((resolve) => (announce = resolve)),
    name: 'presence',
    every: SEEN_WITHIN_MS / 3,
    async run({ db, now }) {
      const forgotten = new Date(now().getTime() - FORGET_AFTER_MS).toISOString()
      await putServer(db, {
        ...keyOf(worker),
        ...server,
        started_at: startedAt.toISOString(),
        seen_at: now().toISOString(),
      })
      announce()
      await removeServersBefore(db, forgotten)
    },
  }
}

/** Notes that this process no longer serves the database. It may be out of reach: then the note becomes too old. */
export const absent = (db: Db, { worker }: Presence): Promise<unknown> =>
  removeServer(db, keyOf(worker)).catch(() => undefined)
