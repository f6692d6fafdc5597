import { isUtf8 } from 'node:buffer'
import cors from '@fastify/cors'
import etag from 'etag'
import type { FastifyInstance } from 'fastify'
import fresh from 'fresh'
import { AppError } from '../../core/errors.js'
import { REQUEST_ID } from '../../core/wire.js'
import type { Answers } from '../cache/responses.js'
import { loggable, outcome } from '../logging.js'

/** What every answer has in common (contract, sections 1.0 and 7). */
export async function conventions(server: FastifyInstance, answers: Answers | undefined): Promise<void> {
  await server.register(cors, {
    origin: '*',
    methods: 'GET,HEAD,PUT,PATCH,POST,DELETE',
    exposedHeaders: ['ETag', 'X-Request-Id'],
    strictPreflight: false,
  })

  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({ [REQUEST_ID]: request.id, 'x-content-type-options': 'nosniff' })
    done()
  })

  server.addHook('onSend', (request, reply, payload, done) => {
    const write = !['GET', 'HEAD', 'OPTIONS'].includes(request.method)
    if (reply.statusCode === 409 || (write && reply.statusCode >= 400)) reply.header('x-should-retry', 'false') // published clients repeat 409 and 5xx otherwise
    if (typeof payload !== 'string' || payload === '') return done()
    const bytes = Buffer.from(payload) // once, for the tag, for the answer and for whoever asks again
    const tag = etag(bytes, { weak: true })
    reply.header('etag', tag)
    if (reply.statusCode === 200) answers?.keep(request.raw, reply.getHeaders(), tag, bytes)
    if (write || reply.statusCode !== 200 || !fresh(request.headers, { etag: tag })) return done(null, bytes)
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    done(null, null)
  })

  server.addHook('onResponse', (request, reply, done) => {
    const { op } = request.routeOptions.config as { op?: string }
    server.log.info(
      {
        op,
        method: request.method,
        url: loggable(request.url),
        reqId: request.id,
        ...outcome(reply.statusCode, reply.elapsedTime),
      },
      'request',
    )
    done()
  })
}

/** An absent or empty body is an empty object, whatever its type; any other that is not JSON in UTF-8 is refused. */
export function parsers(server: FastifyInstance): void {
  const json = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, {})
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
    const charset = /charset="?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8'
    if (encoding !== 'identity' || !/^utf-?8$/i.test(charset))
      return done(unsupported('The body must be plain JSON in UTF-8, neither compressed nor in another character set.'))
    const text = utf8(body)
    if (text === undefined) return done(new AppError('INVALID_JSON', 'The body is not valid UTF-8.'))
    if (text.trim() === '') return done(null, {})
    return void json(request, text, done)
  })
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, {})
    else done(unsupported('The body must be JSON. Send it with "Content-Type: application/json".'))
  })
}

const unsupported = (message: string) => new AppError('UNSUPPORTED_MEDIA_TYPE', message)

/** The text, or undefined where it is no UTF-8: a decoder that guesses would store something else than was sent. */
function utf8(body: Buffer): string | undefined {
  return isUtf8(body) ? body.toString('utf8') : undefined
}
