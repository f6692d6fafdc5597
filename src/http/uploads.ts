import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { AppError } from '../core/errors.js'
import { sizeText } from '../core/text.js'
import type { Body } from '../service/lib/body.js'
import type { Operation } from '../service/lib/operation.js'
import type { Connections } from './lib/connections.js'
import { RETRY_AFTER } from './errors.js'
import { Places, type Place } from './places.js'

/** Bytes that count as progress. Fewer may be sent to keep a place. */
const PROGRESS = 1024
/** Milliseconds for which the rest of a body is received that nobody takes: a client may read the answer after it. */
const LINGER_MS = 2000

interface Parts {
  connections: Connections
  log(this: void): FastifyBaseLogger
}

/** An upload that arrives. */
export interface Incoming {
  body: Body
  place: Place
  /** Ends it, whether all of its body was taken or not. */
  close(this: void): void
}

/**
 * Receives long bodies. Of each, a chunk is in memory: the next is received when the one before is taken. Only some run at
 * a time, in all and for each person, and a client that sends nothing for long is refused.
 */
export class Uploads {
  readonly #parts: Parts
  readonly #places: Places

  constructor(parts: Parts) {
    this.#parts = parts
    const { limits } = parts.connections
    this.#places = new Places({ what: 'uploads', most: () => ({ all: limits.uploads, own: limits.ownUploads }) })
  }

  /** The body of a request, of which nothing is received before it is taken. */
  open(
    { raw, headers }: FastifyRequest,
    { maxBytes }: NonNullable<Operation['upload']>,
    who: string | undefined,
  ): Incoming {
    const { connections, log } = this.#parts
    let stop!: (error: AppError) => void // set by the promise, at once
    const stopped = new Promise<never>((_, reject) => (stop = reject))
    stopped.catch(() => {}) // whoever waits for a chunk hears of it
    const cut = () => {
      log().info({ remoteAddress: raw.socket.remoteAddress }, 'upload cut: its client sends nothing, and another waits')
      stop(busy('Too many uploads are running, and this one has sent nothing for long.'))
    }
    const place: Place = { who, waitsSince: Infinity, cut }
    const leave = connections.receive(raw.socket, () => stop(busy('The server is stopping. Send the rest again.')))
    return {
      body: { type: typeOf(headers), bytes: this.#bytes(raw, { maxBytes, place, stopped }) },
      place,
      close: () => {
        leave()
        this.#places.leave(place)
        if (!raw.complete && !raw.destroyed) linger(raw)
      },
    }
  }

  async *#bytes(
    raw: IncomingMessage,
    { maxBytes, place, stopped }: { maxBytes: number; place: Place; stopped: Promise<never> },
  ): AsyncGenerator<Uint8Array> {
    const tooLarge = () => new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${sizeText(maxBytes)}.`)
    if (Number(raw.headers['content-length']) > maxBytes) throw tooLarge()
    this.#places.take(place)
    const chunks = raw.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined> & AsyncIterable<Buffer>
    const { arriving } = this.#parts.connections.limits
    let [received, mark, waited] = [0, 0, 0]
    const next = async () => {
      const since = (place.waitsSince = performance.now())
      let timer: NodeJS.Timeout | undefined
      const slow = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(tooSlow()), arriving - waited)
      })
      try {
        return await Promise.race([chunks.next(), stopped, slow])
      } finally {
        clearTimeout(timer)
        waited += performance.now() - since
        place.waitsSince = Infinity
      }
    }
    try {
      for (;;) {
        const { done, value } = await next()
        if (done) return
        received += value.length
        if (received > maxBytes) throw tooLarge()
        if (received - mark >= PROGRESS) [mark, waited] = [received, 0]
        yield value
      }
    } catch (error) {
      throw raw.errored ? new AppError('BAD_REQUEST', 'The connection ended before the body.', { cause: error }) : error
    } finally {
      void chunks.return?.()
    }
  }
}

const busy = (message: string) => new AppError('SERVER_BUSY', message, { retryAfter: Number(RETRY_AFTER) })

const tooSlow = () => new AppError('BAD_REQUEST 408', 'The body takes too long to arrive.')

/** The media type of a body that is plain text in UTF-8; empty for any other, which no upload accepts. */
function typeOf({
  'content-type': header = '',
  'content-encoding': encoding = 'identity',
}: IncomingMessage['headers']) {
  const [type = '', ...parameters] = header.toLowerCase().split(';')
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^\s"]+)/.exec(each)?.[1]).find(Boolean) ?? 'utf-8'
  return encoding === 'identity' && /^utf-?8$/.test(charset) ? type.trim() : ''
}

/** Receives what is on its way and drops it, for a while. A connection that was cut at once might lose the answer. */
function linger(raw: IncomingMessage): void {
  raw.on('data', () => {}).resume()
  const timer = setTimeout(() => raw.destroy(), LINGER_MS)
  raw.once('close', () => clearTimeout(timer))
}
