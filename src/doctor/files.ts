import { accessSync, constants, lstatSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { setMode } from '../core/files.js'
import { secretFile } from '../secret.js'
import { seen, type Check, type Finding, type Site } from './check.js'

const [GROUP, OTHERS] = [0o070, 0o007]

/** Files that others must not read. The group may, if the operator has allowed it. */
const HIDDEN = OTHERS
/** Files that others must not write. */
const WRITABLE = (GROUP | OTHERS) & 0o022

export const files: Check = {
  look(site) {
    if (process.platform === 'win32') return { skipped: 'Not on Windows, which keeps permissions elsewhere.' }
    const { folder, file } = site
    const backups = site.config.get('backup.dir') ?? path.join(folder, 'backups')
    const folders = [folder, backups].filter((each) => isThere(each))
    const found = privateFiles(site, backups).filter((each) => isThere(each))
    const findings = [
      ...[...folders, ...found].flatMap((each) => modeOf(each, each === file ? ['-wal', '-shm'] : [])),
      ...[...(path.dirname(backups) === folder && isThere(backups) ? [backups] : []), ...found].flatMap(accessOf),
    ]
    return seen(findings, `${found.length === 0 ? 'There are none yet' : 'Nobody else can read or write them'}: ${folder}`) // prettier-ignore
  },
}

const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined

/** Files with secrets. */
function privateFiles({ config, file }: Site, backups: string): string[] {
  const secret = secretFile(config)
  const own = file === undefined ? [] : ['', '-wal', '-shm'].map((ending) => file + ending)
  const kept = file === undefined ? [] : namesIn(path.dirname(file)).filter((each) => each.startsWith(`${file}.before-`)) // prettier-ignore
  const saved = namesIn(backups).filter((each) => each.endsWith('.backup'))
  return [secret, `${secret}.previous`, ...own, ...kept, ...saved, path.join(config.directory, 'tokens.json')]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => path.join(folder, name))
  } catch {
    return []
  }
}

/** `endings` are of files that SQLite makes beside it, with its mode. */
function modeOf(file: string, endings: readonly string[]): Finding[] {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return [] // a link that leads nowhere
  // A folder that others may list tells them little; who writes there replaces what is in it
  const wrong = stats.mode & (stats.isDirectory() ? WRITABLE : HIDDEN | WRITABLE)
  if (wrong === 0) return []
  const can = [wrong & 0o044 ? 'read' : '', wrong & 0o022 ? 'write' : ''].filter((word) => word !== '').join(' and ')
  const isOpen = (wrong & OTHERS) !== 0
  const right = !stats.isDirectory() ? 0o600 : isOpen ? 0o700 : stats.mode & 0o777 & ~wrong
  const isLink = lstatSync(file).isSymbolicLink()
  const finding = {
    severity: 'error' as const,
    evidence: `${isOpen ? 'Others on this machine' : 'The users of its group'} can ${can || 'use'} ${file}.`,
    fix: isLink
      ? `Look at where ${file} leads. It is a link, and chmod would change that file.`
      : `chmod ${right.toString(8)} ${file}`,
  }
  // What belongs to another user, or is a link, is for a person to judge
  if (!isLink && stats.uid === process.getuid?.())
    return [
      {
        ...finding,
        mend: {
          id: `chmod ${file}`,
          does: `set the mode of ${file} to ${right.toString(8)}`,
          run() {
            for (const each of ['', ...endings].map((ending) => file + ending)) if (isThere(each)) setMode(each, right)
          },
        },
      },
    ]
  return [finding]
}

/** A file that a command of root has made cannot be used by the server of another user. */
function accessOf(file: string): Finding[] {
  const [own, folder] = [statSync(file, { throwIfNoEntry: false }), statSync(path.dirname(file))]
  if (!own) return []
  if (own.uid !== folder.uid && folder.uid !== 0)
    return [
      {
        severity: 'error',
        evidence: `${file} belongs to another user (${own.uid}) than its folder (${folder.uid}), whose server cannot use it.`,
        fix: `chown --reference=${path.dirname(file)} ${file}`,
      },
    ]
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
    return []
  } catch (error) {
    return [
      {
        severity: 'error',
        evidence: `This user cannot read and write ${file} (${(error as { code?: string }).code}).`,
        fix: `Run feedbackctl as the user to whom ${path.dirname(file)} belongs.`,
      },
    ]
  }
}
