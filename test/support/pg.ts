// Stands in for pg, see vitest.config.ts: connections to the server of this run outlive the pool that opened them, for
// the next pool with the same options. For a new one PostgreSQL starts a process, which reads the catalog and compiles the
// triggers anew.
import { createRequire } from 'node:module'
import type Pg from 'pg'
import { inject } from 'vitest'

const real = createRequire(import.meta.url)('pg') as typeof Pg

/** How many connections wait for a pool: PostgreSQL has room for 400, of all workers and the programs that tests start. */
const MAX_IDLE = 40
/** Makes a session like a new one, except for what it has compiled. The name is not one of the program's. */
const RESET = `deallocate all; reset all; discard temp; select pg_advisory_unlock_all(); set application_name = 'idle'`

/** What the types of pg leave out. */
interface Internals {
  readonly processID: number
  readonly connection: { parsedStatements: object; submittedNamedStatements: object }
  readonly readyForQuery: boolean | null
}

/** Longest waiting first. */
const idle = new Set<PooledClient>()

/** The processes of PostgreSQL whose connections no pool has. */
export const idleProcesses = (): number[] => Array.from(idle, ({ processID }) => processID)

class PooledClient extends (real.Client as unknown as new (config: Pg.PoolConfig) => Pg.Client & Internals) {
  readonly key: string
  /** Whether its session is like a new one. */
  isReset = false

  constructor(config: Pg.PoolConfig, key: string) {
    super(config)
    this.key = key
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
    if (!this.#isFree() || idle.size >= MAX_IDLE) return super.end(callback)
    this.removeAllListeners()
    this.on('error', () => void idle.delete(this)) // a test ended it, or the server
    this.isReset = false
    idle.add(this)
    this.query(RESET, (error) => {
      this.connection.parsedStatements = {}
      this.connection.submittedNamedStatements = {}
      this.isReset = !error
      if (error && idle.delete(this)) void super.end()
    })
    ;(callback as () => void)()
  }

  /** Whether it runs nothing, and no transaction is open. */
  #isFree(): boolean {
    return this.readyForQuery === true && this.getTransactionStatus() === 'I'
  }
}

/** Called with `new` by a pool, which then listens and connects. */
function takeClient(config: Pg.PoolConfig): PooledClient {
  const key = JSON.stringify(config)
  const found = [...idle].findLast((client) => client.isReset && client.key === key)
  if (!found) return new PooledClient(config, key)
  idle.delete(found)
  found.removeAllListeners()
  found.on('error', () => {}) // the pool learns of it by its queries, and listens only once it is connected
  return found
}

/** A test that has a server of its own may rename what connections would hold. */
const isOfRun = (url = ''): boolean => url.startsWith(inject('postgres').replace(/[^/]*$/, ''))

class Pool extends real.Pool {
  constructor(config: Pg.PoolConfig) {
    super((isOfRun(config.connectionString) ? { ...config, Client: takeClient } : config) as Pg.PoolConfig)
  }
}

export default { ...real, Pool }
