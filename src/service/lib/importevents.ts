import { changeOf } from '../../core/details.js'
import { endRun, findRun, type ImportRun } from '../../db/importruns.js'
import { change } from './change.js'
import type { Context } from './context.js'
import { progressOf } from './importstates.js'
import { actorFor } from './sessions.js'

/** What an import in the background needs of its server. */
export type ImportBase = Omit<Context, 'actor' | 'origin' | 'client' | 'dryRun'>

// Imports in the background are events. Checks are none, because they change nothing.

/** Logs that an import has started, and from which product. */
export async function recordStart(base: ImportBase, run: ImportRun, product: string): Promise<void> {
  if (run.isCheck === 1) return
  await change(await contextOf(base, run), async ({ record }) => {
    await Promise.resolve()
    record('site.import_started', 'site', nameOf(run), undefined, [changeOf('product', null, product)])
  })
}

/** Logs that somebody has cancelled an import. */
export function recordCancel({ record }: Parameters<Parameters<typeof change>[1]>[0], run: ImportRun): void {
  if (run.isCheck === 0) record('site.import_cancelled', 'site', nameOf(run))
}

type Ended = Omit<Parameters<typeof endRun>[1], 'runId' | 'endedAt'>

/**
 * Ends a run, and logs how it ended and its counts. With `seenAt`, ends it only if no server has reported progress since.
 * With `replacesLog`, logs nothing: the import of a whole site has replaced the log. Returns whether it ended the run.
 */
export async function endRecorded(
  base: ImportBase,
  run: ImportRun,
  { replacesLog = false, ...ended }: Ended & { replacesLog?: boolean },
): Promise<boolean> {
  return change(await contextOf(base, run), async ({ db, record }) => {
    const isOpen = (await findRun(db, run.runId))?.isOpen === 1 // otherwise another server has logged it
    const isEnded = await endRun(db, { ...ended, runId: run.runId, endedAt: base.now().toISOString() })
    if (isEnded && isOpen && run.isCheck === 0 && !replacesLog) {
      const { counts } = progressOf({ progress: ended.progress ?? run.progress })
      record('site.import_ended', 'site', nameOf(run), undefined, [
        changeOf('ending', null, ended.ending),
        ...Object.entries(counts ?? {}).map(([field, count]) => changeOf(field, null, count)),
      ])
    }
    return isEnded
  })
}

const contextOf = async (base: ImportBase, { userId }: ImportRun): Promise<Context> => ({
  ...base,
  actor: await actorFor(userId, base),
  origin: 'http',
  dryRun: false,
})

const nameOf = ({ name }: ImportRun): string | undefined => name || undefined
