import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** A worker that exits sooner is restarted after a delay, as the next one may fail for the same reason. */
const MIN_UPTIME_MS = 5000
/** The first delay. It doubles with each failure in a row. */
const RESTART_DELAY_MS = 1000
const MAX_RESTART_DELAY_MS = 30_000

const restartDelay = (failures: number): number =>
  failures === 0 ? 0 : Math.min(RESTART_DELAY_MS * 2 ** (failures - 1), MAX_RESTART_DELAY_MS)

/** How often a worker tells its primary that it is alive. */
const HEARTBEAT_MS = 1000
const HEARTBEAT = 'feedbackctl heartbeat'
/** A worker that misses more heartbeats in a row hangs, and is killed. */
const MAX_MISSED = 10
/** How many more it may miss at first, while it starts. */
const MISSED_AT_START = 20

/** Messages between a primary and its workers. */
const QUESTION = 'feedbackctl question'
const ANSWER = 'feedbackctl answer'

/** Answers of a worker to its primary: its metrics, and whether its database is reachable. */
interface Answers {
  measured?: (() => Promise<unknown>) | undefined
  alive: () => Promise<boolean>
}

interface Question {
  type: typeof QUESTION
  id: number
  about: keyof Answers
}

interface Answer {
  type: typeof ANSWER
  id: number
  answer: unknown
}

/** The message of a worker that listens. */
const LISTENS = 'feedbackctl listens'

/** The message of a worker that has given a name to a Unix socket. */
const NAMED = 'feedbackctl named'

interface Named {
  type: typeof NAMED
  named: unknown
}

/** The message that carries changed settings to a worker. */
const SETTINGS = 'feedbackctl settings'

const isOfType = (message: unknown, type: string): boolean =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === type

/** The message that stops a worker. Not a signal, because a service manager may signal all processes of a service. */
const STOP_MESSAGE = 'feedbackctl stop'

interface WorkerOptions {
  count: number
  /** The settings, as environment variables: other users could read them on a command line. */
  env: Record<string, string>
  /**
   * Whether the workers listen on inherited sockets. Each worker then accepts connections itself: if the primary accepted
   * them, it would drop those that it holds when the last worker stops. Node closes the sockets with the last worker, so
   * no worker can be started after that.
   */
  inherits: boolean
  /** Whether the program is still the one that the other workers run. */
  mayRestart(this: void): Promise<boolean>
  onRestart(this: void, exited: Exited & { delay: number }): void
  /** A worker has given a name to a Unix socket. */
  onNamed(this: void, named: unknown): void
  /** A worker may not be restarted, and the others go on. */
  onLost(this: void, exited: Exited): void
  /** No worker is left, and none may be restarted. */
  onAllLost(this: void, last: Exited & { code: number | undefined }): void
}

/** How a process ended: without a code if a signal ended it. */
interface Exit {
  code: number | undefined
  reason: string
}

export interface Exited {
  worker: number
  workerPid: number | undefined
  reason: string
}

/** The worker processes of a server. All listen on one address. */
export interface Workers {
  /**
   * Asks all workers, and waits this many milliseconds. By the number that each process has; undefined where one did not
   * answer.
   */
  ask(about: keyof Answers, ms: number): Promise<Map<number, unknown>>
  /** Sends changed settings to all workers. Later workers get them by `env`. */
  tell(this: void, given: unknown): void
  /** Stops all workers, and kills them after the timeout. Returns whether none had to be killed. */
  stop(seconds: number): Promise<boolean>
}

/**
 * Starts the workers and restarts each that exits. The others start once the first one listens, so that an error that
 * stops them all is printed once. If the first ends by itself, returns its exit code.
 */
export async function startWorkers({
  count,
  env,
  inherits,
  mayRestart,
  onRestart,
  onNamed,
  onLost,
  onAllLost,
}: WorkerOptions): Promise<Workers | number> {
  const family = randomBytes(8).toString('hex')
  const workers = new Map<Worker, Promise<unknown>>()
  const listening = new Set<Worker>()
  let questions = 0
  let stopping = false
  let graceful = true
  if (inherits) cluster.schedulingPolicy = cluster.SCHED_NONE // before the next line, which fixes it
  cluster.setupPrimary({ args: ['serve'] })

  const start = (number: number) => {
    const worker = cluster.fork({ ...env, FEEDBACKCTL_WORKER: String(number), FEEDBACKCTL_FAMILY: family })
    const startedAt = performance.now()
    // Counted, not timed: if the primary itself was stopped for a while, it has not missed any.
    let missed = -MISSED_AT_START
    worker.on('message', (message) => void (message === HEARTBEAT && (missed = 0)))
    const heartbeats = setInterval(() => ++missed > MAX_MISSED && kill(worker), HEARTBEAT_MS)
    const exited = new Promise<Exit>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) =>
        resolve({
          code: code ?? undefined,
          reason: missed > MAX_MISSED ? `sent no heartbeat for ${MAX_MISSED} s` : (signal ?? `exit ${code}`),
        }),
      )
      worker.once('error', (error) => resolve({ code: 1, reason: error.message })) // the process could not be spawned
    }).then((exit) => {
      clearInterval(heartbeats)
      workers.delete(worker)
      listening.delete(worker)
      return { ...exit, uptime: performance.now() - startedAt }
    })
    workers.set(worker, exited)
    worker.once('listening', () => listening.add(worker))
    worker.on('message', (message) => void (isOfType(message, NAMED) && onNamed((message as Named).named)))
    // Later than that event: once its Unix socket has its name, so that an error of that is one of the start
    const listens = new Promise<void>((resolve) =>
      worker.on('message', (message) => void (message === LISTENS && resolve())),
    )
    return { worker, exited, listens }
  }
  const kill = (worker: Worker) => {
    if (stopping) graceful = false
    worker.process.kill('SIGKILL')
  }
  /** Whether the sockets are closed, so that a new worker could not listen. */
  const isTooLate = () => inherits && listening.size === 0
  const restart = async (number: number, { worker }: { worker: Worker }, reason: string, failures: number) => {
    const delay = restartDelay(failures)
    onRestart({ worker: number, workerPid: worker.process.pid, reason, delay })
    await sleep(delay)
  }
  const supervise = async (number: number, started = start(number), failuresBefore = 0): Promise<void> => {
    const exit = await started.exited
    const { reason, uptime } = exit
    if (stopping) return
    if (isTooLate() || !(await mayRestart())) return lose(number, started, exit)
    const failures = uptime < MIN_UPTIME_MS ? failuresBefore + 1 : 0
    await restart(number, started, reason, failures)
    if (stopping) return
    if (isTooLate() || !(await mayRestart())) return lose(number, started, exit)
    await supervise(number, start(number), failures)
  }
  const lose = (number: number, { worker }: { worker: Worker }, { reason, code }: Exit) => {
    const exited = { worker: number, workerPid: worker.process.pid, reason }
    if (isTooLate()) for (const other of workers.keys()) kill(other)
    else onLost(exited)
    if (workers.size === 0 || isTooLate()) onAllLost({ ...exited, code })
  }
  const startFirst = async (failures = 0): Promise<ReturnType<typeof start> | number> => {
    const first = start(1)
    const exit = await Promise.race([first.listens.then(() => undefined), first.exited])
    if (!exit) return first
    if (exit.code !== undefined) return exit.code
    if (inherits) return 1
    await restart(1, first, exit.reason, failures + 1) // it was killed
    return startFirst(failures + 1)
  }

  const first = await startFirst()
  if (typeof first === 'number') return first
  void supervise(1, first)
  for (let number = 2; number <= count; number++) void supervise(number)
  const ask = (worker: Worker, about: keyof Answers, ms: number): Promise<unknown> =>
    new Promise((resolve) => {
      const id = ++questions
      const end = (answer: unknown) => {
        clearTimeout(timer)
        worker.off('message', hear)
        resolve(answer)
      }
      const hear = (message: unknown) => {
        if (isOfType(message, ANSWER) && (message as Answer).id === id) end((message as Answer).answer)
      }
      const timer = setTimeout(end, ms, undefined)
      worker.on('message', hear)
      if (worker.isConnected()) worker.send({ type: QUESTION, id, about } satisfies Question, () => {}) // its channel may close now
    })
  return {
    async ask(about, ms) {
      const asked = [...workers.keys()].map(async (worker) => [worker.id, await ask(worker, about, ms)] as const)
      return new Map(await Promise.all(asked))
    },
    tell(given) {
      for (const worker of workers.keys()) if (worker.isConnected()) worker.send({ type: SETTINGS, given }, () => {}) // its channel may close now
    },
    async stop(seconds) {
      stopping = true
      const timeout = setTimeout(() => [...workers.keys()].forEach(kill), seconds * 1000)
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
  const beat = () => worker.isConnected() && worker.process.send(HEARTBEAT, undefined, undefined, () => {}) // its channel may close now
  beat()
  setInterval(beat, HEARTBEAT_MS).unref()
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

/** What this worker shares with the others of its server, and with none of another; that of a process manager has no name. */
export const familyOf = (env: Record<string, string | undefined>): string | undefined =>
  cluster.worker && (env.FEEDBACKCTL_FAMILY ?? String(process.ppid))

/** Tells the primary that this worker listens. */
export const tellListening = (): void => void process.send?.(LISTENS, undefined, undefined, () => {}) // its channel may close now

/**
 * Tells the primary which Unix socket this worker has named, so that the file stays for the other workers when this one
 * ends. No process manager is told: there the next server replaces the file. Undefined for a process that is no worker.
 */
export const tellNamed = (number: number | undefined): ((named: unknown) => void) | undefined =>
  cluster.worker &&
  ((named) => {
    if (number !== undefined) process.send?.({ type: NAMED, named } satisfies Named, undefined, undefined, () => {}) // its channel may close now
  })

/** Answers what the primary asks. */
export function answerPrimary(answers: Answers): void {
  process.on('message', (message) => {
    if (!isOfType(message, QUESTION)) return
    const { id, about } = message as Question
    const send = (found: unknown) =>
      process.send?.({ type: ANSWER, id, answer: found } satisfies Answer, undefined, undefined, () => {}) // its channel may close now
    const answer = answers[about]
    if (answer) answer().then(send, () => send(undefined))
    else send(undefined)
  })
}

/** Calls `hear` with the settings that the primary sends. */
export function hearPrimary(hear: (given: unknown) => void): void {
  process.on('message', (message) => {
    if (isOfType(message, SETTINGS)) hear((message as { given: unknown }).given)
  })
}

/** Closes the channel to the primary, which would keep a failed worker alive. */
export const disconnectWorker = (): void => void cluster.worker?.disconnect()
