import type { FastifyInstance } from 'fastify'
import type { ResponseCache } from './cache/responses.js'
import type { Site } from './site.js'

/** Part of the server with its own parsers, errors and hooks: the JSON API, the pages, the probes. */
export type Surface = (server: FastifyInstance, parts: { site: Site; responses: ResponseCache }) => Promise<void> | void
