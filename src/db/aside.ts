import path from 'node:path'
import { isPostgres } from './connect.js'
import type { Db } from './tables.js'

const fileOf = (url: string): string => path.resolve(url.slice('sqlite:'.length))

/**
 * Asks the servers of a database to close it, until the function that it returns is called, or until this process ends.
 * Throws DATABASE_IN_USE while another process asks.
 */
export async function askAside(url: string, now: Date): Promise<() => Promise<void>> {
  if (isPostgres(url)) return (await import('./postgres/aside.js')).askAside(url)
  return (await import('./sqlite/aside.js')).askAside(fileOf(url), now)
}

/** Whether the servers of this database are asked to close it. `db` is the open database; absent where it is closed. */
export async function isAsked(url: string, now: Date, db?: Db): Promise<boolean> {
  if (!isPostgres(url)) return (await import('./sqlite/aside.js')).isAsked(fileOf(url), now)
  const postgres = await import('./postgres/aside.js')
  return db ? postgres.isAsked(db) : postgres.isStillAsked(url)
}
