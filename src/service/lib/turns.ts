import { setImmediate } from 'node:timers/promises'

/** How long work goes on before others have their turn, in milliseconds. */
const TURN = 5

/** Returns what long work calls between its steps: it lets other requests go on, now and then. */
export function turns(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < TURN) return
    await setImmediate()
    began = performance.now()
  }
}
