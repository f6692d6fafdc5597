import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { devNull } from 'node:os'

/**
 * Puts /dev/null in the place of a terminal that is gone. At exit Node restores the terminals it started with, and
 * aborts if it cannot. Called at exit.
 */
export function replaceLostTerminals(): void {
  if (process.platform === 'win32') return
  for (const fd of [0, 1, 2]) {
    if (!isLostTerminal(fd)) continue
    closeSync(fd)
    openSync(devNull, 'r+') // takes the lowest free number, which is `fd`
  }
}

function isLostTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    if (!stats.isCharacterDevice() || stats.rdev === statSync(devNull).rdev) return false
    return !process.getBuiltinModule('node:tty').isatty(fd) // loaded already where a terminal was used
  } catch {
    return false // closed
  }
}
