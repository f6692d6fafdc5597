import { createServer, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { cleanup } from './site.js'

const DAY = 24 * 60 * 60 * 1000

/** A certificate with its key, as PEM. */
interface Certified {
  cert: string
  key: string
}

/** A certificate of an authority, or one that has signed itself. `days`: how long it is still valid, also below 0; `age`: for how many it has been. */
export async function certificate({
  days = 90,
  age = 100,
  host = '127.0.0.1',
  of,
}: { days?: number; age?: number; host?: string; of?: Certified } = {}): Promise<Certified> {
  const name = /^[\d.]+$/.test(host) ? ({ type: 7, ip: host } as const) : ({ type: 2, value: host } as const)
  const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - age * DAY),
    notAfterDate: new Date(Date.now() + days * DAY),
    extensions: [{ name: 'subjectAltName', altNames: [name] }],
    ...(of && { ca: { cert: of.cert, key: of.key } }),
  })
  return { cert, key }
}

export async function authority(): Promise<Certified> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'An authority' }], {
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - DAY),
    notAfterDate: new Date(Date.now() + 365 * DAY),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    ],
  })
  return { cert, key }
}

export interface Proxy {
  url: string
  /** Where requests go: `http://127.0.0.1:8000`. */
  target: string
  /** What it makes of the headers of a request. By default it sets X-Forwarded-For, -Proto and -Host. */
  asks(this: void, headers: IncomingHttpHeaders, visitor: string): OutgoingHttpHeaders
  /** What it makes of the headers of an answer. */
  answers(this: void, headers: IncomingHttpHeaders): OutgoingHttpHeaders
  /** What it makes of the status of an answer. */
  status(this: void, status: number): number
  /** What it makes of the path. */
  path(this: void, path: string): string
}

/** Starts a reverse proxy, by default one that does all as it should. */
export async function proxy(tls?: Certified): Promise<Proxy> {
  const self: Proxy = {
    url: '',
    target: '',
    asks: (headers, visitor) => ({
      ...headers,
      'x-forwarded-for': visitor,
      'x-forwarded-proto': tls ? 'https' : 'http',
      'x-forwarded-host': headers.host,
    }),
    answers: (headers) => headers,
    status: (status) => status,
    path: (path) => path,
  }
  const server = (tls ? createSecureServer.bind(undefined, tls) : createServer)((incoming, outgoing) => {
    const headers = self.asks(incoming.headers, incoming.socket.remoteAddress ?? '')
    request(`${self.target}${self.path(incoming.url ?? '/')}`, { headers, method: incoming.method }, (response) => {
      outgoing.writeHead(self.status(response.statusCode ?? 0), self.answers(response.headers))
      response.pipe(outgoing)
    })
      .on('error', () => outgoing.writeHead(502).end('Bad Gateway'))
      .end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup(async () => void server.close())
  self.url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  return self
}
