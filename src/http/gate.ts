import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { AppError } from '../core/errors.js'
import { rateLimited } from '../core/limits.js'
import { isPrivate } from '../service/lib/clients.js'
import type { RequestLimit } from '../service/lib/requests.js'
import type { Gate } from './cache/front.js'
import { sendError, sendRefusal } from './errors.js'
import { clientAddress, isForwarded, requestId, type Trust } from './lib/logging.js'

interface Parts {
  limit: RequestLimit | undefined
  trust: Trust | undefined
  log(this: void): FastifyBaseLogger
}

/** Refuses the requests of a client that sends too many, and warns where clients cannot be told apart. */
export function clientGate({ limit, trust, log }: Parts): Gate {
  let isWarned = false
  return (request, response) => {
    if (isPreflight(request)) return true // its page could read no refusal, and it reads and changes nothing
    if (!isWarned && isBehindUnknownProxy(request, trust)) {
      isWarned = true
      log().warn(
        { proxy: request.socket.remoteAddress },
        'requests come through a proxy that trust-proxy does not name: its clients cannot be told apart, in the log and for limits',
      )
    }
    const address = clientAddress(request, trust) ?? ''
    const refusal = limit?.take({ address, isForwarded: isForwarded(request, trust) })
    if (!refusal) return true
    const { seconds, isFirst } = refusal
    if (isFirst) log().warn({ remoteAddress: address, seconds }, 'an address sends too many requests, and is refused')
    sendRefusal(request, response, rateLimited('Too many requests.', seconds), seconds)
    return false
  }
}

/** Node joins duplicate Host headers. They are rejected, because a proxy may use the other one. */
export const hostGate: Gate = (request, response) => {
  if (!request.headers.host?.includes(',')) return true
  sendError(response, new AppError('BAD_REQUEST', 'The request has more than one Host header.'), requestId(request))
  return false
}

const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined

/** Public addresses may send the header too, to mislead. */
const isBehindUnknownProxy = ({ headers, socket }: IncomingMessage, trust: Trust | undefined): boolean =>
  headers['x-forwarded-for'] !== undefined &&
  socket.remoteAddress !== undefined &&
  !trust?.(socket.remoteAddress, 0) &&
  isPrivate(socket.remoteAddress)
