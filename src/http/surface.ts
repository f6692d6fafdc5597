import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ResponseCache } from './cache/responses.js'
import type { Trust } from './lib/logging.js'
import type { Origins } from './origins.js'
import type { Site } from './lib/site.js'

/** In bytes: 100 kB, as in the published API. */
export const BODY_LIMIT = 100 * 1024

interface Parts {
  site: Site
  responses: ResponseCache
  origins: Origins
  /** Peers whose X-Forwarded-For is believed; absent: none. */
  trust: Trust | undefined
  /** Responds to requests that no route matches. Returns false to leave the response to the JSON API. */
  onMissing(this: void, handler: MissingHandler): void
}

export type MissingHandler = (this: void, request: FastifyRequest, reply: FastifyReply) => Promise<unknown> | false

/** A Fastify plugin beside the JSON API, with its own routes, hooks and errors: the pages, the probes. */
export type Surface = (server: FastifyInstance, parts: Parts) => Promise<void> | void
