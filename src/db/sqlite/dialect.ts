import {
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  Kysely,
  SingleConnectionProvider,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  Transaction,
  TransactionBuilder,
  type CompiledQuery,
  type Dialect,
  type QueryExecutor,
  type QueryResult,
} from 'kysely'
import type { Invalidation } from '../cache/invalidation.js'
import type { Engine } from '../cache/querycache.js'
import type { RevisionSource } from '../cache/revision.js'
import type { Tables } from '../tables.js'
import { traceFile, type Trace } from '../trace.js'
import { FileDriver, groupOf, type FileConnection } from './driver.js'
import { fileRevisions } from './revision.js'

/** One file, shared by the server and every command. Writers of all processes queue; readers wait for nobody. */
export function openFile(
  file: string,
  invalidation: Invalidation,
  trace?: Trace,
): {
  engine: Engine
  source: RevisionSource
  ping: () => Promise<void>
  measure: () => { commits: number; logBytes: number }
} {
  const driver = new FileDriver(file)
  if (trace) traceFile(driver, trace)
  const [adapter, compiler] = [new FileAdapter(), new StablePlanCompiler()]
  const dialect: Dialect = {
    createAdapter: () => adapter,
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => compiler,
  }
  const executor = new FileExecutor(compiler, adapter, driver)
  const database = (over: QueryExecutor) => new FileDatabase(dialect, driver, over)
  return {
    engine: { driver, adapter, compiler, executor, database },
    source: fileRevisions(driver, invalidation),
    ping: () => driver.ping(),
    measure: () => ({ commits: driver.written, logBytes: driver.logBytes }),
  }
}

/** Needs no connection provider of Kysely's: there is nothing to wait for. */
class FileExecutor extends DefaultQueryExecutor {
  readonly #driver: FileDriver

  constructor(compiler: SqliteQueryCompiler, adapter: SqliteAdapter, driver: FileDriver) {
    super(compiler, adapter, new DefaultConnectionProvider(driver))
    this.#driver = driver
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#driver.query<R>(undefined, query)
  }

  /** At once, so that writers queue in the order in which they came. */
  override async provideConnection<T>(consumer: (connection: FileConnection) => Promise<T>): Promise<T> {
    return consumer(this.#driver.connect())
  }
}

class FileDatabase extends Kysely<Tables> {
  readonly #begin: () => FileTransaction

  constructor(dialect: Dialect, driver: FileDriver, executor: QueryExecutor) {
    const props = { config: { dialect }, dialect, driver, executor }
    super(props)
    this.#begin = () => new FileTransaction(props)
  }

  override transaction(): TransactionBuilder<Tables> {
    return this.#begin()
  }
}

type Props = ConstructorParameters<typeof TransactionBuilder<Tables>>[0]

/** The same as Kysely's, without its queue of queries: between two of them there is nothing to wait for. */
class FileTransaction extends TransactionBuilder<Tables> {
  readonly #props: Props

  constructor(props: Props) {
    super(props)
    this.#props = props
  }

  override execute<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T> {
    const { dialect, driver, executor } = this.#props
    return executor.provideConnection(async (connection) => {
      await driver.beginTransaction(connection, {})
      try {
        const inside = new TransactionExecutor(dialect, connection as FileConnection) // the driver gives no others
        const result = await work(new Transaction<Tables>({ ...this.#props, executor: inside }))
        await driver.commitTransaction(connection)
        return result
      } catch (error) {
        await driver.rollbackTransaction(connection)
        throw error
      }
    })
  }
}

class FileAdapter extends SqliteAdapter {
  /** SQLite's schema changes are transactional. Kysely assumes not, and would let two processes migrate at once. */
  override get supportsTransactionalDdl() {
    return true
  }
}

class TransactionExecutor extends DefaultQueryExecutor {
  readonly #connection: FileConnection

  constructor(dialect: Dialect, connection: FileConnection) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), new SingleConnectionProvider(connection))
    this.#connection = connection
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    groupOf(this.#connection) // after the end of the transaction it would be one of its own
    return this.#connection.executeQuery<R>(query)
  }
}

/**
 * SQLite plans a prepared statement again whenever the value bound to `limit ?` changes, which takes longer than most
 * of them run. It does not look into an expression.
 */
class StablePlanCompiler extends SqliteQueryCompiler {
  override compileQuery(...given: Parameters<SqliteQueryCompiler['compileQuery']>): CompiledQuery {
    const query = super.compileQuery(...given)
    return { ...query, sql: query.sql.replaceAll('limit ?', 'limit ? + 0') }
  }
}
