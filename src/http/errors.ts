import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { AppError, serverError, type ErrorCode } from '../core/errors.js'
import { requestId } from './logging.js'

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

/** What was thrown, as the error that the caller gets. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  const known = FRAMEWORK[code]
  if (known) return new AppError(...known)
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new AppError('NOT_FOUND', 'Nothing has an address that long.')
  if (statusCode >= 400 && statusCode < 500) return new AppError('INVALID_JSON', 'The body is not valid JSON.')
  return serverError(error)
}

/** What a stranger learns of a failure inside: that it happened, and whether to try again. The log has the rest. */
export const outside = (error: AppError): AppError =>
  error.code === 'DATABASE_UNREACHABLE'
    ? new AppError('DATABASE_UNREACHABLE', 'The database cannot be reached just now. Try again in a moment.')
    : serverError(error)

/** Bytes that are no HTTP request get the contract's error too, and a line in the log. */
export function refuseUnreadable(log: FastifyBaseLogger, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, message] = UNREADABLE[error.code ?? ''] ?? ['400 Bad Request', 'This is not a readable HTTP request.']
  const reqId = requestId({ headers: {} })
  log.info({ reqId, reason: error.code, status: Number.parseInt(status, 10) }, 'request that could not be read')
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
