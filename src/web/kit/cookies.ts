import { parseCookie, stringifySetCookie } from 'cookie'
import { isLanguage } from '../../core/language.js'

/** Which cookies the pages of a site use. Their values are what `Authorization` holds elsewhere, and a language. */
export interface Cookies {
  session: string
  language: string
  isSecure: boolean
}

/**
 * Over https the name says that the cookie is of this host alone. Browsers take no such name over http, where only a
 * site on loopback should be.
 */
export const cookiesOf = (siteUrl: string): Cookies =>
  siteUrl.startsWith('https:')
    ? { session: '__Host-feedbackctl', language: '__Host-feedbackctl-language', isSecure: true }
    : { session: 'feedbackctl', language: 'feedbackctl-language', isSecure: false }

/** The session token and the language that a browser sends. */
export function readCookies(
  { session, language }: Cookies,
  header: string | undefined,
): { token: string | undefined; language: string | undefined } {
  if (header === undefined) return { token: undefined, language: undefined }
  const found = parseCookie(header.slice(0, MAX_HEADER))
  const chosen = found[language]
  return {
    token: found[session] || undefined,
    language: chosen !== undefined && isLanguage(chosen) ? chosen : undefined,
  }
}

const MAX_HEADER = 8192

/** A session ends on the server before the cookie does. */
const SESSION_SECONDS = 400 * 24 * 60 * 60

const cookie = ({ isSecure }: Cookies, name: string, value: string, maxAge: number, httpOnly: boolean): string =>
  stringifySetCookie({ name, value, maxAge, httpOnly, path: '/', sameSite: 'lax', secure: isSecure })

/** The header Set-Cookie that signs a browser in, or out without a token. */
export const sessionCookie = (cookies: Cookies, token: string | null): string =>
  cookie(cookies, cookies.session, token ?? '', token === null ? 0 : SESSION_SECONDS, true)

export const languageCookie = (cookies: Cookies, language: string | null): string =>
  cookie(cookies, cookies.language, language ?? '', language === null ? 0 : SESSION_SECONDS, true)
