import type { FastifyInstance } from 'fastify'
import type { ResponseCache } from './cache/responses.js'
import type { Site } from './site.js'

/** A Fastify plugin beside the JSON API, with its own routes, hooks and errors: the pages, the probes. */
export type Surface = (server: FastifyInstance, parts: { site: Site; responses: ResponseCache }) => Promise<void> | void
