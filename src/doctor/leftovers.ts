import path from 'node:path'
import { backupLeftovers, exportLeftovers, filesIn, leftoversIn, copyLeftovers } from '../backup/leftovers.js'
import { timeOf } from '../backup/upgrade.js'
import { removeOwn } from '../core/files.js'
import { shellQuoted } from '../core/shell.js'
import { sizeText } from '../core/text.js'
import { secretFile } from '../secret.js'
import { seen, type Check } from './check.js'

/** Names of temporary files: of a secret, and of a database that is restored, copied or kept. */
const SECRET = /^secret(\.previous)?\.\d+\.[\da-f]{8}$/
const DATABASE =
  /\.(restoring|copying)-\d+-([\da-f]{8}){1,2}(-wal|-shm|-journal)?$|\.before-upgrade-\d{8}T\d{6}Z\.\d+\.(part|[\da-f]{8})$/

/** A copy of the database: of "restore", of an upgrade, of "rollback". */
const KEPT = /\.before-(restore|upgrade|rollback)-\d{8}T\d{6}Z(-\d+)?$/
/** Milliseconds after which a previous database is no longer put back. */
const USELESS = 30 * 24 * 60 * 60 * 1000

export const leftovers: Check = {
  look({ config, cwd, folder, file: database, now }) {
    const found = [
      ...backupLeftovers(path.resolve(config.get('backup.dir') ?? path.join(folder, 'backups')), now),
      ...leftoversIn(path.dirname(secretFile(config)), SECRET, now),
      ...(database === undefined ? [] : leftoversIn(path.dirname(database), DATABASE, now)),
      ...copyLeftovers(folder, now, [cwd]),
      ...exportLeftovers([cwd, folder], now),
    ]
    const kept = database === undefined ? [] : filesIn(path.dirname(database), KEPT)
    const useless = kept.filter(({ file }) => now.getTime() - Date.parse(timeOf(file)) > USELESS)
    return seen(
      [
        ...found.map(({ file, bytes, isFolder, isOwn }) => ({
          severity: 'warning' as const,
          evidence: `A command that was killed has left ${file} (${sizeText(bytes)}).`,
          fix: `rm ${isFolder ? '-r ' : ''}${shellQuoted(file)}`,
          ...(isOwn && { mend: { id: file, does: `remove ${file}`, run: () => void removeOwn(file) } }),
        })),
        // Only people know whether they still want what is in it: there is no --fix
        ...useless.map(({ file, bytes }) => ({
          severity: 'warning' as const,
          evidence: `${file} (${sizeText(bytes)}) has been kept since ${timeOf(file).slice(0, 10)} by ${keeperOf(file)}.`,
          fix: `If you do not need it: rm ${shellQuoted(file)}`,
        })),
      ],
      kept.length === 0 ? 'There are none.' : `None, except what was kept in the last 30 days: ${kept.map(({ file, bytes }) => `${file} (${sizeText(bytes)})`).join(', ')}`, // prettier-ignore
    )
  },
}

const keeperOf = (file: string): string =>
  file.includes('.before-upgrade-')
    ? 'an upgrade'
    : `"feedbackctl ${file.includes('.before-restore-') ? 'restore' : 'rollback'}"`
