// Stands in for pg, see vitest.config.ts: connections to the server of this run outlive the pool that opened them, for
// the next pool with the same options. For a new one PostgreSQL starts a process, which reads the catalog and compiles the
// triggers anew.
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import type Pg from 'pg'
import { inject } from 'vitest'

const real = createRequire(import.meta.url)('pg') as typeof Pg

/** How many idle connections one worker keeps. All workers together keep 160 of the 400 that PostgreSQL accepts. */
const MAX_IDLE = Math.floor(160 / (2 * availableParallelism()))
/** Makes a session like a new one, except for what it has compiled. The name is not one of the program's. */
const RESET = `deallocate all; reset all; discard temp; select pg_advisory_unlock_all(); set application_name = 'idle'`

/** What the types of pg leave out. */
interface Internals {
  readonly processID: number
  readonly connection: { parsedStatements: object; submittedNamedStatements: object }
  readonly readyForQuery: boolean | null
}

/** Those that belong to no pool, longest idle first. */
const idle = new Set<PooledClient>()

/** The process IDs of PostgreSQL for the connections that belong to no pool. */
export const idleProcesses = (): number[] => Array.from(idle, ({ processID }) => processID)

class PooledClient extends (real.Client as unknown as new (config: Pg.PoolConfig) => Pg.Client & Internals) {
  readonly key: string
  pool: Pg.Pool
  /** Whether its session is like a new one. */
  isReset = false

  constructor(config: Pg.PoolConfig, { key, pool }: { key: string; pool: Pg.Pool }) {
    super(config)
    this.key = key
    this.pool = pool
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<this> | void {
    if (!callback) throw new Error('A pool passes a callback')
    if (!this.isReset) return super.connect(callback)
    this.query('reset application_name', callback)
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | void {
    if (!callback) return super.end()
    // A pool that goes on ends only connections that it no longer trusts
    if (!this.pool.ending || !this.#isFree()) return super.end(callback)
    this.removeAllListeners()
    this.on('error', () => void idle.delete(this)) // a test ended it, or the server
    this.isReset = false
    idle.add(this)
    this.query(RESET, (error) => {
      this.connection.parsedStatements = {}
      this.connection.submittedNamedStatements = {}
      this.isReset = !error
      if (error) this.drop()
    })
    for (const oldest of [...idle].slice(0, Math.max(0, idle.size - MAX_IDLE))) oldest.drop()
    ;(callback as () => void)()
  }

  /** Closes an idle connection. */
  drop(): void {
    if (idle.delete(this)) void super.end()
  }

  /** Whether it runs nothing, and no transaction is open. */
  #isFree(): boolean {
    return this.readyForQuery === true && this.getTransactionStatus() === 'I'
  }
}

/** Connections that differ only in functions, such as parsers of types, count as the same. The program has none such. */
function takeClient(config: Pg.PoolConfig, pool: Pg.Pool): PooledClient {
  const key = JSON.stringify(config)
  const found = [...idle].findLast((client) => client.isReset && client.key === key)
  if (!found) return new PooledClient(config, { key, pool })
  idle.delete(found)
  found.pool = pool
  found.removeAllListeners()
  found.on('error', () => {}) // the pool learns of it by its queries, and listens only once it is connected
  return found
}

/** A test with a server of its own may rename a database, which PostgreSQL refuses while a connection uses it. */
const isOfRun = (url = ''): boolean => url.startsWith(inject('postgres').replace(/[^/]*$/, ''))

class Pool extends real.Pool {
  constructor(config: Pg.PoolConfig) {
    super(config)
    const take = (options: Pg.PoolConfig) => takeClient(options, this)
    // A pool calls it with `new`, which an arrow function does not allow
    if (isOfRun(config.connectionString)) Object.assign(this, { Client: function (options: Pg.PoolConfig) { return take(options) } }) // prettier-ignore
  }
}

export default { ...real, Pool }
