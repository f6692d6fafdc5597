import type { QueryResult } from 'kysely'
import { LockedError } from './errors.js'
import { patiently, type Handle } from './handle.js'

/** Owns the handle that writes. */
interface Writer {
  readonly handle: Handle
  /** Gives the handle up: what it has not committed ends with it, and whoever needs one next opens another. */
  abandon(this: void): void
  /** Begins a transaction. Throws where the file must not be written to. */
  begin(this: void): void
  /** Runs after each commit. Throws where it went into a file that is gone. */
  committed(this: void, group: Group): void
}

/** Someone who waits to write. */
interface Waiter {
  /** When it gives up, by `performance.now()`. */
  deadline: number
  enter(this: void, group: Group): void
  refuse(this: void, error: unknown): void
}

/**
 * Group commit. Writers take turns, after everything that could be read in this turn of the event loop. Those that wait
 * then share one transaction of SQLite, in which each has a savepoint. It is committed once for all, which is most of
 * what a small write costs, and none of them returns before that.
 */
export class GroupCommit {
  readonly #writer: Writer
  readonly #waiting = new Set<Waiter>()
  /** Whether a group is open, or about to be. */
  #isBusy = false
  #commits = 0

  constructor(writer: Writer) {
    this.#writer = writer
  }

  /** Grows with each commit of this process, and with each that may have been one. */
  get commits(): number {
    return this.#commits
  }

  /** Waits for a turn in the next group; no longer than it would wait for another process. */
  enter(deadline: number): Promise<Group> {
    if (!this.#isBusy) this.#openSoon()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => waiter.refuse(new LockedError()), deadline - performance.now())
      const leave = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter = {
        deadline,
        enter: (group) => {
          leave()
          resolve(group)
        },
        refuse: (error) => {
          leave()
          reject(error)
        },
      }
      this.#waiting.add(waiter)
    })
  }

  run<R>(group: Group, sql: string, parameters?: readonly unknown[]): QueryResult<R> {
    if (group.fault !== undefined) throw group.fault // or the rest would be written without its beginning
    const { handle } = this.#writer
    try {
      return handle.run<R>(sql, parameters)
    } catch (error) {
      // SQLite rolled the whole transaction back, as it does where the disk fails
      if (!handle.inTransaction) group.fault = error
      throw error
    }
  }

  /**
   * Lets the next writer into the group. When there is none, or the turn of the event loop is over, the group is
   * committed.
   */
  leave(group: Group): void {
    const [waiter] = this.#waiting
    if (waiter && !group.isFull && group.fault === undefined) return waiter.enter(group)
    try {
      this.#commit(group)
    } finally {
      if (waiter) this.#openSoon()
      else this.#isBusy = false
    }
  }

  #openSoon() {
    this.#isBusy = true
    setImmediate(() => void this.#open())
  }

  async #open() {
    const [first] = this.#waiting
    if (!first) return void (this.#isBusy = false)
    try {
      await patiently(first.deadline, this.#writer.begin)
    } catch (error) {
      first.refuse(error)
      return this.#openSoon()
    }
    const group = new Group()
    setImmediate(() => (group.isFull = true))
    this.leave(group)
  }

  #commit(group: Group) {
    try {
      if (group.fault !== undefined) throw group.fault
      this.#writer.handle.run(group.writes > 0 ? 'commit' : 'rollback')
      this.#writer.committed(group)
      this.#commits++
      group.end()
    } catch (error) {
      group.end(error) // first: its members wait for that
      this.#commits++ // some of it may have reached the file
      this.#rollBack()
    }
  }

  #rollBack() {
    try {
      const { handle } = this.#writer
      if (handle.inTransaction) handle.run('rollback')
    } catch {
      this.#writer.abandon()
    }
  }
}

/** One transaction of SQLite, and the writers that share it. */
export class Group {
  /** How many of its members wrote. */
  writes = 0
  /** Whether the turn of the event loop in which it began is over: writers that come now wait for the next group. */
  isFull = false
  /** Why SQLite rolled it back. */
  fault: unknown
  /** Settles with the commit. */
  readonly ended: Promise<void>
  end!: (error?: unknown) => void // set by the promise, at once

  constructor() {
    this.ended = new Promise((resolve, reject) => {
      this.end = (error) => (error === undefined ? resolve() : reject(error))
    })
    this.ended.catch(() => {}) // its members hear of it
  }
}
