import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import fresh from 'fresh'
import type { CachedResponse } from './responses.js'
import { clientAddress, outcome, requestId, type Trust } from '../lib/logging.js'
import type { Traffic } from '../lib/traffic.js'

interface Pending {
  response: ServerResponse
  request: IncomingMessage
  cached: CachedResponse
  reqId: string
  /** As of `performance.now()`. */
  startedAt: number
}

const MAX_BATCH = 32

/**
 * Writes cached responses in one batch per tick of the event loop, and then counts and logs them. One by one, each write costs a
 * context switch to a client on the same machine, such as a proxy.
 */
export class ResponseBatch {
  readonly #log: () => FastifyBaseLogger
  readonly #trust: Trust | undefined
  readonly #traffic: Traffic
  #pending: Pending[] = []
  #isScheduled = false

  constructor(log: () => FastifyBaseLogger, { trust, traffic }: { trust: Trust | undefined; traffic: Traffic }) {
    this.#log = log
    this.#trust = trust
    this.#traffic = traffic
  }

  /**
   * Schedules a flush. Called as soon as a request is read, so that the flush runs before other callbacks of the tick.
   */
  schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  send(cached: CachedResponse, request: IncomingMessage, response: ServerResponse): void {
    this.schedule() // this may be a later tick than the one that read the request
    this.#pending.push({ cached, request, response, reqId: requestId(request), startedAt: performance.now() })
    if (this.#pending.length === MAX_BATCH) this.flush()
  }

  flush(): void {
    const batch = this.#pending
    this.#pending = []
    for (const pending of batch) write(pending)
    const now = performance.now()
    for (const { cached, request, response, reqId, startedAt } of batch) {
      cached.log ??= this.#log().child({ op: cached.op, method: request.method, url: cached.url })
      this.#traffic.hit(cached.op, response.statusCode, now - startedAt)
      const remoteAddress = clientAddress(request, this.#trust)
      cached.log.info({ reqId, remoteAddress, ...outcome(response.statusCode, now - startedAt) }, 'request')
    }
  }
}

function write({ cached: { headers, notModifiedHeaders, etag, body }, request, response, reqId }: Pending): void {
  const isRead = request.method === 'GET'
  if (!isRead) request.resume()
  if (isRead && fresh(request.headers, { etag })) response.writeHead(304, withId(notModifiedHeaders, reqId)).end()
  else response.writeHead(200, withId(headers, reqId)).end(body, 'latin1') // ignored for a Buffer
}

function withId(headers: readonly string[], reqId: string): string[] {
  const copy = headers.slice()
  copy[1] = reqId
  return copy
}
