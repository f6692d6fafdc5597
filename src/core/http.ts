import { once } from 'node:events'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { HttpFailure } from './httpfailure.js'

/** Errors of sockets stay as they are. */
export { HttpFailure }

interface HttpRequest {
  method?: string
  headers: OutgoingHttpHeaders & { 'user-agent': string }
  /** A body of any length is sent as the server takes it, and may go on after the response begins. */
  body?: string | AsyncIterable<Uint8Array> | undefined
  /** Milliseconds until the response begins, or takes the next part of a body of any length. */
  timeout: number
  /** A Unix socket to send it to, in place of the host and port of the URL. */
  socketPath?: string | undefined
  /** Accepts any certificate. The connection is used once: no other request may go over one that was not verified. */
  anyCertificate?: boolean
  /**
   * Fails with PRIVATE_ADDRESS unless all addresses of the host are of the internet, and dials one that was checked. For
   * addresses that others than the operator give.
   */
  onlyPublic?: boolean
}

/**
 * Every HTTP request that leaves goes through here. It follows no redirects, and the body of the response is not read
 * yet. It uses `node:http`, as loading `fetch` takes twice as long as the rest of a command.
 */
export async function openHttp(
  url: URL,
  { method = 'GET', headers, body, timeout, socketPath, anyCertificate = false, onlyPublic = false }: HttpRequest,
): Promise<IncomingMessage> {
  const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  const guard = onlyPublic ? await import('./publichosts.js') : undefined
  guard?.assertPublicHost(url)
  return new Promise<IncomingMessage>((resolve, reject) => {
    const timer = setTimeout(() => sent.destroy(new HttpFailure('TIMEOUT')), timeout)
    const options = {
      method,
      ...(socketPath !== undefined && { socketPath }),
      // Node adds no length to a DELETE
      headers: { ...headers, ...(typeof body === 'string' && { 'content-length': Buffer.byteLength(body) }) },
      ...(anyCertificate && { agent: false as const, rejectUnauthorized: false }),
      // A connection that is kept was dialled without the check
      ...(guard && { agent: false as const, lookup: guard.publicLookup }),
    }
    const sent = request(url, options, (response) => {
      clearTimeout(timer)
      response.on('error', () => {}) // whoever reads the body later finds it
      resolve(response)
    })
    sent.on('error', reject).on('close', () => clearTimeout(timer))
    if (typeof body === 'object') void sendParts(sent, body, () => timer.refresh())
    else sent.end(body)
  })
}

/** Sends until the body ends, or its response does: a server that refuses the rest has answered. */
async function sendParts(sent: ClientRequest, body: AsyncIterable<Uint8Array>, progress: () => void): Promise<void> {
  let [hasResponse, isOver] = [false, false]
  const over = new Promise<void>((resolve) => {
    const end = () => {
      isOver = true
      resolve()
    }
    sent.once('close', end).once('response', (response) => {
      hasResponse = true
      response.once('end', end).once('close', end)
    })
  })
  try {
    for await (const part of body) {
      if (isOver) break
      if (!sent.write(part)) await Promise.race([once(sent, 'drain').catch(() => {}), over])
      if (!isOver && !hasResponse) progress()
    }
    if (isOver) sent.destroy()
    else sent.end()
  } catch (error) {
    sent.destroy(error as Error)
  }
}

interface Reading {
  /** Milliseconds for the whole body. */
  timeout: number
  maxBytes: number
  /** What a larger body does: it fails, or its rest is left unread. */
  beyond: 'fail' | 'cut'
}

/** Reads the body of a response to its end. */
export async function readBody(response: IncomingMessage, { timeout, maxBytes, beyond }: Reading): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => response.destroy(new HttpFailure('TIMEOUT')), timeout)
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part)
      bytes += part.length
      if (bytes <= maxBytes) continue
      if (beyond === 'fail') throw new HttpFailure('TOO_LARGE')
      break
    }
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(parts).subarray(0, maxBytes)
}
