import { addressesOf } from '../web/kit/addresses.js'
import { decoded } from './names.js'

/** Pages of a copy, and the parameters that lead to another file. */
const PAGES: readonly (readonly [pattern: RegExp, parameters: readonly string[]])[] = [
  [/^\/$/, ['status', 'page']],
  [/^\/boards$/, ['page']],
  [/^\/boards\/[^/]+$/, ['status', 'page']],
  [/^\/roadmaps$/, []],
  [/^\/roadmaps\/[^/]+$/, ['page']],
  [/^\/posts\/[^/]+$/, ['page']],
  [/^\/posts\/[^/]+\/voters$/, ['page']],
  [/^\/legal\/[^/]+$/, []],
  [/^\/search$/, ['q', 'page']],
]
/** Their values. Lists show the open posts if they are not told otherwise. */
const VALUES: Readonly<Record<string, RegExp>> = {
  status: /^(done|all)$/,
  page: /^([2-9]|[1-9]\d{1,5})$/,
  q: /^tag:\S+$/,
}
/** Orders of lists, of which a copy has the usual one; a page of another order is none of that. */
const ORDERS = new Set(['sort', 'size'])

/** An address of this site, without its base path. */
export interface Own {
  path: string
  query: URLSearchParams
  hash: string
}

/** What an address leads to on the page at `at`. A text where that is not of this site. */
export function ownAddress(siteUrl: string, href: string, at = '/'): Own | string {
  const { base, origin } = addressesOf(siteUrl)
  const here = `${origin}${base}${at}`
  if (!URL.canParse(href, here)) return href
  const url = new URL(href, here)
  if (url.origin !== origin) return href
  if (!`${url.pathname}/`.startsWith(`${base}/`)) return url.href // beside the site, which may be below a path
  const segments = url.pathname.slice(base.length).split('/').filter(Boolean)
  const path = `/${segments.map((segment) => encodeURIComponent(decoded(segment))).join('/')}` // in one way of all
  return { path, query: url.searchParams, hash: url.hash }
}

/** The one address of a page that a copy may have, of all that lead to it. Undefined where a server has to answer. */
export function pageAddress({ path, query }: Own): string | undefined {
  const [, parameters] = PAGES.find(([pattern]) => pattern.test(path)) ?? []
  if (!parameters || (path === '/search' && !query.has('q'))) return undefined
  const isReordered = [...query.keys()].some((name) => ORDERS.has(name))
  const kept = new URLSearchParams()
  for (const [name, value] of query) {
    if (ORDERS.has(name) || (isReordered && name === 'page')) continue
    if (!parameters.includes(name)) return undefined
    if (VALUES[name]?.test(value)) kept.set(name, value)
    else if (name === 'q') return undefined
  }
  kept.sort()
  const search = kept.toString()
  return path + (search && `?${search}`)
}
