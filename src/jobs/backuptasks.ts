import { AppError, serverError } from '../core/errors.js'
import { endTask, forgetRehearsals, openTask, startTask, type BackupTask } from '../db/backuptasks.js'
import { BACKUPS, putJobRun } from '../db/jobs.js'
import type { Job } from './runner.js'

/** Does what the owner asks for with the backups of this machine, in a process of its own. */
export interface BackupWork {
  /** Returns the name of the backup that was made or rehearsed. Rejects soon after the signal aborts. */
  run(this: void, task: Pick<BackupTask, 'kind' | 'file'>, signal: AbortSignal): Promise<string>
  /** The names of the backups that there are. */
  names(this: void): Promise<string[]>
}

/** Milliseconds between two checks whether something was asked for. */
const LOOK = 1000

/** One task at a time. What a server leaves undone when it stops, the next one begins again. */
export const backupTasks = ({ run, names }: BackupWork): Job => ({
  name: 'backup tasks',
  every: LOOK,
  exclusive: true,
  isDue: async ({ db }) => (await openTask(db)) !== undefined,
  async run({ db, now, log, signal }) {
    const task = await openTask(db)
    if (!task) return // another server was faster
    const { taskId, kind } = task
    const fields = { job: 'backup tasks', task: kind }
    await startTask(db, taskId, now().toISOString())
    try {
      const file = await run(task, signal)
      const endedAt = now().toISOString()
      await endTask(db, { taskId, kind, file, endedAt, error: null })
      if (kind === 'create') await putJobRun(db, { name: BACKUPS, done_at: endedAt, failed_at: null, error: null })
      log.info({ ...fields, file }, kind === 'create' ? 'made a backup' : 'rehearsed a backup')
    } catch (error) {
      if (signal.aborted) throw error
      const known = error instanceof AppError ? error : serverError(error)
      const text = known === error ? known.message : String(error)
      log.error({ ...fields, code: known.code, err: known.cause }, `a task with backups failed: ${text}`)
      await endTask(db, { taskId, kind, file: task.file, endedAt: now().toISOString(), error: text })
    }
    await forgetRehearsals(db, await names())
  },
})
