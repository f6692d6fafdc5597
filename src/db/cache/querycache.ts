import {
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type QueryCompiler,
  type QueryExecutor,
  type QueryResult,
} from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Db } from '../tables.js'
import { PageAnchors, type Seek } from './anchors.js'
import { cacheable, dependenciesOf, type Dependencies, type Refs, type Topic } from './dependencies.js'
import type { Invalidation } from './invalidation.js'
import { isEquivalent, isSame, sizeOf, type Rows } from './results.js'
import type { Revision, RevisionSource } from './revision.js'

/** A query that says which rows its result depends on. Without `refs` it depends on all rows of the tables it reads. */
export interface TaggedQuery extends CompiledQuery {
  refs?: Refs<never> | undefined
  /** Where many rows have to be skipped: how to read the same page from an anchor. */
  seek?: Seek | undefined
}

/** Rows, and the version of their entry that they are. */
interface Result {
  rows: Rows
  version: number
}

/** A query with its parameters, and its last result. */
class Entry {
  rows: Rows = []
  dependencies: Dependencies = []
  /** The newest revision at which the result is known to be current; 0 before the first. */
  revision: Revision = 0
  /** Grows when the query finds something else; -1 where the entry is not in the cache (any more). */
  version = 0
  /** The query as it runs now, and the revision at which it began. */
  running: { revision: Revision; result: Promise<Result> } | undefined

  constructor(
    readonly key: string,
    readonly query: TaggedQuery,
    readonly topics: readonly Topic[],
  ) {}
}

/** A response that read it must not keep its rows. */
const evict = (entry: Entry): void => void Object.assign(entry, { rows: [], version: -1 })

/** Bytes of results kept at most, and of one result. */
const MAX_BYTES = 5 * 1024 * 1024
const MAX_ENTRY_BYTES = MAX_BYTES / 10
/** Bytes of an entry beside its rows and key. */
const OVERHEAD = 800

/** The parts of an open database that a `Db` is made of. */
export interface Engine {
  driver: Driver
  adapter: DialectAdapter
  compiler: QueryCompiler
  /** Runs one query outside of a transaction. */
  executor: QueryExecutor
  /** A `Db` that runs its queries with an executor. `transaction` of it must reach `executor.provideConnection`. */
  database(executor: QueryExecutor): Db
  /**
   * The deadline of a request that starts now, on the clock of `performance.now()`, and an executor that keeps a deadline.
   * SQLite has neither, because there is no server to wait for.
   */
  deadline?(this: void): number
  executorUntil?(this: void, deadline: number): QueryExecutor
}

/**
 * Query cache. Results are shared by all requests, and stay until the log of row changes names a row they depend on. `verify`
 * runs each query again on a hit and throws where the result differs: for tests.
 */
export class QueryCache {
  readonly #engine: Engine
  readonly #invalidation: Invalidation
  readonly #source: RevisionSource
  readonly #verify: boolean
  readonly #anchors: PageAnchors
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: MAX_BYTES,
    dispose: evict,
  })

  /** Queries that were answered from the cache, and those that had to run. */
  hits = 0
  misses = 0

  constructor(engine: Engine, invalidation: Invalidation, source: RevisionSource, { verify = false } = {}) {
    this.#engine = engine
    this.#invalidation = invalidation
    this.#source = source
    this.#verify = verify
    this.#anchors = new PageAnchors(invalidation)
  }

  /** See `RevisionSource`. */
  revision(exact: boolean): Revision | Promise<Revision> {
    return this.#source.revision(exact)
  }

  /** Whether the database does not answer. */
  isAway(): boolean {
    return this.#source.isAway()
  }

  /** See `RevisionSource`. */
  missesCommits(): boolean {
    return this.#source.missesCommits()
  }

  /** The deadline of a request that starts now, on the clock of `performance.now()`. */
  deadline(): number {
    return this.#engine.deadline?.() ?? Infinity
  }

  /** A database for one request that began at this revision, and what it reads there. */
  forRequest(revision: Revision, deadline = this.deadline()): { db: Db; readSet: ReadSet } {
    const readSet = new ReadSet(this)
    const executor = new CachingExecutor(this.#engine, this, { readSet, deadline, bypasses: Number.isNaN(revision) })
    return { db: this.#engine.database(executor), readSet }
  }

  /** The current result of a query. Undefined where it must not be cached. */
  async read(query: TaggedQuery, executor: QueryExecutor): Promise<(Result & { entry: Entry }) | undefined> {
    const known = cacheable(query.sql)
    if (!known) return undefined
    const key = `${known.id} ${JSON.stringify(query.parameters)}`
    const entry = this.#entries.get(key) ?? new Entry(key, query, known.topics)
    if (!this.isCurrent(entry)) {
      this.misses++
      return { ...(await this.refresh(entry, executor)), entry }
    }
    this.hits++
    const { rows, version } = entry
    if (this.#verify) await this.#assertSame(entry)
    return { rows, version, entry }
  }

  isCurrent({ revision, dependencies }: Entry): boolean {
    return revision > 0 && this.#invalidation.isCurrent(dependencies, revision)
  }

  /** Runs the query of an entry again. Where it finds the same, all that was made of it stays current. */
  refresh(entry: Entry, executor: QueryExecutor): Promise<Result> {
    // Before the query runs: a change that it already sees only makes it run again
    const { revision } = this.#invalidation
    if (entry.running?.revision === revision) return entry.running.result
    const running = {
      revision,
      result: this.#run(entry.query, executor).then((found) => this.#store(entry, found, revision)),
    }
    entry.running = running
    const ended = () => {
      if (entry.running === running) entry.running = undefined
    }
    running.result.then(ended, ended)
    return running.result
  }

  /** Runs queries until a deadline of `performance.now()`. */
  executorUntil(deadline: number): QueryExecutor {
    return this.#engine.executorUntil?.(deadline) ?? this.#engine.executor
  }

  #store(entry: Entry, found: object[], revision: Revision): Result {
    const rows = Object.freeze(found.map((row) => Object.freeze(row))) // nobody may change what others share
    // Evicted, or overtaken by a later run
    if (entry.version < 0 || revision < entry.revision) return { rows, version: -1 }
    entry.revision = revision
    if (entry.version > 0 && isSame(rows, entry.rows)) return { rows: entry.rows, version: entry.version }
    Object.assign(entry, { rows, dependencies: dependenciesOf(entry.topics, entry.query.refs, rows) })
    const version = ++entry.version
    const size = OVERHEAD + entry.key.length + sizeOf(entry)
    if (size <= MAX_ENTRY_BYTES) this.#entries.set(entry.key, entry, { size })
    else {
      this.#entries.delete(entry.key)
      evict(entry) // it may not have been in the cache
    }
    return { rows, version }
  }

  #run(query: TaggedQuery, executor: QueryExecutor): Promise<object[]> {
    const run = async (each: CompiledQuery) => (await executor.executeQuery<object>(each)).rows
    return query.seek ? this.#anchors.read(query.seek, run) : run(query)
  }

  async #assertSame(entry: Entry): Promise<void> {
    const { version } = entry
    const { rows } = await this.#engine.executor.executeQuery<object>(entry.query)
    if (isEquivalent(entry.query.sql, rows, entry.rows) || entry.version !== version) return
    // Another transaction may have changed it since the request began, and another request may have read it again
    const revision = await this.#source.revision(true)
    if (!Number.isNaN(revision) && entry.version === version && this.isCurrent(entry))
      throw new Error(`A cached result is stale: ${entry.query.sql}`)
  }
}

/** What one request has read. */
export class ReadSet {
  readonly #cache: QueryCache
  readonly #reads: { entry: Entry; version: number }[] = []
  #isKnown = true

  constructor(cache: QueryCache) {
    this.#cache = cache
  }

  /** Whether every read of the request went through the query cache; only then can a response made of it be cached. */
  get isKnown(): boolean {
    return this.#isKnown && this.#reads.length > 0
  }

  add({ entry, version }: { entry: Entry; version: number }): void {
    this.#reads.push({ entry, version })
  }

  /** Something was read or written that the log of row changes does not tell of. */
  markUnknown(): void {
    this.#isKnown = false
  }

  /** Whether everything that was read is as it was, as far as the log of row changes tells. */
  readonly isCurrent = (): boolean =>
    this.#reads.every(({ entry, version }) => isVersion(entry, version) && this.#cache.isCurrent(entry))

  /** The same, but queries whose rows may have changed run again: often they find the same. */
  readonly revalidate = async (deadline: number): Promise<boolean> => {
    const executor = this.#cache.executorUntil(deadline)
    for (const { entry, version } of this.#reads) {
      if (isVersion(entry, version) && !this.#cache.isCurrent(entry)) await this.#cache.refresh(entry, executor)
      if (!isVersion(entry, version)) return false
    }
    return true
  }
}

const isVersion = (entry: Entry, version: number): boolean => version >= 0 && entry.version === version

/**
 * Runs the queries of one request through the query cache. From its first write or transaction on it bypasses the
 * cache.
 */
class CachingExecutor extends DefaultQueryExecutor {
  readonly #executor: QueryExecutor
  readonly #cache: QueryCache
  readonly #readSet: ReadSet
  #bypasses: boolean

  constructor(
    { driver, adapter, compiler }: Engine,
    cache: QueryCache,
    { readSet, deadline, bypasses }: { readSet: ReadSet; deadline: number; bypasses: boolean },
  ) {
    super(compiler, adapter, new DefaultConnectionProvider(driver))
    this.#executor = cache.executorUntil(deadline)
    this.#cache = cache
    this.#readSet = readSet
    this.#bypasses = bypasses
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (!this.#bypasses) {
      const read = await this.#cache.read(query, this.#executor)
      if (read) {
        this.#readSet.add(read)
        return { rows: read.rows as R[] } // the rows of this very query
      }
      this.#bypass()
    }
    return this.#executor.executeQuery<R>(query)
  }

  override provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    this.#bypass()
    return this.#executor.provideConnection(consumer)
  }

  #bypass() {
    this.#bypasses = true
    this.#readSet.markUnknown()
  }
}
