import { accessSync, chmodSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { secretFile } from '../secret.js'
import { seen, type Check, type Finding, type Site } from './check.js'

const [GROUP, OTHERS] = [0o070, 0o007]

/** What only the owner of the site may read: its group may, where somebody chose so. */
const HIDDEN = OTHERS
/** What nobody else may write. */
const WRITABLE = (GROUP | OTHERS) & 0o022

export const files: Check = {
  look(site) {
    if (process.platform === 'win32') return { skipped: 'Not on Windows, which keeps permissions elsewhere.' }
    const found = privateFiles(site).filter((file) => existsSync(file))
    const findings = [
      ...[site.folder, ...found].filter((file) => existsSync(file)).flatMap(modeOf),
      ...found.flatMap((file) => accessOf(file)),
    ]
    return seen(findings, `${found.length === 0 ? 'There are none yet' : 'Nobody else can read or write them'}: ${site.folder}`) // prettier-ignore
  },
}

/** Files with what nobody else may know. */
function privateFiles({ config, file, folder }: Site): string[] {
  const secret = secretFile(config)
  const backups = config.get('backup.dir') ?? path.join(folder, 'backups')
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

function modeOf(file: string): Finding[] {
  const { mode } = statSync(file)
  const isFolder = statSync(file).isDirectory()
  // A folder that others may list tells them little; what is in it is checked by itself
  const wrong = mode & (isFolder ? WRITABLE & OTHERS : HIDDEN | WRITABLE)
  if (wrong === 0) return []
  const can = [wrong & 0o044 ? 'read' : '', wrong & 0o022 ? 'write' : ''].filter((word) => word !== '').join(' and ')
  const right = mode & 0o777 & ~wrong
  return [
    {
      severity: 'error',
      evidence: `Others on this machine can ${can || 'use'} ${file}.`,
      fix: `chmod ${right.toString(8)} ${file}`,
      mend: {
        id: `chmod ${file}`,
        does: `set the mode of ${file} to ${right.toString(8)}`,
        run: () => chmodSync(file, right),
      },
    },
  ]
}

/** A file that a command of root has made cannot be used by the server of another user. */
function accessOf(file: string): Finding[] {
  const [own, folder] = [statSync(file), statSync(path.dirname(file))]
  if (own.uid !== folder.uid && folder.uid !== 0)
    return [
      {
        severity: 'warning',
        evidence: `${file} belongs to another user (${own.uid}) than its folder (${folder.uid}), whose server may not be able to use it.`,
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
