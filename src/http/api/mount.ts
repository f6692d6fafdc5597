import type { FastifyInstance, FastifyRequest } from 'fastify'
import { coerce } from '../../core/fields.js'
import { DRY_RUN_HEADER, REFUSAL_HEADER } from '../../core/wire.js'
import { assertMail, execute, type AnyOperation, type CacheScope } from '../../service/lib/operation.js'
import type { LongBody } from '../../service/lib/download.js'
import { clientKey } from '../../service/lib/clients.js'
import { actorOf } from '../../service/lib/sessions.js'
import type { ResponseCache } from '../cache/responses.js'
import { clientOf } from '../client.js'
import type { CacheDeclaration } from '../cache/routes.js'
import { GONE } from '../longanswers.js'
import type { Incoming } from '../uploads.js'
import type { Origins } from '../origins.js'
import { longJson, type ObjectSchema } from './longjson.js'
import type { Site } from '../lib/site.js'

interface Parts {
  site: Site
  responses: ResponseCache
  origins: Origins
}

/** Adds the route of an operation. `execute` does all checks. */
export function mount(server: FastifyInstance, op: AnyOperation, { site, responses, origins }: Parts): void {
  const [method, url, status] = op.http.split(' ') as [string, string, string]
  server.route({
    // One route for both registers in half the time of the two that Fastify would add.
    method: method === 'GET' ? ['GET', 'HEAD'] : method,
    url,
    ...(!op.download && { schema: { response: { [status]: status === '204' ? { type: 'null' } : op.output } } }),
    config: {
      op: op.id,
      ...(op.cache && { cache: cacheOf(op.cache, origins) }),
      ...(op.ownPages && { cors: { origin: origins.trusted } }),
    },
    onRequest: (request, reply, done) => {
      if (op.sensitive || op.download || op.upload) reply.header('cache-control', 'no-store')
      if (op.mails === true) assertMail(op, site)
      if (op.ownPages) origins.assertOwnPage(request.headers)
      done()
    },
    ...(op.mails === 'unless-declined' && {
      // That mail is missing comes before every other error (contract, section 4), but only the body can decline it
      errorHandler(error, { body }) {
        if ((body as { noMail?: unknown } | null | undefined)?.noMail !== true) assertMail({ mails: true }, site)
        throw error
      },
    }),
    handler: async (request, reply) => {
      const client = clientOf(request)
      const actorNow = () => actorOf(request.headers.authorization, site)
      const dryRun = method !== 'GET' && request.headers[DRY_RUN_HEADER] !== undefined
      let incoming: Incoming | undefined
      let isRepeated = false
      const make = async () => {
        if (isRepeated) responses.forget(request.raw)
        isRepeated = true
        // A request on PostgreSQL has a deadline. Downloads and uploads outlive it: each of their queries has one.
        const { db, allowCaching } = op.download || op.upload ? { db: site.db } : await responses.open(request.raw)
        const actor = await actorOf(request.headers.authorization, { ...site, db })
        if (actor.refusal && request.headers.authorization !== undefined)
          reply.header(REFUSAL_HEADER, actor.refusal.code)
        const who = actor.userId ?? clientKey(client)
        if (op.upload) incoming = server.uploads.open(request, op.upload, who)
        let expiresAt = actor.expiresAt
        const lasts = (until: number) => void (expiresAt = Math.min(expiresAt, until))
        const ctx = { ...site, db, actor, actorNow, origin: 'http', client, dryRun, body: incoming?.body, lasts }
        const output = await execute(op, ctx, inputOf(op, request))
        if (op.download)
          return await server.downloads.send(request, reply, output as LongBody, { who, place: incoming?.place })
        if (op.cache) allowCaching?.(op.id, expiresAt)
        reply.code(output === undefined ? 204 : Number(status))
        return output
      }
      try {
        if (op.download) return await make()
        const write = (long: unknown) => longJson(op.output as unknown as ObjectSchema, long as Record<string, unknown>)
        const output = await server.longAnswers.turn(reply.raw, { make, canRepeat: op.cache !== undefined, write })
        if (Buffer.isBuffer(output)) reply.type('application/json; charset=utf-8')
        return output === GONE ? reply.hijack() : output
      } finally {
        incoming?.close()
      }
    },
  })
}

/**
 * A route that does not vary by `authorization` does not see that header, so a 'public' operation runs as a visitor.
 */
const CACHE: Record<CacheScope, CacheDeclaration> = { public: { vary: [] }, actor: { vary: ['authorization'] } }

/** Where some origins only may read responses, each response names the one that it is for. */
const cacheOf = (scope: CacheScope, { cors }: Origins): CacheDeclaration =>
  Array.isArray(cors) ? { vary: [...CACHE[scope].vary, 'origin'] } : CACHE[scope]

/**
 * Path and query are text and are coerced. The path wins over the body, and the body over the query. `execute` rejects
 * a body that is not an object.
 */
function inputOf(op: AnyOperation, request: FastifyRequest): unknown {
  const inPath = coerce(op.input, request.params as Record<string, unknown>)
  const inQuery = coerce(op.input, request.query as Record<string, unknown>)
  const { body = {} } = request
  if (op.upload || request.method === 'GET' || request.method === 'HEAD') return { ...inQuery, ...inPath }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const input = { ...inQuery, ...body, ...inPath }
  return op.adapt?.(input) ?? input
}
