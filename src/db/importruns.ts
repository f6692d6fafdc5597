import { sql, type Selectable } from 'kysely'
import type { Db, Tables } from './tables.js'

export type ImportRun = Selectable<Tables['import_runs']>

const IS_OPEN = sql<boolean>`"isOpen" = 1` // a literal: the index is of these rows

/** Columns of a run that may contain an e-mail address. */
const TOLD = ['name', 'result', 'error'] as const

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

export async function setProgress(db: Db, runId: string, progress: string): Promise<void> {
  await db.updateTable('import_runs').set({ progress }).where('runId', '=', runId).execute()
}

/** Asks a run to end. Returns the run, or undefined if it has ended or was asked before. */
export const cancelRun = (db: Db, runId: string): Promise<ImportRun | undefined> =>
  db
    .updateTable('import_runs')
    .set({ isCancelled: 1 })
    .where('runId', '=', runId)
    .where('isCancelled', '=', 0)
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
export async function insertRefusals(db: Db, { text, ...part }: Selectable<Tables['import_refusals']>): Promise<void> {
  await db
    .insertInto('import_refusals')
    .values({ ...part, text: withoutNul(text) })
    .execute()
}

/** A part as it was given to `insertRefusals`. */
export async function readRefusals(db: Db, runId: string, part: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('import_refusals')
    .select('text')
    .where('runId', '=', runId)
    .where('part', '=', part)
    .executeTakeFirst()
  return row && withNul(row.text)
}

// A refused line comes back byte for byte, but PostgreSQL cannot store NUL
const ESCAPE = '\uE000'
const withoutNul = (text: string): string => text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`)
const withNul = (text: string): string => text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE)

const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/**
 * Finds an address in a line of JSON or CSV, but not within a longer one: `ann@example.org` is neither in
 * `jo.ann@example.org` nor in `ann@example.org.uk`. Where that is unclear, it is found. Letters of other scripts stand
 * beside an address as spaces do, and escapes, such as `\n` and `%3A`, are no part of it.
 */
function patternOf(address: string): RegExp {
  const longer = String.raw`(?<![a-z0-9_]|[a-z0-9_][.+%-])|(?<=\\[bfnrt]|\\u[\da-f]{4}|%[\da-f]{2})`
  return new RegExp(String.raw`(?:${longer})${quoted(address)}(?![a-z0-9]|\.[a-z0-9]|-[a-z0-9-]*\.[a-z])`, 'iu')
}

/**
 * Removes the e-mail address of a person from runs: previews that contain it, the refused records, and the address itself
 * in all other texts. Names are not searched, because a name can be any word.
 */
export async function eraseFromRuns(db: Db, email: string): Promise<void> {
  const address = email.toLowerCase()
  const has = (column: (typeof TOLD)[number] | 'text') =>
    sql<boolean>`lower(${sql.ref(column)}) like ${`%${escaped(address)}%`} escape '!'`
  const all = new RegExp(quoted(address), 'giu')
  const erased = (text: string) => text.replaceAll(all, '…')
  const inLine = patternOf(address)
  for (const { runId, name, result, error } of await db
    .selectFrom('import_runs')
    .select(['runId', ...TOLD])
    .where((eb) => eb.or(TOLD.map(has)))
    .execute()) {
    const { preview, ...rest } = JSON.parse(result ?? '{}') as { preview?: unknown }
    const keepsPreview = preview !== undefined && erased(JSON.stringify(preview)) === JSON.stringify(preview)
    await db
      .updateTable('import_runs')
      .set({
        name: erased(name),
        result: result && erased(JSON.stringify({ ...(keepsPreview && { preview }), ...rest })),
        error: error && erased(error),
      })
      .where('runId', '=', runId)
      .execute()
  }
  for (const { runId, part } of await db
    .selectFrom('import_refusals')
    .select(['runId', 'part'])
    .where(has('text'))
    .execute()) {
    const lines = ((await readRefusals(db, runId, part)) ?? '').split('\n')
    const text = lines.filter((line) => !inLine.test(line)).join('\n')
    await db
      .updateTable('import_refusals')
      .set({ text: withoutNul(text) })
      .where('runId', '=', runId)
      .where('part', '=', part)
      .execute()
  }
}

const escaped = (text: string): string => text.replaceAll(/[!%_]/g, '!$&')
