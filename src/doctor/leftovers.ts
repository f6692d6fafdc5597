import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { sizeText } from '../core/text.js'
import { secretFile } from '../secret.js'
import { seen, type Check } from './check.js'

/** Milliseconds after which nothing writes to a temporary file any more. */
const ABANDONED = 24 * 60 * 60 * 1000

/** Names of temporary files: of a backup, and of a secret. */
const BACKUP = /\.backup\.[\da-f]{8}\.part$/
const SECRET = /^secret(\.previous)?\.\d+\.[\da-f]{8}$/

export const leftovers: Check = {
  look({ config, folder, now }) {
    const backups = path.resolve(config.get('backup.dir') ?? path.join(folder, 'backups'))
    const found = [...filesIn(backups, BACKUP), ...filesIn(path.dirname(secretFile(config)), SECRET)].filter(
      ({ changed }) => now.getTime() - changed > ABANDONED,
    )
    return seen(
      found.map(({ file, bytes }) => ({
        severity: 'warning',
        evidence: `A command that was killed has left ${file} (${sizeText(bytes)}).`,
        fix: `rm ${file}`,
        mend: { id: file, does: `remove ${file}`, run: () => rmSync(file, { force: true }) },
      })),
      'No command that was killed has left files.',
    )
  },
}

function filesIn(folder: string, pattern: RegExp): { file: string; bytes: number; changed: number }[] {
  let names: string[] = []
  try {
    names = readdirSync(folder).filter((name) => pattern.test(name))
  } catch {
    // there is none
  }
  return names.flatMap((name) => {
    const file = path.join(folder, name)
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats?.isFile() ? [{ file, bytes: stats.size, changed: stats.mtimeMs }] : []
  })
}
