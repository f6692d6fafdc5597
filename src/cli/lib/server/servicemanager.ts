import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Workers } from '../../../process/workers.js'

type Env = Record<string, string | undefined>

/** How long to wait for systemd to read a message, in milliseconds. */
const TELL_MS = 10_000

/** The message that feeds the watchdog. */
const FED = 'WATCHDOG=1'

/** Tells the service manager the state of the server. */
export interface ServiceManager {
  /** What `systemctl status` shows. */
  waits(this: void, status: string): void
  /** Also starts to feed the watchdog, if the service manager has one. */
  ready(this: void, status: string, isAlive: () => Promise<boolean>): void
  /** Resolves when the service manager knows it: the process must not end before. */
  stopping(this: void): Promise<void>
}

const NOBODY: ServiceManager = { waits() {}, ready() {}, async stopping() {} }

/**
 * Sends states to systemd by the program systemd-notify, because Node cannot open Unix datagram sockets. The program waits
 * until systemd has read the message: otherwise systemd could not tell which service sent it. The variables are removed,
 * so that children do not inherit them.
 */
export function serviceManager(
  env: Env,
  log: Pick<Logger, 'warn'>,
  { isWorker }: { isWorker: boolean },
): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: patience, WATCHDOG_PID: watched } = env
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name]
  if (isWorker || !socket) return NOBODY
  let told = Promise.resolve()
  let isUntold = false
  let isReady = false
  let isStopping = false
  /** Sends messages in order. */
  const tell = (...states: string[]) =>
    (told = told.then(async () => {
      if (isStopping && states[0] === FED) return // it would come after the end
      const problem = await notify(states, { PATH: env.PATH, NOTIFY_SOCKET: socket })
      if (problem !== undefined && !isUntold) log.warn({ reason: problem }, UNTOLD)
      isUntold = problem !== undefined
    }))
  const feed = async (everyMs: number, isAlive: () => Promise<boolean>) => {
    for (;;) {
      await sleep(everyMs, undefined, { ref: false })
      if (isStopping) return
      const alive = await isAlive().catch(() => false)
      if (alive) await tell(FED) // one at a time, also where systemd-notify is slow
    }
  }
  const feedMs = watched === undefined || watched === String(process.pid) ? Number(patience ?? 0) / 2000 : 0
  return {
    waits: (status) => void tell(`STATUS=${status}`),
    ready(status, isAlive) {
      if (isStopping || isReady) return
      isReady = true
      void tell('READY=1', `STATUS=${status}`)
      if (feedMs > 0) void feed(feedMs, isAlive)
    },
    stopping() {
      isStopping = true
      const alive = setInterval(() => {}, TELL_MS) // the child process is unreferenced and keeps nothing alive
      return tell('STOPPING=1', 'STATUS=finishes open requests').finally(() => clearInterval(alive))
    },
  }
}

/** How long to wait for a worker to ping the database, in milliseconds. */
const ALIVE_MS = 10_000

/** Whether any worker reaches the database. The primary itself kills workers that hang. */
export const anyAlive = async (workers: Workers | undefined): Promise<boolean> =>
  [...((await workers?.ask('alive', ALIVE_MS)) ?? new Map<number, unknown>()).values()].includes(true)

const UNTOLD = 'cannot notify the service manager, which may therefore stop the server. Is systemd-notify installed?'

/** Returns why it failed; undefined if it succeeded. */
const notify = (states: string[], env: Env): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile('systemd-notify', states, { env, timeout: TELL_MS, killSignal: 'SIGKILL' }, (error, _out, said) =>
      resolve(error ? said.trim().split('\n')[0] || error.message : undefined),
    ).unref()
  })
