import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.js'

/** Rows and characters from which the answer with a list is long. */
const MANY = 20
const LONG = 500_000

/** How long, in milliseconds, a long answer waits for clients to take others, before those that do not read are cut. */
const PATIENCE_MS = 2000
const POLL_MS = 10

/**
 * Makes long answers one after another. While it is made, an answer is in memory as text and as bytes: of a hundred posts
 * of the greatest length up to 150 MB, and any number of clients may ask for them at once.
 */
export class LongAnswers {
  readonly #connections: Connections
  #last: Promise<void> = Promise.resolve()
  readonly #made = new WeakMap<ServerResponse, () => void>()

  constructor(connections: Connections) {
    this.#connections = connections
  }

  /** Waits until an answer may be serialised, where it is long. Others have their turn before that. */
  async turn(response: ServerResponse, output: unknown): Promise<void> {
    const { rows, characters } = sizeOf(output)
    if (characters > LONG) {
      const before = this.#last
      this.#last = new Promise((made) => {
        this.#made.set(response, made)
        response.once('close', made) // its client may go before it is made
      })
      await before
      const end = performance.now() + PATIENCE_MS
      while (!this.#connections.hasRoom(characters) && performance.now() < end) await sleep(POLL_MS)
      if (response.closed) this.made(response)
    }
    if (characters > LONG || rows > MANY) await setImmediate()
  }

  /** Called when an answer has been handed over to its connection. Its client may take it as slowly as it likes. */
  made(response: ServerResponse): void {
    this.#made.get(response)?.()
  }
}

/** How many rows the longest list of an answer has, and the characters of texts in all rows. */
function sizeOf(output: unknown): { rows: number; characters: number } {
  let [rows, characters] = [0, 0]
  for (const list of Object.values(output ?? {}))
    if (Array.isArray(list)) {
      rows = Math.max(rows, list.length)
      for (const row of list)
        for (const value of Object.values((row ?? {}) as object)) if (typeof value === 'string') characters += value.length // prettier-ignore
    }
  return { rows, characters }
}
