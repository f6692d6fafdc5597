import type { ServerResponse } from 'node:http'

/** Time budget in milliseconds for requests in one turn of the event loop. */
const BUDGET_MS = 20

interface Waiting {
  response: ServerResponse
  handle: Handle
}

/** Receives whether the request has waited. */
type Handle = (this: void, hasWaited: boolean) => void

/**
 * Spreads requests that take time over turns of the event loop. Node reads from every socket that has something before
 * it does anything else, and a request that does not leave the process runs to its end, so many visitors at once
 * would hold up everything else for as long as all of them take. A connection has at most one request here, see
 * `Connections`.
 */
export class Turns {
  readonly #waiting: Waiting[] = []
  /** When the first request of this turn began, of `performance.now()`. */
  #start: number | undefined

  /** Calls `handle` at once, or in a later turn after those that came before. */
  take(response: ServerResponse, handle: Handle): void {
    if (this.#waiting.length > 0 || this.#isUsedUp()) this.#waiting.push({ response, handle })
    else handle(false)
  }

  #isUsedUp(): boolean {
    const now = performance.now()
    if (this.#start !== undefined) return now - this.#start > BUDGET_MS
    this.#start = now
    setImmediate(this.#end)
    return false
  }

  /** Each request has a callback of its own: Node runs what follows from one before it calls the next. */
  readonly #end = (): void => {
    this.#start = undefined
    for (let count = this.#waiting.length; count > 0; count--) setImmediate(this.#next)
  }

  readonly #next = (): void => {
    while (this.#waiting[0]?.response.closed) this.#waiting.shift() // its client has gone
    if (this.#waiting.length > 0 && !this.#isUsedUp()) this.#waiting.shift()?.handle(true)
  }
}
