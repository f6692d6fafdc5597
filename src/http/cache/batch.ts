import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import fresh from 'fresh'
import type { CachedResponse } from './responses.js'
import { outcome, requestId } from '../logging.js'

interface Pending {
  response: ServerResponse
  request: IncomingMessage
  cached: CachedResponse
  reqId: string
  /** When it was requested, in milliseconds of the process. */
  since: number
}

/** Responses written at once, at most. */
const MAX_BATCH = 32

/**
 * Writes cached responses in one batch at the end of a turn of the event loop, and then logs them. One by one, each write costs a context
 * switch to a client on the same machine, such as a proxy.
 */
export class ResponseBatch {
  readonly #log: () => FastifyBaseLogger
  #pending: Pending[] = []
  #isScheduled = false

  constructor(log: () => FastifyBaseLogger) {
    this.#log = log
  }

  /** Call it when a request has been read, before anything else is scheduled for the end of the turn: the responses then go first. */
  expect(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  send(cached: CachedResponse, request: IncomingMessage, response: ServerResponse): void {
    this.expect() // the turn may be another one by now
    this.#pending.push({ cached, request, response, reqId: requestId(request), since: performance.now() })
    if (this.#pending.length === MAX_BATCH) this.flush()
  }

  /** Writes what is pending now. */
  flush(): void {
    const batch = this.#pending
    this.#pending = []
    for (const one of batch) write(one)
    const now = performance.now()
    for (const { cached, request, response, reqId, since } of batch) {
      cached.log ??= this.#log().child({ op: cached.op, method: request.method, url: cached.url })
      cached.log.info({ reqId, ...outcome(response.statusCode, now - since) }, 'request')
    }
  }
}

function write({ cached: { headers, notModifiedHeaders, etag, body }, request, response, reqId }: Pending): void {
  const isRead = request.method === 'GET'
  if (!isRead) request.resume()
  if (isRead && fresh(request.headers, { etag })) response.writeHead(304, withId(notModifiedHeaders, reqId)).end()
  else response.writeHead(200, withId(headers, reqId)).end(body, 'latin1') // bytes have no encoding
}

function withId(headers: readonly string[], reqId: string): string[] {
  const copy = headers.slice()
  copy[1] = reqId
  return copy
}
