import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { FastifyServerOptions } from 'fastify'
import { DRY_RUN_HEADER } from '../../core/wire.js'
import { hasCredentials, type DataCache } from '../lib/site.js'
import type { Connections } from '../lib/connections.js'
import { pathOfTarget } from '../lib/target.js'
import type { Traffic } from '../lib/traffic.js'
import type { ResponseBatch } from './batch.js'
import type { CachedResponse, ResponseCache } from './responses.js'
import type { CacheableRoute, CacheableRoutes } from './routes.js'
import type { Turns } from './turns.js'

/**
 * Runs for every request, before the response cache: rate limits, key usage, metrics. Returns true to let the request
 * pass, or responds itself and returns false. If it throws, the request fails with SERVER_ERROR.
 */
export type Gate = (this: void, request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>

/** A cached response that is about to be sent, and the request for it. */
export interface Hit {
  cached: CachedResponse
  request: IncomingMessage
  /** In latin1. */
  body: string
}

/** Compares a cached response with a new one, in tests. Rejects if they differ. */
export type VerifyHit = (this: void, hit: Hit) => Promise<void>

interface Parts {
  /** Absent: cached responses are trusted. */
  verifyHit: VerifyHit | undefined
  gates: readonly Gate[]
  /** Responds to a request whose gate has thrown. */
  reject(this: void, error: unknown, response: ServerResponse): void
  traffic: Traffic
  data: DataCache | undefined
  /** Signs session tokens. What was cached for tokens of another secret is not sent. */
  secret(this: void): string
  responses: ResponseCache
  routes: CacheableRoutes
  batch: ResponseBatch
  turns: Turns
  connections: Connections
}

/** Key part of an absent header. No header value can contain it. */
const ABSENT = '\0'
/** A request with a longer body is not looked up. */
const MAX_BODY_BYTES = 4096

/**
 * Handles every request first: the gates, then the response cache, then Fastify. The cache comes before Fastify because
 * routing and hooks take several times as long as sending a cached response.
 */
export class Front {
  readonly #parts: Parts
  #secret = ''
  #secrets = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  server(handle: RequestListener, options: FastifyServerOptions): Server {
    const { limits } = this.#parts.connections
    const server = createServer(
      {
        connectionsCheckingInterval: limits.check,
        headersTimeout: limits.headers,
        requestTimeout: limits.request,
        joinDuplicateHeaders: true, // else the first counts here, and perhaps the last at a proxy
      },
      this.#listener(handle),
    )
    // Responses to earlier requests on the connection go first.
    server.on('clientError', () => this.#parts.batch.flush())
    server.keepAliveTimeout = options.keepAliveTimeout ?? server.keepAliveTimeout
    server.setTimeout(limits.stalled / 2) // Node looks twice before it calls a connection with unsent bytes stalled
    this.#parts.connections.watch(server)
    return server
  }

  #listener(handle: RequestListener): RequestListener {
    const { batch, connections } = this.#parts
    return (request, response) => {
      batch.schedule()
      request.url = pathOfTarget(request.url ?? '/')
      connections.use(request.socket, response, () => this.#runGates(request, response, handle))
    }
  }

  /** Most gates decide at once: to wait for a promise would take longer than to count a request. */
  #runGates(request: IncomingMessage, response: ServerResponse, handle: RequestListener, next = 0): void {
    const { gates, traffic } = this.#parts
    const fail = (error: unknown) => this.#fail(error, response)
    try {
      for (const gate of next === 0 ? gates : gates.slice(next)) {
        next++
        const passes = gate(request, response)
        if (typeof passes === 'boolean') {
          if (!passes) return traffic.refused(response.statusCode)
          continue
        }
        const goOn = (isThrough: boolean) =>
          isThrough ? this.#runGates(request, response, handle, next) : traffic.refused(response.statusCode)
        return void passes.then(goOn).catch(fail)
      }
    } catch (error) {
      return fail(error)
    }
    this.#serve(request, response, handle)
  }

  #fail(error: unknown, response: ServerResponse): void {
    this.#parts.traffic.refused(500)
    this.#parts.reject(error, response)
  }

  #serve(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const { routes, turns } = this.#parts
    const { method, url = '' } = request
    const route = routes.find(method, url)
    if (!route && routes.isPrompt(method, url)) return handle(request, response)
    if (!route || request.headers[DRY_RUN_HEADER] !== undefined)
      return turns.take(response, () => handle(request, response))
    if (route.method === 'GET') return this.#lookUp(route, '', request, response, handle)
    withBody(request, (body) => {
      if (body === undefined) turns.take(response, () => handle(request, response))
      else this.#lookUp(route, body, request, response, handle)
    })
  }

  #lookUp(
    route: CacheableRoute,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
    handle: RequestListener,
    hasWaited = false,
  ): void {
    const { data, responses, batch, turns, verifyHit, reject } = this.#parts
    if (!data) return turns.take(response, () => handle(request, response))
    const isExact = hasCredentials(request.headers)
    const key = keyOf(route, request, body) + (isExact && route.vary.length > 0 ? `\n${this.#secretNumber()}` : '')
    const deadline = data.deadline()
    const respond = (revision: number) => {
      const lookup = { route, key, revision, deadline }
      if (Number.isNaN(revision)) {
        responses.track(request, lookup)
        const kept = data.isAway() ? responses.whileAway(request) : undefined
        return kept ? batch.send(kept, request, response) : handle(request, response)
      }
      const answer = (cached: CachedResponse | undefined) => {
        if (cached && verifyHit)
          return void verifyHit({ cached, request, body }).then(
            () => batch.send(cached, request, response),
            (error: unknown) => reject(error, response),
          )
        if (cached) return batch.send(cached, request, response)
        const go = () => {
          responses.track(request, lookup)
          handle(request, response)
        }
        if (hasWaited) return go()
        // Meanwhile the same response may have been cached, and the data revision is outdated
        turns.take(response, (isLater) => (isLater ? this.#lookUp(route, body, request, response, handle, true) : go()))
      }
      const cached = responses.find(lookup)
      if (cached instanceof Promise)
        void cached.then(answer) // never rejects
      else answer(cached)
    }
    const revision = data.revision(isExact)
    if (typeof revision === 'number') return respond(revision)
    void revision.then(respond) // never rejects
  }

  /** Counts the secrets that were in use, so that no secret is part of a key. */
  #secretNumber(): number {
    const secret = this.#parts.secret()
    if (secret !== this.#secret) [this.#secret, this.#secrets] = [secret, this.#secrets + 1]
    return this.#secrets
  }
}

/** The URL, the body, and each header that the route varies by. */
function keyOf({ method, vary }: CacheableRoute, { url = '', headers }: IncomingMessage, body: string): string {
  let key = `${method} ${url}`
  for (const name of vary) key += `\n${headers[name] ?? ABSENT}`
  if (method === 'POST')
    key += `\n${headers['content-type'] ?? ABSENT}\n${headers['content-encoding'] ?? ABSENT}\n${body}`
  return key
}

/** Passes on the body if it has arrived together with the headers, else undefined. Fastify can still read it. */
function withBody(request: IncomingMessage, then: (body: string | undefined) => void): void {
  const { 'transfer-encoding': transfer, 'content-length': length = '0' } = request.headers
  if (transfer !== undefined || Number(length) > MAX_BODY_BYTES) return then(undefined)
  if (Number(length) === 0) return then('') // to read nothing ends the stream before Fastify listens
  const read = (isLast: boolean) => {
    const body = request.read() as Buffer | null // no encoding was set
    if (!body && !isLast) return void setImmediate(read, true)
    if (body) request.unshift(body)
    then((body?.length ?? 0) === Number(length) ? (body?.toString('latin1') ?? '') : undefined)
  }
  process.nextTick(read, false)
}
