import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'

/** What a file says, or why it is not believed. */
type Trusted = { text: string } | { problem: string }

const OTHERS_WRITE = constants.S_IWGRP | constants.S_IWOTH
const STICKY = 0o1000

/**
 * Reads a file that only its reader or root can have written or put there. The owner is that of the open file, which
 * nobody can replace between the look and the reading.
 */
export function readTrusted(file: string): Trusted {
  const { getuid } = process
  if (!getuid) return { text: readFileSync(file, 'utf8') } // Windows has no such owners
  const isTrusted = (uid: number) => uid === 0 || uid === getuid()
  if (!isTrusted(lstatSync(file).uid)) return { problem: 'it belongs to another user' }
  if (!statSync(file).isFile()) return { problem: 'it is not a file' }
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { uid, mode } = fstatSync(fd)
    if (!isTrusted(uid)) return { problem: 'it belongs to another user' }
    if (mode & OTHERS_WRITE) return { problem: `others may write it: run "chmod go-w ${file}"` }
    for (const folder of new Set([path.dirname(path.resolve(file)), path.dirname(realpathSync(file))])) {
      const of = statSync(folder)
      if (!isTrusted(of.uid)) return { problem: `another user may replace it, to whom ${folder} belongs` }
      if (of.mode & OTHERS_WRITE && !(of.mode & STICKY))
        return { problem: `others may replace it: run "chmod go-w ${folder}"` }
    }
    return { text: readFileSync(fd, 'utf8') }
  } finally {
    closeSync(fd)
  }
}
