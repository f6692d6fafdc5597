import type { IncomingMessage } from 'node:http'
import { randomWord } from '../core/ids.js'
import { API_ROOT, REQUEST_ID } from '../core/wire.js'

const PROCESS = randomWord(8)
let requests = 0

/** The id of a request: the one it brought, where that may stand in a log, or a new one: of this process, and counted. */
export function requestId({ headers: { [REQUEST_ID]: given } }: Pick<IncomingMessage, 'headers'>): string {
  return typeof given === 'string' && /^[\w.-]{1,100}$/.test(given) ? given : `${PROCESS}-${(requests++).toString(36)}`
}

/** What the log says of a request, beside its id, its operation, its method and its address, which is `loggable`. */
export const outcome = (status: number, milliseconds: number) => ({ status, ms: Math.round(milliseconds * 10) / 10 })

/** An address as it may be logged: only the API's have a query worth keeping, and in it nothing that may be a secret. */
export function loggable(url: string): string {
  if (!url.includes('?')) return url
  const [path = '', ...rest] = url.split('?')
  if (!path.toLowerCase().startsWith(API_ROOT)) return `${path}?***`
  const pairs = rest.join('?').split('&')
  return `${path}?${pairs.map((pair) => pair.replace(/^([^=]*)=.*$/s, (whole, name: string) => (/token|pass|secret|%/i.test(name) ? `${name}=***` : whole))).join('&')}`
}
