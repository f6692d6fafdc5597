import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, serverError, type ErrorCode } from '../core/errors.js'
import { coerce } from '../core/fields.js'
import { API_ROOT, DRY_RUN_HEADER, REQUEST_ID } from '../core/wire.js'
import type { Context } from '../service/lib/context.js'
import { assertMail, execute, type AnyOperation } from '../service/lib/operation.js'
import { actorOf } from '../service/lib/sessions.js'
import { Answers } from './cache/responses.js'
import { conventions, parsers } from './api/conventions.js'
import { requestId } from './logging.js'
import { Sending } from './cache/batch.js'
import { serverWith } from './cache/front.js'
import { plainRoutes } from './probes.js'
import type { Log, Site } from './site.js'
import { compileOnFirstUse } from './api/serializers.js'

/** Bodies are limited to 100 kB, as in the contract. */
const BODY_LIMIT = 100 * 1024

export async function buildServer(operations: readonly AnyOperation[], site: Site, log: Log): Promise<FastifyInstance> {
  const answers = site.watch && new Answers(site.watch, site.now)
  const sending = new Sending(() => server.log)
  const server: FastifyInstance = Fastify<Server>({
    serverFactory: (handle, options) => serverWith(answers && { answers, sending }, { handle, options }),
    logger: log,
    logController: new LogController({ disableRequestLogging: true }), // one line a request, in conventions.ts
    childLoggerFactory: (logger) => logger, // what is logged of a request says by itself of which
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    genReqId: requestId,
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 5000 },
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const known = asAppError(error)
      if (known.status >= 500) server.log.error({ reqId: request.id, err: error }, known.message)
      void reply
        .code(known.status)
        .headers({ [REQUEST_ID]: request.id, 'access-control-allow-origin': '*' })
        .send(known.body)
    },
  })
  server.setValidatorCompiler(() => () => true) // `execute` checks the input, so that every surface rejects the same things
  server.setSerializerCompiler(compileOnFirstUse)
  server.setErrorHandler((error, request, reply) => {
    const known = asAppError(error)
    if (known.status < 500 || known.code === 'MAIL_CONFIG_MISSING') return reply.code(known.status).send(known.body)
    server.log.error({ reqId: request.id, err: known.cause ?? known }, known.message)
    const { status, body } = outside(known)
    return reply.code(status).send(body)
  })
  server.setNotFoundHandler((request) => {
    throw new AppError(
      'NOT_FOUND',
      `There is no ${request.method} ${request.url.split('?')[0]?.slice(0, 200)}. The operations are listed at ${API_ROOT}/docs.`,
    )
  })
  await conventions(server, answers)
  parsers(server)
  for (const op of operations) mount(server, op, site, answers)
  server.addHook('preClose', async () => {
    answers?.stop()
    sending.flush() // a connection that still waits for an answer would not be closed, and refused what it asks next
  })
  plainRoutes(server, operations, site)
  return server
}

function mount(server: FastifyInstance, op: AnyOperation, site: Site, answers: Answers | undefined): void {
  const [method, url, status] = op.http.split(' ') as [string, string, string]
  server.route({
    method: method === 'GET' ? ['GET', 'HEAD'] : method, // to mount one for both takes half as long as the two that Fastify would make
    url: API_ROOT + url,
    schema: { response: { [status]: status === '204' ? { type: 'null' } : op.output } },
    config: { op: op.id },
    onRequest: (_request, _reply, done) => {
      assertMail(op, site)
      done()
    },
    handler: async (request, reply) => {
      const { db, basis } = site.reads?.forRequest() ?? { db: site.db, basis: undefined }
      const seen = { ...site, db }
      const actor = await actorOf(request.headers.authorization, seen)
      const { ctx, onlyRead } = observed(seen, {
        actor,
        origin: 'http',
        dryRun: method !== 'GET' && request.headers[DRY_RUN_HEADER] !== undefined,
      })
      const output = await execute(op, ctx, inputOf(op, request))
      if (onlyRead()) answers?.onlyRead(request.raw, { op: op.id, until: actor.until, basis })
      reply.code(output === undefined ? 204 : Number(status))
      return output
    },
  })
}

/** A context that knows whether the work did nothing but read: an answer that depends on the time or is signed is not the same twice. */
function observed(
  site: Site,
  asking: Pick<Context, 'actor' | 'origin' | 'dryRun'>,
): { ctx: Context; onlyRead(this: void): boolean } {
  let read = true
  const ctx = {
    ...site,
    ...asking,
    now: () => {
      read = false
      return site.now()
    },
    secret: () => {
      read = false
      return site.secret()
    },
    written: () => {
      read = false
      site.watch?.forget()
    },
  }
  return { ctx, onlyRead: () => read }
}

/** Path and query are text; a body, which wins over the query, brings its own types. What a body is not allowed to be, `execute` says. */
function inputOf(op: AnyOperation, request: FastifyRequest): unknown {
  const inPath = coerce(op.input, request.params as Record<string, unknown>)
  const inQuery = coerce(op.input, request.query as Record<string, unknown>)
  const { body = {} } = request
  if (request.method === 'GET' || request.method === 'HEAD') return { ...inQuery, ...inPath }
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...inQuery, ...body, ...inPath } : body
}

/** Errors of the framework that are the client's, in the contract's words. */
const FRAMEWORK: Record<string, [ErrorCode, string]> = {
  FST_ERR_BAD_URL: ['DECODE_URI_ERROR', 'The path has a percent sign that encodes nothing. Encode it as %25.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'The body is larger than 100 kB.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be JSON. Send it with "Content-Type: application/json".',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['INVALID_JSON', 'The body is not as long as its Content-Length says.'],
}

function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  const known = FRAMEWORK[code]
  if (known) return new AppError(...known)
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new AppError('NOT_FOUND', 'Nothing has an address that long.')
  if (statusCode >= 400 && statusCode < 500) return new AppError('INVALID_JSON', 'The body is not valid JSON.')
  return serverError(error)
}

/** What a stranger learns of a failure inside: that it happened, and whether to try again. The log has the rest. */
const outside = (error: AppError): AppError =>
  error.code === 'DATABASE_UNREACHABLE'
    ? new AppError('DATABASE_UNREACHABLE', 'The database cannot be reached just now. Try again in a moment.')
    : serverError(error)

/** Bytes that are no HTTP request get the contract's error too, and a line in the log. */
function refuseUnreadable(this: FastifyInstance, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, message] = UNREADABLE[error.code ?? ''] ?? ['400 Bad Request', 'This is not a readable HTTP request.']
  const reqId = requestId({ headers: {} })
  this.log.info({ reqId, reason: error.code, status: Number.parseInt(status, 10) }, 'request that could not be read')
  const body = JSON.stringify(new AppError('BAD_REQUEST', message).body)
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Content-Type: application/json; charset=utf-8',
    'Access-Control-Allow-Origin: *',
    `X-Request-Id: ${reqId}`,
    'Connection: close',
  ]
  if (socket.writable) socket.end([...head, '', body].join('\r\n'))
}

const UNREADABLE: Record<string, [string, string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
}
