/** The addresses of a site. `site.url` may have a path, which every link then begins with. */
export interface Addresses {
  /** Without a slash at the end; empty where the site is at the root of its host. */
  base: string
  origin: string
  /** A link to a page of ours: `/boards` becomes `/feedback/boards`. */
  href(this: void, path: string): string
  /** The same with scheme and host, for feeds, sitemaps and canonical links. */
  absolute(this: void, path: string): string
}

export function addressesOf(siteUrl: string): Addresses {
  const url = URL.canParse(siteUrl) ? new URL(siteUrl) : new URL('http://localhost')
  const base = url.pathname.replace(/\/+$/, '')
  return {
    base,
    origin: url.origin,
    href: (path) => base + path,
    absolute: (path) => siteUrl + path,
  }
}

/**
 * An address of this site that a form or a link names as the next page, without the base path. Others are refused: a
 * link to the sign-in page must not lead to another site.
 */
export function within(given: string | undefined): string | undefined {
  if (given === undefined || !/^\/(?![/\\])/.test(given) || /[\\\p{Cc}]/u.test(given)) return undefined
  const url = URL.canParse(given, 'http://site.invalid') ? new URL(given, 'http://site.invalid') : undefined
  return url?.origin === 'http://site.invalid' && !url.pathname.startsWith('//')
    ? url.pathname + url.search + url.hash
    : undefined
}

interface Shown {
  url: string
  path: string
  query: Record<string, string>
  form: { values: { redirect?: string } }
}

/** The sign-in or sign-up page, with the way back to this page. Tokens are left out, because addresses are logged. */
export function signInFrom({ url, path, query, form }: Shown, to: '/login' | '/join' = '/login'): string {
  if (['/login', '/join'].includes(path)) return withQuery(to, { redirect: within(form.values.redirect ?? query.redirect) }) // prettier-ignore
  return path === '/' || query.token !== undefined ? to : withQuery(to, { redirect: url })
}

/** The page of the team that led here, in the address or the form: there the next one leads back. */
export const cameFrom = ({ query, form }: { query: Record<string, string>; form: { values: { to?: string } } }) =>
  within(form.values.to ?? query.to)

export type Query = Record<string, string | number | readonly string[] | undefined>

/** A path with a query and a fragment. Parameters that are undefined or empty are left out. An array repeats its parameter. */
export function withQuery(path: string, query: Query, fragment?: string): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly string[]) : [value]).map((each) => [name, String(each ?? '')]),
  )
  const search = new URLSearchParams(given.filter(([, value]) => value !== '')).toString()
  return `${path}${search && `?${search}`}${fragment ? `#${fragment}` : ''}`
}

/** The parameters that report the last action. */
const SAID = ['done', 'undo', 'unmet', 'choices', 'now']

/** Changes parameters of an address. Undefined or empty removes one. The report of the last action is removed too. */
export function withParameters(url: string, query: Query): string {
  const [path = ''] = url.split('?', 1)
  const given = new URLSearchParams(url.slice(path.length))
  const kept = [...new Set(given.keys())].filter((name) => !SAID.includes(name) && !(name in query))
  return withQuery(path, { ...Object.fromEntries(kept.map((name) => [name, given.getAll(name)])), ...query })
}

/** The number of a page in the address; the first where it is none. */
export const pageNumber = ({ query }: { query: Record<string, string> }): number => {
  const page = Number(query.page ?? 1)
  return Number.isSafeInteger(page) && page >= 1 ? page : 1
}
