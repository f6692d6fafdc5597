import { setTimeout as sleep } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import { AppError } from '../../core/errors.js'
import { ATTEMPT, Handle, locked, PATIENCE } from './handle.js'

/**
 * Hands out as many Kysely connections as are asked for, over one file handle for writing and, beside a transaction, one for reading.
 * Writers take turns, after everything that could be read in this turn of the event loop. Those that wait then are one transaction of
 * SQLite, each of them a savepoint of it: it is committed once for all, which is most of what a small write costs, and none of them is
 * answered before. What they looked up until then came from the handle that writes, whose pages stay in memory; a second handle has
 * to read all it needs anew after each commit.
 */
export class FileDriver implements Driver {
  readonly #file: string
  readonly #waiting = new Set<Waiter>()
  #writer: Handle | undefined
  #reader: Handle | undefined
  #isClosed = false
  /** Whether a group is being written, or about to be. */
  #busy = false
  /** Commits of this process, and of handles that were given up. */
  #commits = 0

  constructor(file: string) {
    this.#file = file
  }

  async init() {}

  async acquireConnection(): Promise<FileConnection> {
    return this.connect()
  }

  /** Throws where the file cannot be opened. */
  connect(): FileConnection {
    void this.handle
    return new FileConnection(this)
  }

  async releaseConnection() {}

  async beginTransaction(connection: FileConnection) {
    const group = await this.#enter(performance.now() + PATIENCE)
    try {
      this.#write(group, 'savepoint member')
    } catch (error) {
      this.#next(group)
      throw error
    }
    connection.group = group
  }

  async commitTransaction(connection: FileConnection) {
    const group = groupOf(connection)
    this.#write(group, 'release member')
    connection.group = undefined
    group.written = true
    this.#next(group)
    await group.ended
  }

  /** Also waits for the commit of the others: what it was refused for may be a row that one of them wrote. */
  async rollbackTransaction(connection: FileConnection) {
    const { group } = connection
    if (!group) return // its commit failed, which has taken it back
    connection.group = undefined
    try {
      this.#write(group, 'rollback to member')
      this.#write(group, 'release member')
    } catch (error) {
      group.fault ??= error
    }
    this.#next(group)
    await group.ended.catch(() => {})
  }

  /** Runs a query in the transaction of a connection, or by itself. */
  async query<R>(connection: FileConnection | undefined, query: CompiledQuery): Promise<QueryResult<R>> {
    if (connection?.group) return this.#run<R>(connection.group, query)
    const deadline = performance.now() + PATIENCE
    if (!this.handle.isReadonly(query.sql)) return this.#alone<R>(deadline, query)
    return patiently(deadline, () => this.#forReading().run<R>(query.sql, query.parameters))
  }

  /** What a transaction of somebody else has not committed yet is not to be seen. */
  #forReading(): Handle {
    return this.handle.inTransaction ? (this.#reader ??= new Handle(this.#file)) : this.handle
  }

  /** Committed rows, at once. Throws where the file is locked or cannot be read. */
  readNow<R>(sql: string, parameters: readonly unknown[] = []): R[] {
    return this.#forReading().run<R>(sql, parameters).rows
  }

  /** Changes with each commit of this process. */
  get commits(): number {
    return this.#commits
  }

  /** Changes with each commit of another process. */
  get version(): number {
    return this.handle.version
  }

  /** One statement that is a transaction by itself. */
  async #alone<R>(deadline: number, query: CompiledQuery): Promise<QueryResult<R>> {
    const group = await this.#enter(deadline)
    try {
      const result = this.#run<R>(group, query)
      group.written = true
      return result
    } finally {
      this.#next(group)
      await group.ended
    }
  }

  #run<R>(group: Group, { sql, parameters }: CompiledQuery): QueryResult<R> {
    return this.#write<R>(group, sql, parameters)
  }

  #write<R>(group: Group, sql: string, parameters?: readonly unknown[]): QueryResult<R> {
    if (group.fault !== undefined) throw group.fault // or the rest would be written without its beginning
    try {
      return this.handle.run<R>(sql, parameters)
    } catch (error) {
      if (!this.handle.inTransaction) group.fault = error // where the disk fails, SQLite takes back the whole transaction by itself
      throw error
    }
  }

  async destroy() {
    this.#isClosed = true
    this.#reader?.close()
    this.#writer?.close()
  }

  get handle(): Handle {
    if (this.#isClosed) throw new Error('The database was closed.')
    return (this.#writer ??= new Handle(this.#file))
  }

  /** Waits for its turn in the group that is written next; no longer than it would wait for another process. */
  #enter(deadline: number): Promise<Group> {
    if (!this.#busy) this.#openSoon()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => waiter.refuse(locked()), deadline - performance.now())
      const left = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter = {
        deadline,
        enter: (group) => {
          left()
          resolve(group)
        },
        refuse: (error) => {
          left()
          reject(error)
        },
      }
      this.#waiting.add(waiter)
    })
  }

  #openSoon() {
    this.#busy = true
    setImmediate(() => void this.#open())
  }

  async #open() {
    const [first] = this.#waiting
    if (!first) return void (this.#busy = false)
    try {
      // A deferred transaction that reads and then writes beside another process fails at once with SQLITE_BUSY_SNAPSHOT, whatever busy_timeout says.
      await patiently(first.deadline, () => this.handle.run('begin immediate'))
    } catch (error) {
      first.refuse(error)
      return this.#openSoon()
    }
    const group = new Group()
    setImmediate(() => (group.isFull = true))
    this.#next(group)
  }

  /** Lets the next one write; when there is none, or it has gone on for longer than a turn, the group is committed. */
  #next(group: Group) {
    const [waiter] = this.#waiting
    if (waiter && !group.isFull && group.fault === undefined) return waiter.enter(group)
    try {
      this.#commit(group)
    } finally {
      if (waiter) this.#openSoon()
      else this.#busy = false
    }
  }

  #commit(group: Group) {
    try {
      if (group.fault !== undefined) throw group.fault
      this.handle.run(group.written ? 'commit' : 'rollback')
      this.#commits++
      group.end()
    } catch (error) {
      group.end(error) // first: whoever is in it waits for that
      this.#commits++ // some of it may have reached the file
      this.#takeBack()
    }
  }

  /** Where not even that can be done, the handle is given up: what it has not committed ends with it. */
  #takeBack() {
    const handle = this.#writer
    try {
      if (handle?.inTransaction) handle.run('rollback')
    } catch {
      this.#writer = undefined // whoever needs it next opens another, or hears why that cannot be done
      this.#commits++ // the version of another handle counts from elsewhere
      handle?.close()
    }
  }
}

/** Who wants to write. */
interface Waiter {
  /** When it gives up, by `performance.now()`. */
  deadline: number
  enter(this: void, group: Group): void
  refuse(this: void, error: unknown): void
}

/** A transaction of SQLite with those whose writes it holds. */
class Group {
  /** Whether there is anything to commit. */
  written = false
  /** Whether the turn of the event loop is over in which it was begun: whoever wants to write now waits for the next. */
  isFull = false
  /** Why SQLite has taken it back. */
  fault: unknown
  /** Settles with the commit. */
  readonly ended: Promise<void>
  end!: (error?: unknown) => void // set by the promise, at once

  constructor() {
    this.ended = new Promise((resolve, reject) => {
      this.end = (error) => (error === undefined ? resolve() : reject(error))
    })
    this.ended.catch(() => {}) // whoever is in it hears of it
  }
}

export function groupOf({ group }: FileConnection): Group {
  if (!group) throw new Error('This connection is in no transaction.')
  return group
}

export class FileConnection implements DatabaseConnection {
  readonly #driver: FileDriver
  /** The transaction it is in. */
  group: Group | undefined

  constructor(driver: FileDriver) {
    this.#driver = driver
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#driver.query<R>(this, query)
  }

  // oxlint-disable-next-line require-yield -- nothing streams from SQLite; lists are paged
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported on SQLite: page instead.')
  }
}

/** Tries again while another process holds the lock, and lets this one work meanwhile. */
async function patiently<T>(deadline: number, attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'DATABASE_UNREACHABLE') || performance.now() > deadline)
        throw error
    }
    await sleep(ATTEMPT)
  }
}
