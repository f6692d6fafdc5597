import type { Server } from 'node:http'
import Fastify, { LogController, type FastifyInstance, type FastifyReply } from 'fastify'
import { boundAddress, type ListenAddress } from '../core/addresses.js'
import { Repeats } from '../core/repeats.js'
import { API_ROOT, REQUEST_ID } from '../core/wire.js'
import type { AnyOperation } from '../service/lib/operation.js'
import { isLoopback } from '../service/lib/clients.js'
import type { RequestLimit } from '../service/lib/requests.js'
import { api, jsonErrors } from './api/index.js'
import { ResponseBatch } from './cache/batch.js'
import { Front, type Gate, type VerifyHit } from './cache/front.js'
import { ResponseCache } from './cache/responses.js'
import { CacheableRoutes } from './cache/routes.js'
import { Turns } from './cache/turns.js'
import { Connections, type Limits } from './lib/connections.js'
import { conventions } from './conventions.js'
import { Downloads } from './downloads.js'
import {
  asAppError,
  logUnread,
  rejectBusy,
  rejectFailed,
  rejectMalformed,
  rejectSlow,
  rejectWaiting,
} from './errors.js'
import { clientGate, hostGate } from './gate.js'
import { BARE_HEADERS, securityHeaders } from './headers.js'
import { requestId, trustOf } from './lib/logging.js'
import { Traffic } from './lib/traffic.js'
import { LongAnswers } from './longanswers.js'
import { Origins } from './origins.js'
import { probes } from './probes.js'
import type { Log, Site } from './lib/site.js'
import { BODY_LIMIT, type MissingHandler, type Surface } from './surface.js'
import { Uploads } from './uploads.js'
import { avatars } from './web/avatars.js'

export interface ServerOptions {
  /** Run for every request, before the response cache. */
  gates?: readonly Gate[]
  /** Served beside the JSON API, the probes and the pictures of people. */
  surfaces?: readonly Surface[]
  /** The setting of this name. */
  trustProxy?: string | undefined
  /** The setting `cors.origins`. */
  corsOrigins?: string | undefined
  /** Where it is reached, if it does not listen itself. */
  addresses?: (server: FastifyInstance) => ListenAddress[]
  limits?: Partial<Limits>
  /** Absent: an address may send any number of requests. */
  requests?: RequestLimit | undefined
  /** Counts the requests. */
  traffic?: Traffic | undefined
  /** Called for each hit of the response cache, in tests. */
  verifyHit?: VerifyHit
  /** Its response cache, where several servers of tests are one. */
  responses?: ResponseCache
}

export async function buildServer(
  operations: readonly AnyOperation[],
  site: Site,
  log: Log,
  {
    gates = [],
    surfaces = [],
    trustProxy,
    corsOrigins,
    limits = {},
    requests,
    traffic = new Traffic(),
    verifyHit,
    responses = new ResponseCache(site),
    addresses = (own) => own.addresses().map(boundAddress),
  }: ServerOptions = {},
): Promise<FastifyInstance> {
  const routes = new CacheableRoutes()
  const trust = trustOf(trustProxy)
  const batch = new ResponseBatch(() => server.log, { trust, traffic })
  const connections = new Connections(limits, {
    tooSlow: (socket) => {
      traffic.refused(408)
      rejectSlow(server.log, socket)
    },
    tooMany: (socket) => {
      traffic.refused(503)
      rejectBusy(server.log, socket)
    },
    tooManyWaiting: (response) => {
      traffic.refused(503)
      rejectWaiting(server.log, response)
    },
    unread: (socket, bytes) => logUnread(server.log, socket, bytes),
  })
  const front = new Front({
    gates: [hostGate, clientGate({ limit: requests, trust, log: () => server.log }), ...gates],
    traffic,
    verifyHit,
    reject: (error, response) => rejectFailed(server.log, error, response),
    data: site.cache,
    secret: site.secret,
    responses,
    routes,
    batch,
    turns: new Turns(),
    connections,
  })
  const server: FastifyInstance = Fastify<Server>({
    serverFactory: (handle, options) => front.server(handle, options),
    logger: log,
    logController: new LogController({ disableRequestLogging: true }), // conventions.ts logs one line per request
    childLoggerFactory: (logger) => logger, // no logger per request: each log line names its request
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // a request that has arrived is finished
    genReqId: requestId,
    trustProxy: trust ?? false,
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 5000 },
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connections.isReceiving(socket)) return // `Uploads` has its own limit
      if (rejectMalformed(server.log, error, socket)) traffic.refused(400)
    },
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const known = asAppError(error)
      traffic.refused(known.status)
      if (known.status >= 500) server.log.error({ reqId: request.id, err: error }, known.message)
      void reply
        .code(known.status)
        .headers({ [REQUEST_ID]: request.id, ...BARE_HEADERS })
        .send(known.body)
    },
  })
  server.addHook('onRoute', ({ method, url, config }) => {
    const methods = [method].flat()
    if (config?.op !== undefined) traffic.declare(config.op, config.part ?? 'api')
    for (const each of ['GET', 'POST'] as const)
      if (config?.cache && methods.includes(each)) routes.add({ ...config.cache, method: each, path: url })
    if (config?.prompt) routes.addPrompt(methods, url)
  })
  server.decorate('connections', connections)
  server.decorate('longAnswers', new LongAnswers(connections))
  const repeats = new Repeats(() => server.log)
  server.decorate('repeats', repeats)
  server.decorate('downloads', new Downloads({ connections, log: () => server.log, repeats }))
  server.decorate('uploads', new Uploads({ connections, log: () => server.log }))
  server.decorateRequest('errorOf', undefined)
  await securityHeaders(server, site.siteUrl)
  conventions(server, { responses, traffic })
  let missing: MissingHandler = () => false
  jsonErrors(server, responses, { headers: BARE_HEADERS, missing: (...request) => missing(...request) })
  server.addHook('preClose', async () => {
    batch.flush() // else connections with a pending response would stay open, and their next request would be rejected
  })
  const listensOnLoopback = () => addresses(server).every((bound) => 'socket' in bound || isLoopback(bound.host))
  const origins = new Origins({ setting: corsOrigins, siteUrl: site.siteUrl, listensOnLoopback })
  await server.register(async (surface) => api(surface, { operations, site, responses, origins }), { prefix: API_ROOT })
  const onMissing = (handler: MissingHandler) => void (missing = handler)
  for (const surface of [probes, avatars, ...surfaces])
    await server.register(async (plugin) => surface(plugin, { site, responses, origins, trust, onMissing }))
  return server
}
