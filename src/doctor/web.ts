import { parseListen } from '../core/addresses.js'
import { seen, type Check, type Finding, type Site } from './check.js'
import { visit } from './visit.js'

const DAY = 24 * 60 * 60 * 1000
/** Milliseconds that a certificate should still be valid: those that renew themselves do so a month before. */
const [SOON, NOW] = [14 * DAY, 3 * DAY]

const PROXY = 'Compare the proxy with "Behind a proxy, and below a path" in docs/operating.md.'

const baseOf = ({ url = '' }: Site): URL => new URL(url.endsWith('/') ? url : `${url}/`)

/** The page at --url, and the files that it needs, come from this program. */
export const page: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const { status, headers, text } = await visit(base)
    if ([502, 503, 504].includes(status) && headers['x-request-id'] === undefined)
      return one(`The proxy answers ${status}: it does not reach feedbackctl.`, `Check that "feedbackctl serve" runs, and that the proxy passes requests to ${site.config.get('listen')}.`) // prettier-ignore
    if (status !== 200) return one(`${base.href} answers ${status}${headers.location === undefined ? '' : `, to ${headers.location}`}.`, PROXY) // prettier-ignore
    if (headers['x-request-id'] === undefined) return one(`What answers at ${base.href} is not feedbackctl.`, PROXY)
    const style = /<link rel="stylesheet" href="([^"]+)"/.exec(text)?.[1]
    if (style === undefined) return { evidence: `${base.href} answers.` }
    const file = await visit(new URL(style, base), { accept: 'text/css' })
    if (file.status === 200) return { evidence: `${base.href} answers, and so do its files.` }
    return one(
      `The page opens, but its file ${style} answers ${file.status}: the path is not the one of site.url.`,
      PROXY,
    )
  },
}

const one = (evidence: string, fix: string, severity: Finding['severity'] = 'error') => ({
  findings: [{ severity, evidence, fix }],
})

/** Scheme, host and path that people open are those of links. */
export const address: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const { text } = await visit(base)
    const own = /<link rel="canonical" href="([^"]+)"/.exec(text)?.[1]
    if (own === undefined || !URL.canParse(own)) return { evidence: 'The page names no address of its own.' }
    const links = new URL(own)
    const findings = (['protocol', 'host', 'pathname'] as const)
      .filter((part) => links[part] !== base[part])
      .map((part) => ({
        severity: 'error' as const,
        evidence: `People open ${base[part]}, but links of the server begin with ${links[part]}: its site.url is ${links.href}`,
        fix: `Set site.url = "${base.href.replace(/\/$/, '')}" for "feedbackctl serve".`,
      }))
    return seen(findings, `Links begin with ${links.href}`)
  },
}

export const tls: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(base.hostname)
    if (base.protocol === 'http:' && isHere) return { evidence: 'Only this machine opens that address.' }
    if (base.protocol === 'http:')
      return one('Visitors come without TLS: others on the way can read passwords.', 'Let the proxy speak https.')
    const { certifiedUntil: until = 0 } = await visit(base)
    const left = until - site.now.getTime()
    const days = Math.max(0, Math.floor(left / DAY))
    const date = new Date(until).toISOString().slice(0, 10)
    if (left < SOON)
      return one(`The certificate ends in ${days} days, on ${date}.`, 'Renew it, and look why it does not renew itself.', left < NOW ? 'error' : 'warning') // prettier-ignore
    return { evidence: `The certificate is valid for ${days} days, until ${date}.` }
  },
}

/** The server learns the addresses of visitors. */
export const forwarded: Check = {
  needs: 'url',
  look(site) {
    const base = baseOf(site)
    const { port = 0 } = parseListen(site.config.get('listen') ?? '') ?? {}
    const isDirect = base.protocol === 'http:' && Number(base.port || 80) === port
    const trust = site.config.get('trust-proxy')
    if (isDirect) return { evidence: 'There is no proxy before the server.' }
    if (trust === 'true')
      return one('trust-proxy is true: who reaches the server can claim any address.', 'Set trust-proxy to the address of the proxy, such as "loopback".', 'warning') // prettier-ignore
    if (trust === 'false')
      return one('A proxy is before the server, but trust-proxy is false: limits count all visitors as one.', 'Set trust-proxy to the address of the proxy, such as "loopback", for "feedbackctl serve".', 'warning') // prettier-ignore
    return { evidence: `Addresses that ${trust} forwards are believed.` }
  },
}

/** The proxy passes on compression, and keeps no pages of its own. */
export const transfer: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const findings: Finding[] = []
    const { headers } = await visit(base, { 'accept-encoding': 'br, gzip' })
    if (headers['content-encoding'] === undefined)
      findings.push({ severity: 'warning', evidence: 'Pages come uncompressed.', fix: `Let the proxy pass on Accept-Encoding. ${PROXY}` }) // prettier-ignore
    if (!/no-cache|no-store|private/.test(headers['cache-control'] ?? ''))
      findings.push({
        severity: 'error',
        evidence: `The proxy lets pages be kept (Cache-Control: ${headers['cache-control'] ?? 'none'}): people see old pages, or those of others.`,
        fix: 'Let the proxy pass on Cache-Control as it is.',
      })
    if (Number(headers.age ?? 0) > 0)
      findings.push({ severity: 'error', evidence: `A cache on the way answers with a page that is ${headers.age} s old.`, fix: 'Let it keep only what Cache-Control allows.' }) // prettier-ignore
    const tag = headers.etag
    const again =
      tag === undefined ? undefined : await visit(base, { 'accept-encoding': 'br, gzip', 'if-none-match': tag })
    if (again?.status !== 304)
      findings.push({ severity: 'warning', evidence: 'Browsers load each page anew: the proxy removes ETag or If-None-Match.', fix: PROXY }) // prettier-ignore
    return seen(findings, 'Pages come compressed, and are kept by browsers only.')
  },
}
