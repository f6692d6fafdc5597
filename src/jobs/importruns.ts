import { claimRun, forgetRuns, listRuns, openRun, type ImportRun } from '../db/importruns.js'
import { workOn } from '../service/importwork.js'
import { endRecorded, type ImportBase } from '../service/lib/importevents.js'
import { isKept, REFUSED_MS } from '../service/lib/importstates.js'
import type { Job, Run } from './runner.js'

/** Milliseconds between two checks whether something was asked for. */
const LOOK = 500
/** Milliseconds after which a run whose server says nothing has stopped. */
const SILENT = 15_000
/** Milliseconds between two times at which files and runs are forgotten. */
const SWEEP = 10 * 60_000

/**
 * Does the imports that an owner asks for. The server that has the file does it: each looks, and only one begins. What a
 * killed server leaves, another ends, or the same when it starts again.
 */
export function importRuns(base: ImportBase): Job {
  let swept = -Infinity
  let seen: Seen | undefined
  const isSwept = (now: Date) => now.getTime() - swept < SWEEP
  return {
    name: 'imports',
    every: LOOK,
    isDue: async ({ db, now }) => !isSwept(now()) || (await openRun(db)) !== undefined,
    async run(site) {
      const { db, now, log, signal } = site
      if (!isSwept(now())) await sweep(base, site)
      swept = now().getTime()
      const run = await openRun(db)
      if (!run) return
      const { runId, name, isCheck } = run
      if (run.startedAt !== null || !(await isHere(base, run))) {
        seen = await endSilent(base, site, run, seen)
        return
      }
      if (!(await claimRun(db, runId, now().toISOString()))) return
      const { ending, error } = await workOn(base, run, signal)
      const fields = { job: 'imports', run: runId, check: isCheck === 1 || undefined }
      if (error && error.status >= 500)
        log.error({ ...fields, code: error.code, err: error.cause }, `an import failed: ${error.message}`) // prettier-ignore
      else log.info({ ...fields, file: name, ending }, isCheck === 1 ? 'checked a file' : 'imported a file')
      await sweep(base, site)
    },
  }
}

const isHere = async ({ imports }: ImportBase, { file }: ImportRun): Promise<boolean> =>
  ((await imports?.files.ids()) ?? []).includes(file)

/** When this server first saw a progress report, by its own clock. The clock of another server may differ. */
interface Seen {
  of: string
  at: number
}

/** Ends a run whose server is silent, or whose file no server has. Returns the progress report that was seen. */
async function endSilent(base: ImportBase, site: Run, run: ImportRun, before: Seen | undefined): Promise<Seen> {
  const { now } = site
  const { runId, seenAt, isCancelled } = run
  const of = `${runId} ${seenAt}`
  if (before?.of !== of) return { of, at: now().getTime() }
  if (now().getTime() - before.at < SILENT) return before
  const ending = isCancelled === 1 ? 'cancelled' : 'stopped'
  if (await endRecorded(base, run, { seenAt, ending })) await sweep(base, site)
  return before
}

/** Removes the files here of runs that have ended, and what is old. */
async function sweep({ imports }: ImportBase, { db, now }: Run): Promise<void> {
  const ended = (await listRuns(db)).filter((run) => run.isOpen === 0 && !isKept(run, now()))
  const here = new Set(await imports?.files.ids())
  for (const { file } of ended) if (here.has(file)) await imports?.files.remove(file)
  await imports?.files.removeAbandoned()
  await forgetRuns(db, new Date(now().getTime() - REFUSED_MS).toISOString())
}
