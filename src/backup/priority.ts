import { constants, getPriority, setPriority } from 'node:os'

/**
 * Lowers the priority of a process (default: this one), so that requests come first. It never raises the priority: only
 * root may. It ignores errors, because the process may have ended.
 */
export function yieldToRequests(pid = 0): void {
  const least = constants.priority.PRIORITY_BELOW_NORMAL
  try {
    if (getPriority(pid) < least) setPriority(pid, least)
  } catch {
    // The backup does not depend on it
  }
}
