import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { AppError } from '../core/errors.js'
import { HttpFailure, openHttp, readBody } from '../core/http.js'
import { REFUSAL_HEADER } from '../core/wire.js'
import type { LongBody, Piece } from '../service/lib/download.js'

/** How long a server may send nothing. */
const TIMEOUT_MS = 30_000
/** A list of a hundred posts has 50 MB at most. The body of a download may be longer: it is never whole in memory. */
const MAX_BYTES = 64 * 1024 * 1024

/** A response whose body has not been read. */
export interface Response {
  status: number
  type: string
  /** Why the token does not count. */
  refusal: string | undefined
  /** The name of a file, which only downloads have. */
  file: string | undefined
  body: IncomingMessage
}

/** A response with its body. */
export interface Answer extends Pick<Response, 'status' | 'type' | 'refusal'> {
  text: string
}

/** Sends a request. A redirect is an error, as the token is for this server only. */
export async function send(
  url: URL,
  {
    timeout = TIMEOUT_MS,
    ...options
  }: { method: string; headers: OutgoingHttpHeaders & { 'user-agent': string }; timeout?: number | undefined },
  body: string | AsyncIterable<Uint8Array> | undefined,
): Promise<Response> {
  const response = await openHttp(url, { ...options, body, timeout }).catch((error: unknown) => {
    throw unreachable(url, error)
  })
  const { statusCode: status = 0, headers: received } = response
  if (status >= 300 && status < 400) {
    response.destroy()
    throw unreachable(url, new Error(`it redirects to ${received.location ?? 'another address'}. Give that address`))
  }
  const file = /filename="([^"]*)"/.exec(received['content-disposition'] ?? '')?.[1]
  const refusal = [received[REFUSAL_HEADER]].flat()[0]
  return { status, type: received['content-type'] ?? '', refusal, file, body: response }
}

/** Reads a body to its end. */
export async function read(url: URL, { body, ...response }: Response, timeout = TIMEOUT_MS): Promise<Answer> {
  const reading = { timeout, maxBytes: MAX_BYTES, beyond: 'fail' } as const
  const whole = await readBody(body, reading).catch((error: unknown) => {
    throw unreachable(url, error)
  })
  return { ...response, text: whole.toString() }
}

/** The body of a download, or the answer to an upload. Each chunk is read when the caller asks for it. */
export const bodyFrom = (url: URL, { file, type, body }: Response): LongBody => ({
  ...(file !== undefined && { file }),
  type: type.split(';')[0] ?? '',
  pieces: piecesOf(url, body, type.startsWith('application/zip')),
})

async function* piecesOf(url: URL, body: IncomingMessage, isArchive: boolean): AsyncGenerator<Piece> {
  const decoder = new TextDecoder()
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(new HttpFailure('TIMEOUT')), TIMEOUT_MS) // only while it waits for the server
      const { done, value } = await chunks.next().finally(() => clearTimeout(timer))
      if (done) return
      yield {
        text: isArchive ? '' : decoder.decode(value, { stream: true }),
        ...(isArchive && { bytes: value }),
        rows: 0,
      }
    }
  } catch (error) {
    const reason = (error as { code?: string }).code === 'ECONNRESET' ? 'the connection ended' : reasonOf(url, error)
    throw new AppError('SERVER_UNREACHABLE', `${url.origin} did not send all: ${reason}.`, { cause: error })
  } finally {
    body.destroy()
  }
}

const FAILURES: Readonly<Record<HttpFailure['code'], string>> = {
  TIMEOUT: `no response within ${TIMEOUT_MS / 1000} seconds`,
  TOO_LARGE: `its response is larger than ${MAX_BYTES / 1024 / 1024} MB`,
  PRIVATE_ADDRESS: 'its address is private',
}

const unreachable = (url: URL, cause: unknown) =>
  new AppError('SERVER_UNREACHABLE', `Cannot reach ${url.origin}: ${reasonOf(url, cause)}.`, { cause })

function reasonOf(url: URL, error: unknown): string {
  if (error instanceof HttpFailure) return FAILURES[error.code]
  const { message, code } = error as { message?: string; code?: string }
  if (url.protocol === 'https:' && /^(EPROTO|ERR_SSL_)/.test(code ?? ''))
    return `it does not answer with TLS. If it has none, use ${url.origin.replace('https:', 'http:')}`
  return message || (code ?? 'unknown reason') // an AggregateError of several addresses has no message
}
