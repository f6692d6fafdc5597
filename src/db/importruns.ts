import { sql, type Selectable } from 'kysely'
import type { Db, Tables } from './tables.js'

export type ImportRun = Selectable<Tables['import_runs']>

const IS_OPEN = sql<boolean>`"isOpen" = 1` // a literal: the index is of these rows

/** Runs that are remembered. */
const MOST = 10

/** The import that runs, or waits to. */
export const openRun = (db: Db): Promise<ImportRun | undefined> =>
  db.selectFrom('import_runs').selectAll().where(IS_OPEN).executeTakeFirst()

export const findRun = (db: Db, runId: string): Promise<ImportRun | undefined> =>
  db.selectFrom('import_runs').selectAll().where('runId', '=', runId).executeTakeFirst()

/** The newest first. */
export const listRuns = (db: Db): Promise<ImportRun[]> =>
  db.selectFrom('import_runs').selectAll().orderBy('askedAt', 'desc').orderBy('runId', 'desc').execute()

type Asked = Pick<ImportRun, 'runId' | 'userId' | 'name' | 'file' | 'options' | 'isCheck' | 'askedAt' | 'progress'>

/** Asks for an import, which a server with its file begins. Returns false where another is open. */
export async function insertRun(db: Db, run: Asked): Promise<boolean> {
  const others = { startedAt: null, seenAt: null, endedAt: null, ending: null, isCancelled: 0, result: null, error: null } // prettier-ignore
  const row = await db
    .insertInto('import_runs')
    .values({ ...run, ...others, isOpen: 1 })
    .onConflict((conflict) => conflict.doNothing())
    .returning('runId')
    .executeTakeFirst()
  return row !== undefined
}

/** Takes a run that waits. Returns false where another server was faster, or whoever asked has cancelled it. */
export async function claimRun(db: Db, runId: string, at: string): Promise<boolean> {
  const row = await db
    .updateTable('import_runs')
    .set({ startedAt: at, seenAt: at })
    .where('runId', '=', runId)
    .where('startedAt', 'is', null)
    .where(IS_OPEN)
    .returning('runId')
    .executeTakeFirst()
  return row !== undefined
}

/** Reports the progress of a run. Returns whether it should stop, or has already ended. */
export async function keepRun(
  db: Db,
  { runId, ...seen }: Pick<ImportRun, 'runId' | 'seenAt' | 'progress'>,
): Promise<'goes on' | 'cancelled' | 'stopped'> {
  const row = await db
    .updateTable('import_runs')
    .set(seen)
    .where('runId', '=', runId)
    .where(IS_OPEN)
    .returning('isCancelled')
    .executeTakeFirst()
  return row === undefined ? 'stopped' : row.isCancelled === 1 ? 'cancelled' : 'goes on'
}

/** Asks for the end of a run. Returns it, or undefined where it has ended. */
export const cancelRun = (db: Db, runId: string): Promise<ImportRun | undefined> =>
  db
    .updateTable('import_runs')
    .set({ isCancelled: 1 })
    .where('runId', '=', runId)
    .where(IS_OPEN)
    .returningAll()
    .executeTakeFirst()

/** Ends a run. With `seenAt`, only where nobody has seen it go on since. */
export async function endRun(
  db: Db,
  {
    runId,
    seenAt,
    ...ended
  }: Pick<ImportRun, 'runId' | 'endedAt' | 'ending'> &
    Partial<Pick<ImportRun, 'progress' | 'result' | 'error' | 'seenAt'>>,
): Promise<boolean> {
  const row = await db
    .updateTable('import_runs')
    .set({ ...ended, isOpen: 0 })
    .where('runId', '=', runId)
    .$if(seenAt !== undefined, (query) => query.where(IS_OPEN).where('seenAt', 'is not distinct from', seenAt ?? null))
    .returning('runId')
    .executeTakeFirst()
  return row !== undefined
}

/** Forgets a run, with what it refused. */
export async function deleteRun(db: Db, runId: string): Promise<void> {
  await db.deleteFrom('import_refusals').where('runId', '=', runId).execute()
  await db.deleteFrom('import_runs').where('runId', '=', runId).execute()
}

/** Forgets all but the newest runs, and what was refused before a time. */
export async function forgetRuns(db: Db, before: string): Promise<void> {
  const old = (await listRuns(db)).filter(({ isOpen }) => isOpen === 0).slice(MOST)
  for (const { runId } of old) await deleteRun(db, runId)
  await db
    .deleteFrom('import_refusals')
    .where('runId', 'in', (query) =>
      query.selectFrom('import_runs').select('runId').where('isOpen', '=', 0).where('endedAt', '<', before),
    )
    .execute()
}

/** Stores refused records as the next part of their file. */
export async function insertRefusals(db: Db, part: Selectable<Tables['import_refusals']>): Promise<void> {
  await db.insertInto('import_refusals').values(part).execute()
}

export const readRefusals = (db: Db, runId: string, part: number): Promise<{ text: string } | undefined> =>
  db.selectFrom('import_refusals').select('text').where('runId', '=', runId).where('part', '=', part).executeTakeFirst()

/**
 * Removes the e-mail address of a person from runs: previews that contain it, and the refused records. Names are not
 * searched, because a name can be any word.
 */
export async function eraseFromRuns(db: Db, email: string): Promise<void> {
  const address = email.toLowerCase()
  const has = (column: 'result' | 'text') =>
    sql<boolean>`lower(${sql.ref(column)}) like ${`%${escaped(address)}%`} escape '!'`
  for (const { runId, result } of await db
    .selectFrom('import_runs')
    .select(['runId', 'result'])
    .where(has('result'))
    .execute()) {
    const { preview: _, ...rest } = JSON.parse(result ?? '{}') as { preview?: unknown }
    await db
      .updateTable('import_runs')
      .set({ result: JSON.stringify(rest) })
      .where('runId', '=', runId)
      .execute()
  }
  for (const { runId, part } of await db
    .selectFrom('import_refusals')
    .select(['runId', 'part'])
    .where(has('text'))
    .execute()) {
    const lines = ((await readRefusals(db, runId, part))?.text ?? '').split('\n')
    const text = lines.filter((line) => !line.toLowerCase().includes(address)).join('\n')
    await db.updateTable('import_refusals').set({ text }).where('runId', '=', runId).where('part', '=', part).execute()
  }
}

const escaped = (text: string): string => text.replaceAll(/[!%_]/g, '!$&')
