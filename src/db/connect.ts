import { Kysely, type Dialect } from 'kysely'
import { AppError } from '../core/errors.js'
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

/** Runs `work` as one transaction, or as part of the one that is open already. Await nothing but the database in it. */
export const transaction = <T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> => (db.isTransaction ? work(db) : db.transaction().execute(work))

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
