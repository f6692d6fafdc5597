import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

/** A worker that lived for less, in milliseconds, is replaced after a pause: what ended it may end the next one too. */
const HEALTHY = 5000
const PAUSE = 1000

interface Crew {
  /** How many processes share the work. */
  count: number
  /** The settings they work with: not on their command line, where others could read them. */
  env: Record<string, string>
  /** Told of each that ended by itself. */
  replacing(this: void, ended: { worker: number; workerPid: number | undefined; reason: string | number }): void
}

/** Processes of this program that listen on one address. */
export interface Workers {
  /** Asks them to stop, and returns when they have; after so many seconds they are killed. */
  stop(seconds: number): Promise<void>
}

/**
 * Starts the workers, and from then on replaces each that ends. The first listens before the others are started, so that whatever keeps
 * them from it is said once; its exit code is then returned instead.
 */
export async function startWorkers({ count, env, replacing }: Crew): Promise<Workers | number> {
  const crew = new Set<Worker>()
  let stopping = false
  cluster.setupPrimary({ args: ['serve'] })

  const start = (number: number) => {
    const [worker, since] = [cluster.fork({ ...env, FEEDBACKCTL_WORKER: String(number) }), performance.now()]
    crew.add(worker)
    const ended = once(worker, 'exit').then(([code, signal]: (number | string | null)[]) => {
      crew.delete(worker)
      return { code: Number(code ?? 1), reason: signal ?? `exit ${code}`, lived: performance.now() - since }
    })
    return { worker, ended }
  }
  const keep = async (number: number, { worker, ended } = start(number)): Promise<void> => {
    const { reason, lived } = await ended
    if (stopping) return
    replacing({ worker: number, workerPid: worker.process.pid, reason })
    if (lived < HEALTHY) await pause(PAUSE)
    if (!stopping) await keep(number)
  }

  const first = start(1)
  const early = await Promise.race([once(first.worker, 'listening').then(() => undefined), first.ended])
  if (early) return early.code
  void keep(1, first)
  for (let number = 2; number <= count; number++) void keep(number)
  return {
    async stop(seconds) {
      stopping = true
      const cut = setTimeout(() => crew.forEach((worker) => worker.process.kill('SIGKILL')), seconds * 1000)
      await Promise.all([...crew].map(async (worker) => void (worker.process.kill('SIGTERM') && (await once(worker, 'exit')))))
      clearTimeout(cut)
    },
  }
}

/** The number of this process among the workers of a server; undefined where it works by itself. */
export function workerNumber(env: Record<string, string | undefined>): number | undefined {
  const { worker } = cluster
  worker?.once('disconnect', () => {
    if (worker.exitedAfterDisconnect) return
    worker.exitedAfterDisconnect = true // or Node ends it at once
    process.kill(process.pid, 'SIGTERM') // whoever led it is gone: it stops in good order
  })
  return worker && Number(env.FEEDBACKCTL_WORKER)
}

/** For a worker that cannot serve: the line to its leader would keep it waiting. */
export const leaveCrew = (): void => void cluster.worker?.disconnect()
