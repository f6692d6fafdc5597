import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

/** A worker that lived for less, in milliseconds, is replaced after a pause: what ended it may end the next one too. */
const HEALTHY = 5000
const PAUSE = 1000

/** What a leader tells its workers. Not a signal: whoever stops a service may send one to all its processes. */
const STOP = 'feedbackctl stop'

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
  /** Asks them to stop, and returns when they have; after so many seconds they are killed, and the answer is false. */
  stop(seconds: number): Promise<boolean>
}

/**
 * Starts the workers, and from then on replaces each that ends. The first listens before the others are started, so that whatever keeps
 * them from it is said once; its exit code is then returned instead.
 */
export async function startWorkers({ count, env, replacing }: Crew): Promise<Workers | number> {
  const crew = new Map<Worker, Promise<unknown>>()
  let stopping = false
  cluster.setupPrimary({ args: ['serve'] })

  const start = (number: number) => {
    const [worker, since] = [cluster.fork({ ...env, FEEDBACKCTL_WORKER: String(number) }), performance.now()]
    const ended = new Promise<{ code: number; reason: string }>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) =>
        resolve({ code: code ?? 1, reason: signal ?? `exit ${code}` }),
      )
      worker.once('error', (error) => resolve({ code: 1, reason: error.message })) // it could not even be started
    }).then((end) => {
      crew.delete(worker)
      return { ...end, lived: performance.now() - since }
    })
    crew.set(worker, ended)
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
      let inOrder = true
      const cut = setTimeout(() => {
        inOrder = false
        for (const worker of crew.keys()) worker.process.kill('SIGKILL')
      }, seconds * 1000)
      for (const worker of crew.keys()) if (worker.isConnected()) worker.send(STOP)
      await Promise.all(crew.values())
      clearTimeout(cut)
      return inOrder
    },
  }
}

/**
 * The number of this process among the workers of a server; undefined where it works by itself. From now on it stops in good order when
 * its leader says so or is gone; once, whoever else tells it too, as a second signal would end it at once.
 */
export function workerNumber(env: Record<string, string | undefined>): number | undefined {
  const { worker } = cluster
  const number = Number(env.FEEDBACKCTL_WORKER)
  if (!worker || !Number.isInteger(number)) return undefined // a process manager may use a cluster of its own
  let told = false
  process.once('SIGTERM', () => (told = true))
  const stop = () => void (told || process.kill(process.pid, 'SIGTERM'))
  process.on('message', (message) => void (message === STOP && stop()))
  worker.once('disconnect', () => {
    if (worker.exitedAfterDisconnect) return
    worker.exitedAfterDisconnect = true // or Node ends it at once
    stop()
  })
  return number
}

/** For a worker that cannot serve: the line to its leader would keep it waiting. */
export const leaveCrew = (): void => void cluster.worker?.disconnect()
