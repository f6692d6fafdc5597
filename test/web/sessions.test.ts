import { h } from 'preact'
import { describe, expect, it } from 'vitest'
import { login } from '../../src/service/auth.js'
import { routes } from '../../src/web/index.js'
import { Ended, page } from '../../src/web/kit/page.js'
import { surfaceOf } from '../../src/web/kit/surface.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const HTML = { accept: 'text/html' }

type Sent = Awaited<ReturnType<TestSite['http']>>

const setIn = ({ headers }: Sent): string[] => [headers['set-cookie'] ?? []].flat().map(String)
/** What a browser sends back. */
const cookieIn = (sent: Sent): string => setIn(sent).map((each) => each.split(';')[0]).join('; ') // prettier-ignore

const get = (site: TestSite, path: string, cookie = '') => site.http(`GET /${path}`, { headers: { ...HTML, cookie } })
const send = (site: TestSite, path: string, fields: Record<string, string>, cookie = '') =>
  site.http(`POST /${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...HTML, cookie },
  })

/** A page that signs its visitor in, as that does which another site leads back to. */
const back = page({
  cache: 'never',
  async load({ call, query }) {
    const { user } = await call(login, { email: OWNER.email, password: query.password ?? '' })
    throw new Ended({ to: '/settings', flash: 'saved', session: user.authToken, language: 'de' })
  },
  title: () => '',
  show: () => h('p', {}),
})

describe.each(engines)('a page on %s', (engine) => {
  it('may end as a form does: with cookies, and elsewhere', async () => {
    const pages = { ...routes.pages, '/back': async () => back }
    const site = await makeSite(engine, { siteUrl: SITE, surfaces: [surfaceOf({ ...routes, pages })] })
    await site.owner()
    const sent = await get(site, `/back?password=${encodeURIComponent(OWNER.password)}`)
    expect([sent.status, sent.headers.location]).toEqual([303, '/settings?done=saved'])
    expect(sent.headers['cache-control']).toBe('no-store')
    expect(cookieIn(sent)).toMatch(/^feedbackctl=[\w.-]+; feedbackctl-language=de$/)
    expect((await get(site, '/settings', cookieIn(sent))).text).toContain(OWNER.email)
    const wrong = await get(site, '/back?password=x')
    expect([wrong.status, setIn(wrong)]).toEqual([403, []])
  })
})
