import {
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  Kysely,
  PostgresDialect,
  PostgresDriver,
  type CompiledQuery,
  type DatabaseConnection,
  type PostgresDialectConfig,
  type QueryExecutor,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import { AppError } from '../../core/errors.js'
import { isOutdatedStatement } from '../dialect.js'
import type { Invalidation } from '../cache/invalidation.js'
import type { Engine } from '../cache/querycache.js'
import type { RevisionSource } from '../cache/revision.js'
import type { Tables } from '../tables.js'
import { snapshotRevisions } from './revision.js'
import { StatementNames } from './statements.js'

interface Options {
  /** Milliseconds. */
  staleness: number
  /** Whether statements are prepared. A pooler that shares connections between transactions may not keep them. */
  prepare: boolean
}

interface Opened {
  engine: Engine
  source: RevisionSource
}

/** A pool of up to ten connections. Whole numbers of eight bytes come back as numbers, as from SQLite. */
export function openPostgres(url: string, invalidation: Invalidation, { staleness, prepare }: Options): Opened {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text' | 'binary') =>
      oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
  }
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: 10,
    connectionTimeoutMillis: 5000,
    application_name: 'feedbackctl',
  })
  pool.on('error', () => {}) // an idle connection was cut; the next query opens another, or fails with its own error
  const names = prepare ? new StatementNames() : undefined
  const config: PostgresDialectConfig = {
    pool: {
      connect: async () => {
        const client = await pool.connect().catch((error: unknown) => Promise.reject(explained(error, url)))
        return names ? names.use(client) : client
      },
      end: () => pool.end(),
    },
  }
  const source = snapshotRevisions(url, invalidation, { staleness, prepare })
  const dialect = new PostgresDialect(config)
  const driver = new ReportingDriver(config, source.committed)
  const [adapter, compiler] = [dialect.createAdapter(), dialect.createQueryCompiler()]
  const executor = new RetryingExecutor(compiler, adapter, new DefaultConnectionProvider(driver), names)
  const database = (over: QueryExecutor) => new Kysely<Tables>({ config: { dialect }, dialect, driver, executor: over })
  return { engine: { driver, adapter, compiler, executor, database }, source }
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

/** Reports the commits of this process, so that its next request sees them whatever staleness is allowed. */
class ReportingDriver extends PostgresDriver {
  readonly #committed: () => void
  #started: Promise<void> | undefined

  constructor(config: PostgresDialectConfig, committed: () => void) {
    super(config)
    this.#committed = committed
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await (this.#started ??= this.init())
    return super.acquireConnection()
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.commitTransaction(connection)
    } finally {
      this.#committed()
    }
  }
}

function explained(error: unknown, url: string): AppError {
  const { code = '', message } = error as { code?: string; message: string }
  const { host, pathname } = new URL(url)
  const reason = {
    '28P01': 'it refused the user name or password',
    '28000': 'it refused the user',
    '3D000': `it has no database "${pathname.slice(1)}"`,
  }[code]
  return new AppError(
    'DATABASE_UNREACHABLE',
    `Cannot reach PostgreSQL at ${host || 'its socket'}: ${reason ?? (message || code)}. Check database.url and that the server runs.`,
    { cause: error },
  )
}
