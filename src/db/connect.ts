import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { AppError } from '../core/errors.js'
import { begin, isCollision, isDangling } from './dialect.js'
import type { Tables } from './tables.js'

export type Db = Kysely<Tables>

/** Opens `sqlite:PATH` or `postgres://…`. Only the driver that is needed is loaded. */
export async function connect(url: string): Promise<Db> {
  if (isPostgres(url)) return new Kysely<Tables>({ dialect: (await import('./postgres.js')).postgresDialect(url) })
  if (url.startsWith('sqlite:')) return (await import('./sqlite.js')).openFile(url.slice('sqlite:'.length))
  throw new AppError('CONFIG_INVALID', 'database.url must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.')
}

export const isPostgres = (url: string): boolean => /^postgres(ql)?:\/\//.test(url)

/**
 * Runs `work` as one transaction, or as part of the one that is open already. Await nothing but the database in it.
 * After a collision with another transaction it runs again, from the start.
 */
export const transaction = <T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> => (db.isTransaction ? work(db) : insistently(() => begin(db, work)))

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
        throw new AppError('DATABASE_UNREACHABLE', 'Too much is being changed at the same place just now. Try again in a moment.', { cause: error })
    }
    await sleep(Math.random() * PAUSE * count)
  }
}
