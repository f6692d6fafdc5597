import path from 'node:path'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import { Checkpointer } from './checkpointer.js'
import { Group, GroupCommit } from './groupcommit.js'
import { AppError } from '../../core/errors.js'
import { isDamage, isFull, LockedError, lost, newer } from './errors.js'
import { Handle, patiently, PATIENCE } from './handle.js'
import { statusOf } from './watch.js'

/**
 * Hands out as many Kysely connections as are wanted, over one file handle for reading and writing and, while a
 * transaction is open, one more for reading. Outside of transactions the handle that writes also reads: its pages stay
 * in memory, where a second handle reads all it needs again after each commit.
 */
export class FileDriver implements Driver {
  readonly #file: string
  readonly #commit: GroupCommit
  readonly #checkpointer: Checkpointer
  #writer: Handle | undefined
  #reader: Handle | undefined
  #isClosed = false
  /** The last migration of the open file, and its site: another file in its place must have the same. */
  #content: { newest: string | undefined; site: string | undefined } | undefined
  /** When the path was looked at last, and a file there was tried last, by `performance.now()`. */
  #lookedAt = 0
  #triedAt = -Infinity
  #files = 0
  #written = 0

  constructor(file: string) {
    this.#file = file
    const handle = () => this.#handle
    this.#checkpointer = new Checkpointer(file, (pages) => this.#writer?.setCheckpoint(pages))
    const abandon = () => {
      void this.#checkpointer.stop()
      const writer = this.#writer
      this.#writer = undefined
      writer?.close()
    }
    this.#commit = new GroupCommit({
      get handle() {
        return handle()
      },
      abandon,
      begin: () => this.#begin(),
      committed: ({ writes }) => this.#committed(writes),
    })
  }

  async init() {}

  async acquireConnection(): Promise<FileConnection> {
    return this.connect()
  }

  /** Throws where the file cannot be opened. */
  connect(): FileConnection {
    void this.#handle
    return new FileConnection(this)
  }

  async releaseConnection() {}

  async beginTransaction(connection: FileConnection) {
    const group = await this.#commit.enter(performance.now() + PATIENCE)
    try {
      this.#commit.run(group, 'savepoint member')
    } catch (error) {
      this.#commit.leave(group)
      throw error
    }
    connection.group = group
  }

  async commitTransaction(connection: FileConnection) {
    const group = groupOf(connection)
    this.#commit.run(group, 'release member')
    connection.group = undefined
    group.writes++
    this.#commit.leave(group)
    await group.ended
  }

  /** Also waits for the commit of the others: a row that one of them wrote may be the reason for the rollback. */
  async rollbackTransaction(connection: FileConnection) {
    const { group } = connection
    if (!group) return // its commit failed, which rolled it back
    connection.group = undefined
    try {
      this.#commit.run(group, 'rollback to member')
      this.#commit.run(group, 'release member')
    } catch (error) {
      group.fault ??= error
    }
    this.#commit.leave(group)
    await group.ended.catch(() => {})
  }

  /** Runs a query in the transaction of a connection, or by itself. */
  async query<R>(connection: FileConnection | undefined, { sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (connection?.group) return this.#commit.run<R>(connection.group, sql, parameters)
    const deadline = performance.now() + PATIENCE
    this.#look()
    if (this.#isReadonly(sql)) return patiently(deadline, () => this.#read<R>(sql, parameters))
    const group = await this.#commit.enter(deadline)
    try {
      const result = this.#commit.run<R>(group, sql, parameters)
      group.writes++
      return result
    } finally {
      this.#commit.leave(group)
      await group.ended
    }
  }

  /** Reads committed rows at once. Throws where the file is locked or cannot be read. */
  readNow<R>(sql: string, parameters: readonly unknown[] = []): R[] {
    return this.#read<R>(sql, parameters).rows
  }

  /** Rejects where writes would fail. It tries one only where the last failed, or the disk is full. */
  async ping(): Promise<void> {
    const { failure } = this.#handle
    if (failure && isDamage(failure)) throw failure
    const isDoubtful = failure !== undefined || isFull(path.dirname(this.#file))
    await this.#write(isDoubtful ? OCCUPY : undefined)
    if (isDoubtful) await this.#write(RELEASE)
  }

  /** Changes with each commit of this process. */
  get commits(): number {
    return this.#commit.commits
  }

  /** Commits of this process that wrote something. */
  get written(): number {
    return this.#written
  }

  /** Size of the write-ahead log when the file was last looked at. */
  get logBytes(): number {
    return this.#writer?.logSize ?? 0
  }

  /** Changes with each commit of another process. */
  get version(): number {
    this.#look()
    return this.#handle.version
  }

  /** Changes when another file has taken the place of the first. */
  get files(): number {
    return this.#files
  }

  async destroy() {
    this.#isClosed = true
    await this.#checkpointer.close() // its handle first: the last one to be closed copies the rest
    this.#reader?.close()
    this.#writer?.close()
  }

  /** Writes for nobody: only takes the lock where there is nothing to run. */
  async #write(sql?: string): Promise<void> {
    const group = await this.#commit.enter(performance.now() + PING_PATIENCE)
    try {
      if (sql === undefined) return
      this.#commit.run(group, sql)
      group.writes++
    } finally {
      this.#commit.leave(group)
      await group.ended
    }
  }

  #isReadonly(sql: string): boolean {
    try {
      return this.#handle.isReadonly(sql)
    } catch (error) {
      throw this.#isMigrated(error) ? newer(this.#file) : error
    }
  }

  #read<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    try {
      return this.#readable.run<R>(sql, parameters)
    } catch (error) {
      throw this.#isMigrated(error) ? newer(this.#file) : error
    }
  }

  /** Whether a query may have failed because of a newer schema. */
  #isMigrated = (error: unknown): boolean => !(error instanceof AppError) && this.#handle.isNewer

  /** A handle that does not see what is not committed yet. */
  get #readable(): Handle {
    return this.#handle.inTransaction ? (this.#reader ??= this.#open()) : this.#handle
  }

  get #handle(): Handle {
    if (this.#isClosed) throw new Error('The database was closed.')
    if (this.#writer) return this.#writer
    this.#writer = this.#open()
    this.#remember(this.#writer)
    return this.#writer
  }

  /**
   * A deferred transaction that reads and then writes beside another process fails at once with SQLITE_BUSY_SNAPSHOT,
   * whatever busy_timeout says.
   */
  #begin(): void {
    this.#assertThere()
    const handle = this.#handle
    handle.run('begin immediate')
    if (!handle.isNewer) return
    handle.run('rollback')
    throw newer(this.#file)
  }

  #committed(writes: number): void {
    const handle = this.#handle
    const { loss } = handle
    if (loss) throw lost(this.#file, loss)
    if (writes === 0) return
    this.#written++
    this.#checkpointer.count(writes)
    this.#checkpointer.watch(handle.logSize)
    if (handle.failure && !isDamage(handle.failure)) handle.failure = undefined
    this.#remember(handle)
  }

  #remember(handle: Handle): void {
    if (this.#content?.site === undefined) this.#content = { newest: handle.newest, site: handle.site }
  }

  /** Looks once a second whether another file is in place, for reads. */
  #look(): void {
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_MS || this.#writer?.inTransaction) return
    this.#lookedAt = now
    try {
      this.#assertThere()
    } catch {
      // reads go on in the file that is open; who writes is told
    }
  }

  /** Throws where the path no longer leads to the open file. Opens another there if it is the same site's. */
  #assertThere(): void {
    const [old, reader] = [this.#handle, this.#reader]
    const { loss } = old
    if (!loss) return this.#checkpointer.watch(old.logSize)
    const now = performance.now()
    if (loss !== 'replaced' || now - this.#triedAt < LOOK_MS) throw lost(this.#file, loss)
    this.#triedAt = now
    this.#writer = this.#replaced(old)
    this.#reader = undefined
    this.#files++
    void this.#checkpointer.stop()
    old.close()
    reader?.close()
  }

  #reopen(): Handle {
    try {
      return new Handle(this.#file, { exists: true })
    } catch (error) {
      throw error instanceof LockedError ? error : lost(this.#file, 'replaced', error)
    }
  }

  #replaced(old: Handle): Handle {
    try {
      return old.replace(() => this.#open())
    } catch (error) {
      if (error instanceof AppError && error.code === 'DATABASE_UNREACHABLE') throw error
      throw lost(this.#file, 'truncated', error)
    }
  }

  #open(): Handle {
    if (!this.#content) return new Handle(this.#file)
    const { newest, site } = this.#content
    if (!statusOf(this.#file)?.size) throw lost(this.#file, 'removed') // SQLite would make it a new database
    const handle = this.#reopen()
    if (handle.newest === newest && (site === undefined || handle.site === site)) return handle
    handle.close()
    throw lost(this.#file, 'replaced')
  }
}

/** Milliseconds that `ping` waits for a lock. */
const PING_PATIENCE = 1000
/** Milliseconds between looks at the path of the file. */
const LOOK_MS = 1000
/** Uses space, to see whether there is any again. */
const OCCUPY = `insert or replace into job_leases (name, holder, until) values ('storage probe', hex(zeroblob(32768)), '')`
const RELEASE = `delete from job_leases where name = 'storage probe'`

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
