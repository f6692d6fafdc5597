import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './lib/connections.js'

/** Rows, or bytes of text, that make a list response long. */
const MANY = 20
const LONG = 500_000

/** Characters of text processed in one turn of the event loop. */
const LOOK = 1_000_000

/** Milliseconds that a long response waits for slow readers before they are disconnected. */
const PATIENCE_MS = 2000
const POLL_MS = 10

/** How many long answers that wait keep their rows. Those after them read their rows again when it is their turn. */
const KEPT = 4

/** In place of an output that nobody waits for any more. */
export const GONE = Symbol('gone')

interface Making {
  /** Makes the output; again, from rows as they are then, where `canRepeat` says that nothing else follows from it. */
  make(this: void): Promise<unknown>
  canRepeat: boolean
  /** Writes a long output as the body of the response, in steps. */
  write(this: void, output: unknown): Promise<Buffer>
}

/**
 * Makes long answers one after another. While it is made, an answer is in memory as text and as bytes: of a hundred posts
 * of the greatest length up to 150 MB, and any number of clients may ask for them at once. What waits costs memory too,
 * so it is bounded; and what nobody waits for any more is not made.
 */
export class LongAnswers {
  readonly #connections: Connections
  #last: Promise<void> = Promise.resolve()
  #kept = 0
  readonly #made = new WeakMap<ServerResponse, () => void>()

  constructor(connections: Connections) {
    this.#connections = connections
  }

  /**
   * The output of a request, as soon as it may be serialised. Long ones are delayed, so that other requests run first, and
   * are returned as the bytes of the body.
   */
  async turn(response: ServerResponse, { make, canRepeat, write }: Making): Promise<unknown> {
    let output = await make()
    const { rows, bytes } = await sizeOf(output)
    if (bytes > LONG) {
      const isKept = !canRepeat || this.#kept < KEPT
      if (isKept) this.#kept++
      else output = undefined // nothing may refer to it while this one waits
      await this.#wait(response)
      if (isKept) this.#kept--
      else if (!response.closed) output = await make()
      const end = performance.now() + PATIENCE_MS
      while (!response.closed && !this.#connections.hasRoom(bytes) && performance.now() < end) await sleep(POLL_MS)
    }
    if (bytes > LONG || rows > MANY) await setImmediate()
    if (!response.closed) return bytes > LONG && output !== undefined ? write(output) : output
    this.made(response)
    return GONE
  }

  /** Called once the response is handed to its connection, however slowly the client reads. */
  made(response: ServerResponse): void {
    this.#made.get(response)?.()
  }

  #wait(response: ServerResponse): Promise<void> {
    const before = this.#last
    this.#last = new Promise((made) => {
      this.#made.set(response, made)
      response.once('close', made) // its client may go before it is made
    })
    return before
  }
}

/** Rows of the longest list in a response, and the JSON bytes of all texts in it. */
async function sizeOf(output: unknown): Promise<{ rows: number; bytes: number }> {
  let [rows, bytes, looked] = [0, 0, 0]
  for (const list of Object.values(output ?? {}))
    if (Array.isArray(list)) {
      rows = Math.max(rows, list.length)
      for (const row of list) {
        for (const value of Object.values((row ?? {}) as object))
          if (typeof value === 'string') {
            bytes += bytesInJson(value)
            looked += value.length
          }
        if (looked < LOOK) continue
        looked = 0
        await setImmediate()
      }
    }
  return { rows, bytes }
}

/** Rows written by earlier versions may contain control characters, which take six bytes each in JSON. */
function bytesInJson(text: string): number {
  let bytes = Buffer.byteLength(text)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20) bytes += SHORT_ESCAPES.includes(code) ? 1 : 5
    else if (code === QUOTE || code === BACKSLASH) bytes++
  }
  return bytes
}

/** Backspace, tab, line feed, form feed and carriage return, which are two bytes. */
const SHORT_ESCAPES = [8, 9, 10, 12, 13]
const QUOTE = 0x22
const BACKSLASH = 0x5c
