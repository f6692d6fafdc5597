import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type BetterSqlite from 'better-sqlite3'
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { AppError } from '../core/errors.js'

/** How long one attempt blocks this process, and how long attempts go on, in milliseconds: other work goes on between them. */
const ATTEMPT = 20
const PATIENCE = 5000
const PRAGMAS = [`busy_timeout = ${PATIENCE}`, 'journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON', `busy_timeout = ${ATTEMPT}`]

/** One file, shared by the server and every command. Writers of all processes queue; readers wait for nobody. */
export function sqliteDialect(file: string): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new FileDriver(file),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** SQLite's schema changes are transactional; Kysely assumes not, and would let two processes migrate at the same time. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}

/** Statements kept by a handle: far more than the program has, but lists of different lengths have a statement each. */
const MOST_KEPT = 500

/** Hands out as many Kysely connections as are asked for, over one file handle for writing and, beside a transaction, one for reading. */
class FileDriver implements Driver {
  readonly #file: string
  readonly #waiting = new Set<() => void>()
  #writer: Handle | undefined
  #reader: Handle | undefined
  #locked = false

  constructor(file: string) {
    this.#file = file
  }

  async init() {
    this.#writer = new Handle(this.#file)
  }

  async acquireConnection(): Promise<FileConnection> {
    return new FileConnection(this)
  }

  async releaseConnection() {}

  async beginTransaction(connection: FileConnection) {
    const deadline = performance.now() + PATIENCE
    await this.#lock(deadline)
    try {
      // A deferred transaction that reads and then writes beside another process fails at once with SQLITE_BUSY_SNAPSHOT, whatever busy_timeout says.
      await patiently(deadline, () => this.handle.run('begin immediate'))
      connection.inTransaction = true
    } catch (error) {
      this.#unlock()
      throw error
    }
  }

  async commitTransaction(connection: FileConnection) {
    this.handle.run('commit')
    connection.inTransaction = false
    this.#unlock()
  }

  async rollbackTransaction(connection: FileConnection) {
    try {
      if (this.handle.inTransaction) this.handle.run('rollback') // SQLite has done so itself where the disk failed
    } finally {
      connection.inTransaction = false
      this.#unlock()
    }
  }

  async query<R>(connection: FileConnection, { sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (connection.inTransaction) return this.handle.run<R>(sql, parameters)
    const deadline = performance.now() + PATIENCE
    if (this.handle.isReadonly(sql)) {
      // What a transaction of somebody else has not committed yet is not to be seen.
      const handle = this.handle.inTransaction ? (this.#reader ??= new Handle(this.#file)) : this.handle
      return patiently(deadline, () => handle.run<R>(sql, parameters))
    }
    await this.#lock(deadline)
    try {
      return await patiently(deadline, () => this.handle.run<R>(sql, parameters))
    } finally {
      this.#unlock()
    }
  }

  async destroy() {
    this.#reader?.close()
    this.#writer?.close()
  }

  get handle(): Handle {
    return this.#writer! // Kysely calls init first
  }

  // A queue wakes one waiter at a time; Kysely's mutex wakes them all, which costs seven times as much at a thousand waiting queries.
  async #lock(deadline: number) {
    if (this.#locked) await this.#turn(deadline)
    this.#locked = true
  }

  /** Whoever waits behind a writer that waits for another process gives up no later than that writer would. */
  #turn(deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(take)
        reject(locked())
      }, deadline - performance.now())
      this.#waiting.add(take)
    })
  }

  #unlock() {
    const [next] = this.#waiting
    if (!next) this.#locked = false
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}

class FileConnection implements DatabaseConnection {
  readonly #driver: FileDriver
  inTransaction = false

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

/** An open file with its prepared statements. */
class Handle {
  readonly #database: BetterSqlite.Database
  readonly #kept = new Map<string, BetterSqlite.Statement>() // Kysely prepares on every query; keeping the statement halves a point read

  constructor(file: string) {
    this.#database = open(file)
  }

  run<R>(sql: string, parameters: readonly unknown[] = []): QueryResult<R> {
    try {
      const statement = this.#prepare(sql)
      if (statement.reader) return { rows: statement.all(...parameters) as R[] }
      const { changes } = statement.run(...parameters)
      return { rows: [], numAffectedRows: BigInt(changes) }
    } catch (error) {
      throw explained(error, this.#database.name)
    }
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction
  }

  isReadonly(sql: string): boolean {
    try {
      return this.#prepare(sql).readonly
    } catch (error) {
      throw explained(error, this.#database.name)
    }
  }

  #prepare(sql: string): BetterSqlite.Statement {
    let statement = this.#kept.get(sql)
    if (!statement) {
      statement = this.#database.prepare(sql)
      const [oldest] = this.#kept.keys()
      if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest)
      this.#kept.set(sql, statement)
    }
    return statement
  }

  close() {
    this.#database.close()
  }
}

/** Tries again while another process holds the lock, and lets this one work meanwhile. */
async function patiently<T>(deadline: number, attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'DATABASE_UNREACHABLE') || performance.now() > deadline) throw error
    }
    await sleep(ATTEMPT)
  }
}

function open(file: string): BetterSqlite.Database {
  const Database = loadDriver()
  try {
    if (!existsSync(file)) create(file)
    const database = new Database(file)
    for (const pragma of PRAGMAS) database.pragma(pragma)
    return database
  } catch (error) {
    throw explained(error, file)
  }
}

/**
 * Made for its owner only, as it holds password hashes. Never opened here once it exists: on POSIX closing any descriptor
 * of a file drops all locks that this process holds on it, and another program would then delete the WAL under SQLite.
 */
function create(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error // another process was faster
  }
}

/** better-sqlite3 crashes the process on a Node it was not built for, so that is checked before it is loaded. */
function loadDriver(): typeof BetterSqlite {
  const require = createRequire(import.meta.filename)
  const { version } = require('better-sqlite3/package.json') as { version: string }
  const node = Number(process.versions.node.split('.')[0])
  if (version.startsWith('12.') ? node >= 24 : node < 22) {
    throw new AppError(
      'UNSUPPORTED_NODE',
      `The installed better-sqlite3 ${version} does not run on Node ${process.versions.node}. Run "npm install" again with this Node.`,
    )
  }
  return require('better-sqlite3') as typeof BetterSqlite
}

/** Tells a fault of the file from a bug of ours; a bug passes unchanged. */
function explained(error: unknown, file: string): unknown {
  const code = String((error as { code?: unknown }).code)
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return locked(error)
  }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC')
    return new AppError('DATABASE_UNUSABLE', `There is no space left for ${file}. Nothing was changed.`, { cause: error })
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT'))
    return new AppError('DATABASE_UNUSABLE', `${file} is not a usable SQLite database.`, { cause: error })
  if (/^(SQLITE_(CANTOPEN|READONLY|IOERR|PERM)|E(ACCES|PERM|ROFS|NOTDIR|ISDIR|NOENT|EXIST)$)/.test(code)) {
    return new AppError(
      'DATABASE_UNUSABLE',
      `Cannot open ${file} for reading and writing. Check its folder and permissions, or choose another with --data-dir.`,
      { cause: error },
    )
  }
  return error
}

const locked = (cause?: unknown): AppError =>
  new AppError('DATABASE_UNREACHABLE', 'Another process kept the database locked for more than 5 seconds. Try again in a moment.', { cause })
