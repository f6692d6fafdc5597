import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../core/errors.js'
import { isLoopback } from '../service/lib/clients.js'

/** What pages of other origins may do, by the setting `cors.origins`. */
export class Origins {
  /** As @fastify/cors takes it. */
  readonly cors: '*' | string[] | false
  /** Origins that the setting or `site.url` names. */
  readonly #named: string[]
  readonly #siteHost: string
  readonly #listensOnLoopback: () => boolean

  constructor({ setting = '*', siteUrl, listensOnLoopback }: OriginsOptions) {
    const listed = originsIn(setting)
    const site = URL.canParse(siteUrl) ? new URL(siteUrl) : undefined
    this.cors = setting === '*' ? '*' : listed.length > 0 && listed
    this.#named = [...listed, ...(site ? [site.origin] : [])]
    this.#siteHost = site?.hostname ?? ''
    this.#listensOnLoopback = listensOnLoopback
  }

  /** Origins whose pages may do even what is not for other sites. */
  get trusted(): string[] {
    return this.#named
  }

  /**
   * Throws if a browser sends the request from a page of another site. A page may have pointed its own host name at this
   * server: where only this machine reaches the server, a host that is not known is refused too.
   */
  assertOwnPage(headers: IncomingHttpHeaders): void {
    const { origin, host = '', 'sec-fetch-site': site } = headers
    if (origin === undefined && site === undefined) return // a program
    if (origin !== undefined && this.#named.includes(origin)) return
    const isOwn = origin === undefined ? site === 'same-origin' : hostOf(origin) === host.toLowerCase()
    if (isOwn && (!this.#listensOnLoopback() || this.#isKnown(host))) return
    throw new AppError(
      'SETUP_REFUSED',
      `A page of ${origin ?? 'another site'} cannot set this site up. Run "feedbackctl setup", or name the origin of your client in cors.origins.`,
    )
  }

  #isKnown(host: string): boolean {
    const { hostname } = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : { hostname: '' }
    return hostname !== '' && (hostname === this.#siteHost || isLoopbackName(hostname))
  }
}

interface OriginsOptions {
  /** `*`, `none`, or origins with commas between them. */
  setting?: string | undefined
  siteUrl: string
  /** Whether only programs of this machine reach the server. */
  listensOnLoopback(this: void): boolean
}

const originsIn = (setting: string): string[] =>
  ['*', 'none'].includes(setting) ? [] : setting.split(',').map((each) => each.trim())

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined)

const isLoopbackName = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || isLoopback(hostname.replaceAll(/[[\]]/g, ''))
