import { lstatSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isOwn, removeOwn } from '../core/files.js'

/** Milliseconds without a change after which a temporary file counts as abandoned. */
const ABANDONED = 60 * 60 * 1000

/** Begins the name of the folder of a rehearsal. */
export const REHEARSAL = 'feedbackctl-rehearsal-'
/** Begins the name of the folder of an export that is read from stdin, or received from a server. */
export const IMPORT = 'feedbackctl-import-'

/** Ends the name of a folder that an export has not yet written whole. */
const EXPORT = /\.export-[\da-f]{8}\.part$/

const COPIES = new RegExp(`^(${REHEARSAL}|${IMPORT})`)

/** A file, or a folder with files. Links are not followed. */
interface Entry {
  file: string
  /** Whether it may be removed: no other user can have replaced it. */
  isOwn: boolean
  isFolder: boolean
  bytes: number
  /** When it was changed last, in milliseconds. */
  changed: number
}

/** The entries of a folder with such a name. */
export const filesIn = (folder: string, name: RegExp): Entry[] =>
  namesIn(folder)
    .filter((each) => name.test(each))
    .flatMap((each) => {
      const file = path.join(folder, each)
      const isFolder = statusOf(file)?.isDirectory() ?? false
      const inner = isFolder ? allIn(file) : []
      const stats = [file, ...inner].flatMap((part) => statusOf(part) ?? [])
      const bytes = stats.reduce((sum, { size }) => sum + size, 0)
      const changed = Math.max(...stats.map(({ mtimeMs }) => mtimeMs))
      return stats[0] ? [{ file, isOwn: isOwn(file), isFolder, bytes, changed }] : []
    })

/**
 * Abandoned temporary files in a folder, which killed commands have left. The ids of processes in their names do not tell,
 * as a command may run in another container. A database that SQLite writes may only have its log changed for long.
 */
export function leftoversIn(folder: string, name: RegExp, now: Date): Entry[] {
  const found = filesIn(folder, name)
  const written = found.filter(({ changed }) => now.getTime() - changed <= ABANDONED).map(databaseOf)
  return found.filter((each) => !written.includes(databaseOf(each)))
}

const databaseOf = ({ file }: Entry): string => file.replace(/-(wal|shm|journal)$/, '')

export const backupLeftovers = (folder: string, now: Date): Entry[] =>
  leftoversIn(folder, /\.backup\.[\da-f]{8}\.part$/, now)

/** Copies of the site: in its folder, and those of this user in the temporary folder and in others. */
export const copyLeftovers = (folder: string, now: Date, others: readonly string[] = []): Entry[] => [
  ...leftoversIn(folder, COPIES, now),
  ...[...new Set([tmpdir(), ...others])]
    .filter((other) => other !== folder)
    .flatMap((other) => leftoversIn(other, COPIES, now))
    .filter((each) => each.isOwn),
]

/** Folders that "export" had begun to write in one of these folders. */
export const exportLeftovers = (folders: readonly string[], now: Date): Entry[] =>
  [...new Set(folders)].flatMap((folder) => leftoversIn(folder, EXPORT, now)).filter(({ isFolder }) => isFolder)

/** Removes what is this user's own. */
export function removeLeftovers(found: readonly Pick<Entry, 'file'>[]): void {
  for (const { file } of found)
    try {
      removeOwn(file)
    } catch {
      // a read-only file system, for example
    }
}

const statusOf = (file: string) => lstatSync(file, { throwIfNoEntry: false })

/** The paths of all files and folders below a folder. */
const allIn = (folder: string): string[] =>
  namesIn(folder).flatMap((name) => {
    const file = path.join(folder, name)
    return statusOf(file)?.isDirectory() ? [file, ...allIn(file)] : [file]
  })

/** Empty where there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
