import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { AppError } from '../core/errors.js'
import { Invalidation } from './cache/invalidation.js'
import { QueryCache, type Engine } from './cache/querycache.js'
import type { RevisionSource } from './cache/revision.js'
import { isCollision } from './dialect.js'
import type { Db } from './tables.js'
import type { Trace } from './trace.js'

/** What a connected process has counted, and has now. */
interface Measures {
  commits: number
  /** Bytes of the write-ahead log of SQLite. */
  logBytes?: number
  /** Of the pool of PostgreSQL: connections, and who waits for one. */
  connections?: { busy: number; idle: number; waiting: number }
}

/** An open database. */
export interface Database {
  db: Db
  /** For servers: results that requests share, and the revision of the data. */
  cache: QueryCache
  /** Rejects when the database does not answer soon, or takes no writes. */
  ping(this: void): Promise<void>
  close(this: void): Promise<void>
  measure(this: void): Measures
}

interface Options {
  /** Milliseconds that a visitor may see the data late on PostgreSQL. */
  staleness?: number
  /** Whether PostgreSQL keeps prepared statements. A pooler that shares connections between transactions may not. */
  prepare?: boolean
  /**
   * Milliseconds that a request may wait for PostgreSQL, for servers. Without it, statements take as long as they need,
   * as those of migrations do.
   */
  timeout?: number | undefined
  /** Runs each query again on a cache hit, and throws where the result differs: for tests. */
  verify?: boolean
  /** Told of every statement. */
  trace?: Trace | undefined
}

/** For commands and tests, which need no cache; `destroy` closes it. */
export const connect = async (url: string): Promise<Db> => (await openDatabase(url)).db

/** Opens `sqlite:PATH` or `postgres://…`. Loads only the driver that is needed. */
export async function openDatabase(
  url: string,
  { staleness = STALENESS, prepare = true, timeout, verify = false, trace }: Options = {},
): Promise<Database> {
  const invalidation = new Invalidation()
  const { engine, source, ping, measure } = await open(url, invalidation, { staleness, prepare, timeout, trace })
  const db = engine.database(engine.executor)
  return {
    db,
    cache: new QueryCache(engine, invalidation, source, { verify }),
    ping: ping ?? (async () => void (await sql`select 1`.execute(db))),
    close: async () => void (await Promise.all([source.close(), db.destroy()])),
    measure,
  }
}

/** How late a visitor may see a change on PostgreSQL, in milliseconds. */
const STALENESS = 50

interface Opened {
  engine: Engine
  source: RevisionSource
  ping?(this: void): Promise<void>
  measure(this: void): Measures
}

async function open(
  url: string,
  invalidation: Invalidation,
  options: { staleness: number; prepare: boolean; timeout: number | undefined; trace: Trace | undefined },
): Promise<Opened> {
  if (isPostgres(url)) return (await import('./postgres/dialect.js')).openPostgres(url, invalidation, options)
  if (url.startsWith('sqlite:'))
    return (await import('./sqlite/dialect.js')).openFile(url.slice('sqlite:'.length), invalidation, options.trace)
  throw new AppError('CONFIG_INVALID', 'database.url must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.')
}

export const isPostgres = (url: string): boolean => /^postgres(ql)?:\/\//.test(url)

/**
 * Runs `work` as one transaction, or as part of the one that is open already. Await nothing but the database in it.
 * After a collision with another transaction it runs again, from the start.
 */
export const transaction = <T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : insistently(() => db.transaction().execute(work))

/** The same, but takes back whatever was written, on success too. */
export async function rolledBack<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const done: { result?: T } = {}
  const takenBack = new Error('taken back')
  const attempt = () =>
    db.transaction().execute(async (inside) => {
      done.result = await work(inside)
      throw takenBack
    })
  await insistently(attempt).catch((error: unknown) => {
    if (error !== takenBack) throw error
  })
  return done.result as T // set, or the catch above has thrown
}

const ATTEMPTS = 8
/** Longest wait before the second attempt, in milliseconds; it grows with every attempt. */
const PAUSE = 20

/** Runs work again after a collision with another transaction. */
export async function insistently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isCollision(error)) throw error
      if (count === ATTEMPTS)
        throw new AppError(
          'DATABASE_UNREACHABLE',
          'Too many changes were made at the same time. Try again in a moment.',
          { cause: error },
        )
    }
    await sleep(Math.random() * PAUSE * count)
  }
}
