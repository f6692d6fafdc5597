import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { AppError } from './errors.js'
import { createFile, inMadeFolder, openNewFile } from './files.js'
import { isRunning, place } from './processes.js'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** How long another process may take for its change, and how long one waits between two looks, in milliseconds. */
const [MOST, LOOK] = [10_000, 10]

/** The age in milliseconds at which the lock of a process that cannot be seen from here was left. */
const LEFT = MOST / 2

/** More than a lock contains. */
const LONGEST = 400

/**
 * Runs work while no other process does so for the same file. The lock is a file beside it, with the id of its process
 * and where that runs; that of a process which was killed counts for nothing. The work calls `assertHeld` before what it cannot take back:
 * it throws where the lock is somebody else's by then, because a user has removed it.
 */
export function whileLocked<T>(file: string, work: (assertHeld: () => void) => T): T {
  const lock = `${file}.lock`
  const own = `${process.pid} ${randomBytes(8).toString('hex')} ${place()}`
  const until = performance.now() + MOST
  while (!taken(lock, own)) {
    const found = look(lock)
    if (found && isLeft(found)) clear(lock, found)
    if (performance.now() > until)
      throw new AppError('CONFIG_INVALID', `Another command is changing ${file} and does not end. Nothing was changed. If there is none, remove ${lock}.`) // prettier-ignore
    if (found) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK)
  }
  const isHeld = () => look(lock)?.text === own
  try {
    return work(() => {
      if (!isHeld()) throw new AppError('CONFIG_INVALID', `Another command has removed ${lock} meanwhile. Nothing was changed. Run the command again.`) // prettier-ignore
    })
  } finally {
    release(lock, isHeld)
  }
}

function taken(lock: string, own: string): boolean {
  try {
    inMadeFolder(path.dirname(lock), () => write(lock, own))
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  }
}

/** A full disk may still have room for an empty file: left there, it would keep others waiting. */
function write(lock: string, own: string): void {
  const fd = openNewFile(lock)
  try {
    writeSync(fd, own)
  } catch (error) {
    rmSync(lock, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
}

function release(lock: string, isHeld: () => boolean): void {
  try {
    if (isHeld()) rmSync(lock, { force: true })
  } catch {
    // something else has its name by now: it stays, and the error of the work counts
  }
}

interface Found {
  text: string
  /** Which file it is: another one that gets the same name has another mark. */
  mark: string
  /** In milliseconds. */
  age: number
}

/** What has the name of the lock. Undefined if nothing has. A pipe would have the command wait, and a link lead away. */
function look(lock: string): Found | undefined {
  let fd
  try {
    fd = openSync(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return undefined
    if (code === 'EACCES') return { text: 'of another user', mark: '', age: 0 }
    if (code === 'ELOOP' || code === 'EMLINK' || code === 'ENXIO') throw noLock(lock)
    throw error
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw noLock(lock)
    const bytes = Buffer.alloc(LONGEST)
    const text = bytes.toString('utf8', 0, readSync(fd, bytes))
    return { text, mark: `${stats.ino}-${Math.trunc(stats.mtimeMs)}`, age: new Date().getTime() - stats.mtimeMs }
  } finally {
    closeSync(fd)
  }
}

const noLock = (lock: string): AppError =>
  new AppError('CONFIG_INVALID', `${lock} is a link, a folder or a pipe, not the lock of a command. Nothing was changed. Remove it.`) // prettier-ignore

/**
 * Whether its process has ended. One that has just made it has not written its id yet. Work ends before this process
 * looks again: its own id is from an earlier process, as in a container that was started again. Work takes far less
 * time than makes a lock of elsewhere old.
 */
function isLeft({ text, age }: Found): boolean {
  if (text === '') return age > MOST
  const [, id, where] = /^(\d+)(?= |\n|$)(?: \S+ (\S+))?/.exec(text) ?? []
  const holder = Number(id ?? 0)
  if (holder === 0) return false
  if (where !== undefined && where !== place()) return age > LEFT
  return holder === process.pid || !isRunning(holder)
}

/**
 * Removes what a killed process left. Two that find it at once must not both do so, as the second one would remove the
 * lock that the first one has taken by then: only who makes a file for this very lock may, while it is still there.
 */
function clear(lock: string, { mark }: Found): void {
  const claim = `${lock}.${mark}`
  try {
    createFile(claim)
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return
    throw error
  }
  try {
    const present = look(lock)
    if (present?.mark === mark && isLeft(present)) rmSync(lock, { force: true })
  } finally {
    rmSync(claim, { force: true })
  }
}
