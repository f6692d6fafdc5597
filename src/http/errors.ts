import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { wordsOf } from '../core/catalogue.js'
import { AppError, serverError, type ErrorCode } from '../core/errors.js'
import { languageFor } from '../core/language.js'
import { REQUEST_ID } from '../core/wire.js'
import { BARE_HEADERS } from './headers.js'
import { requestId } from './lib/logging.js'

/** Our errors for Fastify's errors about invalid requests. */
const FRAMEWORK: Record<string, [ErrorCode, string]> = {
  FST_ERR_BAD_URL: ['DECODE_URI_ERROR', 'The path has an invalid percent encoding. Encode a percent sign as %25.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'The body is larger than the server accepts. Shorten it.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be JSON. Send it with "Content-Type: application/json".',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['INVALID_JSON', 'The length of the body does not match its Content-Length.'],
}

/** Converts any thrown value. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  const known = FRAMEWORK[code]
  if (known) return new AppError(...known)
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new AppError('NOT_FOUND', 'The URL is too long to match anything.')
  if (statusCode >= 400 && statusCode < 500) return new AppError('INVALID_JSON', 'The body is not valid JSON.')
  return serverError(error)
}

/** Hides the details of an internal error, which are in the log. Clients learn only whether to try again. */
export function publicError(error: AppError): AppError {
  switch (error.code) {
    case 'DATABASE_UNREACHABLE':
    case 'DATABASE_UNUSABLE': // the file failed while the server runs; it may come back
      return new AppError('DATABASE_UNREACHABLE', 'The database cannot be reached. Try again in a moment.')
    case 'STORAGE_FULL':
      return new AppError('STORAGE_FULL', 'There is no space left to store anything. Try again later.')
    default:
      return serverError(error)
  }
}

/** Whether an error is answered as it is, and is no failure of the server. 501 says what this server cannot do. */
export const isAnswer = ({ status, code }: AppError): boolean =>
  status < 500 || status === 501 || code === 'SERVER_BUSY'

/** Seconds after which a client should try again, in responses of 503. */
export const RETRY_AFTER = '2'

/** Responds to a request that failed before Fastify saw it. */
export function rejectFailed(log: FastifyBaseLogger, error: unknown, response: ServerResponse): void {
  const reqId = requestId({ headers: {} })
  const failure = serverError(error)
  log.error({ reqId, err: error, status: failure.status }, 'a check before the request failed')
  if (response.headersSent) return void response.end()
  sendError(response, failure, reqId)
}

/** Sends the response to a request that Fastify does not see. */
export function sendError(response: ServerResponse, { status, body, retryAfter }: AppError, reqId: string): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    ...BARE_HEADERS,
    [REQUEST_ID]: reqId,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  })
  response.end(JSON.stringify(body))
}

/** Rejects a request before routing, with HTML for browsers and JSON otherwise. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  error: AppError,
  seconds: number,
): void {
  const reqId = requestId(request)
  if (!request.headers.accept?.includes('text/html')) return sendError(response, error, reqId)
  const { language, direction, t } = wordsOf(languageFor(request.headers['accept-language']))
  const [title, text] = [t('error.title'), t('error.wait', { count: Math.ceil(seconds / 60) })]
  response.writeHead(error.status, {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    ...BARE_HEADERS,
    [REQUEST_ID]: reqId,
    'retry-after': String(seconds),
  })
  response.end(
    `<!doctype html><html lang="${language}" dir="${direction}"><head><title>${title}</title><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head><body><h1>${title}</h1><p>${text}</p></body></html>`,
  )
}

/**
 * Responds to bytes that are not HTTP, and to requests that take too long, which Fastify never sees, and logs them.
 * Returns false where nobody waits for a response.
 */
export function rejectMalformed(log: FastifyBaseLogger, error: NodeJS.ErrnoException, socket: Socket): boolean {
  if (error.code === 'ECONNRESET' || socket.destroyed) return false
  const [status, message] = MALFORMED[error.code ?? ''] ?? ['400 Bad Request', 'The request is not valid HTTP.']
  reject(log, socket, { status, error: new AppError('BAD_REQUEST', message), reason: error.code })
  return true
}

/** Ends a request that takes too long to arrive. */
export const rejectSlow = (log: FastifyBaseLogger, socket: Socket): void =>
  void rejectMalformed(log, Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)

/** Refuses a connection that the server has no room for. */
export function rejectBusy(log: FastifyBaseLogger, socket: Socket): void {
  const error = new AppError('SERVER_BUSY', 'The server has too many connections. Try again in a moment.')
  reject(log, socket, { status: '503 Service Unavailable', error, reason: error.code })
}

/** Refuses a request behind too many others on its connection. What follows on the connection is not read. */
export function rejectWaiting(log: FastifyBaseLogger, response: ServerResponse): void {
  const reqId = requestId({ headers: {} })
  const message = 'Too many requests wait on this connection. Send the next when responses have arrived.'
  const error = new AppError('SERVER_BUSY', message, { retryAfter: Number(RETRY_AFTER) })
  log.info({ reqId, remoteAddress: response.req.socket.remoteAddress, status: error.status }, 'too many requests wait')
  response.shouldKeepAlive = false
  sendError(response, error, reqId)
}

/** Logs a connection that is cut because its client does not read. */
export function logUnread(log: FastifyBaseLogger, { remoteAddress }: Socket, bytes: number): void {
  log.info(
    { remoteAddress, bytes },
    'connection cut: its client does not read, and unsent responses need too much memory',
  )
}

/** How long a client may take to read the last response and close. */
const LINGER_MS = 1000

function reject(
  log: FastifyBaseLogger,
  socket: Socket,
  { status, error, reason }: { status: string; error: AppError; reason: string | undefined },
): void {
  const reqId = requestId({ headers: {} })
  const { remoteAddress } = socket
  log.info({ reqId, remoteAddress, reason, status: Number.parseInt(status, 10) }, 'malformed request')
  const body = JSON.stringify(error.body)
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Content-Type: application/json; charset=utf-8',
    ...Object.entries(BARE_HEADERS).map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${reqId}`,
    ...(error.status === 503 ? [`Retry-After: ${RETRY_AFTER}`] : []),
    'Connection: close',
  ]
  if (!socket.writable) return void socket.destroy()
  socket.end([...head, '', body].join('\r\n'))
  // At once it would cut the response, if bytes of the request have not been read.
  setTimeout(() => socket.destroy(), LINGER_MS).unref() // a client that does not close would hold a descriptor
}

const MALFORMED: Record<string, [string, string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
}
