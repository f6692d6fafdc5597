import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LENGTHS } from '../core/lengths.js'
import type { ResponseCache } from './cache/responses.js'
import type { Trust } from './lib/logging.js'
import type { Origins } from './origins.js'
import type { Site } from './lib/site.js'

/** For the other fields of a body, in bytes. */
const BESIDES_TEXT = 8 * 1024

/**
 * In bytes. The longest text fits in any script: JSON may escape a character as `\u4e2d`. The published API takes 100 kB,
 * which refuses 34,000 characters of Chinese.
 */
export const BODY_LIMIT = LENGTHS.text * 6 + BESIDES_TEXT

/** In bytes. Percent-encoding writes a character as up to twelve, so forms take the same texts as the API. */
export const FORM_LIMIT = LENGTHS.text * 12 + BESIDES_TEXT

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
