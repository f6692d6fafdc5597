import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { AppError } from '../core/errors.js'
import { REFUSAL_HEADER } from '../core/wire.js'
import type { LongBody, Piece } from '../service/lib/download.js'

/** How long a server may send nothing. */
const TIMEOUT_MS = 30_000
/** A list of a hundred posts has 50 MB at most. The body of a download may be longer: it is never whole in memory. */
const MAX_BYTES = 64 * 1024 * 1024

/** A response whose body has not been read. */
interface Response {
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

/** Sends a request with `node:http`, as loading `fetch` takes twice as long as the rest of a command. */
export async function send(
  url: URL,
  options: { method: string; headers: OutgoingHttpHeaders },
  body: string | undefined,
): Promise<Response> {
  const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  return new Promise<Response>((resolve, reject) => {
    const fail = (cause: unknown) => reject(unreachable(url, cause))
    const timer = setTimeout(() => sent.destroy(noResponse()), TIMEOUT_MS)
    // Node adds no length to a DELETE
    const headers = { ...options.headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) }
    const sent = request(url, { ...options, headers }, (response) => {
      clearTimeout(timer)
      const { statusCode: status = 0, headers: received } = response
      if (status >= 300 && status < 400) {
        fail(new Error(`it redirects to ${received.location ?? 'another address'}. Give that address`))
        return void response.destroy()
      }
      const file = /filename="([^"]*)"/.exec(received['content-disposition'] ?? '')?.[1]
      response.on('error', () => {}) // whoever reads the body later finds it
      const refusal = [received[REFUSAL_HEADER]].flat()[0]
      resolve({ status, type: received['content-type'] ?? '', refusal, file, body: response })
    })
    sent.on('error', fail).on('close', () => clearTimeout(timer))
    sent.end(body)
  })
}

/** Reads a body to its end. */
export async function read(url: URL, { body, ...response }: Response): Promise<Answer> {
  const parts: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => body.destroy(noResponse()), TIMEOUT_MS)
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > MAX_BYTES) throw new Error(`its response is larger than ${MAX_BYTES / 1024 / 1024} MB`)
      parts.push(part)
    }
  } catch (error) {
    throw unreachable(url, error)
  } finally {
    clearTimeout(timer)
  }
  return { ...response, text: Buffer.concat(parts).toString() }
}

/** The body of a download, read as it is taken. */
export const bodyFrom = (url: URL, { file = '', type, body }: Response): LongBody => ({
  file,
  type: type.split(';')[0] ?? '',
  pieces: piecesOf(url, body),
})

async function* piecesOf(url: URL, body: IncomingMessage): AsyncGenerator<Piece> {
  const decoder = new TextDecoder()
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(noResponse()), TIMEOUT_MS) // only while it waits for the server
      const { done, value } = await chunks.next().finally(() => clearTimeout(timer))
      if (done) return
      yield { text: decoder.decode(value, { stream: true }), rows: 0 }
    }
  } catch (error) {
    const reason = (error as { code?: string }).code === 'ECONNRESET' ? 'the connection ended' : reasonOf(url, error)
    throw new AppError('SERVER_UNREACHABLE', `${url.origin} did not send all: ${reason}.`, { cause: error })
  } finally {
    body.destroy()
  }
}

const noResponse = () => new Error(`no response within ${TIMEOUT_MS / 1000} seconds`)

const unreachable = (url: URL, cause: unknown) =>
  new AppError('SERVER_UNREACHABLE', `Cannot reach ${url.origin}: ${reasonOf(url, cause)}.`, { cause })

function reasonOf(url: URL, error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  if (url.protocol === 'https:' && /^(EPROTO|ERR_SSL_)/.test(code ?? ''))
    return `it does not answer with TLS. If it has none, use ${url.origin.replace('https:', 'http:')}`
  return message || (code ?? 'unknown reason') // an AggregateError of several addresses has no message
}
