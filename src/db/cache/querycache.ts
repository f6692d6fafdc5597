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
import { dependenciesOf, topicsOf, type Dependencies, type Refs } from './dependencies.js'
import type { Invalidation } from './invalidation.js'
import type { Revision, RevisionSource } from './revision.js'

/** A query that says which rows its result depends on. Without `refs` it depends on all rows of the tables it reads. */
export interface TaggedQuery extends CompiledQuery {
  refs?: Refs<never> | undefined
  /** Where many rows have to be skipped: how to read the same page from an anchor. */
  seek?: Seek | undefined
}

type Rows = readonly object[]

interface Entry {
  rows: Rows
  dependencies: Dependencies
  /** The newest revision at which the result is known to be current. */
  revision: Revision
}

/** Bytes of results kept at most, and of one result. */
const MAX_BYTES = 5 * 1024 * 1024
const MAX_ENTRY_BYTES = MAX_BYTES / 10
/** Bytes of an entry beside its rows and key. */
const OVERHEAD = 500

/** The parts of an open database that a `Db` is made of. */
export interface Engine {
  driver: Driver
  adapter: DialectAdapter
  compiler: QueryCompiler
  /** Runs one query outside of a transaction. */
  executor: QueryExecutor
  /** A `Db` that runs its queries with an executor. `transaction` of it must reach `executor.provideConnection`. */
  database(executor: QueryExecutor): Db
}

/**
 * Query cache. Results are shared by all requests, and stay until the change log names a row they depend on. `verify` runs each query
 * again on a hit and throws where the result differs: for tests.
 */
export class QueryCache {
  readonly #engine: Engine
  readonly #invalidation: Invalidation
  readonly #source: RevisionSource
  readonly #verify: boolean
  readonly #anchors: PageAnchors
  readonly #entries = new LRUCache<string, Entry>({ maxSize: MAX_BYTES, maxEntrySize: MAX_ENTRY_BYTES })

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

  /** A database for one request that began at this revision, and what it reads there. */
  forRequest(revision: Revision): { db: Db; readSet: ReadSet } {
    const readSet = new ReadSet(this.#invalidation)
    return {
      db: this.#engine.database(new CachingExecutor(this.#engine, this, { readSet, bypasses: Number.isNaN(revision) })),
      readSet,
    }
  }

  /** The result of a query, and what it depends on. `run` is called where it is not cached; undefined where it must not be. */
  async read(
    query: TaggedQuery,
    run: (query: CompiledQuery) => Promise<object[]>,
  ): Promise<{ rows: Rows; dependencies: Dependencies } | undefined> {
    const topics = topicsOf(query.sql)
    if (!topics) return undefined
    const key = `${query.sql}\n${JSON.stringify(query.parameters)}`
    const cached = this.#entries.get(key)
    const { revision } = this.#invalidation
    if (cached && this.#invalidation.isCurrent(cached.dependencies, cached.revision)) {
      cached.revision = revision
      if (this.#verify) await this.#assertSame(query, cached, run)
      return cached
    }
    const rows = frozen(await (query.seek ? this.#anchors.read(query.seek, run) : run(query)))
    const entry = { rows, dependencies: dependenciesOf(topics, query.refs, rows), revision }
    this.#entries.set(key, entry, { size: OVERHEAD + key.length + sizeOf(entry) })
    return entry
  }

  async #assertSame(query: TaggedQuery, entry: Entry, run: (query: CompiledQuery) => Promise<object[]>): Promise<void> {
    const rows = await run(query)
    if (JSON.stringify(rows) === JSON.stringify(entry.rows)) return
    await this.#source.revision(true) // another transaction may have changed it since the request began
    if (this.#invalidation.isCurrent(entry.dependencies, entry.revision))
      throw new Error(`A cached result is stale: ${query.sql}`)
  }
}

/** What one request has read. */
export class ReadSet {
  readonly #invalidation: Invalidation
  readonly #reads: Dependencies[] = []
  #isKnown = true

  constructor(invalidation: Invalidation) {
    this.#invalidation = invalidation
  }

  /** Whether every read of the request went through the query cache; only then can a response made of it be cached. */
  get isKnown(): boolean {
    return this.#isKnown && this.#reads.length > 0
  }

  add(dependencies: Dependencies): void {
    this.#reads.push(dependencies)
  }

  /** Something was read or written that the change log does not tell of. */
  markUnknown(): void {
    this.#isKnown = false
  }

  /** Whether nothing that was read has changed since a revision. */
  readonly isCurrent = (since: Revision): boolean =>
    this.#reads.every((each) => this.#invalidation.isCurrent(each, since))
}

/** Runs the queries of one request through the query cache. From its first write or transaction on it bypasses the cache. */
class CachingExecutor extends DefaultQueryExecutor {
  readonly #executor: QueryExecutor
  readonly #cache: QueryCache
  readonly #readSet: ReadSet
  #bypasses: boolean

  constructor(
    { driver, adapter, compiler, executor }: Engine,
    cache: QueryCache,
    { readSet, bypasses }: { readSet: ReadSet; bypasses: boolean },
  ) {
    super(compiler, adapter, new DefaultConnectionProvider(driver))
    this.#executor = executor
    this.#cache = cache
    this.#readSet = readSet
    this.#bypasses = bypasses
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (!this.#bypasses) {
      const run = async (each: CompiledQuery) => (await this.#executor.executeQuery<object>(each)).rows
      const read = await this.#cache.read(query, run)
      if (read) {
        this.#readSet.add(read.dependencies)
        return { rows: read.rows as R[] } // frozen: nobody may change what others share
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

const frozen = (rows: object[]): Rows => Object.freeze(rows.map((row) => Object.freeze(row)))

/** About the bytes that V8 needs: a header for each row and text, and a slot for each value. */
function sizeOf({ rows, dependencies }: Entry): number {
  let size = 0
  for (const row of rows) {
    size += 48
    for (const value of Object.values(row) as unknown[]) size += typeof value === 'string' ? 32 + value.length : 8
  }
  for (const { refs = [] } of dependencies) size += 64 + refs.length * 8 // texts of the rows
  return size
}
