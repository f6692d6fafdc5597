import { sql, type Selectable } from 'kysely'
import type { Db, Tables } from './tables.js'

export type BackupTask = Selectable<Tables['backup_tasks']>

const IS_OPEN = sql<boolean>`"isOpen" = 1` // a literal: the index is of these rows

/** The task that runs, or waits to. */
export const openTask = (db: Db): Promise<BackupTask | undefined> =>
  db.selectFrom('backup_tasks').selectAll().where(IS_OPEN).executeTakeFirst()

/** Asks for a task. Returns false where another is open. */
export async function insertTask(
  db: Db,
  task: Pick<BackupTask, 'taskId' | 'kind' | 'file' | 'askedAt'>,
): Promise<boolean> {
  // prettier-ignore
  const row = await db
    .insertInto('backup_tasks')
    .values({ ...task, startedAt: null, endedAt: null, error: null, isOpen: 1 })
    .onConflict((conflict) => conflict.doNothing())
    .returning('taskId')
    .executeTakeFirst()
  return row !== undefined
}

export async function startTask(db: Db, taskId: string, startedAt: string): Promise<void> {
  await db.updateTable('backup_tasks').set({ startedAt }).where('taskId', '=', taskId).execute()
}

/** Ends a task. Of those that ended, only the last of its kind and file stays. */
export async function endTask(
  db: Db,
  { taskId, kind, ...ended }: Pick<BackupTask, 'taskId' | 'kind' | 'file' | 'endedAt' | 'error'>,
): Promise<void> {
  await db
    .updateTable('backup_tasks')
    .set({ ...ended, isOpen: 0 })
    .where('taskId', '=', taskId)
    .execute()
  await db
    .deleteFrom('backup_tasks')
    .where('kind', '=', kind)
    .where('taskId', '<>', taskId)
    .where('isOpen', '=', 0)
    .$if(kind === 'rehearse', (query) => query.where('file', '=', ended.file))
    .execute()
}

/** Those that ended, and the open one: the newest first. */
export const listTasks = (db: Db): Promise<BackupTask[]> =>
  db.selectFrom('backup_tasks').selectAll().orderBy('askedAt', 'desc').orderBy('taskId', 'desc').execute()

/** Forgets the rehearsals of backups that are gone. */
export async function forgetRehearsals(db: Db, present: readonly string[]): Promise<void> {
  await db
    .deleteFrom('backup_tasks')
    .where('isOpen', '=', 0)
    .where('kind', '=', 'rehearse')
    .$if(present.length > 0, (query) => query.where('file', 'not in', present))
    .execute()
}
