import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type BetterSqlite from 'better-sqlite3'
import type { QueryResult } from 'kysely'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../core/errors.js'
import { createFile, inMadeFolder, setMode } from '../../core/files.js'
import { CACHE } from '../dialect.js'
import { NEWEST } from '../schema.js'
import { explained, LockedError } from './errors.js'
import { loadBinding, openSqlite } from './binding.js'
import { MAX_LOG, MIN_PAGES } from './checkpointer.js'
import { FileWatch, statusOf, type Loss } from './watch.js'

/**
 * Milliseconds that one attempt to get a lock blocks this process, and that attempts go on; other work goes on between
 * them.
 */
const ATTEMPT = 20
export const PATIENCE = 5000
const PRAGMAS = [
  `busy_timeout = ${PATIENCE}`,
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  `cache_size = -${CACHE.usual}`, // with SQLite's default of 2 MB a server needs more memory, not less: pages then come and go
  `wal_autocheckpoint = ${MIN_PAGES}`,
  `journal_size_limit = ${MAX_LOG}`,
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
  readonly #schema: BetterSqlite.Statement
  #knownSchema: unknown
  readonly #watch: FileWatch
  /** Why the disk or the file failed last. */
  failure: AppError | undefined

  /** Creates the file where there is none, unless it `exists`. */
  constructor(file: string, { exists = false } = {}) {
    const { database, watch } = open(file, exists)
    this.#database = database
    this.#watch = watch
    this.#version = database.prepare('pragma data_version').pluck()
    this.#schema = database.prepare('pragma schema_version').pluck()
  }

  /** Whether the path still leads to the open file. */
  get loss(): Loss | undefined {
    return this.#watch.loss(() => this.#number('page_count') * this.#number('page_size'))
  }

  /** Bytes of the WAL, at the last call of `loss`. */
  get logSize(): number {
    return this.#watch.logSize
  }

  /** Whether a newer version of this program has changed the schema. */
  get isNewer(): boolean {
    const schema = this.#schema.get()
    if (schema === this.#knownSchema) return false
    if ((this.newest ?? '') > NEWEST) return true
    this.#knownSchema = schema
    return false
  }

  /** The last migration that was applied. */
  get newest(): string | undefined {
    return this.#text('select name from kysely_migration order by name desc limit 1')
  }

  /** What tells its site from another: undefined before it was first served. */
  get site(): string | undefined {
    return this.#text('select "secretFingerprint" from settings')
  }

  /**
   * Opens the file that has taken the place of this one. The WAL of this file would be applied to that one, so it is
   * copied into this file and removed. Processes do so in turns: all that have this file open share its lock. Throws
   * where this file is too damaged to be locked.
   */
  replace(open: () => Handle): Handle {
    if (!this.#watch.hasLog) return open()
    this.#database.pragma('wal_checkpoint(passive)')
    this.run('begin immediate')
    try {
      if (this.#watch.hasLog) this.#watch.removeLog()
      return open()
    } finally {
      this.run('rollback')
    }
  }

  /** Makes this handle copy the WAL into the file when it has so many pages; 0: never. */
  setCheckpoint(pages: number): void {
    this.#database.pragma(`wal_autocheckpoint = ${pages}`)
  }

  #number(pragma: string): number {
    return this.#database.pragma(pragma, { simple: true }) as number // by the documentation of the pragmas
  }

  /** Undefined where there is no such table, or it cannot be read. */
  #text(sql: string): string | undefined {
    try {
      const value = this.#database.prepare(sql).pluck().get()
      return typeof value === 'string' ? value : undefined
    } catch {
      return undefined
    }
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
      const known = explained(error, this.#database.name)
      if (known instanceof AppError && !(known instanceof LockedError)) this.failure = known
      throw known
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

function open(file: string, exists: boolean): { database: BetterSqlite.Database; watch: FileWatch } {
  loadBinding() // first, or an empty file is left where there is no SQLite
  try {
    if (!exists && !existsSync(file)) create(file)
    else if (statSync(file, { throwIfNoEntry: false })?.size === 0) setMode(file, 0o600) // somebody else made it, perhaps for others to read
    const before = statusOf(file)
    const database = openSqlite(file)
    try {
      database.exec(PRAGMAS.map((pragma) => `pragma ${pragma};`).join(' '))
      return { database, watch: new FileWatch(file, before) }
    } catch (error) {
      database.close()
      throw error
    }
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
  try {
    inMadeFolder(path.dirname(file), () => createFile(file))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error // another process was faster
  }
}

/**
 * Tries again while another process holds the lock, and lets this one work meanwhile. `deadline` is by
 * `performance.now()`.
 */
export async function patiently<T>(deadline: number, attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!(error instanceof LockedError) || performance.now() > deadline) throw error
    }
    await sleep(ATTEMPT)
  }
}
