import { AppError } from '../core/errors.js'
import type { Snapshot } from './carried.js'
import { isPostgres } from './connect.js'

export type { Snapshot } from './carried.js'

/** Opens the database for reading. It changes nothing, not even an older schema. */
export async function openSnapshot(url: string): Promise<Snapshot> {
  if (isPostgres(url)) return (await import('./postgres/snapshot.js')).postgresSnapshot(url)
  if (url.startsWith('sqlite:')) return (await import('./sqlite/snapshot.js')).fileSnapshot(url.slice('sqlite:'.length))
  throw new AppError('CONFIG_INVALID', 'database.url must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.')
}
