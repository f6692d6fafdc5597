import type { Context } from '../../service/lib/context.js'
import type { Gate } from '../../http/cache/front.js'
import type { Encoding } from '../../http/encoding.js'
import { pathOfTarget } from '../../http/lib/target.js'
import { languageFor } from '../../core/language.js'
import { API_ROOT } from '../../core/wire.js'
import { addressesOf } from './addresses.js'
import { keptCookies, readCookies } from './cookies.js'

/**
 * Runs before the response cache. It removes the path of `site.url`, for proxies that keep it, and reduces the headers
 * that pages vary by to what a page makes of them, so that one cached page serves every browser that gets the same.
 */
export function pageGate({ siteUrl, siteLanguage }: Pick<Context, 'siteUrl' | 'siteLanguage'>): Gate {
  const { base } = addressesOf(siteUrl)
  return (request) => {
    const { headers, url = '/' } = request
    if (base !== '' && url.startsWith(base) && /^[/?]|^$/.test(url.slice(base.length, base.length + 1))) {
      request.url = pathOfTarget(url.slice(base.length))
    }
    if (request.url?.startsWith(API_ROOT)) return true
    const cookies = readCookies(siteUrl, headers.cookie)
    const kept = keptCookies(siteUrl, cookies)
    if (kept === undefined) delete headers.cookie
    else headers.cookie = kept
    headers['accept-language'] = cookies.language ?? languageFor(headers['accept-language'], siteLanguage)
    const encoding = encodingFor(headers['accept-encoding'])
    if (encoding === undefined) delete headers['accept-encoding']
    else headers['accept-encoding'] = encoding
    return true
  }
}

function encodingFor(header: string | string[] | undefined): Encoding | undefined {
  const accepted = String(header ?? '')
  if (/\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted)) return 'br'
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted) ? 'gzip' : undefined
}
