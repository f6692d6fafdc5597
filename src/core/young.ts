import { setFlagsFromString } from 'node:v8'

/**
 * Leaves V8's room for young objects as large as it is now: it would grow to 50 MB, where a page or a request needs a few kB. Returns how
 * to undo that, which has to be done before the process ends: compiled code is kept for processes with the same flags.
 */
export function stayYoung(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1')
  return () => setFlagsFromString('--semi-space-growth-factor=2')
}
