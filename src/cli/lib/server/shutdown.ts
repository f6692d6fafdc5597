import { isatty } from 'node:tty'
import closeWithGrace from 'close-with-grace'
import { beginStopping } from '../terminal/ending.js'

/** Seconds that the rest of a shutdown may take after the time for open requests. */
export const SHUTDOWN_GRACE = 5

/** Left to the system: they come from a fault of the program, and a handler would run into the same fault for ever. */
const FAULTS = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const
const [INTERRUPTED, HUNG_UP] = [130, 129] // 128 plus the signal number, as in a shell

/** Why a server ends: a signal, a crash, or a shutdown that timed out. */
export type Ending = { signal: string } | { err: Error } | { timeout: number }

/**
 * Runs `stop` on SIGTERM, SIGINT, SIGHUP or a crash. Ends with 0, with 129 if the terminal was closed, and with 1 after
 * a crash. A second Ctrl-C ends the process at once, as does a shutdown that takes too long, which `log` records. Other
 * signals are ignored: those during the shutdown, SIGUSR2, and without a terminal SIGHUP, which `reloadOnHangup` handles.
 * A worker ignores the signals that a terminal sends to all processes: its primary tells it to stop.
 */
export async function untilStopped(
  seconds: number,
  stop: () => Promise<void>,
  { isWorker = false, log = () => {} }: { isWorker?: boolean; log?: (ending: Ending) => void } = {},
): Promise<never> {
  const ofTerminal = ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const
  const ignored = ['SIGUSR2', ...(isWorker ? ofTerminal : hasTerminal() ? [] : (['SIGHUP'] as const))] as const
  for (const signal of ignored) ignore(signal)
  // close-with-grace removes its listener before it adds the next. A signal in between would end the process.
  for (const signal of [...ofTerminal, 'SIGTERM'] as const) process.on(signal, () => {})
  const delay = (seconds + SHUTDOWN_GRACE) * 1000
  closeWithGrace(
    {
      delay,
      logger: false,
      skip: ['beforeExit', ...FAULTS, ...ignored],
      onSecondSignal: () => exitWith(INTERRUPTED),
      onTimeout: () => log({ timeout: delay / 1000 }),
    },
    async ({ signal, err }) => {
      beginStopping()
      for (const each of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) ignore(each)
      log(err ? { err } : { signal: String(signal) })
      if (signal === 'SIGHUP') exitWith(HUNG_UP)
      await stop()
    },
  )
  return new Promise<never>(() => {})
}

/** A closed terminal sends SIGHUP twice. The new listener is added first: without any, the second would end the process. */
function ignore(signal: NodeJS.Signals): void {
  const others = process.listeners(signal)
  process.on(signal, () => {})
  for (const each of others) process.off(signal, each)
}

/** close-with-grace ends the process with 0 or 1. */
const exitWith = (code: number): void => void process.once('exit', () => (process.exitCode = code))

/** Whether a terminal may send SIGHUP when it is closed. */
export const hasTerminal = (): boolean => [0, 1, 2].some((fd) => isatty(fd))
