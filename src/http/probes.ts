import { AppError } from '../core/errors.js'
import type { Surface } from './surface.js'

/** For load balancers and monitors. `/healthz` does not wait for the database. */
export const probes: Surface = (server, { site }) => {
  server.get('/api', async (_request, reply) => {
    reply.type('text/html; charset=utf-8')
    return '👍'
  })
  server.get('/healthz', async () => ({ status: 'ok' }))
  server.get('/readyz', async () => {
    if (server.connections.isDraining) throw new AppError('DATABASE_UNREACHABLE', 'The server is stopping.')
    await site.ping()
    return { status: 'ready' }
  })
}
