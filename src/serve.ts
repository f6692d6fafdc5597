import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { App } from './app.js'
import { AppError } from './core/errors.js'
import type { Rates } from './core/limits.js'
import { buildServer } from './http/server.js'
import type { Log } from './http/site.js'
import { jobsOf } from './jobs/index.js'
import { startJobs } from './jobs/runner.js'
import { limitHeapGrowth } from './process/heap.js'
import { operations } from './service/index.js'
import { Limits } from './service/lib/limits.js'
import { RequestLimit } from './service/lib/requests.js'
import { assertSecretFits } from './service/lib/tokens.js'

export type { Log }

export interface Daemon {
  url: string
  log: FastifyBaseLogger
  /** Finishes open requests and jobs. After this many seconds it closes the remaining connections. */
  stop(seconds: number): Promise<void>
}

interface Listening {
  host: string
  port: number
  /** The settings of these names. */
  trustProxy?: string | undefined
  corsOrigins?: string | undefined
  rates: Rates
}

/** Serves HTTP and runs the jobs until `stop`. The caller closes the database. */
export async function startDaemon(
  app: App,
  { host, port, trustProxy, corsOrigins, rates }: Listening,
  log: Log,
): Promise<Daemon> {
  await assertSecretFits(app.base)
  const site = { ...app.base, ping: app.ping, cache: app.cache, limits: new Limits(rates) }
  const requests = rates.requests && new RequestLimit(rates.requests, app.base)
  const server = await buildServer(operations, site, log, { trustProxy, corsOrigins, requests })
  try {
    await server.listen({ host, port, listenTextResolver: (address) => `listening on ${address}` })
  } catch (error) {
    await server.close()
    throw listenFailed(error, host, port)
  }
  const undoHeapLimit = limitHeapGrowth()
  const jobs = startJobs(jobsOf(app.base), { db: app.db, now: app.base.now, log: server.log })
  const bound = (server.server.address() as AddressInfo).port // an object, as the server listens on a port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    log: server.log,
    async stop(seconds) {
      await Promise.all([server.connections.drain(seconds), jobs.stop(seconds)])
      await server.close()
      undoHeapLimit()
    },
  }
}

function listenFailed(error: unknown, host: string, port: number): unknown {
  const { code } = error as { code?: string }
  const reasons: Record<string, string> = {
    EADDRINUSE: 'another program listens there',
    EACCES: 'this user may not open that port',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'there is no such host',
  }
  const reason = reasons[code ?? '']
  if (reason === undefined) return error
  const message = `Cannot listen on ${host}:${port}: ${reason}. Choose another with --listen.`
  return new AppError(code === 'EADDRINUSE' ? 'PORT_IN_USE' : 'LISTEN_FAILED', message, { cause: error })
}
