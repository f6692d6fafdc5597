import { readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Milliseconds without a change after which nobody writes to a temporary file any more. */
const ABANDONED = 60 * 60 * 1000

/** Begins the name of the folder of a rehearsal. */
export const REHEARSAL = 'feedbackctl-rehearsal-'

/** A file, or a folder with files. */
interface Entry {
  file: string
  isFolder: boolean
  bytes: number
  /** When it was changed last, in milliseconds. */
  changed: number
}

/** What is in a folder with such a name. */
export const filesIn = (folder: string, name: RegExp): Entry[] =>
  namesIn(folder)
    .filter((each) => name.test(each))
    .flatMap((each) => {
      const file = path.join(folder, each)
      const parts = [file, ...namesIn(file).map((inner) => path.join(file, inner))]
      const stats = parts.flatMap((part) => statSync(part, { throwIfNoEntry: false }) ?? [])
      const bytes = stats.reduce((sum, { size }) => sum + size, 0)
      const changed = Math.max(...stats.map(({ mtimeMs }) => mtimeMs))
      return stats[0] ? [{ file, isFolder: stats[0].isDirectory(), bytes, changed }] : []
    })

/** Of the temporary files in a folder, what commands that were killed have left: nobody writes to it any more. */
export const leftoversIn = (folder: string, name: RegExp, now: Date): Entry[] =>
  filesIn(folder, name).filter(({ changed }) => now.getTime() - changed > ABANDONED)

export const backupLeftovers = (folder: string, now: Date): Entry[] =>
  leftoversIn(folder, /\.backup\.[\da-f]{8}\.part$/, now)

export const rehearsalLeftovers = (now: Date): Entry[] => leftoversIn(tmpdir(), new RegExp(`^${REHEARSAL}`), now)

/** Removes what it may. */
export function removeLeftovers(found: readonly Pick<Entry, 'file'>[]): void {
  for (const { file } of found)
    try {
      rmSync(file, { recursive: true, force: true })
    } catch {
      // somebody else's
    }
}

/** Empty where there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
