import type { FastifyInstance } from 'fastify'
import { inject } from 'light-my-request'
import { REQUEST_ID } from '../../src/core/wire.js'
import type { Hit } from '../../src/http/cache/front.js'

interface Verified extends Hit {
  /** The lines of the log of the server. */
  logs: string[]
  /** The number of the newest change of the data. */
  revision(): number | Promise<number>
}

/** Runs the handler of a cached response again, and rejects if it sends other bytes although no row has changed. */
export async function verifyHit(
  server: FastifyInstance,
  { cached, request, body, logs, revision }: Verified,
): Promise<void> {
  const before = await revision()
  const response = await inject((req, res) => server.routing(req, res), {
    method: request.method as 'GET' | 'POST',
    url: request.url ?? '/',
    headers: request.headers as Record<string, string>,
    ...(body !== '' && { payload: Buffer.from(body, 'latin1') }),
  })
  const line = logs.findIndex((each) => each.includes(String(response.headers[REQUEST_ID])))
  if (line >= 0) logs.splice(line, 1)
  if (before !== cached.revision || (await revision()) !== before) return
  const bytes = typeof cached.body === 'string' ? Buffer.from(cached.body, 'latin1') : cached.body
  const isFresh =
    response.statusCode === 304 ? response.headers.etag === cached.etag : bytes.equals(response.rawPayload)
  if (!isFresh)
    throw new Error(`${cached.op} is cached, but responds differently if it runs again: ${bytes.toString()} is now ${response.payload}`) // prettier-ignore
}
