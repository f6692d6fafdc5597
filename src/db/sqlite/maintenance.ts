import { closeSync, futimesSync, rmSync, statSync } from 'node:fs'
import { AppError } from '../../core/errors.js'
import { openNewFile } from '../../core/files.js'

const requestFile = (file: string): string => `${file}.aside`

/** Milliseconds after which a request counts as left behind by a process that was killed. */
const VALID_MS = 15_000

/** The request is a file beside the database, with a current time until it is released. Throws DATABASE_IN_USE. */
export function requestMaintenance(file: string, now: Date): () => Promise<void> {
  if (isMaintenanceRequested(file, now))
    throw new AppError('DATABASE_IN_USE', `Another restore of ${file} is under way. Nothing was changed.`)
  rmSync(requestFile(file), { force: true }) // left behind, perhaps by another user
  const fd = openNewFile(requestFile(file))
  const renew = () => futimesSync(fd, new Date(), new Date())
  const timer = setInterval(() => {
    try {
      renew()
    } catch {
      // on a full disk, for example: the restore says so itself
    }
  }, VALID_MS / 5).unref()
  return () => {
    clearInterval(timer)
    closeSync(fd)
    rmSync(requestFile(file), { force: true })
    return Promise.resolve()
  }
}

export function isMaintenanceRequested(file: string, now: Date): boolean {
  const at = statSync(requestFile(file), { throwIfNoEntry: false })?.mtimeMs
  return at !== undefined && Math.abs(now.getTime() - at) < VALID_MS
}
