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

  /** Delays long responses until they may be serialised, so that other requests run first. */
  async turn(response: ServerResponse, output: unknown): Promise<void> {
    const { rows, bytes } = await sizeOf(output)
    if (bytes > LONG) {
      const before = this.#last
      this.#last = new Promise((made) => {
        this.#made.set(response, made)
        response.once('close', made) // its client may go before it is made
      })
      await before
      const end = performance.now() + PATIENCE_MS
      while (!this.#connections.hasRoom(bytes) && performance.now() < end) await sleep(POLL_MS)
      if (response.closed) this.made(response)
    }
    if (bytes > LONG || rows > MANY) await setImmediate()
  }

  /** Called once the response is handed to its connection, however slowly the client reads. */
  made(response: ServerResponse): void {
    this.#made.get(response)?.()
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
