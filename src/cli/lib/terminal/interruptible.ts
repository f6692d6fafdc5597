import { AppError } from '../../../core/errors.js'

interface Interruption {
  check(this: void): void
  until<T>(this: void, work: Promise<T>): Promise<T>
  undo(this: void): void
}

/** Each with its exit code: 128 plus its number, as in a shell. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
type Signal = keyof typeof SIGNALS
const names = Object.keys(SIGNALS) as Signal[]

/**
 * Ctrl-C ends long work at its next check, so that the work can remove unfinished files; `message` describes the result.
 * Work that waits for something else, such as a server, waits with `until`, which a signal also ends. A second Ctrl-C or
 * SIGTERM ends the process at once. A second SIGHUP does not: a closed terminal sends it twice. `undo` removes the signal
 * handlers.
 */
export function interruptible(message: string | (() => string)): Interruption {
  let stopped: Signal | undefined
  // A race with one promise for all signals would keep every result of the work in memory until a signal comes
  const waiting = new Set<() => void>()
  const stop = (signal: Signal) => {
    stopped = signal
    if (signal !== 'SIGHUP') process.off(signal, stop)
    for (const wake of waiting) wake()
  }
  for (const signal of names) process.on(signal, stop)
  const check = () => {
    if (stopped === undefined) return
    const code = SIGNALS[stopped]
    process.once('exit', () => (process.exitCode = code))
    throw new AppError('INTERRUPTED', typeof message === 'string' ? message : message())
  }
  return {
    check,
    async until(work) {
      let wake = () => {}
      const signalled = new Promise<void>((resolve) => (wake = resolve))
      waiting.add(wake)
      if (stopped !== undefined) wake()
      try {
        await Promise.race([work, signalled])
        check()
        return await work
      } finally {
        waiting.delete(wake)
      }
    },
    undo() {
      for (const signal of names) if (signal !== stopped) process.off(signal, stop)
    },
  }
}

/** For work that a signal may end at any moment. */
export const idle: Interruption = { check() {}, until: (work) => work, undo() {} }
