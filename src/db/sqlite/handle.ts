import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import type BetterSqlite from 'better-sqlite3'
import type { QueryResult } from 'kysely'
import { AppError } from '../../core/errors.js'
import { loadBinding, openSqlite } from './binding.js'

/** How long one attempt blocks this process, and how long attempts go on, in milliseconds: other work goes on between them. */
export const ATTEMPT = 20
export const PATIENCE = 5000
/** What a handle keeps of the file, in KiB. With SQLite's 2 MB a server needs more memory, not less: pages then come and go. */
const CACHE = 4000
/** Pages that the log of writes grows to before they are copied into the file: what is written again and again is then copied once. */
const CHECKPOINT = 4000
const PRAGMAS = [
  `busy_timeout = ${PATIENCE}`,
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  `cache_size = -${CACHE}`,
  `wal_autocheckpoint = ${CHECKPOINT}`,
  'temp_store = MEMORY', // what a statement may have to take back is more than 64 KiB for a post, which would be a temporary file for each
  `busy_timeout = ${ATTEMPT}`,
]

/** Statements kept by a handle: far more than the program has, but lists of different lengths have a statement each. */
const MOST_KEPT = 500

interface Kept {
  statement: BetterSqlite.Statement
  /** Undefined where it answers no rows. */
  row: { columns: readonly string[]; of(this: void, values: readonly unknown[]): object } | undefined
}

/** An open file with its prepared statements. */
export class Handle {
  readonly #database: BetterSqlite.Database
  readonly #kept = new Map<string, Kept>() // Kysely prepares on every query; keeping the statement halves a point read

  readonly #version: BetterSqlite.Statement

  constructor(file: string) {
    this.#database = open(file)
    this.#version = this.#database.prepare('pragma data_version').pluck()
  }

  /** Another one after each commit of any other handle or process. */
  get version(): number {
    return this.#version.get() as number // one row of one number, by the documentation of the pragma
  }

  run<R>(sql: string, parameters: readonly unknown[] = []): QueryResult<R> {
    try {
      const { statement, row } = this.#prepare(sql)
      if (row) return { rows: (statement.all(...parameters) as unknown[][]).map(row.of) as R[] }
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

  #prepare(sql: string): Kept {
    let kept = this.#kept.get(sql)
    if (!kept) {
      const statement = this.#database.prepare(sql)
      const columns = statement.reader ? namesOf(statement.raw()) : undefined
      kept = { statement, row: columns && { columns, of: rowMaker(columns) } }
      const [oldest] = this.#kept.keys()
      if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest)
      this.#kept.set(sql, kept)
    }
    return kept
  }

  close() {
    this.#database.close()
  }
}

const namesOf = (statement: BetterSqlite.Statement): string[] => statement.columns().map(({ name }) => name)

/**
 * Makes rows of values, which the driver hands out twice as fast as objects. An object literal, as V8 makes a hash table of an object that is
 * given more than a dozen properties by their names, one by one: five times as large, and slower to make, to freeze and to read.
 */
const rowMaker = (columns: readonly string[]): NonNullable<Kept['row']>['of'] =>
  // oxlint-disable-next-line no-implied-eval -- names of columns, quoted; nothing that was given to the program
  new Function(
    'values',
    `return {${columns.map((name, at) => `${JSON.stringify(name)}: values[${at}]`).join(', ')}}`,
  ) as ReturnType<typeof rowMaker>

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

/** Tells a fault of the file from a bug of ours; a bug passes unchanged. */
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
