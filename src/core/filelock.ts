import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { AppError } from './errors.js'
import { createFile, inMadeFolder } from './files.js'

/** How long another process may take for its change, and how long one waits between two looks, in milliseconds. */
const [MOST, LOOK] = [10_000, 10]

/**
 * Runs work while no other process does so for the same file. The lock is a file beside it, with the id of its process;
 * that of a process which was killed counts for nothing.
 */
export function whileLocked<T>(file: string, work: () => T): T {
  const lock = `${file}.lock`
  const until = performance.now() + MOST
  while (!taken(lock)) {
    if (isLeft(lock)) clear(lock)
    else if (performance.now() > until)
      throw new AppError('CONFIG_INVALID', `Another command is changing ${file} and does not end. Nothing was changed. If there is none, remove ${lock}.`) // prettier-ignore
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function taken(lock: string): boolean {
  try {
    inMadeFolder(path.dirname(lock), () => createFile(lock, String(process.pid)))
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  }
}

/** Removes what a killed process left, unless another has put its own lock there meanwhile. */
function clear(lock: string): void {
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
    if (!isLeft(aside)) linkSync(aside, lock)
  } catch {
    // another process was faster
  } finally {
    rmSync(aside, { force: true })
  }
}

/** Whether its process has ended. One that has just made it has not written its id yet. */
function isLeft(lock: string): boolean {
  try {
    const holder = Number(readFileSync(lock, 'utf8'))
    if (holder > 0) process.kill(holder, 0)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH'
  }
}
