import { describe, expect, it } from 'vitest'
import { valuesIn } from '../../src/core/values.js'
import { BETWEEN_LINKS, linkIn } from '../../src/core/links.js'
import * as settings from '../../src/service/settings.js'
import { engines, makeSite } from '../support/site.js'

const SITE = 'http://localhost'
/** Less than an hour, with which pages that tell ages end anyway. */
const SOON_MS = 10 * 60_000

describe.each(engines)('what a site adds to its pages on %s', (engine) => {
  async function open() {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    const headers = { accept: 'text/html', cookie: `feedbackctl=${owner}` }
    return {
      site,
      visit: async (path: string) => {
        const { status, text } = await site.http(`GET /${path}`, { headers: { accept: 'text/html' } })
        expect([path, status]).toEqual([path, path === '/nowhere' ? 404 : 200]) // a stale page is an error in tests
        return text
      },
      asOwner: async (path: string) => (await site.http(`GET /${path}`, { headers })).text,
      send: (path: string, form: Record<string, string>) =>
        site.http(`POST /${path}`, {
          headers: { ...headers, origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(form).toString(),
        }),
    }
  }

  it('an announcement is above every page of visitors until its time, cached pages too', async () => {
    const { site, visit, asOwner } = await open()
    const until = new Date(site.clock.now.getTime() + SOON_MS).toISOString()
    await site.call(settings.update, { announcement: '# We **move**.\n\n<script>alert(1)</script>', announcementUntil: until }) // prettier-ignore
    for (const path of ['/', '/', '/boards', '/roadmaps', '/join', '/nowhere']) {
      const text = await visit(path)
      expect([path, text.split('<aside class="announcement"').length, text.includes('<strong>move</strong>')]).toEqual([path, 2, true]) // prettier-ignore
      expect(text).not.toContain('<script>alert')
      expect(text).toMatch(/class="announcement"[^>]*><div[^>]*><p>We/)
    }
    expect(await asOwner('/')).toContain('class="announcement"')
    expect(await asOwner('/dashboard/settings/general')).not.toContain('class="announcement"')
    site.clock.now = new Date(site.clock.now.getTime() + SOON_MS)
    for (const path of ['/', '/boards', '/nowhere']) expect(await visit(path)).not.toContain('announcement')
    await site.call(settings.update, { announcementUntil: '' })
    expect(await visit('/')).toContain('<strong>move</strong>')
  })

  it('links are in header and footer, and a note is at the sign-up', async () => {
    const { site, visit } = await open()
    await site.call(settings.update, {
      headerLinks: ['[Web & <shop>](https://example.org/?a=1&b="2")'],
      footerLinks: ['[Imprint](/imprint)', '[Write](mailto:us@example.org)'],
      signupNote: 'You accept the [terms](https://example.org/terms).',
    })
    const home = await visit('/')
    expect(home).toMatch(/<nav[^>]*>[^]*<a href="https:\/\/example\.org\/\?a=1&amp;b=&quot;2&quot;" dir="auto">Web &amp; &lt;shop><\/a>[^]*<\/nav>/) // prettier-ignore
    expect(home).toMatch(/<footer>[^]*href="\/imprint"[^]*href="mailto:us@example\.org"[^]*<\/footer>/)
    expect(await visit('/join')).toMatch(/accept the <a href="https:\/\/example\.org\/terms"/)
    expect(home).not.toContain('accept the')
    await site.http('POST /auth/password/reset', { body: { email: 'ada@example.org' } })
    const [mail] = await site.db.selectFrom('deliveries').select('text').orderBy('createdAt', 'desc').orderBy('deliveryId', 'desc').limit(1).execute() // prettier-ignore
    const [, token] = /token=([\w-]+)/.exec(mail?.text ?? '') ?? []
    expect(await visit(`/password-reset/confirm?token=${token}`)).toContain('accept the')
  })

  it('the owner sets all of it in the browser, and a refused form keeps what was typed', async () => {
    const { site, asOwner, send } = await open()
    const typed = {
      title: 'Moonbase',
      announcement: 'Hello',
      announcementUntil: '2099-12-24',
      headerLinks: '[A](/a)\r\n\r\n[B](/b)\r\n',
      footerLinks: '[Imprint](/imprint)',
      signupNote: 'Be kind.',
    }
    const refused = await send('/dashboard/settings/general', { ...typed, footerLinks: 'Imprint /imprint' })
    expect(refused.status).toBe(422)
    for (const text of ['Hello', '2099-12-24', '[B](/b)', 'Imprint /imprint', 'Be kind.']) expect(refused.text).toContain(text) // prettier-ignore
    expect(refused.text).toMatch(/id="field-footerLinks"[^>]*aria-invalid="true"/)
    expect((await send('/dashboard/settings/general', typed)).status).toBe(303)
    expect((await site.call(settings.site, {})).settings).toMatchObject({
      ...typed,
      announcementUntil: '2099-12-24T00:00:00.000Z',
      headerLinks: ['[A](/a)', '[B](/b)'],
      footerLinks: ['[Imprint](/imprint)'],
    })
    const form = await asOwner('/dashboard/settings/general')
    expect(form).toContain('value="2099-12-24"')
    expect((await send('/dashboard/settings/general', { title: 'Moonbase' })).status).toBe(303)
    expect((await site.call(settings.site, {})).settings.announcement).toBe('Hello') // of a page from before the field
  })
})

it('links are divided at line breaks, and at commas between them', () => {
  const links = ['[A, B](https://maps.example/@52.5,13.4)', '[C](/c_(d))', '[E](mailto:us@example.org)']
  for (const between of [',', ' , ', '\n', '\r\n\r\n']) expect(valuesIn(links.join(between), BETWEEN_LINKS)).toEqual(links) // prettier-ignore
  expect(links.map((link) => linkIn(link)?.label)).toEqual(['A, B', 'C', 'E'])
  expect(valuesIn('a, b', BETWEEN_LINKS)).toEqual(['a, b'])
  expect(valuesIn('a, b')).toEqual(['a', 'b'])
})
