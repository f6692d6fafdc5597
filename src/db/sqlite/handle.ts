import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type BetterSqlite from 'better-sqlite3'
import type { QueryResult } from 'kysely'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../core/errors.js'
import { loadBinding, openSqlite } from './binding.js'

/**
 * Milliseconds that one attempt to get a lock blocks this process, and that attempts go on; other work goes on between
 * them.
 */
const ATTEMPT = 20
export const PATIENCE = 5000
/**
 * Page cache of a handle, KiB. With SQLite's default of 2 MB a server needs more memory, not less: pages then come and
 * go.
 */
const CACHE = 4000
/** Pages in the WAL before a checkpoint: a page that is written again and again is then copied once. */
const CHECKPOINT = 4000
const PRAGMAS = [
  `busy_timeout = ${PATIENCE}`,
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  `cache_size = -${CACHE}`,
  `wal_autocheckpoint = ${CHECKPOINT}`,
  'temp_store = MEMORY', // the statement journal of one post is over 64 KiB, and would be a temporary file each time
  `busy_timeout = ${ATTEMPT}`,
]

/**
 * Characters of SQL whose statements are kept: visitors choose how long some lists are, and each length is a statement
 * of its own.
 */
const MAX_LENGTH = 500_000

interface Prepared {
  statement: BetterSqlite.Statement
  /** Makes a row of its values; undefined where the statement returns no rows. */
  row: ((values: readonly unknown[]) => object) | undefined
}

/** An open file with its prepared statements. */
export class Handle {
  readonly #database: BetterSqlite.Database
  /** Kysely prepares each query again; a kept statement halves a point read. */
  readonly #statements = new LRUCache<string, Prepared>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (_prepared, sql) => sql.length,
  })
  readonly #version: BetterSqlite.Statement

  constructor(file: string) {
    this.#database = open(file)
    this.#version = this.#database.prepare('pragma data_version').pluck()
  }

  /** Changes with each commit of another handle or process. */
  get version(): number {
    return this.#version.get() as number // one row of one number, by the documentation of the pragma
  }

  run<R>(sql: string, parameters: readonly unknown[] = []): QueryResult<R> {
    try {
      const { statement, row } = this.#prepare(sql)
      if (row) return { rows: (statement.all(...parameters) as unknown[][]).map(row) as R[] }
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
      return this.#prepare(sql).statement.readonly
    } catch (error) {
      throw explained(error, this.#database.name)
    }
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql)
    if (!prepared) {
      const statement = this.#database.prepare(sql)
      prepared = { statement, row: statement.reader ? rowMaker(namesOf(statement.raw())) : undefined }
      this.#statements.set(sql, prepared)
    }
    return prepared
  }

  close() {
    this.#database.close()
  }
}

const namesOf = (statement: BetterSqlite.Statement): string[] => statement.columns().map(({ name }) => name)

/**
 * Compiles an object literal of the columns. The driver returns rows as arrays twice as fast as objects, and V8 makes a
 * slow hash table of an object that gets more than a dozen properties one by one.
 */
const rowMaker = (columns: readonly string[]): NonNullable<Prepared['row']> =>
  // oxlint-disable-next-line no-implied-eval -- names of columns, quoted; nothing that was given to the program
  new Function(
    'values',
    `return {${columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`).join(', ')}}`,
  ) as NonNullable<Prepared['row']>

function open(file: string): BetterSqlite.Database {
  loadBinding() // first, or an empty file is left where there is no SQLite
  try {
    if (!existsSync(file)) create(file)
    const database = openSqlite(file)
    database.exec(PRAGMAS.map((pragma) => `pragma ${pragma};`).join(' '))
    return database
  } catch (error) {
    throw explained(error, file)
  }
}

/**
 * Creates the file for its owner only, as it holds password hashes. An existing file is never opened here: on POSIX,
 * closing any descriptor of a file drops all locks that this process holds on it, and another program would then delete
 * the WAL under SQLite.
 */
function create(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error // another process was faster
  }
}

/** Names what is wrong with the file. Any other error is a bug, and passes unchanged. */
function explained(error: unknown, file: string): unknown {
  const code = String((error as { code?: unknown }).code)
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return locked(error)
  }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC')
    return new AppError('DATABASE_UNUSABLE', `There is no space left for ${file}. Nothing was changed.`, {
      cause: error,
    })
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

export const locked = (cause?: unknown): AppError =>
  new AppError(
    'DATABASE_UNREACHABLE',
    'Another process kept the database locked for more than 5 seconds. Try again in a moment.',
    { cause },
  )

/**
 * Tries again while another process holds the lock, and lets this one work meanwhile. `deadline` is by
 * `performance.now()`.
 */
export async function patiently<T>(deadline: number, attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      const isLocked = error instanceof AppError && error.code === 'DATABASE_UNREACHABLE'
      if (!isLocked || performance.now() > deadline) throw error
    }
    await sleep(ATTEMPT)
  }
}
