import { AppError } from '../core/errors.js'
import { PROOF_HEADER, type Echo } from '../core/wire.js'
import { withoutPort } from '../service/lib/clients.js'
import { isOperatorProof, sealedAnswer } from '../service/lib/proof.js'
import type { Surface } from './surface.js'

/** For load balancers and monitors. `/healthz` does not wait for the database. */
export const probes: Surface = (server, { site, trust }) => {
  server.get('/api', { config: { op: 'api', part: 'probe' } }, async (_request, reply) => {
    reply.type('text/html; charset=utf-8')
    return '👍'
  })
  server.get('/healthz', { config: { op: 'healthz', part: 'probe', prompt: true } }, async () => ({ status: 'ok' }))
  server.get('/readyz', { config: { op: 'readyz', part: 'probe', prompt: true } }, async () => {
    if (server.connections.isDraining) throw new AppError('DATABASE_UNREACHABLE', 'The server is stopping.')
    await site.ping()
    return { status: 'ready' }
  })
  // For "feedbackctl doctor --url": a proxy can be judged only by what it lets through
  server.get('/echoz', { config: { op: 'echoz', part: 'probe' } }, async ({ headers, socket, ip }, reply) => {
    const proof = String(headers[PROOF_HEADER])
    if (!(await isOperatorProof(site, proof))) throw new AppError('NOT_FOUND', 'There is no such route.')
    reply.header('cache-control', 'no-store').type('text/plain; charset=utf-8')
    const { remoteAddress: address = '', remotePort: port = 0 } = socket
    const echo: Echo = {
      peer: { address, port },
      isPeerTrusted: trust?.(address, 0) ?? false,
      trustsAll: trust?.(ANYWHERE, 0) ?? false,
      forwardedFor: headers['x-forwarded-for']?.toString() ?? null,
      client: withoutPort(ip),
    }
    return sealedAnswer(site, proof, JSON.stringify(echo))
  })
}

/** An address that nobody has: it is reserved for documentation. */
const ANYWHERE = '203.0.113.254'
