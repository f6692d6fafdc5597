import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import { LRUCache } from 'lru-cache'
import { randomWord } from '../../core/ids.js'
import { detached } from '../../core/text.js'
import { API_ROOT, REQUEST_ID } from '../../core/wire.js'
import { withoutPort } from '../../service/lib/clients.js'

const PROCESS_ID = randomWord(8)
let count = 0

/** The X-Request-Id that the client sent, if it is safe to log, or a new id. */
export function requestId({ headers: { [REQUEST_ID]: given } }: Pick<IncomingMessage, 'headers'>): string {
  return typeof given === 'string' && /^[\w.-]{1,100}$/.test(given) ? given : `${PROCESS_ID}-${(count++).toString(36)}`
}

/** Whether to believe the X-Forwarded-For of this peer. */
export type Trust = (this: void, address: string, hop: number) => boolean

/** Reads the setting `trust-proxy`. Undefined trusts nobody. */
export function trustOf(setting = 'false'): Trust | undefined {
  if (setting === 'false') return undefined
  if (setting === 'true') return () => true
  const isTrusted = proxyAddr.compile(setting.split(',').map((each) => each.trim()))
  const known = new LRUCache<string, { trusted: boolean }>({ max: 1000 }) // to parse an address takes microseconds
  return (address, hop) => {
    if (address.length > MAX_ADDRESS) return false
    let entry = known.get(address)
    if (!entry) known.set(detached(address), (entry = { trusted: isTrusted(withoutPort(address), hop) }))
    return entry.trusted
  }
}

const MAX_ADDRESS = 50

/** The address of the client: of the connection, or of the first peer in X-Forwarded-For that is not trusted. */
export const clientAddress = (request: IncomingMessage, trust: Trust | undefined): string | undefined =>
  trust ? withoutPort(proxyAddr(request, trust)) : request.socket.remoteAddress

/** Whether that address is of X-Forwarded-For. */
export const isForwarded = ({ headers, socket }: IncomingMessage, trust: Trust | undefined): boolean =>
  Boolean(headers['x-forwarded-for']) && trust?.(socket.remoteAddress ?? '', 0) === true

/** Log fields of a finished request. */
export const outcome = (status: number, milliseconds: number) => ({ status, ms: Math.round(milliseconds * 10) / 10 })

/**
 * The URL without secrets. Only URLs of the API keep their query, without the values of parameters that may be secret.
 */
export function loggable(url: string): string {
  if (!url.includes('?')) return url
  const [path = '', ...rest] = url.split('?')
  if (!path.toLowerCase().startsWith(API_ROOT)) return `${path}?***`
  const pairs = rest.join('?').split('&')
  return `${path}?${pairs.map((pair) => pair.replace(/^([^=]*)=.*$/s, (whole, name: string) => (/token|pass|secret|%/i.test(name) ? `${name}=***` : whole))).join('&')}`
}
