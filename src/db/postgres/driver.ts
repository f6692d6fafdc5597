import type { CompiledQuery, ConnectionProvider, DatabaseConnection, Driver, QueryResult } from 'kysely'
import pg from 'pg'
import { AppError } from '../../core/errors.js'
import { connectFailed, isOutage, READ_ONLY, TOO_SLOW } from './errors.js'
import type { StatementNames } from './statements.js'

interface Options {
  /** Absent where a pooler shares sessions between transactions: nothing may then outlive a transaction. */
  names: StatementNames | undefined
  /** Milliseconds that a server's request waits at most. Absent for commands, which may take as long as they need. */
  timeout: number | undefined
  /** Called after each commit, and where it is not known whether one happened. */
  committed(this: void): void
}

/** Milliseconds until a connection must be made where there is no `timeout`, and that a ping may take. */
const CONNECT_TIMEOUT = 5000
const PING_TIMEOUT = 2000
/** Milliseconds of silence after which the system checks that the other end is there. */
const KEEPALIVE = 10_000
const MAX_CONNECTIONS = 10
/** Milliseconds between pings of a server that may be away. */
const PING_INTERVAL = 1000

/** Of the time that a request has. The server gives up first, so that the connection stays usable. */
const SERVER_SHARE = 0.9

/**
 * A pool of connections. With a `timeout`, PostgreSQL ends statements, waits for locks and idle transactions in time;
 * and whoever holds a connection past its deadline has it cut, as the server may not answer at all.
 */
export class PoolDriver implements Driver {
  readonly #url: string
  readonly #options: Options
  readonly #pool: pg.Pool
  readonly #begin: string
  readonly #openedAt = new WeakMap<pg.PoolClient, number>()
  readonly #broken = new WeakSet<pg.PoolClient>()
  #readOnlyAt = -Infinity
  #isFailing = false
  #isPinging = false
  #pingedAt = -Infinity
  #commits = 0

  constructor(url: string, options: Options) {
    this.#url = url
    this.#options = options
    const { names, timeout } = options
    const limits: Record<string, number> = timeout === undefined ? {} : limitsOf(timeout)
    const settings = Object.entries(limits).map(([name, milliseconds]) => `; set local ${name} = ${milliseconds}`)
    this.#begin = names ? 'begin' : `begin${settings.join('')}`
    this.#pool = new pg.Pool({
      connectionString: url,
      types: TYPES,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: timeout ?? CONNECT_TIMEOUT,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE,
      application_name: 'feedbackctl',
      ...(names && limits),
    })
    this.#pool.on('error', () => {}) // an idle connection was cut; the next query opens another
    this.#pool.on('connect', (client) => {
      this.#openedAt.set(client, performance.now())
      client.on('error', () => this.#broken.add(client)) // the connection was cut while in use; its query fails
    })
  }

  async init(): Promise<void> {}

  /** `deadline` is of `performance.now()`. DATABASE_UNREACHABLE where there is no connection by then. */
  async acquireConnection(deadline = this.deadline()): Promise<PoolConnection> {
    for (;;) {
      const connection = await this.#connect(deadline)
      if ((this.#openedAt.get(connection.client) ?? 0) > this.#readOnlyAt) return connection
      connection.release(true)
    }
  }

  /**
   * Whether the last query or connection attempt found no usable server. Pings the server in the background, once a second
   * at most, so that no request has to wait to find out.
   */
  isFailing(): boolean {
    if (!this.#isPinging && performance.now() - this.#pingedAt > PING_INTERVAL) void this.#pingAgain()
    return this.#isFailing
  }

  async #pingAgain(): Promise<void> {
    this.#isPinging = true
    await this.ping().catch(() => {}) // the outcome of its query is what counts
    this.#isPinging = false
    this.#pingedAt = performance.now()
  }

  /** The deadline of a request or job that starts now, on the clock of `performance.now()`. */
  deadline(): number {
    const { timeout } = this.#options
    return timeout === undefined ? Infinity : performance.now() + timeout
  }

  #connect(deadline: number): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      const left = deadline - performance.now()
      if (left <= 0) return reject(this.#tooLate())
      const fail = (error: AppError) => {
        this.#isFailing = true
        reject(error)
      }
      let taken: pg.PoolClient | undefined
      let isLate = false
      const onDeadline = () => {
        isLate = true
        fail(this.#tooLate())
        void taken?.end() // closes the socket if a query is under way
      }
      const timer = deadline === Infinity ? undefined : setTimeout(onDeadline, left)
      this.#pool.connect((error, client, release) => {
        if (client && !isLate) {
          taken = client
          resolve(
            new PoolConnection(client, {
              nameOf: (text) => this.#options.names?.nameOf(text),
              worked: () => (this.#isFailing = false),
              explained: (cause) => {
                const error = isLate ? this.#tooLate(cause) : this.#explained(client, cause)
                this.#isFailing = error instanceof AppError
                return error
              },
              release: (isUnusable) => {
                clearTimeout(timer)
                release(isUnusable || isLate || this.#broken.has(client))
              },
            }),
          )
        } else if (client) release()
        else {
          clearTimeout(timer)
          fail(connectFailed(error, this.#url))
        }
      })
    })
  }

  async beginTransaction(connection: PoolConnection): Promise<void> {
    await connection.run(this.#begin)
  }

  async commitTransaction(connection: PoolConnection): Promise<void> {
    try {
      await connection.run('commit')
      this.#commits++
    } finally {
      this.#options.committed()
    }
  }

  /** Never rejects: what made the transaction fail is what the caller wants to know. */
  async rollbackTransaction(connection: PoolConnection): Promise<void> {
    await connection.run('rollback').catch(() => this.#broken.add(connection.client))
  }

  async releaseConnection(connection: PoolConnection): Promise<void> {
    connection.release(false)
  }

  /** Throws DATABASE_UNREACHABLE if PostgreSQL does not answer within two seconds, or is read-only. */
  async ping(): Promise<void> {
    const connection = await this.acquireConnection(Math.min(this.deadline(), performance.now() + PING_TIMEOUT))
    try {
      const { rows } = await connection.run("select current_setting('transaction_read_only') as setting")
      if ((rows[0] as { setting: string }).setting === 'on') throw this.#readOnly()
    } finally {
      connection.release(false)
    }
  }

  measure() {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool
    return { commits: this.#commits, connections: { busy: totalCount - idle, idle, waiting } }
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }

  /** DATABASE_UNREACHABLE where it is no fault of the query. */
  #explained(client: pg.PoolClient, cause: unknown): unknown {
    const { code = '', message } = cause as { code?: string; message: string }
    if (code === READ_ONLY) return this.#readOnly(cause)
    if (TOO_SLOW.includes(code)) return this.#tooLate(cause)
    if (!this.#broken.has(client) && !isOutage(code)) return cause
    return new AppError('DATABASE_UNREACHABLE', `The connection to PostgreSQL broke: ${message}.`, { cause })
  }

  /** A session keeps the mode it began with, so none that is open now is used again. */
  #readOnly(cause?: unknown): AppError {
    this.#readOnlyAt = performance.now()
    return new AppError('DATABASE_UNREACHABLE', 'PostgreSQL takes no writes: it is read-only, or a standby.', { cause })
  }

  #tooLate(cause?: unknown): AppError {
    const seconds = (this.#options.timeout ?? CONNECT_TIMEOUT) / 1000
    const message = `PostgreSQL took longer than ${seconds} s (database.timeout): it does not answer, is overloaded, or waits for a lock.`
    return new AppError('DATABASE_UNREACHABLE', message, { cause })
  }
}

/** Gives out connections until the deadline of one request. */
export class ProviderUntil implements ConnectionProvider {
  readonly #driver: PoolDriver
  readonly #deadline: number | undefined

  constructor(driver: PoolDriver, deadline?: number) {
    this.#driver = driver
    this.#deadline = deadline
  }

  async provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    const connection = await this.#driver.acquireConnection(this.#deadline)
    try {
      return await consumer(connection)
    } finally {
      connection.release(false)
    }
  }
}

interface Held {
  nameOf(this: void, text: string): string | undefined
  worked(this: void): void
  explained(this: void, cause: unknown): unknown
  release(this: void, isUnusable: boolean): void
}

class PoolConnection implements DatabaseConnection {
  readonly client: pg.PoolClient
  readonly release: Held['release']
  readonly #held: Held

  constructor(client: pg.PoolClient, held: Held) {
    this.client = client
    this.release = held.release
    this.#held = held
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const name = this.#held.nameOf(text)
    return this.#query<R>({ ...(name !== undefined && { name }), text, values: [...parameters] })
  }

  /** Runs statements without parameters. */
  run(text: string): Promise<QueryResult<unknown>> {
    return this.#query({ text })
  }

  async #query<R>(query: pg.QueryConfig): Promise<QueryResult<R>> {
    try {
      const { command, rowCount, rows } = await this.client.query(query)
      this.#held.worked()
      return {
        rows: (rows ?? []) as R[],
        ...(WRITES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
      }
    } catch (error) {
      throw this.#held.explained(error)
    }
  }

  // oxlint-disable-next-line require-yield -- nothing reads a stream
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Queries are not streamed')
  }
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** Whole numbers of eight bytes come back as numbers, as from SQLite. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
}

/** PostgreSQL's own limits, in milliseconds. */
const limitsOf = (timeout: number) => ({
  statement_timeout: Math.ceil(timeout * SERVER_SHARE),
  lock_timeout: Math.ceil(timeout * SERVER_SHARE),
  idle_in_transaction_session_timeout: timeout,
})
