import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { App } from './app.js'
import { AppError } from './core/errors.js'
import { staySmall } from './core/small.js'
import { buildServer } from './http/server.js'
import type { Log } from './http/site.js'
import { deliver } from './mail/outbox.js'
import { openTransport } from './mail/transport.js'
import { operations } from './service/index.js'
import { assertSecretFits } from './service/lib/tokens.js'

/** How often the outbox is looked at, in milliseconds: mail of any process leaves within a second. */
const POLL = 500
/** … and how long it waits when the database could not be read. */
const AFTER_FAILURE = 5000

export type { Log }

export interface Daemon {
  url: string
  log: FastifyBaseLogger
  /** Answers what was asked, for so many seconds, then closes. */
  stop(seconds: number): Promise<void>
}

/** Where it listens, and whether it is the one of several that delivers the outbox; were there two, each mail would still leave once. */
interface Duty {
  host: string
  port: number
  delivers?: boolean
}

/** Serves the API and delivers the outbox until it is stopped. The database stays the caller's to close. */
export async function startDaemon(app: App, { host, port, delivers = true }: Duty, log: Log): Promise<Daemon> {
  await assertSecretFits(app.base)
  const server = await buildServer(operations, { ...app.base, ping: app.ping, cache: app.cache }, log)
  try {
    await server.listen({ host, port, listenTextResolver: (address) => `listening on ${address}` })
  } catch (error) {
    await server.close()
    throw listenFailed(error, host, port)
  }
  const grow = staySmall()
  const stopCourier = delivers ? await startCourier(app, server.log) : async () => {}
  const bound = (server.server.address() as AddressInfo).port // listening on a port, so never a path or null
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    log: server.log,
    async stop(seconds) {
      const cut = setTimeout(() => server.server.closeAllConnections(), seconds * 1000)
      await Promise.all([
        server.close(),
        Promise.race([stopCourier(), pause(seconds * 1000, undefined, { ref: false })]),
      ])
      clearTimeout(cut)
      grow()
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
  return reason === undefined
    ? error
    : new AppError('LISTEN_FAILED', `Cannot listen on ${host}:${port}: ${reason}. Choose another with --listen.`, {
        cause: error,
      })
}

async function startCourier({ base: { db, now, mail } }: App, log: FastifyBaseLogger): Promise<() => Promise<void>> {
  if (!mail) return async () => {}
  const transport = await openTransport(mail)
  const stopped = new AbortController()
  const unrecorded = ({ mailId }: { mailId: string }, error: Error) =>
    log.warn({ mailId, reason: error.message }, 'mail was delivered, but that cannot be recorded yet')
  const work = async () => {
    while (!stopped.signal.aborted) {
      let wait = POLL
      try {
        for await (const { mail: sent, error } of deliver(db, transport, now, unrecorded)) {
          if (error)
            log.warn(
              { mailId: sent.mailId, attempts: sent.attempts, reason: error.message },
              'mail could not be delivered, and will be tried again',
            )
          else log.info({ mailId: sent.mailId }, 'mail delivered')
          if (stopped.signal.aborted) break
        }
      } catch (error) {
        log.error({ err: error }, 'the outbox could not be worked on')
        wait = AFTER_FAILURE
      }
      await pause(wait, undefined, { signal: stopped.signal }).catch(() => {}) // aborted: the loop ends by itself
    }
    transport.close()
  }
  const working = work()
  return async () => {
    stopped.abort()
    await working
  }
}
