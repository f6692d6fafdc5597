import path from 'node:path'
import { isPostgres } from './connect.js'
import type { Db } from './tables.js'

const fileOf = (url: string): string => path.resolve(url.slice('sqlite:'.length))

/**
 * Requests that servers keep the database closed, until the function that it returns is called, or until this process
 * ends. Throws DATABASE_IN_USE while another process has requested it.
 */
export async function requestMaintenance(url: string, now: Date): Promise<() => Promise<void>> {
  if (isPostgres(url)) return (await import('./postgres/maintenance.js')).requestMaintenance(url)
  return (await import('./sqlite/maintenance.js')).requestMaintenance(fileOf(url), now)
}

/** Whether servers must keep this database closed. `db` is the open database; absent where it is closed. */
export async function isMaintenanceRequested(url: string, now: Date, db?: Db): Promise<boolean> {
  if (!isPostgres(url)) return (await import('./sqlite/maintenance.js')).isMaintenanceRequested(fileOf(url), now)
  const postgres = await import('./postgres/maintenance.js')
  return db ? postgres.isMaintenanceRequested(db) : postgres.isStillRequested(url)
}
