import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { App } from './app.js'
import { gzippedFile } from './core/built.js'
import { AppError } from './core/errors.js'
import { isAsked } from './db/aside.js'
import type { Rates } from './core/limits.js'
import { buildServer } from './http/server.js'
import { startStandby } from './http/standby.js'
import type { Log } from './http/site.js'
import { keepDocs } from './http/api/docspage.js'
import { clientFolder } from './http/web/clientfolder.js'
import type { Schedule } from './jobs/backups.js'
import { jobsOf } from './jobs/index.js'
import { absent, presence, type Presence } from './jobs/presence.js'
import { startJobs } from './jobs/runner.js'
import { limitHeapGrowth } from './process/heap.js'
import { operations } from './service/index.js'
import { Limits } from './service/lib/limits.js'
import { RequestLimit } from './service/lib/requests.js'
import { assertSecretFits } from './service/lib/tokens.js'
import { keepProgram } from './process/program.js'
import { assets, mailPages, pageGate, web } from './web/index.js'

export type { Log }

export interface Daemon {
  url: string
  port: number
  /** Resolves when a restore asks the servers of this database to close it. */
  asked: Promise<void>
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
  /** What browsers get; the pages where it is left out. A folder is that of another web client. */
  pages?: 'own' | 'none' | { folder: string }
  rates: Rates
  /** Backups that are made now and then. */
  schedule?: Schedule | undefined
  /** Of feedbackctl. */
  version: string
  /** The number of this process among the workers; absent where it is the only one. */
  worker?: number | undefined
}

/** How long a server that stops waits for a database that does not answer. */
const ABSENT_WITHIN_MS = 1000

/** Serves HTTP and runs the jobs until `stop`. The caller closes the database. */
export async function startDaemon(
  app: App,
  { host, port, trustProxy, corsOrigins, pages = 'own', rates, schedule, version, worker = 0 }: Listening,
  log: Log,
): Promise<Daemon> {
  await assertSecretFits(app.base)
  const site = { ...app.base, ping: app.ping, cache: app.cache, limits: new Limits(rates) }
  const requests = rates.requests && new RequestLimit(rates.requests, app.base)
  const server = await buildServer(operations, site, log, {
    gates: [pageGate(site)],
    surfaces: pages === 'own' ? [web] : pages === 'none' ? [mailPages] : [clientFolder(pages.folder)],
    trustProxy,
    corsOrigins,
    requests,
  })
  try {
    await server.listen({ host, port, listenTextResolver: (address) => `listening on ${address}` })
  } catch (error) {
    await server.close()
    throw listenFailed(error, host, port)
  }
  const undoHeapLimit = limitHeapGrowth()
  const bound = (server.server.address() as AddressInfo).port // an object, as the server listens on a port
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  const self: Presence = { url, version, worker }
  const jobs = startJobs([presence(self, app.base.now()), ...jobsOf({ ...app.base, schedule })], {
    db: app.db,
    now: app.base.now,
    log: server.log,
  })
  const isStopped = new AbortController()
  return {
    url,
    port: bound,
    asked: untilAsked(app, isStopped.signal),
    log: server.log,
    async stop(seconds) {
      isStopped.abort()
      await Promise.all([server.connections.drain(seconds), jobs.stop(seconds)])
      await Promise.race([absent(app.db, self), sleep(ABSENT_WITHIN_MS, undefined, { ref: false })])
      await server.close()
      undoHeapLimit()
    },
  }
}

/**
 * Reads what a server would read from the folder of the program at some first request: an upgrade replaces the folder
 * while it runs.
 */
export async function keepProgramFiles(): Promise<void> {
  await Promise.all([keepProgram(), assets(), import('@node-rs/argon2')])
  gzippedFile('threads/markdown.js')
  gzippedFile('threads/checkpoint.js')
  keepDocs()
}

/** Milliseconds between two looks whether a restore asks. */
const LOOK_MS = 1000

async function untilAsked({ db, base, databaseUrl }: App, stopped: AbortSignal): Promise<void> {
  while (!(await isAsked(databaseUrl, base.now(), db).catch(() => false)))
    await sleep(LOOK_MS, undefined, { ref: false, signal: stopped }).catch(() => new Promise<never>(() => {}))
}

/** What stands in for a server until a restore has ended. */
export interface Standby {
  /** Resolves when the database may be opened again. */
  over: Promise<void>
  stop(this: void): Promise<void>
}

/** Listens where a server did, and answers with 503. The caller has closed the database, and stops this one. */
export async function standBy(
  { databaseUrl, ...address }: { databaseUrl: string; host: string; port: number },
  now: () => Date,
): Promise<Standby> {
  // Without it clients are refused, and try again too
  const { stop } = await startStandby(address).catch(() => ({ stop: () => Promise.resolve() }))
  const over = async () => {
    while (await isAsked(databaseUrl, now()).catch(() => true)) await sleep(LOOK_MS)
  }
  return { over: over(), stop }
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
