import { Kysely, type Dialect } from 'kysely'
import { AppError } from '../core/errors.js'
import { isCollision } from './dialect.js'
import type { Tables } from './tables.js'

export type Db = Kysely<Tables>

/** Opens `sqlite:PATH` or `postgres://…`. Only the driver that is needed is loaded. */
export async function connect(url: string): Promise<Db> {
  return new Kysely<Tables>({ dialect: await dialectFor(url) })
}

async function dialectFor(url: string): Promise<Dialect> {
  if (isPostgres(url)) return (await import('./postgres.js')).postgresDialect(url)
  if (url.startsWith('sqlite:')) return (await import('./sqlite.js')).sqliteDialect(url.slice('sqlite:'.length))
  throw new AppError('CONFIG_INVALID', 'database.url must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.')
}

export const isPostgres = (url: string): boolean => /^postgres(ql)?:\/\//.test(url)

const ATTEMPTS = 5

/**
 * Runs `work` as one transaction, or as part of the one that is open already. Await nothing but the database in it.
 * After a collision with another transaction it runs again, from the start.
 */
export async function transaction<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db)
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt === ATTEMPTS || !isCollision(error)) throw error
    }
  }
}

/** Runs `work` and takes back whatever it wrote, on success too. */
export async function rolledBack<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const done: { result?: T } = {}
  const takenBack = new Error('taken back')
  await db
    .transaction()
    .execute(async (inside) => {
      done.result = await work(inside)
      throw takenBack
    })
    .catch((error: unknown) => {
      if (error !== takenBack) throw error
    })
  return done.result as T // set, or the catch above has thrown
}
