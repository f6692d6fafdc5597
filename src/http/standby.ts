import { createServer } from 'node:http'
import { AppError } from '../core/errors.js'
import { RETRY_AFTER, sendError } from './errors.js'
import { BARE_HEADERS } from './headers.js'
import type { Listener } from './listener.js'
import { requestId } from './lib/logging.js'

const AWAY = new AppError('DATABASE_UNREACHABLE', 'The site is being restored from a backup. Try again in a moment.')

/** How long a request may take that has begun to arrive, in milliseconds. */
const UNFINISHED_MS = 2000

/** Answers every request with 503 until it is stopped, so that clients try again. `/healthz` succeeds. */
export function startStandby(listener: Listener): { stop(this: void): void } {
  const server = createServer((request, response) => {
    request.resume()
    response.shouldKeepAlive = false // the next request is one for the site
    if (request.url?.split('?')[0] === '/healthz') return void response.writeHead(200, BARE_HEADERS).end('{"status":"ok"}') // prettier-ignore
    response.setHeader('retry-after', RETRY_AFTER)
    if (!request.headers.accept?.includes('text/html')) return sendError(response, AWAY, requestId(request))
    response.writeHead(503, { ...BARE_HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(`${AWAY.message}\n`)
  })
  listener.leadTo(server)
  return {
    stop() {
      // Node's `close` would at once cut connections whose request is still on its way
      setTimeout(() => {
        server.close()
        server.closeAllConnections()
      }, UNFINISHED_MS).unref()
    },
  }
}
