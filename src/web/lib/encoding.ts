import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Longer bodies are compressed. */
const MIN_COMPRESSED = 1000

type Encoding = 'br' | 'gzip'

/** The encoding of a response. The gate has left one of two in the header, or none. */
export const encodingOf = ({ headers }: FastifyRequest): Encoding | undefined => {
  const encoding = headers['accept-encoding']
  return encoding === 'br' || encoding === 'gzip' ? encoding : undefined
}

/** The body as the browser takes it. Compressed once for the response cache, not for each request. */
export function compressed(request: FastifyRequest, reply: FastifyReply, text: string): Buffer {
  const bytes = Buffer.from(text)
  const encoding = encodingOf(request)
  reply.header('vary', 'accept-encoding, accept-language, cookie')
  if (bytes.length < MIN_COMPRESSED || encoding === undefined) return bytes
  reply.header('content-encoding', encoding)
  if (encoding === 'gzip') return gzipSync(bytes)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return brotliCompressSync(bytes, { params })
}
