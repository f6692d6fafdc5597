import { copyFileSync, existsSync, linkSync, renameSync } from 'node:fs'
import type BetterSqlite from 'better-sqlite3'
import { AppError } from '../../core/errors.js'
import { openSqlite } from './binding.js'
import { explained, isDamage } from './errors.js'

/** A file that no other process uses. */
interface LockedFile {
  /** Gives the file another name too. */
  keep(this: void, name: string): void
  release(this: void): void
}

/** Milliseconds that commands which use the file have to end. */
const PATIENCE = 3000

/**
 * Waits until no other process has the file open, and copies its WAL into it, which would be applied to another file in
 * its place. Throws DATABASE_IN_USE. A file that is too damaged to be locked is taken as it is.
 */
export function lockFile(file: string, { patience = PATIENCE } = {}): LockedFile {
  let database: BetterSqlite.Database | undefined
  try {
    database = openSqlite(file)
    database.pragma(`busy_timeout = ${patience}`)
    database.pragma('journal_mode = delete') // fails while somebody else has it open
    database.exec('begin exclusive')
    const locked = database
    return { keep: (name) => link(file, name), release: () => void locked.close() }
  } catch (error) {
    database?.close()
    const known = explained(error, file)
    if (known instanceof AppError && known.code === 'DATABASE_UNUSABLE' && isDamage(known))
      return { keep: (name) => moveAll(file, name), release: () => {} }
    if (known instanceof AppError && known.code === 'DATABASE_UNREACHABLE') throw inUse(file, error)
    throw known
  }
}

const inUse = (file: string, cause: unknown): AppError =>
  new AppError(
    'DATABASE_IN_USE',
    `Another process uses ${file}. Stop "feedbackctl serve" first. Nothing was changed.`,
    {
      cause,
    },
  )

/** Some file systems have no second names. */
function link(file: string, name: string): void {
  try {
    linkSync(file, name)
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes((error as { code?: string }).code ?? '')) throw error
    copyFileSync(file, name)
  }
}

/** The WAL of a damaged file may hold what mends it. */
function moveAll(file: string, name: string): void {
  for (const ending of ['-wal', '-shm', '-journal'])
    if (existsSync(`${file}${ending}`)) renameSync(`${file}${ending}`, `${name}${ending}`)
  link(file, name)
}
