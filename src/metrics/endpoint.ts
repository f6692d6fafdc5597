import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { shownAddress } from '../core/addresses.js'
import { Listener } from '../http/listener.js'

/** Prometheus' text format. */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** A scraper needs one connection. */
const MAX_CONNECTIONS = 32
/** Milliseconds in which a request has to arrive. */
const ARRIVAL_MS = 10_000

interface Options {
  host: string
  port: number
  /** What a scraper has to send as `Authorization: Bearer`; absent: nothing. */
  token: string | undefined
  /** What has been measured, as text. */
  read(this: void): Promise<string>
  failed(this: void, error: unknown): void
}

export interface Endpoint {
  url: string
  close(this: void): void
}

/** Opens the port that shows the metrics. */
export async function openEndpoint({ host, port, token, read, failed }: Options): Promise<Endpoint> {
  let scrape: Promise<string> | undefined
  /** All who ask meanwhile share one scrape, so that nobody can make the server measure all the time. */
  const shared = () => (scrape ??= read().finally(() => (scrape = undefined)))
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    const answer = (status: number, body: string, headers = {}) =>
      response
        .writeHead(status, {
          'content-type': TYPE,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'content-length': Buffer.byteLength(body),
          ...headers,
        }) // prettier-ignore
        .end(request.method === 'HEAD' ? '' : body)
    if (!isAllowed(request, token)) return void answer(401, 'This server needs its metrics.token, as "Authorization: Bearer TOKEN".\n', { 'www-authenticate': 'Bearer realm="metrics"' }) // prettier-ignore
    if (request.url?.split('?')[0] !== '/metrics') return void answer(404, 'The metrics are at /metrics.\n')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void answer(405, 'The metrics can only be read.\n', { allow: 'GET, HEAD' })
    shared().then(
      (text) => answer(200, text),
      (error: unknown) => {
        failed(error)
        answer(500, 'The metrics cannot be read now. The log says why.\n')
      },
    )
  }
  const server = createServer({ headersTimeout: ARRIVAL_MS, requestTimeout: ARRIVAL_MS }, handle)
  const listener = await Listener.open({ host, port }, server, { setting: 'metrics.listen' })
  listener.limit(MAX_CONNECTIONS)
  const [bound = { host, port }] = listener.addresses()
  return {
    url: `http://${shownAddress({ ...bound, host })}/metrics`,
    close() {
      listener.close()
      server.closeAllConnections()
    },
  }
}

/** Compares digests, which have one length: how long it takes says nothing about the token. */
function isAllowed({ headers }: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true
  const [, given = ''] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  return timingSafeEqual(digestOf(given), digestOf(token))
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
