import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { REFUSAL_HEADER } from '../core/wire.js'

/** A year: as long as browsers keep to https after a visit. */
const HSTS_SECONDS = 365 * 24 * 60 * 60

/** For whatever is no page: a browser that is led to it runs nothing, loads nothing, and shows it in no frame. */
const NOTHING_RUNS = "default-src 'none';frame-ancestors 'none'"

/** Access-Control-Expose-Headers: what scripts of other origins may read beside the headers that CORS always allows. */
export const EXPOSED = [
  'Cache-Status',
  'Content-Disposition',
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'X-Should-Retry',
  REFUSAL_HEADER,
]

/** Of responses that Fastify never sees: to requests that are refused early, or are not HTTP. */
export const BARE_HEADERS = {
  'content-security-policy': NOTHING_RUNS,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*', // they tell nothing of the site, and scripts of every origin have to read them
  'access-control-expose-headers': EXPOSED.join(', '),
} as const

/**
 * Security headers of every response; cached responses keep them. A page sets a policy of its own. Left out are headers
 * that browsers ignore by now, or that the policy makes needless.
 */
export async function securityHeaders(server: FastifyInstance, siteUrl: string): Promise<void> {
  await server.register(helmet, {
    ...UNUSED,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    referrerPolicy: { policy: 'no-referrer' },
    // Without subdomains, which may be other people's
    hsts: siteUrl.startsWith('https:') && { maxAge: HSTS_SECONDS, includeSubDomains: false },
  })
}

const UNUSED = {
  crossOriginOpenerPolicy: false,
  dnsPrefetchControl: false,
  frameguard: false,
  hidePoweredBy: false,
  ieNoOpen: false,
  originAgentCluster: false,
  permittedCrossDomainPolicies: false,
  xssFilter: false,
} as const satisfies FastifyHelmetOptions
