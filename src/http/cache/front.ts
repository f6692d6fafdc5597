import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { FastifyServerOptions } from 'fastify'
import { DRY_RUN_HEADER } from '../../core/wire.js'
import { isPersonal, type DataCache } from '../site.js'
import type { ResponseBatch } from './batch.js'
import type { CachedResponse, ResponseCache } from './responses.js'
import type { CacheableRoute, CacheableRoutes } from './routes.js'

/**
 * Sees every request before the response cache: a rate limit, a count of key usage, a metric. Answers the request itself and returns
 * false, or returns true to let it pass. Must not throw.
 */
export type Gate = (this: void, request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>

interface Parts {
  gates: readonly Gate[]
  data: DataCache | undefined
  responses: ResponseCache
  routes: CacheableRoutes
  batch: ResponseBatch
}

/** Stands for a header that is absent: no header can hold it. */
const NONE = '\0'
/** Bytes of the longest body that is part of a key. */
const MAX_BODY = 4096

/**
 * What every request meets first: the gates, then the response cache, then the framework. Finding a route, reading a body, checking and
 * running an operation takes several times as long as sending bytes, and so do the hooks of a Fastify route.
 */
export class Front {
  readonly #parts: Parts
  #isStopped = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** From now on every request is left to the framework, which says that the server is stopping. */
  stop(): void {
    this.#isStopped = true
  }

  server(handle: RequestListener, options: FastifyServerOptions): Server {
    const server = createServer(this.#listener(handle))
    server.on('clientError', () => this.#parts.batch.flush()) // earlier requests on the connection are answered first
    server.keepAliveTimeout = options.keepAliveTimeout ?? server.keepAliveTimeout
    server.requestTimeout = options.requestTimeout ?? server.requestTimeout
    return server
  }

  #listener(handle: RequestListener): RequestListener {
    const { gates, batch } = this.#parts
    return (request, response) => {
      batch.expect()
      if (gates.length === 0) this.#serve(request, response, handle)
      else void this.#pass(request, response, handle)
    }
  }

  async #pass(request: IncomingMessage, response: ServerResponse, handle: RequestListener): Promise<void> {
    for (const gate of this.#parts.gates) if (!(await gate(request, response))) return
    this.#serve(request, response, handle)
  }

  #serve(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const route = this.#isStopped ? undefined : this.#parts.routes.find(request.method, request.url ?? '')
    if (!route || request.headers[DRY_RUN_HEADER] !== undefined) return handle(request, response)
    if (route.method === 'GET') return this.#look(route, '', request, response, handle)
    withBody(request, (body) => {
      if (body === undefined) handle(request, response)
      else this.#look(route, body, request, response, handle)
    })
  }

  #look(
    route: CacheableRoute,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
    handle: RequestListener,
  ): void {
    const { data, responses, batch } = this.#parts
    if (!data) return handle(request, response)
    const key = keyOf(route, request, body)
    const found = (revision: number) => {
      if (Number.isNaN(revision)) return handle(request, response)
      const lookup = { route, key, revision }
      const answer = (cached: CachedResponse | undefined) => {
        if (cached) return batch.send(cached, request, response)
        responses.expect(request, lookup)
        handle(request, response)
      }
      const cached = responses.find(lookup)
      if (cached instanceof Promise)
        void cached.then(answer) // it never rejects
      else answer(cached)
    }
    const revision = data.revision(isPersonal(request.headers))
    if (typeof revision === 'number') return found(revision)
    void revision.then(found) // it never rejects
  }
}

/** Holds the address, the body, and each header that the route declares. */
function keyOf({ method, vary }: CacheableRoute, { url = '', headers }: IncomingMessage, body: string): string {
  let key = `${method} ${url}`
  for (const name of vary) key += `\n${headers[name] ?? NONE}`
  if (method === 'POST') key += `\n${headers['content-type'] ?? NONE}\n${headers['content-encoding'] ?? NONE}\n${body}`
  return key
}

/** Reads a body that arrives whole with its request, and puts it back; undefined for any other, which is the framework's to read. */
function withBody(request: IncomingMessage, then: (body: string | undefined) => void): void {
  const { 'transfer-encoding': transfer, 'content-length': length = '0' } = request.headers
  if (transfer !== undefined || Number(length) > MAX_BODY) return then(undefined)
  const read = (isLast: boolean) => {
    const body = request.read() as Buffer | null // no encoding is set
    if (!body && !isLast) return void setImmediate(read, true)
    if (body) request.unshift(body)
    then((body?.length ?? 0) === Number(length) ? (body?.toString('latin1') ?? '') : undefined)
  }
  process.nextTick(read, false)
}
