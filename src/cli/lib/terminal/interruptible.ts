import { AppError } from '../../../core/errors.js'

/** Each with its exit code: 128 plus its number, as in a shell. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
type Signal = keyof typeof SIGNALS
const names = Object.keys(SIGNALS) as Signal[]

/**
 * Ctrl-C ends long work at its next check, so that it can remove what it has begun; `message` says what is then the
 * case. A second signal ends the process at once. `undo` leaves signals to the system again.
 */
export function interruptible(message: string | (() => string)): { check(this: void): void; undo(this: void): void } {
  let stopped: Signal | undefined
  const stop = (signal: Signal) => void (stopped = signal)
  for (const signal of names) process.once(signal, stop)
  return {
    check() {
      if (stopped === undefined) return
      const code = SIGNALS[stopped]
      process.once('exit', () => (process.exitCode = code))
      throw new AppError('INTERRUPTED', typeof message === 'string' ? message : message())
    },
    undo() {
      for (const signal of names) process.off(signal, stop)
    },
  }
}

/** For work that a signal may end at any moment. */
export const idle: ReturnType<typeof interruptible> = { check() {}, undo() {} }
