import { AppError } from './errors.js'

interface Log {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface Repeat {
  /** Its `reqId` or the like, which the log has with the error in full. */
  first: string
  startedAt: number
  lastAt: number
  loggedAt: number
  /** Occurrences since the last log line. */
  count: number
  total: number
}

/** The shortest time between two log lines of a repeating error. */
const LINE_MS = 60_000
/** An error that has not occurred for this long has stopped. */
const OVER_MS = 10_000
/** Kinds of errors counted at a time. Further kinds are logged in full each time. */
const MAX_KINDS = 100

/** Logs a repeating error in full the first time. Later it logs only a count, and finally that the error stopped. */
export class Repeats {
  readonly #log: () => Log
  readonly #kinds = new Map<string, Repeat>()

  constructor(log: () => Log) {
    this.#log = log
  }

  /** Returns the id of the error of the same kind that the log has in full. */
  report(error: AppError, id: string, fields: object, message = error.message): string {
    const { cause = error } = error
    const isExpected = error.status === 503
    const key = `${message} ${error.code} ${isExpected ? codeOf(cause) : stackOf(cause)}`
    const now = performance.now()
    const known = this.#kinds.get(key)
    if (known) {
      known.lastAt = now
      known.count++
      known.total++
      return known.first
    }
    const described = isExpected ? { code: error.code, cause: causeOf(cause) } : { err: cause }
    this.#log().error({ ...fields, ...described }, message)
    if (this.#kinds.size >= MAX_KINDS) return id
    const repeat = { first: id, startedAt: now, lastAt: now, loggedAt: now, count: 0, total: 1 }
    this.#kinds.set(key, repeat)
    const timer = setInterval(() => {
      if (this.#check(repeat, { code: error.code }, message)) return
      clearInterval(timer)
      this.#kinds.delete(key)
    }, OVER_MS / 2).unref()
    return id
  }

  /** Logs what is due. Returns whether the error goes on. */
  #check(repeat: Repeat, fields: object, message: string): boolean {
    const now = performance.now()
    const isOver = now - repeat.lastAt >= OVER_MS
    const counted = { ...fields, first: repeat.first, count: repeat.total, seconds: seconds(repeat.startedAt, now) }
    if (isOver && repeat.total > 1)
      this.#log().info({ ...counted, seconds: seconds(repeat.startedAt, repeat.lastAt) }, `over: ${message}`)
    if (!isOver && repeat.count > 0 && now - repeat.loggedAt >= LINE_MS) {
      this.#log().error(counted, `goes on: ${message}`)
      repeat.loggedAt = now
      repeat.count = 0
    }
    return !isOver
  }
}

const seconds = (from: number, to: number): number => Math.round((to - from) / 1000)

const codeOf = (cause: unknown): string => (cause as { code?: string } | undefined)?.code ?? ''

/** The name, the message and the place of an error: the same for the same bug. */
const stackOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message).split('\n').slice(0, 2).join('\n') : String(cause)

const causeOf = (cause: unknown): string =>
  [codeOf(cause), cause instanceof Error ? cause.message : String(cause)].filter(Boolean).join(': ')
