import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'

// Every file and folder of the program is made and removed here, or as a whole by `atomicfile.ts`. Another user of the machine may own a folder in the
// path, or be able to write in it, and replace an entry by a link between two calls. Where root runs a command for a
// site of another user, new files and folders get the owner of their folder, or the server could not use them.

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants
const OTHERS_WRITE = constants.S_IWGRP | constants.S_IWOTH
const STICKY = 0o1000

const hasOwners = process.getuid !== undefined // Windows has none
const uid = (): number => process.getuid?.() ?? 0
const isRoot = (): boolean => hasOwners && uid() === 0

/**
 * Creates a folder for its owner only, with its parents, and returns those that it made, parents first. Node's own
 * `recursive` never ends where a folder exists in which nothing can be created, such as /proc.
 */
export const makeFolder = (folder: string): string[] => untilFound(() => madeFolders(folder))

function madeFolders(folder: string): string[] {
  if (existsSync(folder)) return []
  const parents = madeFolders(path.dirname(folder))
  try {
    if (!isRoot()) mkdirSync(folder, { mode: 0o700 })
    else
      beside(folder, (own, owner) => {
        mkdirSync(own, { mode: 0o700 })
        within(own, O_DIRECTORY, (fd) => give(fd, owner))
      })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error // another process was faster
    return parents
  }
  return [...parents, folder]
}

/**
 * Makes a folder, and creates a file in it. Another process may remove the folder in between, while it is empty, because
 * its own work has failed.
 */
export const inMadeFolder = (folder: string, create: () => void): void =>
  untilFound(() => {
    makeFolder(folder)
    create()
  })

/** How often something is tried in a folder that others remove at once. */
const ATTEMPTS = 100

function untilFound<T>(work: () => T): T {
  for (let attempt = 1; ; attempt++)
    try {
      return work()
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT' || attempt === ATTEMPTS) throw error
    }
}

/** Works in a folder, which is made. If the work fails, what was made for it is removed, as far as it is empty. */
export async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const made = makeFolder(folder)
  try {
    return await work()
  } catch (error) {
    removeEmpty(made)
    throw error
  }
}

/** Removes folders that were made, as far as they are empty. */
export function removeEmpty(folders: readonly string[]): void {
  try {
    for (const each of folders.toReversed()) rmdirSync(each)
  } catch {
    // Another process uses it by now: it stays, and so do its parents
  }
}

/** Creates a file that only its owner can use, and returns its descriptor. Throws EEXIST where there is one, or a link. */
export function openNewFile(file: string): number {
  const create = (own: string) => openSync(own, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  if (!isRoot()) return create(file)
  return beside(file, (own, owner) => {
    const fd = create(own)
    try {
      give(fd, owner)
      return fd
    } catch (error) {
      closeSync(fd)
      throw error
    }
  })
}

/** Creates a file that only its owner can use, on the disk when this returns. Throws EEXIST. */
export function createFile(file: string, data: string | Uint8Array = ''): void {
  const fd = openNewFile(file)
  try {
    const bytes = Buffer.from(data)
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Works with an entry of a folder that is held open, and with the owner of that folder. By its path it could be another
 * folder each time: who may replace it would be given a file in a folder of root. Linux alone has a name for what is held.
 */
function beside<T>(file: string, work: (own: string, owner: Stats) => T): T {
  const folder = openSync(path.dirname(file), O_RDONLY | O_DIRECTORY)
  const held = `/proc/self/fd/${folder}`
  try {
    return work(existsSync(held) ? path.join(held, path.basename(file)) : file, fstatSync(folder))
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replace(held, path.dirname(file))
    throw error
  } finally {
    closeSync(folder)
  }
}

/** By descriptor: by path, the owner of the folder could have the owner of another file changed. */
function give(fd: number, owner: Stats): void {
  const own = fstatSync(fd)
  if (own.uid !== owner.uid || own.gid !== owner.gid) fchownSync(fd, owner.uid, owner.gid)
}

/** Sets the mode of a file or a folder of this user. Throws where it is a link, or belongs to another user. */
export function setMode(file: string, mode: number): void {
  within(file, O_NONBLOCK, (fd) => {
    const own = fstatSync(fd)
    if (hasOwners && own.uid !== uid()) throw Object.assign(new Error(`${file} belongs to another user`), { code: 'EPERM' }) // prettier-ignore
    fchmodSync(fd, mode)
  })
}

/** Gives a new folder the owner and group of another one, as far as this user may, and a mode if it is given. */
export function keepOwner(folder: string, owner: Stats, mode?: number): void {
  within(folder, O_DIRECTORY, (fd) => {
    try {
      if (hasOwners) give(fd, owner)
    } catch {
      // not a group of this user, or another user's folder
    }
    if (mode !== undefined) fchmodSync(fd, mode & 0o7777)
  })
}

/**
 * Gives a new file of this user the group of another one, and lets those read it who may read that: with `secret` its
 * group only. Where this user may not give it that group, it stays for its owner only.
 */
export function keepAccess(file: string, { mode, gid }: Stats, { secret }: { secret: boolean }): void {
  within(file, O_NONBLOCK, (fd) => {
    const own = fstatSync(fd)
    if (!hasOwners || own.uid !== uid() || own.nlink !== 1) return
    try {
      if (own.gid !== gid) fchownSync(fd, own.uid, gid)
      fchmodSync(fd, 0o600 | (mode & (secret ? 0o040 : 0o044)))
    } catch {
      // not a group of this user
    }
  })
}

function within<T>(file: string, flags: number, work: (fd: number) => T): T {
  const fd = openSync(file, O_RDONLY | O_NOFOLLOW | flags)
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Whether a file, or a folder with all in it, belongs to this user, and only this user and root can change or replace
 * it: no link, and no folder above it or in it in which another user can write.
 */
export function isOwn(file: string): boolean {
  if (!hasOwners) return true
  try {
    return isGuarded(realpathSync(path.dirname(path.resolve(file)))) && isAllOwn(file)
  } catch {
    return false // gone, or not for this user to see
  }
}

/** Whether no other user but root can rename or remove what this user has in a folder. */
function isGuarded(folder: string): boolean {
  const parent = path.dirname(folder)
  return isTrusted(statSync(folder)) && (parent === folder || isGuarded(parent))
}

const isTrusted = ({ uid: owner, mode }: Stats): boolean =>
  (owner === 0 || owner === uid()) && ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0)

function isAllOwn(file: string): boolean {
  const stats = lstatSync(file)
  if (stats.isSymbolicLink() || stats.uid !== uid()) return false
  if (!stats.isDirectory()) return true
  return (stats.mode & OTHERS_WRITE) === 0 && readdirSync(file).every((name) => isAllOwn(path.join(file, name)))
}

/** Removes a file, or a folder with all in it, if it `isOwn`. Returns whether it did. */
export function removeOwn(file: string): boolean {
  if (!isOwn(file)) return false
  rmSync(file, { recursive: true, force: true })
  return true
}

/**
 * Makes a new folder that nobody else can use or replace: in the first of these folders, the temporary folder of the
 * system and the home folder that is there and in which only this user can replace it.
 */
export function makePrivateFolder(prefix: string, near: readonly string[] = []): string {
  const isFit = (folder: string) => {
    try {
      return !hasOwners || isGuarded(realpathSync(folder))
    } catch {
      return false
    }
  }
  const folder = [...near, tmpdir(), homedir()].find((each) => isFit(each))
  if (folder === undefined)
    throw Object.assign(new Error(`Others can replace what is in ${tmpdir()} and ${homedir()}`), { code: 'EACCES' })
  return mkdtempSync(path.join(folder, prefix))
}
