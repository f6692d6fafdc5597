import type { FastifyInstance } from 'fastify'
import { Repeats } from '../../src/core/repeats.js'
import { ResponseCache } from '../../src/http/cache/responses.js'
import type { Site } from '../../src/http/lib/site.js'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import type { RequestLimit } from '../../src/service/lib/requests.js'
import { pageGate, web } from '../../src/web/index.js'
import { cleanup } from './cleanup.js'
import { verifyHit } from './hits.js'

/** What a shared server serves until it is given back. */
export interface Tenant {
  site: Site
  logs: string[]
  requests: RequestLimit | undefined
  /** Whether the handler of a cached response runs again, to compare the two. */
  rerun: boolean
}

interface Shared {
  server: FastifyInstance
  responses: ResponseCache
  /** Undefined: nobody's. */
  tenant: Tenant | undefined
}

const SILENT = { info: () => undefined, error: () => undefined }

/** Servers that no site uses, by what they were built with. */
const idle = new Map<string, Shared[]>()

/**
 * A server for a site, until the end of the test. Sites take turns with a few servers: to build one with its six hundred
 * routes takes longer than the requests of most tests.
 */
export async function shareServer(tenant: Tenant): Promise<FastifyInstance> {
  const { site, requests, rerun } = tenant
  const key = JSON.stringify([site.siteUrl, site.cache !== undefined, requests !== undefined, rerun])
  const free = idle.get(key) ?? []
  idle.set(key, free)
  const shared = free.pop() ?? (await build(tenant))
  shared.tenant = tenant
  shared.responses.clear()
  // It speaks of errors some time after them
  shared.server.repeats = new Repeats(() => (shared.tenant === tenant ? shared.server.log : SILENT))
  cleanup(() => {
    shared.tenant = undefined
    free.push(shared)
  })
  return shared.server
}

async function build(first: Tenant): Promise<Shared> {
  let shared: Shared | undefined
  const tenant = (): Tenant => {
    const present = shared ? shared.tenant : first
    if (!present) throw new Error('The test that used this server is over.')
    return present
  }
  const cache = first.site.cache && standIn(() => tenant().site.cache!)
  const site = standIn(() => (cache ? { ...tenant().site, cache } : tenant().site))
  const responses = new ResponseCache(site)
  const server: FastifyInstance = await buildServer(
    operations,
    site,
    { level: 'info', stream: { write: (line) => void (shared ? shared.tenant : first)?.logs.push(line) } },
    {
      ...(first.requests && { requests: standIn(() => tenant().requests!) }),
      gates: [pageGate(first.site)],
      surfaces: [web],
      responses,
      ...(first.rerun && {
        verifyHit: async (hit) => {
          const { logs, site } = tenant()
          await verifyHit(server, { ...hit, logs, revision: () => site.cache!.revision(true) })
        },
      }),
    },
  )
  shared = { server, responses, tenant: first }
  return shared
}

/** An object with the properties that another one has at the time. */
const standIn = <T extends object>(present: () => T): T =>
  new Proxy<T>({} as T, {
    get(_target, key) {
      const object = present()
      const value: unknown = Reflect.get(object, key)
      return typeof value === 'function' ? value.bind(object) : value
    },
    set: (_target, key, value) => Reflect.set(present(), key, value),
    has: (_target, key) => Reflect.has(present(), key),
    ownKeys: () => Reflect.ownKeys(present()),
    getOwnPropertyDescriptor(_target, key) {
      const own = Reflect.getOwnPropertyDescriptor(present(), key)
      return own && { ...own, configurable: true }
    },
  })
