import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Where the id of a process means that process: on this machine since its start, within one container. Two containers
 * that share a volume number their processes alike.
 */
export function place(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return encodeURIComponent(hostname()) // this system has neither
  }
}

/** Whether a process of this place runs, whoever started it. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH'
  }
}
