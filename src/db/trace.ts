import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

/** Gets the text of every statement, without its parameters, and the milliseconds it took. */
export type Trace = (statement: string, ms: number) => void

type Run = <R>(query: CompiledQuery) => Promise<QueryResult<R>>

const timed =
  (run: Run, trace: Trace): Run =>
  async (query) => {
    const start = performance.now()
    try {
      return await run(query)
    } finally {
      trace(query.sql, performance.now() - start)
    }
  }

interface FileDriver<C> {
  query<R>(connection: C | undefined, query: CompiledQuery): Promise<QueryResult<R>>
}

/** Makes a driver of a file tell of its statements. */
export function traceFile<C>(driver: FileDriver<C>, trace: Trace): void {
  const query = driver.query.bind(driver)
  driver.query = (connection, given) => timed((each) => query(connection, each), trace)(given)
}

interface PoolDriver {
  acquireConnection(...given: never[]): Promise<DatabaseConnection>
}

/** Makes a driver with a pool of connections tell of their statements. */
export function tracePool(driver: PoolDriver, trace: Trace): void {
  const acquire = driver.acquireConnection.bind(driver)
  const known = new WeakSet<DatabaseConnection>()
  driver.acquireConnection = async (...given) => {
    const connection = await acquire(...given)
    if (!known.has(connection)) connection.executeQuery = timed(connection.executeQuery.bind(connection), trace)
    known.add(connection)
    return connection
  }
}
