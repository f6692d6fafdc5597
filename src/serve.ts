import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { App } from './app/open.js'
import { gzippedFile } from './core/built.js'
import { isMaintenanceRequested } from './db/maintenance.js'
import type { Rate, Rates } from './core/limits.js'
import { buildServer } from './http/server.js'
import { startStandby } from './http/standby.js'
import { addressUrl, type ListenAddress } from './core/addresses.js'
import type { SocketFile } from './core/socketfile.js'
import { Listener } from './http/listener.js'
import type { Log } from './http/lib/site.js'
import type { Traffic } from './http/lib/traffic.js'
import { keepDocs } from './http/api/docspage.js'
import { clientFolder } from './http/web/clientfolder.js'
import type { Schedule } from './jobs/backups.js'
import type { BackupWork } from './jobs/backuptasks.js'
import { jobsOf } from './jobs/index.js'
import { absent, presence, type Presence } from './jobs/presence.js'
import { startJobs } from './jobs/runner.js'
import { sealRest } from './jobs/seals.js'
import type { Family } from './metrics/family.js'
import { limitHeapGrowth } from './process/heap.js'
import { operations } from './service/index.js'
import { Limits } from './service/lib/limits.js'
import { SiteNumbers } from './service/lib/numbers.js'
import { RequestLimit } from './service/lib/requests.js'
import { assertSecretFits } from './service/lib/tokens.js'
import { keepProgram } from './process/program.js'
import { assets, mailPages, pageGate, web } from './web/index.js'

export type { Log }

export interface Daemon {
  url: string
  listener: Listener
  /** Resolves when a restore requests maintenance: the servers of this database then close it. */
  maintenanceRequested: Promise<void>
  log: FastifyBaseLogger
  /** Closes the port, and finishes open requests and jobs. After this many seconds it closes the remaining connections. */
  stop(this: void, seconds: number): Promise<void>
  /** The same, but new connections are answered with 503 until maintenance is over. */
  beginMaintenance(this: void, seconds: number): Promise<Standby>
  /** What it has counted, and how the site is. */
  measure(this: void): Promise<Family[]>
}

/** Answers with 503 in place of a server during maintenance. */
export interface Standby {
  /** Resolves when the database may be opened again. */
  over: Promise<void>
  stop(this: void): void
}

interface Listening {
  at: ListenAddress
  /** Of a Unix socket, such as 0o660. */
  socketMode?: number | undefined
  /** An id that the workers of one server share. */
  shared?: string | undefined
  /** Takes the Unix socket once it has its name: see `Listener.open`. */
  handOver?: ((named: SocketFile) => void) | undefined
  /** Descriptors of inherited sockets, used instead of the address. */
  sockets?: readonly number[]
  /** The port of an earlier server of this process, which is still open. */
  listener?: Listener | undefined
  /** The settings of these names. */
  trustProxy?: string | undefined
  corsOrigins?: string | undefined
  /** Pages for browsers; our own by default. A folder is that of another web client. */
  pages?: 'own' | 'none' | { folder: string }
  rates: Rates
  /** Backups that are made now and then. */
  schedule?: Schedule | undefined
  /** What takes the site out over HTTP. */
  exports?: App['base']['exports']
  /** What puts a site in over HTTP. */
  imports?: App['base']['imports']
  /** How many mails leave; null for no bound. */
  mailRate?: Rate | null
  /** The folder of backups, and what is done with them when the owner asks. */
  backupWork?: (BackupWork & NonNullable<App['base']['backups']>) | undefined
  /** Of feedbackctl. */
  version: string
  /** The number of this process among the workers; absent where it is the only one. */
  worker?: number | undefined
  /** Counts the requests. */
  traffic?: Traffic | undefined
}

/** Milliseconds that starting or stopping waits for a slow database or for sealing many events, below `SHUTDOWN_GRACE`. */
const ANSWER_WITHIN_MS = 3000

/** Serves HTTP and runs the jobs until `stop`. The caller closes the database. */
export async function startDaemon(
  app: App,
  {
    at,
    socketMode,
    shared,
    handOver,
    sockets = [],
    listener: open,
    trustProxy,
    corsOrigins,
    pages = 'own',
    rates,
    schedule,
    backupWork,
    exports,
    imports,
    mailRate = null,
    version,
    worker = 0,
    traffic,
  }: Listening,
  log: Log,
): Promise<Daemon> {
  await assertSecretFits(app.base)
  const limits = new Limits(rates)
  const site = { ...app.base, rates, backups: backupWork, exports, imports, ping: app.ping, cache: app.cache, limits }
  const requests = rates.requests && new RequestLimit(rates.requests, app.base)
  let listener = open
  // Comes before the routes, which make the young generation grow
  const undoHeapLimit = limitHeapGrowth()
  const listening = async () => {
    const server = await buildServer(operations, site, log, {
      gates: [pageGate(site)],
      surfaces: pages === 'own' ? [web] : pages === 'none' ? [mailPages] : [clientFolder(pages.folder)],
      trustProxy,
      corsOrigins,
      requests,
      traffic,
      addresses: () => listener?.addresses() ?? [],
    })
    await server.ready()
    if (open) open.leadTo(server.server)
    return { server, listener: open ?? (await openPort(server, { at, socketMode, shared, handOver, sockets })) }
  }
  const { server, listener: opened } = await listening().catch((error: unknown) => {
    undoHeapLimit()
    throw error
  })
  listener = opened
  const isNew = opened !== open
  const [bound = at] = listener.addresses()
  // A host name says more than its address
  const url = addressUrl(
    sockets.length > 0 || 'socket' in bound || 'socket' in at ? bound : { ...bound, host: at.host },
  )
  const self: Presence = { url, version, worker }
  const present = presence(self, app.base.now())
  const jobs = startJobs(
    [
      present,
      ...jobsOf({ ...app.base, schedule, backupWork, mailRate, importBase: imports && { ...app.base, imports } }),
    ],
    {
      db: app.db,
      now: app.base.now,
      log: server.log,
    },
  )
  // Otherwise doctor, run immediately, would report an unknown process.
  await Promise.race([present.announced, sleep(ANSWER_WITHIN_MS, undefined, { ref: false })])
  if (isNew)
    for (const each of listener.addresses())
      server.log.info({ inherited: sockets.length > 0 || undefined }, `listening on ${addressUrl(each)}`)
  const isStopped = new AbortController()
  const end = async (seconds: number) => {
    isStopped.abort()
    await Promise.all([server.connections.drain(seconds), jobs.stop(seconds)])
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const leave = async () => {
      await sealRest({ db: app.db, now: app.base.now, log: server.log, signal }).catch(() => undefined) // the next start does
      await absent(app.db, self)
    }
    await Promise.race([leave(), sleep(ANSWER_WITHIN_MS, undefined, { ref: false })])
    await server.close()
    server.server.close() // Fastify leaves a server open that it does not let listen
    undoHeapLimit()
  }
  const measured = { database: app, numbers: new SiteNumbers(site), limits, requests, jobs }
  return {
    url,
    listener,
    measure: async () => (await import('./metrics/site.js')).measureSite(measured),
    maintenanceRequested: untilRequested(app, isStopped.signal),
    log: server.log,
    async stop(seconds) {
      listener.close()
      await end(seconds)
    },
    async beginMaintenance(seconds) {
      const standby = startStandby(listener)
      await end(seconds)
      return { stop: standby.stop, over: untilOver(app) }
    },
  }
}

type Place = Required<Pick<Listening, 'at' | 'sockets'>> & Pick<Listening, 'socketMode' | 'shared' | 'handOver'>

async function openPort(
  server: FastifyInstance,
  { at, socketMode, shared, handOver, sockets }: Place,
): Promise<Listener> {
  try {
    if (sockets.length > 0) return await Listener.inherit(sockets, server.server)
    return await Listener.open(at, server.server, { mode: socketMode, shared, handOver })
  } catch (error) {
    await server.close()
    throw error
  }
}

/**
 * Reads what a server would read from the folder of the program at some first request: an upgrade replaces the folder
 * while it runs.
 */
export async function keepProgramFiles(): Promise<void> {
  await Promise.all([keepProgram(), assets(), import('@node-rs/argon2'), import('@node-rs/bcrypt')])
  gzippedFile('threads/markdown.js')
  gzippedFile('threads/checkpoint.js')
  gzippedFile('threads/images.js')
  gzippedFile('threads/cards.js')
  gzippedFile('fonts/coverage.json')
  gzippedFile('threads/sources.js')
  keepDocs()
}

/** Milliseconds between two checks whether a restore requests maintenance. */
const POLL_MS = 1000

async function untilRequested({ db, base, databaseUrl }: App, stopped: AbortSignal): Promise<void> {
  while (!(await isMaintenanceRequested(databaseUrl, base.now(), db).catch(() => false)))
    await sleep(POLL_MS, undefined, { ref: false, signal: stopped }).catch(() => new Promise<never>(() => {}))
}

async function untilOver({ databaseUrl, base }: App): Promise<void> {
  while (await isMaintenanceRequested(databaseUrl, base.now()).catch(() => true)) await sleep(POLL_MS)
}
