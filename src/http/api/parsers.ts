import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../core/errors.js'

/** An absent or empty body of any type is parsed as {}. Any other body must be JSON in UTF-8. */
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

/** Leaves bodies as they are, for uploads to receive. */
export function unparsed(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(null))
}

const unsupported = (message: string) => new AppError('UNSUPPORTED_MEDIA_TYPE', message)

/** Returns undefined for invalid UTF-8. Decoding it anyway would store other text than was sent. */
const utf8 = (body: Buffer): string | undefined => (isUtf8(body) ? body.toString('utf8') : undefined)
