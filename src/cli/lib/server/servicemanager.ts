import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Workers } from '../../../process/workers.js'

type Env = Record<string, string | undefined>

/** Milliseconds that systemd may take for a message. */
const TELL_MS = 10_000

/** Tells systemd, or what speaks as it does, how the server is. */
export interface ServiceManager {
  /** What `systemctl status` shows. */
  waits(this: void, status: string): void
  /** From now on it also hears, as often as it asks for it, that the server is alive. */
  ready(this: void, status: string, isAlive: () => Promise<boolean>): void
  stopping(this: void): void
}

const NOBODY: ServiceManager = { waits() {}, ready() {}, stopping() {} }

/**
 * Node opens no datagram socket of a path, and NOTIFY_SOCKET is one. systemd-notify is on every machine with systemd,
 * fits its version, and waits until a message was taken, so that systemd still knows from whom it was. The variables are
 * removed, because they are of no other process.
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
  /** One after another, as the order matters. */
  const tell = (...states: string[]) =>
    void (told = told.then(async () => {
      const problem = await notify(states, { PATH: env.PATH, NOTIFY_SOCKET: socket })
      if (problem !== undefined && !isUntold) log.warn({ reason: problem }, UNTOLD)
      isUntold = problem !== undefined
    }))
  const feed = async (everyMs: number, isAlive: () => Promise<boolean>) => {
    for (;;) {
      await sleep(everyMs, undefined, { ref: false })
      if (isStopping) return
      const alive = await isAlive().catch(() => false)
      if (alive && !isStopping) tell('WATCHDOG=1')
    }
  }
  const feedMs = watched === undefined || watched === String(process.pid) ? Number(patience ?? 0) / 2000 : 0
  return {
    waits: (status) => tell(`STATUS=${status}`),
    ready(status, isAlive) {
      if (isStopping || isReady) return
      isReady = true
      tell('READY=1', `STATUS=${status}`)
      if (feedMs > 0) void feed(feedMs, isAlive)
    },
    stopping() {
      isStopping = true
      tell('STOPPING=1', 'STATUS=finishes open requests')
    },
  }
}

/** Milliseconds that a worker may take to ask the database. */
const ALIVE_MS = 10_000

/** Whether the database answers a worker. One that hangs by itself is killed by its primary. */
export const anyAlive = async (workers: Workers | undefined): Promise<boolean> =>
  [...((await workers?.ask('alive', ALIVE_MS)) ?? new Map<number, unknown>()).values()].includes(true)

const UNTOLD =
  'cannot tell the service manager how the server is, which may end it: it needs the program systemd-notify'

/** Says why it failed. */
const notify = (states: string[], env: Env): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile('systemd-notify', states, { env, timeout: TELL_MS, killSignal: 'SIGKILL' }, (error, _out, said) =>
      resolve(error ? said.trim().split('\n')[0] || error.message : undefined),
    ).unref()
  })
