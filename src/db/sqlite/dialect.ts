import {
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  Kysely,
  SingleConnectionProvider,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  Transaction,
  type CompiledQuery,
  type Dialect,
  type QueryExecutor,
  type QueryResult,
} from 'kysely'
import type { Db, Tables } from '../tables.js'
import type { Transactional } from '../dialect.js'
import { FileDriver, groupOf, type FileConnection } from './driver.js'

/** One file, shared by the server and every command. Writers of all processes queue; readers wait for nobody. */
export function openFile(file: string): Db {
  const dialect = new FileDialect(file)
  return databaseOf(
    dialect,
    new DefaultQueryExecutor(
      dialect.createQueryCompiler(),
      dialect.createAdapter(),
      new DefaultConnectionProvider(dialect.driver),
    ),
  )
}

/** Kysely's usual layer between itself and the driver is left out: the driver opens its file by itself. */
export const databaseOf = (dialect: FileDialect, executor: QueryExecutor): Db =>
  new Kysely<Tables>({ config: { dialect }, dialect, driver: dialect.driver, executor })

export class FileDialect implements Dialect {
  readonly driver: FileDriver
  readonly #adapter = new FileAdapter(this)
  readonly #compiler = new LastingCompiler()

  constructor(file: string) {
    this.driver = new FileDriver(file)
  }

  createAdapter() {
    return this.#adapter
  }

  createDriver() {
    return this.driver
  }

  createIntrospector(db: ConstructorParameters<typeof SqliteIntrospector>[0]) {
    return new SqliteIntrospector(db)
  }

  createQueryCompiler() {
    return this.#compiler
  }
}

export class FileAdapter extends SqliteAdapter implements Transactional {
  readonly dialect: FileDialect

  constructor(dialect: FileDialect) {
    super()
    this.dialect = dialect
  }

  /** The same as Kysely's, without its queue of queries: between two of them there is nothing to wait for. */
  async transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const { dialect } = this
    const { driver } = dialect
    const connection = await driver.acquireConnection()
    await driver.beginTransaction(connection)
    try {
      const executor = new MemberExecutor(dialect, connection)
      const result = await work(new Transaction<Tables>({ config: { dialect }, dialect, driver, executor }))
      await driver.commitTransaction(connection)
      return result
    } catch (error) {
      await driver.rollbackTransaction(connection)
      throw error
    }
  }

  /** SQLite's schema changes are transactional; Kysely assumes not, and would let two processes migrate at the same time. */
  override get supportsTransactionalDdl() {
    return true
  }
}

class MemberExecutor extends DefaultQueryExecutor {
  readonly #connection: FileConnection

  constructor(dialect: FileDialect, connection: FileConnection) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), new SingleConnectionProvider(connection))
    this.#connection = connection
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    groupOf(this.#connection) // after the end of the transaction it would be one of its own
    return this.#connection.executeQuery<R>(query)
  }
}

/**
 * SQLite looks at the number that `limit ?` is given, and so plans a kept statement anew whenever it is given one, which takes longer
 * than most of them run. At a sum it does not look.
 */
class LastingCompiler extends SqliteQueryCompiler {
  override compileQuery(...given: Parameters<SqliteQueryCompiler['compileQuery']>): CompiledQuery {
    const query = super.compileQuery(...given)
    return { ...query, sql: query.sql.replaceAll('limit ?', 'limit ? + 0') }
  }
}
