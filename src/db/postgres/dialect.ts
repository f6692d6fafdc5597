import {
  DefaultQueryExecutor,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryExecutor,
  type QueryResult,
} from 'kysely'
import { isOutdatedStatement } from '../dialect.js'
import type { Invalidation } from '../cache/invalidation.js'
import type { Engine } from '../cache/querycache.js'
import type { RevisionSource } from '../cache/revision.js'
import type { Tables } from '../tables.js'
import { tracePool, type Trace } from '../trace.js'
import { PoolDriver, ProviderUntil } from './driver.js'
import { snapshotRevisions } from './revision.js'
import { StatementNames } from './statements.js'

interface Options {
  /** Milliseconds. */
  staleness: number
  /** Whether statements are prepared. A pooler that shares connections between transactions may not keep them. */
  prepare: boolean
  /** Milliseconds that a request may wait for PostgreSQL. Without it, statements take as long as they need. */
  timeout: number | undefined
  trace: Trace | undefined
}

interface Opened {
  engine: Engine
  source: RevisionSource
  ping(this: void): Promise<void>
  measure(this: void): ReturnType<PoolDriver['measure']>
}

export function openPostgres(url: string, invalidation: Invalidation, options: Options): Opened {
  const names = options.prepare ? new StatementNames() : undefined
  const source = snapshotRevisions(url, invalidation, options)
  // Commits of this process are reported, so that its next request sees them whatever staleness is allowed
  const driver = new PoolDriver(url, { names, timeout: options.timeout, committed: source.committed })
  if (options.trace) tracePool(driver, options.trace)
  const [adapter, compiler] = [new PostgresAdapter(), new PostgresQueryCompiler()]
  const dialect: Dialect = {
    createAdapter: () => adapter,
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => compiler,
  }
  const executorUntil = (deadline?: number) =>
    new RetryingExecutor(compiler, adapter, new ProviderUntil(driver, deadline), names)
  const executor = executorUntil()
  const database = (over: QueryExecutor) => new Kysely<Tables>({ config: { dialect }, dialect, driver, executor: over })
  // The cache has its own connection, which can fail while queries work. Stale responses are sent only if both fail.
  const isAway = () => source.isAway() && driver.isFailing()
  return {
    engine: { driver, adapter, compiler, executor, database, deadline: () => driver.deadline(), executorUntil },
    source: { ...source, isAway },
    ping: () => driver.ping(),
    measure: () => driver.measure(),
  }
}

/**
 * Runs a query again where a migration has outdated its prepared statement. A transaction runs again as a whole, see
 * `transaction`.
 */
class RetryingExecutor extends DefaultQueryExecutor {
  readonly #names: StatementNames | undefined

  constructor(...[compiler, adapter, provider, names]: [...Parts, StatementNames | undefined]) {
    super(compiler, adapter, provider)
    this.#names = names
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return await super.executeQuery<R>(query)
    } catch (error) {
      if (!isOutdatedStatement(error)) throw error
      return super.executeQuery<R>(query)
    }
  }

  override async provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    try {
      return await super.provideConnection(consumer)
    } catch (error) {
      if (isOutdatedStatement(error)) this.#names?.renew()
      throw error
    }
  }
}

type Parts =
  ConstructorParameters<typeof DefaultQueryExecutor> extends [infer A, infer B, infer C, ...unknown[]]
    ? [A, B, C]
    : never
