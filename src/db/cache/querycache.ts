import { DefaultConnectionProvider, DefaultQueryExecutor, type CompiledQuery, type QueryResult } from 'kysely'
import { postsOf, type Concerned } from './invalidation.js'
import type { Db } from '../tables.js'
import type { Rows } from '../sqlite/handle.js'
import { databaseOf, FileAdapter, type FileDialect } from '../sqlite/dialect.js'
import type { Revision, Watch } from './revision.js'

/** Bytes of rows that are kept, at most. */
const MOST_BYTES = 5 * 1024 * 1024
/** Beside rows and key: the entry itself, and the values. A query that finds nothing is kept too. */
const OVERHEAD = 500
/** Texts of queries that are told apart; there are far fewer, but lists of different lengths have one each. */
const MOST_QUERIES = 1000

/** What was read for one request, and so what its answer was made of. */
export interface Basis {
  /** Whether the same would be found now. False, too, where it is not known what was read. */
  holds(this: void): boolean
}

/**
 * What a server has read outside of transactions, each query with its values once, whoever asked. After a change it is read again when
 * it is asked for, as that costs less than what is made of it; where the same is found, whatever was made of it is right still. For
 * SQLite: over a network reading again is the dearest part.
 */
export class Reads {
  readonly #dialect: FileDialect
  readonly #now: () => Revision
  readonly #kept = new Map<string, Read>()
  readonly #queries = new Map<string, number>()
  #bytes = 0
  #count = 0
  readonly #doubts: boolean

  private constructor(dialect: FileDialect, now: () => Revision, doubts: boolean) {
    this.#dialect = dialect
    this.#now = now
    this.#doubts = doubts
  }

  /** None where somebody has to be asked and waited for. With `doubts` it is looked, too, where nothing should have changed: for tests. */
  static of(db: Db, { now }: Pick<Watch, 'now'>, { doubts = false } = {}): Reads | undefined {
    const { adapter } = db.getExecutor()
    return now && adapter instanceof FileAdapter ? new Reads(adapter.dialect, now, doubts) : undefined
  }

  /** The database for one request, and what it reads there. */
  forRequest(): { db: Db; basis: Basis } {
    const [dialect, made] = [this.#dialect, new Made(this)]
    const executor = new Executor(dialect, made)
    return { db: databaseOf(dialect, executor), basis: made }
  }

  /** What this query finds now, shared by all who ask: nobody may change it. Undefined where it does more than read, or cannot be made at once. */
  find(query: Concerned): { read: Read; rows: Rows } | undefined {
    const key = `${this.#numberOf(query.sql)} ${JSON.stringify(query.parameters)}`
    const read = this.#kept.get(key) ?? new Read(key, query.sql, query.parameters, query.votesOn)
    const rows = this.rowsOf(read)
    return rows && { read, rows }
  }

  /** As it is now; its version is another one where something else is found than before. */
  rowsOf(read: Read): Rows | undefined {
    if (read.isGone) return undefined
    const revision = this.#now()
    if (revision === read.revision) return read.rows
    if (typeof revision !== 'number' || Number.isNaN(revision)) return undefined
    if (this.#dialect.driver.changes.concern(read.votesOn, read.revision)) this.#look(read)
    else if (this.#doubts && this.#look(read))
      throw new Error(`A change was said not to concern a query, and did: ${read.sql}`)
    read.revision = revision
    const { rows } = read
    if (read.isGone) read.rows = undefined // too many for more than the one who asks
    return rows
  }

  /** Whether something else is found now. */
  #look(read: Read): boolean {
    const rows = this.#dialect.driver.look(read.sql, read.parameters, read.rows)
    if (rows === read.rows) return false
    this.#put(read, rows)
    return true
  }

  #put(read: Read, rows: Rows | undefined) {
    this.#drop(read)
    read.rows = rows
    read.version++
    if (!rows) return
    read.votesOn = postsOf(read.concerns, rows)
    read.size = OVERHEAD + read.key.length + sizeOf(rows)
    if (read.size > MOST_BYTES / 10) return void (read.isGone = true)
    this.#bytes += read.size
    this.#kept.set(read.key, read)
    for (const oldest of this.#kept.values()) {
      if (this.#bytes <= MOST_BYTES) break
      this.#drop(oldest)
      oldest.rows = undefined
      oldest.isGone = true
    }
  }

  #drop(read: Read) {
    if (this.#kept.get(read.key) !== read) return
    this.#kept.delete(read.key)
    this.#bytes -= read.size
  }

  #numberOf(sql: string): number {
    let number = this.#queries.get(sql)
    if (number === undefined) {
      if (this.#queries.size >= MOST_QUERIES) this.#queries.clear()
      this.#queries.set(sql, (number = this.#count++))
    }
    return number
  }
}

/** A query with its values, and what it found last. */
class Read {
  rows: Rows | undefined
  version = 0
  votesOn: readonly string[] | undefined
  size = 0
  /** When it found that; 0 is never. */
  revision = 0
  /** Whether there is no room for it (any more). */
  isGone = false

  constructor(
    readonly key: string,
    readonly sql: string,
    readonly parameters: readonly unknown[],
    readonly concerns: Concerned['votesOn'],
  ) {}
}

class Made implements Basis {
  readonly #from: Reads
  readonly #reads: Read[] = []
  readonly #versions: number[] = []
  #isKnown = true

  constructor(from: Reads) {
    this.#from = from
  }

  find(query: CompiledQuery): Rows | undefined {
    const found = this.#from.find(query)
    if (!found) return undefined
    if (found.read.isGone)
      this.isUnknown() // what is made of it must not keep it
    else {
      this.#reads.push(found.read)
      this.#versions.push(found.read.version)
    }
    return found.rows
  }

  /** Something else was done in the database. */
  isUnknown(): void {
    this.#isKnown = false
  }

  readonly holds = (): boolean =>
    this.#isKnown && this.#reads.every((read, at) => this.#from.rowsOf(read) && read.version === this.#versions[at])
}

/** Finds what queries find, and notes it; a transaction reads for itself. */
class Executor extends DefaultQueryExecutor {
  readonly #made: Made

  constructor(dialect: FileDialect, made: Made) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), new DefaultConnectionProvider(dialect.driver))
    this.#made = made
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const rows = this.#made.find(query)
    return rows ? Promise.resolve({ rows: rows as R[] }) : super.executeQuery<R>(query)
  }

  override provideConnection<T>(consumer: Parameters<DefaultQueryExecutor['provideConnection']>[0]): Promise<T> {
    this.#made.isUnknown()
    return super.provideConnection(consumer as never)
  }
}

/** About the bytes that V8 needs for rows: a header each for row and text, and a place for each value. */
function sizeOf(rows: Rows): number {
  let size = 0
  for (const row of rows) {
    size += 48
    for (const value of Object.values(row) as unknown[]) size += typeof value === 'string' ? 32 + value.length : 8
  }
  return size
}
