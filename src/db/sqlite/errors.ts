import { accessSync, constants, statfsSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../core/errors.js'
import type { Loss } from './watch.js'

/** Names what is wrong with the file. Any other error is a bug, and passes unchanged. */
export function explained(error: unknown, file: string): unknown {
  const code = String((error as { code?: unknown }).code)
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return new LockedError(error)
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code) || (code.startsWith('SQLITE_IOERR') && isFull(path.dirname(file))))
    return new AppError(
      'STORAGE_FULL',
      `There is no space left for ${file}. Nothing was changed. Free some space on its disk.`,
      { cause: error },
    )
  if (DAMAGE.test(code))
    return new AppError('DATABASE_UNUSABLE', `${file} is damaged, or is not a SQLite database.`, {
      reason: 'database-damaged',
      cause: error,
    })
  if (code.startsWith('SQLITE_IOERR'))
    return new AppError(
      'DATABASE_UNUSABLE',
      `The disk failed while ${file} was read or written (${code}). Check the disk, and limits to the size of files.`,
      { cause: error },
    )
  if (/^(SQLITE_(CANTOPEN|READONLY|PERM)(_|$)|E(ACCES|PERM)$)/.test(code)) {
    const folder = path.dirname(file)
    if (refusesAccess(folder) || refusesAccess(file))
      return new AppError(
        'DATABASE_UNUSABLE',
        `Cannot write in ${folder}. Give it to the user of this process, or choose another folder with --data-dir.`,
        {
          reason: 'folder-refuses',
          place: folder,
          why: `user ${process.getuid?.()} may not write there, and only root can change that`,
          cause: error,
        },
      )
  }
  if (/^(SQLITE_(CANTOPEN|READONLY|PERM)(_|$)|E(ACCES|PERM|ROFS|NOTDIR|ISDIR|NOENT|EXIST)$)/.test(code))
    return new AppError(
      'DATABASE_UNUSABLE',
      `Cannot open ${file} for reading and writing. Check its folder and permissions, or choose another with --data-dir.`,
      { cause: error },
    )
  return error
}

/** Whether permissions are in the way. Other causes, as a disk that is read-only, have other codes. */
function refusesAccess(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'EACCES'
  }
}

const DAMAGE = /^SQLITE_(NOTADB|CORRUPT)/

/** Whether pages of the file are wrong, which no successful write changes. */
export const isDamage = ({ reason }: AppError): boolean => reason === 'database-damaged'

/** Whether the disk of a folder is as good as full. SQLite reports some writes to such a disk as failures of the disk. */
export function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < MIN_FREE
  } catch {
    return false
  }
}

/** Bytes below which a disk counts as full: the index of a WAL needs 32 KiB at once. */
const MIN_FREE = 64 * 1024

/** Another process has locked the database. */
export class LockedError extends AppError {
  constructor(cause?: unknown) {
    super(
      'DATABASE_UNREACHABLE',
      'Another process kept the database locked for more than 5 seconds. Try again in a moment.',
      { cause },
    )
  }
}

const LOST: Record<Loss, string> = {
  removed: 'was removed or emptied while it was in use. Put it back, or restore a backup in its place',
  replaced:
    'was replaced while it was in use, by a file that is not of the same site and version. Put the right one back, or restart feedbackctl',
  truncated:
    'was cut off while it was in use. Remove it with the files ending in -wal and -shm, and restore a backup in its place',
  'log removed': 'has lost its file ending in -wal while it was in use. Restart feedbackctl',
}

/** Writes are refused because of what has become of the file. */
export const lost = (file: string, loss: Loss, cause?: unknown): AppError =>
  new AppError('DATABASE_UNREACHABLE', `${file} ${LOST[loss]}. Until then nothing is written.`, { cause })

export const newer = (file: string): AppError =>
  new AppError(
    'DATABASE_UNREACHABLE',
    `A newer feedbackctl has updated ${file} while this one used it. Restart with the newer version. Until then nothing is written.`,
  )
