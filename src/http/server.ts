import Fastify, { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, serverError, type ErrorCode } from '../core/errors.js'
import { coerce } from '../core/fields.js'
import { newId } from '../core/ids.js'
import { API_ROOT, DRY_RUN_HEADER } from '../core/wire.js'
import type { Context } from '../service/context.js'
import { execute, type AnyOperation } from '../service/operation.js'
import { actorOf } from '../service/sessions.js'
import { conventions, parsers } from './conventions.js'
import { plainRoutes } from './plain.js'

/** What the server needs beside the operations. */
export interface Site extends Omit<Context, 'actor' | 'dryRun'> {
  /** Rejects when the database does not answer. */
  ping(this: void): Promise<void>
}

/** Where log lines go: one a request, and every unexpected error with its cause. */
export interface Log {
  level: string
  stream: { write(line: string): void }
}

/** Bodies are limited to 100 kB, as in the contract. */
const BODY_LIMIT = 100 * 1024

export async function buildServer(operations: readonly AnyOperation[], site: Site, log: Log): Promise<FastifyInstance> {
  const server = Fastify({
    logger: log,
    logController: new LogController({ disableRequestLogging: true }), // one line a request, in conventions.ts
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    genReqId: ({ headers: { 'x-request-id': given } }) => (typeof given === 'string' && /^[\w.-]{1,100}$/.test(given) ? given : newId()),
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 5000 },
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const known = asAppError(error)
      void reply.code(known.status).headers({ 'x-request-id': request.id, 'access-control-allow-origin': '*' }).send(known.body)
    },
  })
  server.setValidatorCompiler(() => () => true) // `execute` checks the input, so that every surface rejects the same things
  server.setErrorHandler((error, request, reply) => {
    const known = asAppError(error)
    if (known.status >= 500 && known.code !== 'MAIL_CONFIG_MISSING') request.log.error({ err: known.cause ?? known }, known.message)
    return reply.code(known.status).send(known.body)
  })
  server.setNotFoundHandler((request) => {
    throw new AppError('NOT_FOUND', `There is no ${request.method} ${request.url.split('?')[0]?.slice(0, 200)}. The operations are listed at ${API_ROOT}/docs.`)
  })
  await conventions(server)
  parsers(server)
  for (const op of operations) mount(server, op, site)
  plainRoutes(server, operations, site)
  return server
}

function mount(server: FastifyInstance, op: AnyOperation, site: Site): void {
  const [method, url, status] = op.http.split(' ') as [string, string, string]
  server.route({
    method,
    url: API_ROOT + url,
    schema: { response: { [status]: status === '204' ? { type: 'null' } : op.output } },
    config: { op: op.id },
    handler: async (request, reply) => {
      const ctx = { ...site, actor: await actorOf(request.headers.authorization, site), dryRun: request.headers[DRY_RUN_HEADER] !== undefined }
      const output = await execute(op, ctx, inputOf(op, request))
      reply.code(Number(status))
      return output
    },
  })
}

/** Path and query are text; a body brings its own types. What a body is not allowed to be, `execute` says. */
function inputOf(op: AnyOperation, request: FastifyRequest): unknown {
  const inPath = coerce(op.input, request.params as Record<string, unknown>)
  if (request.method === 'GET' || request.method === 'HEAD') return { ...coerce(op.input, request.query as Record<string, unknown>), ...inPath }
  const body = request.body ?? {}
  return typeof body === 'object' && !Array.isArray(body) ? { ...body, ...inPath } : body
}

/** Errors of the framework that are the client's, in the contract's words. */
const FRAMEWORK: Record<string, [ErrorCode, string]> = {
  FST_ERR_BAD_URL: ['DECODE_URI_ERROR', 'The path has a percent sign that encodes nothing. Encode it as %25.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'The body is larger than 100 kB.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON. Send it with "Content-Type: application/json".'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['INVALID_JSON', 'The body is not as long as its Content-Length says.'],
}

function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  const known = FRAMEWORK[code]
  if (known) return new AppError(...known)
  if (statusCode === 400) return new AppError('INVALID_JSON', 'The body is not valid JSON.')
  return serverError(error)
}
