import { SHORT } from '../core/wire.js'
import { baseOf, seen, type Check, type Finding, type Site } from './check.js'
import { visit, type Answer } from './visit.js'

const PROXY = 'Compare the proxy with "Behind a proxy, and below a path" in docs/operating.md.'

/** What answers at the address: a page, a site without pages or without an owner, or something else. */
type PageKind = 'page' | 'no pages' | 'no owner' | 'wrong'

async function fetchPage(base: URL): Promise<{ is: PageKind; answer: Answer }> {
  const answer = await visit(base)
  return { is: await kindOf(base, answer), answer }
}

async function kindOf(base: URL, { status, headers }: Answer): Promise<PageKind> {
  if (headers['x-request-id'] === undefined) return 'wrong'
  if (status === 200) return 'page'
  if (status === 303 && headers.location?.endsWith('/setup/welcome')) return 'no owner'
  // A server without pages says so in JSON, but so does one behind a path that it does not know
  const isApi = status === 404 && headers['content-type']?.startsWith('application/json')
  return isApi && (await visit(new URL('healthz', base))).status === 200 ? 'no pages' : 'wrong'
}

/** The page at --url, and the files that it needs, come from this program. */
export const page: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const { is, answer } = await fetchPage(base)
    if (is === 'no pages')
      return { evidence: `The server answers at ${base.href}, and has no pages (web.enabled is false).` }
    if (is === 'no owner')
      return finding(`The site has no owner yet: ${base.href} leads to its setup.`, 'feedbackctl setup')
    if (is === 'wrong') return unreached(site, base, answer)
    const style = styleOf(answer.text, base)
    if (style === undefined) return { evidence: `${base.href} answers.` }
    const { status, headers } = await visit(style, { accept: 'text/css' })
    const isStyle = headers['content-type']?.startsWith('text/css') ?? false // other sites answer with a page to any path
    if (status === 200 && isStyle) return { evidence: `${base.href} answers, and so do its files.` }
    return finding(
      `The page opens, but its file ${style.pathname} ${status === 200 ? 'is not a style sheet' : `answers ${status}`}: the path is not the one of site.url.`,
      isOwn(answer) ? PROXY : `Build the client in web.root for the path ${base.pathname} of the site. ${PROXY}`,
    )
  },
}

function unreached(site: Site, base: URL, { status, headers }: Answer): { findings: readonly Finding[] } {
  const id = headers['x-request-id']
  if ([502, 503, 504].includes(status) && id === undefined)
    return finding(`The proxy answers ${status}: it does not reach feedbackctl.`, `Check that "feedbackctl serve" runs, and that the proxy passes requests to ${site.config.get('listen')}.`) // prettier-ignore
  if (status >= 500 && id !== undefined) return finding(`${base.href} answers ${status}: the server has failed.`, `Look for request ${String(id)} in the log of "feedbackctl serve".`) // prettier-ignore
  if (status !== 200) return finding(`${base.href} answers ${status}${headers.location === undefined ? '' : `, to ${headers.location}`}.`, PROXY) // prettier-ignore
  return finding(`What answers at ${base.href} is not feedbackctl.`, PROXY)
}

const finding = (evidence: string, fix: string, severity: Finding['severity'] = 'error') => ({
  findings: [{ severity, evidence, fix }],
})

/** The first style sheet of a page, unless another host has it. */
function styleOf(text: string, base: URL): URL | undefined {
  const [link = ''] = /<link\b[^>]*\brel="stylesheet"[^>]*>/.exec(text) ?? []
  const address = /\bhref="([^"]+)"/.exec(link)?.[1]
  const style = address !== undefined && URL.canParse(address, base) ? new URL(address, base) : undefined
  return style?.host === base.host ? style : undefined
}

const ownAddressOf = ({ text }: Answer): string | undefined => /<link rel="canonical" href="([^"]+)"/.exec(text)?.[1]

/** Our pages name their address. Those of another client (`web.root`) need not. */
const isOwn = (answer: Answer): boolean => ownAddressOf(answer) !== undefined

/** Skips a check without a page: `page` reports the cause. */
const skipped = (is: Exclude<PageKind, 'page'>): { skipped: string } => ({
  skipped:
    is === 'no pages' ? 'The site has no pages (web.enabled is false).' : 'Needs the page: see the check "page".',
})

/** Scheme, host and path that people open are those of links. */
export const address: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const { is, answer } = await fetchPage(base)
    if (is !== 'page') return skipped(is)
    const own = ownAddressOf(answer)
    if (own === undefined || !URL.canParse(own)) return { evidence: 'The page names no address of its own.' }
    const links = new URL(own)
    if (links.href === base.href) return { evidence: `Links begin with ${links.href}` }
    return finding(
      `People open ${base.href}, but links of the server begin with ${links.href}`,
      `Set site.url = "${base.href.replace(/\/$/, '')}" for "feedbackctl serve", or check the address that people open.`,
    )
  },
}

/** The proxy passes on compression, and keeps no pages of its own. */
export const transfer: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const { is, answer } = await fetchPage(base)
    if (is !== 'page') return skipped(is)
    const findings: Finding[] = []
    const { headers } = await visit(base, { 'accept-encoding': 'br, gzip' })
    if (headers['content-encoding'] === undefined && answer.text.length >= SHORT)
      findings.push({ severity: 'warning', evidence: 'Pages arrive uncompressed.', fix: `Let the proxy pass on Accept-Encoding. ${PROXY}` }) // prettier-ignore
    if (!/no-cache|no-store|private/.test(headers['cache-control'] ?? ''))
      findings.push({
        severity: 'error',
        evidence: `The proxy lets others store pages (Cache-Control: ${headers['cache-control'] ?? 'none'}): people see old pages, or pages meant for others.`,
        fix: 'Let the proxy pass on Cache-Control unchanged.',
      })
    if (Number(headers.age ?? 0) > 0)
      findings.push({ severity: 'error', evidence: `A cache on the way answers with a page that is ${headers.age} s old.`, fix: 'Let it store only what Cache-Control allows.' }) // prettier-ignore
    const tag = headers.etag
    const again =
      tag === undefined ? undefined : await visit(base, { 'accept-encoding': 'br, gzip', 'if-none-match': tag })
    if (again?.status !== 304)
      findings.push({ severity: 'warning', evidence: 'Browsers load every page again in full: the proxy removes ETag or If-None-Match.', fix: PROXY }) // prettier-ignore
    return seen(findings, 'Pages arrive compressed, and only browsers store them.')
  },
}
