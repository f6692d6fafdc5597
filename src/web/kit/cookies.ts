import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply } from 'fastify'
import { isLanguage } from '../../core/language.js'

interface Cookie {
  /** Over https it gets a prefix. */
  name: string
  /** How long a browser keeps it, where it is not said each time. Browsers keep nothing longer than 400 days. */
  seconds?: number
  /** Whether scripts cannot read it. */
  httpOnly: boolean
  /** 'lax': forms of other sites come without it, links from them bring it. */
  sameSite: 'lax' | 'strict'
  path: '/'
  /** The header of the request that pages read it from: the cached responses vary by that. The gate puts it there. */
  header: 'cookie' | 'accept-language'
  /** Whether a value may be one of ours. Others are ignored. */
  fits(this: void, value: string): boolean
}

/** All cookies of the pages. The gate and the pages read them as this says, and nothing else writes one. */
const COOKIES = {
  /** The token of a session: what `Authorization` holds elsewhere. */
  session: {
    name: 'feedbackctl',
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    header: 'cookie',
    fits: (value) => value !== '',
  },
  /** The language that this browser has chosen. */
  language: {
    name: 'feedbackctl-language',
    seconds: 400 * 24 * 60 * 60,
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    header: 'accept-language',
    fits: isLanguage,
  },
} as const satisfies Record<string, Cookie>

type CookieName = keyof typeof COOKIES
const entries = Object.entries(COOKIES) as [CookieName, Cookie][]

/**
 * Over https the name says that the cookie is of this host alone. Browsers take no such name over http, where only a
 * site on loopback should be.
 */
const nameOf = (siteUrl: string, { name }: Cookie): string => (isSecure(siteUrl) ? `__Host-${name}` : name)
const isSecure = (siteUrl: string): boolean => siteUrl.startsWith('https:')

const MAX_HEADER = 8192

/** The cookies of ours that a browser sends. */
export function readCookies(siteUrl: string, header: string | undefined): Partial<Record<CookieName, string>> {
  if (header === undefined) return {}
  const found = parseCookie(header.slice(0, MAX_HEADER))
  return Object.fromEntries(
    entries.flatMap(([key, cookie]) => {
      const value = found[nameOf(siteUrl, cookie)]
      return value !== undefined && cookie.fits(value) ? [[key, value]] : []
    }),
  )
}

/** The header Cookie with those of ours alone that pages read from it; undefined without any. */
export function keptCookies(siteUrl: string, read: ReturnType<typeof readCookies>): string | undefined {
  const kept = entries.flatMap(([key, cookie]) =>
    cookie.header === 'cookie' && read[key] !== undefined ? [`${nameOf(siteUrl, cookie)}=${read[key]}`] : [],
  )
  return kept.length > 0 ? kept.join('; ') : undefined
}

/** Sets a cookie, or deletes it where the value is null. The last word of a response about a cookie counts. */
export function setCookie(
  reply: FastifyReply,
  siteUrl: string,
  key: CookieName,
  value: string | null,
  seconds: number = (COOKIES[key] as Cookie).seconds ?? 0,
): void {
  const { httpOnly, sameSite, path } = COOKIES[key]
  const name = nameOf(siteUrl, COOKIES[key])
  const cookie = stringifySetCookie({
    name,
    value: value ?? '',
    maxAge: value === null ? 0 : seconds,
    httpOnly,
    path,
    sameSite,
    secure: isSecure(siteUrl),
  })
  const others = [reply.getHeader('set-cookie') ?? []].flat().map(String).filter((each) => !each.startsWith(`${name}=`)) // prettier-ignore
  reply.removeHeader('set-cookie')
  for (const each of [...others, cookie]) reply.header('set-cookie', each)
}
