import { databaseFile } from '../core/addresses.js'
import type { Db } from './tables.js'

/**
 * Requests that servers keep the database closed, until the function that it returns is called, or until this process
 * ends. Throws DATABASE_IN_USE while another process has requested it.
 */
export async function requestMaintenance(url: string, now: Date): Promise<() => Promise<void>> {
  const file = databaseFile(url)
  if (file === undefined) return (await import('./postgres/maintenance.js')).requestMaintenance(url)
  return (await import('./sqlite/maintenance.js')).requestMaintenance(file, now)
}

/** Whether servers must keep this database closed. `db` is the open database; absent where it is closed. */
export async function isMaintenanceRequested(url: string, now: Date, db?: Db): Promise<boolean> {
  const file = databaseFile(url)
  if (file !== undefined) return (await import('./sqlite/maintenance.js')).isMaintenanceRequested(file, now)
  const postgres = await import('./postgres/maintenance.js')
  return db ? postgres.isMaintenanceRequested(db) : postgres.isStillRequested(url)
}
