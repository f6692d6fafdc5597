import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../core/errors.js'
import { API_ROOT } from '../../core/wire.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import { contentOf, type ResponseCache } from '../cache/responses.js'
import { asAppError, isAnswer, publicError } from '../errors.js'
import { EXPOSED } from '../headers.js'
import type { Origins } from '../origins.js'
import type { Site } from '../lib/site.js'
import type { MissingHandler } from '../surface.js'
import { docs } from './docs.js'
import { mount } from './mount.js'
import { parsers, unparsed } from './parsers.js'
import { compileOnFirstUse } from './serializers.js'

interface Parts {
  operations: readonly AnyOperation[]
  site: Site
  responses: ResponseCache
  origins: Origins
}

/** How long a browser need not ask again. */
const PREFLIGHT_SECONDS = 60 * 60

/** The JSON API, a plugin with its own parsers, errors, 404 and CORS (contract, sections 1.0 and 7). */
export async function api(server: FastifyInstance, { operations, site, responses, origins }: Parts): Promise<void> {
  server.setValidatorCompiler(() => () => true) // `execute` validates the input for every surface
  server.setSerializerCompiler(compileOnFirstUse)
  parsers(server)
  jsonErrors(server, responses)
  refusePreflights(server, operations, origins)
  await server.register(cors, {
    origin: origins.cors,
    methods: 'GET,HEAD,PUT,PATCH,POST,DELETE',
    exposedHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
  })
  server.addHook('onSend', (request, reply, _payload, done) => {
    const isWrite = !['GET', 'HEAD', 'OPTIONS'].includes(request.method)
    // Otherwise published clients retry 409 and 5xx.
    if (reply.statusCode === 409 || (isWrite && reply.statusCode >= 400)) reply.header('x-should-retry', 'false')
    done()
  })
  const parts = { site, responses, origins }
  for (const op of operations) if (!op.upload) mount(server, op, parts)
  await server.register(async (uploads) => {
    unparsed(uploads)
    for (const op of operations) if (op.upload) mount(uploads, op, parts)
  })
  docs(server, operations)
}

/** A preflight asks for the method that follows it. */
function refusePreflights(server: FastifyInstance, operations: readonly AnyOperation[], origins: Origins): void {
  const ownPages = new Set(
    operations.filter((op) => op.ownPages).map(({ http }) => http.split(' ').slice(0, 2).join(` ${API_ROOT}`)),
  )
  server.addHook('onRequest', (request, _reply, done) => {
    const { 'access-control-request-method': method } = request.headers
    const path = request.url.split('?')[0]?.toLowerCase().replace(/\/$/, '')
    if (request.method === 'OPTIONS' && ownPages.has(`${method} ${path}`)) origins.assertOwnPage(request.headers)
    done()
  })
}

/**
 * Sends errors and 404 as JSON. Applies to a plugin, or to the root for requests that no plugin handles. Where the
 * database does not answer, a response that is cached is better than an error.
 */
export function jsonErrors(
  server: FastifyInstance,
  responses: ResponseCache,
  { headers = {}, missing }: { headers?: object; missing?: MissingHandler } = {},
): void {
  server.setErrorHandler((error, request, reply) => {
    const known = asAppError(error)
    if (known.retryAfter !== undefined) reply.header('retry-after', String(known.retryAfter))
    if (isAnswer(known)) return reply.code(known.status).send(known.body)
    request.errorOf = server.repeats.report(known, request.id, { reqId: request.id })
    const kept = known.code === 'DATABASE_UNREACHABLE' ? responses.whileAway(request.raw) : undefined
    if (kept) {
      const { headers, bytes } = contentOf(kept)
      return reply.code(200).headers(headers).send(bytes)
    }
    const { status, body } = publicError(known)
    return reply.code(status).send(body)
  })
  server.setNotFoundHandler((request, reply) => {
    const page = missing?.(request, reply)
    if (page) return page
    reply.headers(headers)
    const address = `${request.method} ${request.url.split('?')[0]?.slice(0, 200)}`
    throw new AppError('NOT_FOUND', `There is no ${address}. The operations are listed at ${API_ROOT}/docs.`)
  })
}
