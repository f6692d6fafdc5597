import { AppError } from '../../core/errors.js'
import { openRun, type ImportRun } from '../../db/importruns.js'
import type { Context } from './context.js'

/** Milliseconds for which the file of a check is kept. */
const KEPT_MS = 3_600_000
/** Milliseconds for which records that were refused can be downloaded. */
export const REFUSED_MS = 7 * 24 * 3_600_000

export const STATES = ['waiting', 'running', 'checked', 'done', 'failed', 'stopped', 'cancelled'] as const

export const stateOf = ({ isOpen, startedAt, ending, isCheck }: ImportRun): (typeof STATES)[number] => {
  if (isOpen === 1) return startedAt === null ? 'waiting' : 'running'
  if (ending === 'done') return isCheck === 1 ? 'checked' : 'done'
  return ending ?? 'failed'
}

export const COUNTS = ['found', 'created', 'matched', 'existing', 'failed'] as const
export type Counts = Record<(typeof COUNTS)[number], number>

/** How far an import is. */
export interface Progress {
  done: { type: string; done: number; found: number | null }[]
  /** Counts of all records so far. Undefined for the import of a whole site, and before the first record. */
  counts?: Counts
  /** Records that were refused and are kept. */
  refused: number
  /** Refused records beyond the limit of the file. */
  refusedLeftOut: number
  /** Whether a later check of the same person has replaced the file. */
  isReplaced?: boolean
}

export const progressOf = ({ progress }: Pick<ImportRun, 'progress'>): Progress => ({
  done: [],
  refused: 0,
  refusedLeftOut: 0,
  ...(progress === null ? {} : (JSON.parse(progress) as Partial<Progress>)), // written by this module
})

/** Whether the file of a check can still be imported. */
export const isKept = (run: ImportRun, now: Date): boolean =>
  stateOf(run) === 'checked' &&
  now.getTime() - Date.parse(run.endedAt ?? '') < KEPT_MS &&
  progressOf(run).isReplaced !== true

/** How many refused records of a run can still be downloaded. */
export const refusedOf = (run: ImportRun, now: Date): number =>
  run.endedAt !== null && now.getTime() - Date.parse(run.endedAt) >= REFUSED_MS ? 0 : progressOf(run).refused

export const running = (): AppError =>
  new AppError('IMPORT_RUNNING', 'Another import is running at the server. Try again when it is done, or cancel it.')

/**
 * Throws IMPORT_RUNNING while a server imports in the background. Dry runs are allowed. So are commands without a server,
 * because only a server ends the run that a killed server left open.
 */
export async function assertNoneRuns({ db, dryRun, imports }: Context): Promise<void> {
  if (imports && !dryRun && (await openRun(db))) throw running()
}
