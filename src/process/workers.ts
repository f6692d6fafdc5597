import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** A worker that exits sooner is restarted after a delay, as the next one may fail for the same reason. */
const MIN_UPTIME_MS = 5000
const RESTART_DELAY_MS = 1000

/** The message that stops a worker. Not a signal, because a service manager may signal all processes of a service. */
const STOP_MESSAGE = 'feedbackctl stop'

interface WorkerOptions {
  count: number
  /** The settings, as environment variables: other users could read them on a command line. */
  env: Record<string, string>
  onRestart(this: void, exited: { worker: number; workerPid: number | undefined; reason: string | number }): void
}

/** The worker processes of a server. All listen on one address. */
export interface Workers {
  /** Stops all workers, and kills them after the timeout. Returns whether none had to be killed. */
  stop(seconds: number): Promise<boolean>
}

/**
 * Starts the workers and restarts each that exits. The others start once the first one listens, so that an error that
 * stops them all is printed once. If the first fails, returns its exit code.
 */
export async function startWorkers({ count, env, onRestart }: WorkerOptions): Promise<Workers | number> {
  const workers = new Map<Worker, Promise<unknown>>()
  let stopping = false
  cluster.setupPrimary({ args: ['serve'] })

  const start = (number: number) => {
    const worker = cluster.fork({ ...env, FEEDBACKCTL_WORKER: String(number) })
    const startedAt = performance.now()
    const exited = new Promise<{ code: number; reason: string }>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) =>
        resolve({ code: code ?? 1, reason: signal ?? `exit ${code}` }),
      )
      worker.once('error', (error) => resolve({ code: 1, reason: error.message })) // the process could not be spawned
    }).then((exit) => {
      workers.delete(worker)
      return { ...exit, uptime: performance.now() - startedAt }
    })
    workers.set(worker, exited)
    return { worker, exited }
  }
  const supervise = async (number: number, { worker, exited } = start(number)): Promise<void> => {
    const { reason, uptime } = await exited
    if (stopping) return
    onRestart({ worker: number, workerPid: worker.process.pid, reason })
    if (uptime < MIN_UPTIME_MS) await sleep(RESTART_DELAY_MS)
    if (!stopping) await supervise(number)
  }

  const first = start(1)
  const failure = await Promise.race([once(first.worker, 'listening').then(() => undefined), first.exited])
  if (failure) return failure.code
  void supervise(1, first)
  for (let number = 2; number <= count; number++) void supervise(number)
  return {
    async stop(seconds) {
      stopping = true
      let graceful = true
      const timeout = setTimeout(() => {
        graceful = false
        for (const worker of workers.keys()) worker.process.kill('SIGKILL')
      }, seconds * 1000)
      for (const worker of workers.keys()) if (worker.isConnected()) worker.send(STOP_MESSAGE)
      await Promise.all(workers.values())
      clearTimeout(timeout)
      return graceful
    },
  }
}

/**
 * The number of this process among the workers, or undefined if it is not a worker. A worker stops gracefully when its
 * primary says so or is gone. It sends itself only one SIGTERM, as a second one ends a process at once.
 */
export function workerNumber(env: Record<string, string | undefined>): number | undefined {
  const { worker } = cluster
  const number = Number(env.FEEDBACKCTL_WORKER)
  if (!worker || !Number.isInteger(number)) return undefined // a process manager may use a cluster of its own
  let terminating = false
  process.once('SIGTERM', () => (terminating = true))
  const stop = () => void (terminating || process.kill(process.pid, 'SIGTERM'))
  process.on('message', (message) => void (message === STOP_MESSAGE && stop()))
  worker.once('disconnect', () => {
    if (worker.exitedAfterDisconnect) return
    worker.exitedAfterDisconnect = true // otherwise Node exits at once
    stop()
  })
  return number
}

/** Closes the channel to the primary, which would keep a failed worker alive. */
export const disconnectWorker = (): void => void cluster.worker?.disconnect()
