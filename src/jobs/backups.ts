import { AppError, serverError } from '../core/errors.js'
import { BACKUPS, putJobRun, readJobRun } from '../db/jobs.js'
import type { Job } from './runner.js'

/** Makes backups of the site, and removes old ones. The folder and the passphrase are those of this process. */
export interface Schedule {
  /** Milliseconds between two backups. */
  every: number
  /** Returns the file. Rejects soon after the signal aborts. */
  create(this: void, signal: AbortSignal): Promise<{ file: string; bytes: number }>
  /** Returns the files that were removed. */
  prune(this: void, signal: AbortSignal): Promise<string[]>
}

/** Milliseconds between two checks whether a backup is due. */
const LOOK = 10_000
/** Milliseconds after a failure until the next attempt: a full disk is not filled again and again. */
const RETRY = 5 * 60_000

/** Backs the site up so often. Of several servers on a database the first that sees it is due makes the backup. */
export function backups({ every, create, prune }: Schedule): Job {
  const isDue: NonNullable<Job['isDue']> = async ({ db, now }) => {
    const run = await readJobRun(db, BACKUPS)
    return isPast(run?.done_at, every, now()) && isPast(run?.failed_at, Math.min(every, RETRY), now())
  }
  return {
    name: BACKUPS,
    every: Math.min(every, LOOK),
    exclusive: true,
    isDue,
    async run({ db, now, log, signal }) {
      if (!(await isDue({ db, now, log }))) return // another server was faster
      const failed = async (error: unknown, message: string) => {
        if (signal.aborted) throw error
        const known = error instanceof AppError ? error : serverError(error)
        const text = known === error ? known.message : String(error)
        log.error({ job: BACKUPS, code: known.code, err: known.cause }, `${message}: ${text}`)
        await putJobRun(db, { name: BACKUPS, failed_at: now().toISOString(), error: text })
      }
      try {
        const made = await create(signal)
        log.info({ job: BACKUPS, ...made }, 'made a backup')
      } catch (error) {
        return failed(error, 'the backup failed, and will be tried again')
      }
      await putJobRun(db, { name: BACKUPS, done_at: now().toISOString(), failed_at: null, error: null })
      try {
        const removed = await prune(signal)
        if (removed.length > 0) log.info({ job: BACKUPS, removed }, 'removed old backups')
      } catch (error) {
        await failed(error, 'a backup was made, but old ones were not removed')
      }
    },
  }
}

/** A time in the future is of a clock that went back since. */
function isPast(time: string | null | undefined, ms: number, now: Date): boolean {
  const since = now.getTime() - Date.parse(time ?? '')
  return !(since >= 0 && since < ms)
}
