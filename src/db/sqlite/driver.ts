import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import { Group, GroupCommit } from './groupcommit.js'
import { Handle, patiently, PATIENCE } from './handle.js'

/**
 * Hands out as many Kysely connections as are wanted, over one file handle for reading and writing and, while a
 * transaction is open, one more for reading. Outside of transactions the handle that writes also reads: its pages stay
 * in memory, where a second handle reads all it needs again after each commit.
 */
export class FileDriver implements Driver {
  readonly #file: string
  readonly #commit: GroupCommit
  #writer: Handle | undefined
  #reader: Handle | undefined
  #isClosed = false

  constructor(file: string) {
    this.#file = file
    const handle = () => this.#handle
    const abandon = () => {
      const writer = this.#writer
      this.#writer = undefined
      writer?.close()
    }
    this.#commit = new GroupCommit({
      get handle() {
        return handle()
      },
      abandon,
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
    group.isWritten = true
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
    if (this.#handle.isReadonly(sql)) return patiently(deadline, () => this.#readable.run<R>(sql, parameters))
    const group = await this.#commit.enter(deadline)
    try {
      const result = this.#commit.run<R>(group, sql, parameters)
      group.isWritten = true
      return result
    } finally {
      this.#commit.leave(group)
      await group.ended
    }
  }

  /** Reads committed rows at once. Throws where the file is locked or cannot be read. */
  readNow<R>(sql: string, parameters: readonly unknown[] = []): R[] {
    return this.#readable.run<R>(sql, parameters).rows
  }

  /** Changes with each commit of this process. */
  get commits(): number {
    return this.#commit.commits
  }

  /** Changes with each commit of another process. */
  get version(): number {
    return this.#handle.version
  }

  async destroy() {
    this.#isClosed = true
    this.#reader?.close()
    this.#writer?.close()
  }

  /** A handle that does not see what is not committed yet. */
  get #readable(): Handle {
    return this.#handle.inTransaction ? (this.#reader ??= new Handle(this.#file)) : this.#handle
  }

  get #handle(): Handle {
    if (this.#isClosed) throw new Error('The database was closed.')
    return (this.#writer ??= new Handle(this.#file))
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
