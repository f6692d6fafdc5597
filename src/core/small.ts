import { setFlagsFromString } from 'node:v8'

/** So many percent more than was left of old objects the last time may be there before V8 collects them again; of 30 MB that it leaves to itself it makes 70. */
const GROWING = 10

/**
 * Leaves V8's room for young objects as large as it is now, where it would grow to 50 MB and a page or a request needs a few kB, and
 * has old ones collected sooner. Returns how to undo that, which has to be done before the process ends: compiled code is kept for
 * processes with the same flags.
 */
export function staySmall(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString(`--heap-growing-percent=${GROWING}`)
  return () => {
    setFlagsFromString('--semi-space-growth-factor=2')
    setFlagsFromString('--heap-growing-percent=0')
  }
}
