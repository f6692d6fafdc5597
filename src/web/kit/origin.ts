import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.js'

/**
 * Refuses a form that a page of another site has sent: it would act in the name of whoever is signed in here. Programs
 * send neither header; they hold no cookie that they did not ask for.
 */
export function assertOwnForm(headers: IncomingHttpHeaders, siteOrigin: string): void {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined ? site === 'same-origin' || site === 'none' : isOwn(origin, host, siteOrigin)) return
  throw new AppError(
    'FORM_REFUSED',
    'This form came from a page of another site. Open the page here, and send it again.',
  )
}

function isOwn(origin: string | undefined, host: string | undefined, siteOrigin: string): boolean {
  if (origin === undefined || origin === siteOrigin) return true
  if (!URL.canParse(origin)) return false
  const { host: from, protocol } = new URL(origin)
  return from === host && (protocol === 'https:' || !siteOrigin.startsWith('https:')) // on http, anyone may have changed the page
}
