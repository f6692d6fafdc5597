import { constants, getPriority, setPriority } from 'node:os'

/**
 * Lets the requests of a server come before a process: this one, unless `pid` names another. A process that is nicer
 * already stays so, as nobody but root may take that back. It is best effort: the process may have ended.
 */
export function yieldToRequests(pid = 0): void {
  const least = constants.priority.PRIORITY_BELOW_NORMAL
  try {
    if (getPriority(pid) < least) setPriority(pid, least)
  } catch {
    // A system that allows no change still makes the backup
  }
}
