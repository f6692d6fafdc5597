import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Request } from './requests.js'
import { answerOf, type Server } from './servers.js'

/** How long responses took, in milliseconds. */
export interface Times {
  count: number
  p50: number
  p99: number
  slowest: number
}

/** Requests a second, as a busy site has them. */
export const RATE = 100

/**
 * Sends `RATE` requests a second until it is stopped, whether or not the ones before were answered. A response counts
 * from the moment when its request was due, so that a server that stands still costs all that come meanwhile.
 */
export function steadily({ url }: Pick<Server, 'url'>, next: () => Request): () => Promise<Times> {
  const agent = new Agent({ keepAlive: true })
  const stop = new AbortController()
  const [times, open]: [number[], Set<Promise<void>>] = [[], new Set()]
  const send = async (request: Request, due: number) => {
    await answerOf(url, request, agent)
    times.push(performance.now() - due)
  }
  const started = performance.now()
  const running = (async () => {
    for (let sent = 0; !stop.signal.aborted; sent++) {
      const due = started + (sent * 1000) / RATE
      await pause(Math.max(0, due - performance.now()))
      const answered = send(next(), due)
      open.add(answered)
      void answered.then(() => open.delete(answered), () => {}) // prettier-ignore
    }
  })()
  return async () => {
    stop.abort()
    await running
    await Promise.all(open)
    agent.destroy()
    const sorted = times.toSorted((one, other) => one - other)
    const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
    return { count: sorted.length, p50: share(0.5), p99: share(0.99), slowest: share(1) }
  }
}

/** Sends requests for so many milliseconds. */
export async function waited(stop: () => Promise<Times>, ms: number): Promise<Times> {
  await pause(ms)
  return stop()
}
