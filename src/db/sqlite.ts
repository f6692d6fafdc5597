import { closeSync, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
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

const PRAGMAS = ['busy_timeout = 5000', 'journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']

/** One file, shared by the server and every command: one connection a process, and writers of all processes queue. */
export function sqliteDialect(file: string): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new FileDriver(() => open(file)),
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

class FileDriver implements Driver {
  readonly #open: () => BetterSqlite.Database
  readonly #waiting: (() => void)[] = []
  #connection: FileConnection | undefined
  #busy = false

  constructor(opener: () => BetterSqlite.Database) {
    this.#open = opener
  }

  async init() {
    this.#connection = new FileConnection(this.#open())
  }

  // A queue wakes one waiter at a time; Kysely's mutex wakes them all, which costs seven times as much at a thousand waiting queries.
  async acquireConnection() {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy = true
    return this.#connection! // Kysely calls init first
  }

  async releaseConnection() {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#busy = false
  }

  // A deferred transaction that reads and then writes beside another process fails at once with SQLITE_BUSY_SNAPSHOT, whatever busy_timeout says.
  beginTransaction = (connection: DatabaseConnection) => run(connection, 'begin immediate')
  commitTransaction = (connection: DatabaseConnection) => run(connection, 'commit')
  rollbackTransaction = (connection: DatabaseConnection) => run(connection, 'rollback')

  async destroy() {
    this.#connection?.close()
  }
}

const run = async (connection: DatabaseConnection, sql: string): Promise<void> => void (await connection.executeQuery(CompiledQuery.raw(sql)))

class FileConnection implements DatabaseConnection {
  readonly #database: BetterSqlite.Database
  readonly #kept = new Map<string, BetterSqlite.Statement>() // Kysely prepares on every query; keeping the statement halves a point read

  constructor(database: BetterSqlite.Database) {
    this.#database = database
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const statement = this.#prepare(sql)
      if (statement.reader) return { rows: statement.all(...parameters) as R[] }
      const { changes } = statement.run(...parameters)
      return { rows: [], numAffectedRows: BigInt(changes) }
    } catch (error) {
      throw explained(error, this.#database.name)
    }
  }

  #prepare(sql: string): BetterSqlite.Statement {
    let statement = this.#kept.get(sql)
    if (!statement) {
      statement = this.#database.prepare(sql)
      this.#kept.set(sql, statement)
    }
    return statement
  }

  // oxlint-disable-next-line require-yield -- nothing streams from SQLite; lists are paged
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported on SQLite: page instead.')
  }

  close() {
    this.#database.close()
  }
}

function open(file: string): BetterSqlite.Database {
  const Database = loadDriver()
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600)) // holds password hashes: nobody else's to read
    const database = new Database(file)
    for (const pragma of PRAGMAS) database.pragma(pragma)
    return database
  } catch (error) {
    throw explained(error, file)
  }
}

/** better-sqlite3 crashes the process on a Node it was not built for, so that is checked before it is loaded. */
function loadDriver(): typeof BetterSqlite {
  const require = createRequire(import.meta.url)
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
    return new AppError('DATABASE_UNREACHABLE', 'Another process kept the database locked for more than 5 seconds. Try again in a moment.', { cause: error })
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
