import { setImmediate } from 'node:timers/promises'
import etag from 'etag'
import type { FastifyInstance } from 'fastify'
import fresh from 'fresh'
import type { Repeats } from '../core/repeats.js'
import { REQUEST_ID } from '../core/wire.js'
import { withoutPort } from '../service/lib/clients.js'
import type { ResponseCache } from './cache/responses.js'
import type { Connections } from './lib/connections.js'
import type { Downloads } from './downloads.js'
import type { LongAnswers } from './longanswers.js'
import type { Uploads } from './uploads.js'
import { VARYING, type CacheDeclaration } from './cache/routes.js'
import { loggable, outcome } from './lib/logging.js'
import type { Part, Traffic } from './lib/traffic.js'
import { RETRY_AFTER } from './errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    connections: Connections
    longAnswers: LongAnswers
    downloads: Downloads
    uploads: Uploads
    repeats: Repeats
  }
  interface FastifyRequest {
    /** The id of the request whose log line has the same error in full. */
    errorOf: string | undefined
  }

  interface FastifyContextConfig {
    /** Id of the operation, for the log and the metrics. */
    op?: string
    /** What it belongs to, for the metrics; the JSON API by default. */
    part?: Part
    /** The URL changes with the content, so the response needs no ETag. */
    isImmutable?: true
    /** Without it, responses are never cached. */
    cache?: CacheDeclaration
    /** Bypasses the queue of `Turns`, for handlers that take almost no time. Matches the exact path without a query. */
    prompt?: boolean
  }
}

/** Responses of more bytes are built in steps, with other requests in between. */
const LONG = 1_000_000

const bytesOf = (payload: string | Buffer): Buffer => (typeof payload === 'string' ? Buffer.from(payload) : payload)
const tagOf = (bytes: Buffer): string => etag(bytes, { weak: true })

/** A step takes some 30 ms where the response has 40 MB: a hundred posts of the greatest length in Chinese, listed twice. */
async function inTurns(payload: string | Buffer): Promise<{ bytes: Buffer; tag: string }> {
  await setImmediate()
  const bytes = bytesOf(payload)
  await setImmediate()
  return { bytes, tag: tagOf(bytes) }
}

/** Hooks for all surfaces: request id, ETag, 304, storing in the response cache, one log line and count per request. */
export function conventions(
  server: FastifyInstance,
  { responses, traffic }: { responses: ResponseCache; traffic: Traffic },
): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header(REQUEST_ID, request.id)
    const { cache } = request.routeOptions.config
    // Hides headers that the route does not vary by, so that no handler can depend on them.
    if (cache) for (const name of VARYING) if (!cache.vary.includes(name)) delete request.headers[name]
    done()
  })

  server.addHook('onSend', (request, reply, payload, done) => {
    const hand = (bytes: Buffer | null) => {
      done(null, bytes)
      server.longAnswers.made(reply.raw)
    }
    if (reply.statusCode === 503 && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER)
    if (server.connections.isDraining) reply.raw.shouldKeepAlive = false
    if ((typeof payload !== 'string' && !Buffer.isBuffer(payload)) || payload.length === 0) return done()
    const finish = (bytes: Buffer, tag: string) => {
      server.connections.produce(bytes.length)
      if (request.routeOptions.config.isImmutable) {
        if (reply.statusCode === 200) reply.removeHeader(REQUEST_ID) // caches would repeat the id for a year
        return hand(bytes)
      }
      reply.header('etag', tag)
      if (reply.statusCode === 200) responses.store(request.raw, reply.getHeaders(), tag, bytes)
      const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(request.method)
      if (!isRead || reply.statusCode !== 200 || !fresh(request.headers, { etag: tag })) return hand(bytes)
      reply.code(304).removeHeader('content-length').removeHeader('content-type')
      hand(null)
    }
    if (payload.length > LONG) return void inTurns(payload).then(({ bytes, tag }) => finish(bytes, tag), done)
    const bytes = bytesOf(payload) // shared by the tag, the response and the cache
    finish(bytes, tagOf(bytes))
  })

  server.addHook('onResponse', (request, reply, done) => {
    const { op, cache } = request.routeOptions.config
    traffic.handled(op, reply.statusCode, { isCached: cache !== undefined, ms: reply.elapsedTime })
    const fields = {
      op,
      method: request.method,
      url: loggable(request.url),
      reqId: request.id,
      remoteAddress: withoutPort(request.ip),
    }
    if (request.errorOf !== undefined && request.errorOf !== request.id)
      Object.assign(fields, { errorOf: request.errorOf })
    server.log.info({ ...fields, ...outcome(reply.statusCode, reply.elapsedTime) }, 'request')
    done()
  })
}
