import type { FastifyRequest } from 'fastify'
import { withoutPort } from '../service/lib/clients.js'
import type { Context } from '../service/lib/context.js'

/** Who sent a request, for limits and for the list of sessions. */
export const clientOf = (request: FastifyRequest): NonNullable<Context['client']> => ({
  address: withoutPort(request.ip),
  isForwarded: (request.ips?.length ?? 1) > 1,
  userAgent: (request.headers['user-agent'] ?? '').slice(0, 200),
})
