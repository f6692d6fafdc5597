import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { AppError } from '../core/errors.js'
import type { Watch } from './cache/revision.js'
import { begin, isCollision, isDangling } from './dialect.js'
import type { Db, Tables } from './tables.js'

/** Opens `sqlite:PATH` or `postgres://…`. Only the driver that is needed is loaded. */
export async function connect(url: string): Promise<Db> {
  if (isPostgres(url))
    return new Kysely<Tables>({ dialect: (await import('./postgres/dialect.js')).postgresDialect(url) })
  if (url.startsWith('sqlite:')) return (await import('./sqlite/dialect.js')).openFile(url.slice('sqlite:'.length))
  throw new AppError('CONFIG_INVALID', 'database.url must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.')
}

export const isPostgres = (url: string): boolean => /^postgres(ql)?:\/\//.test(url)

/** How old the last look at PostgreSQL may be that an answer to a visitor relies on, in milliseconds. */
const STALENESS = 50

/** The watch of an open database. `url` is its address. */
export async function openWatch(db: Db, url: string, { staleness = STALENESS } = {}): Promise<Watch> {
  if (isPostgres(url)) return (await import('./postgres/watch.js')).watchPostgres(url, staleness)
  const [{ FileAdapter }, { watchFile }] = await Promise.all([
    import('./sqlite/dialect.js'),
    import('./sqlite/watch.js'),
  ])
  const { adapter } = db.getExecutor()
  if (!(adapter instanceof FileAdapter)) throw new Error('This database is no SQLite file.')
  return watchFile(adapter.dialect.driver)
}

/**
 * Runs `work` as one transaction, or as part of the one that is open already. Await nothing but the database in it.
 * After a collision with another transaction it runs again, from the start.
 */
export const transaction = <T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : insistently(() => begin(db, work))

/** The same, but takes back whatever was written, on success too. */
export async function rolledBack<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const done: { result?: T } = {}
  const takenBack = new Error('taken back')
  const attempt = () =>
    begin(db, async (inside) => {
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

async function insistently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isCollision(error) || (count === ATTEMPTS && isDangling(error))) throw error
      if (count === ATTEMPTS)
        throw new AppError(
          'DATABASE_UNREACHABLE',
          'Too much is being changed at the same place just now. Try again in a moment.',
          { cause: error },
        )
    }
    await sleep(Math.random() * PAUSE * count)
  }
}
