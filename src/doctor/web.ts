import { baseOf, seen, type Check, type Finding } from './check.js'
import { visit } from './visit.js'

const PROXY = 'Compare the proxy with "Behind a proxy, and below a path" in docs/operating.md.'

/** The page at --url, and the files that it needs, come from this program. */
export const page: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const { status, headers, text } = await visit(base)
    if ([502, 503, 504].includes(status) && headers['x-request-id'] === undefined)
      return one(`The proxy answers ${status}: it does not reach feedbackctl.`, `Check that "feedbackctl serve" runs, and that the proxy passes requests to ${site.config.get('listen')}.`) // prettier-ignore
    const id = headers['x-request-id']
    if (status >= 500 && id !== undefined) return one(`${base.href} answers ${status}: the server has failed.`, `Look for request ${String(id)} in the log of "feedbackctl serve".`) // prettier-ignore
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

/** What is wrong then is a finding of `page`. */
const unseen = (status: number) => ({ evidence: `Not looked at, as the page answers ${status}.` })

/** Scheme, host and path that people open are those of links. */
export const address: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const { text, status } = await visit(base)
    if (status !== 200) return unseen(status)
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

/** The proxy passes on compression, and keeps no pages of its own. */
export const transfer: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const findings: Finding[] = []
    const { headers, status } = await visit(base, { 'accept-encoding': 'br, gzip' })
    if (status !== 200) return unseen(status)
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
