import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { valuesIn } from '../../src/core/values.js'
import { BETWEEN_LINKS, linkIn } from '../../src/core/links.js'
import * as settings from '../../src/service/settings.js'
import { serveSite, visit as visitSite } from '../support/browser.js'
import { cleanup, engines, makeSite } from '../support/site.js'

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

  it('CSS is a style sheet of its own on all pages but those of the dashboard', async () => {
    const { site, visit, asOwner, send } = await open()
    const sheetIn = (text: string) => Array.from(text.matchAll(/<link rel="stylesheet" href="(\/assets\/custom\.[^"]+)"\/>/g), ([, href]) => href) // prettier-ignore
    const paths = ['/', '/boards', '/login', '/join', '/nowhere']
    const before = await Promise.all(paths.map(visit))
    expect(before.filter((text) => text.includes('/assets/custom'))).toEqual([])
    const typed = { title: 'Moonbase', customCss: 'header {\r\n  background: gold;\r\n}\r\n' }
    const refused = await send('/dashboard/settings/general', { ...typed, customCss: '@import "//evil.example";' })
    expect([refused.status, refused.text.includes('may load nothing. Remove @import')]).toEqual([422, true])
    expect(refused.text).toMatch(
      /id="field-customCss"[^>]*aria-invalid="true"[^>]*>\n@import &quot;\/\/evil\.example&quot;;/,
    )
    expect((await send('/dashboard/settings/general', typed)).status).toBe(303)
    const [sheet = ''] = sheetIn(await visit('/'))
    expect(sheet).toMatch(/^\/assets\/custom\.[\w-]{10}\.css$/)
    for (const path of paths) expect([path, sheetIn(await visit(path))]).toEqual([path, [sheet]])
    for (const path of ['/settings', '/notifications', '/posts/new']) expect([path, sheetIn(await asOwner(path))]).toEqual([path, [sheet]]) // prettier-ignore
    for (const path of ['/dashboard', '/dashboard/overview', '/dashboard/settings/general']) expect([path, sheetIn(await asOwner(path))]).toEqual([path, []]) // prettier-ignore
    const get = (path: string, accept = 'identity') => site.http(`GET /${path}`, { headers: { 'accept-encoding': accept } }) // prettier-ignore
    const { status, headers, text } = await get(sheet)
    expect([status, headers['content-type'], headers['cache-control'], text]).toEqual([200, 'text/css; charset=utf-8', 'public, max-age=31536000, immutable', 'header {\n  background: gold;\n}']) // prettier-ignore
    expect((await get(sheet, 'br')).headers['content-encoding']).toBe('br')
    expect(String((await site.http('GET //')).headers['content-security-policy'])).not.toContain('unsafe')

    await site.call(settings.update, { customCss: 'footer { color: red }' })
    const [other = ''] = sheetIn(await visit('/'))
    expect([other === sheet, (await get(other)).text]).toEqual([false, 'footer { color: red }'])
    for (const path of [sheet, '/assets/custom.css', '/assets/custom.0123456789.css']) expect([path, (await get(path)).status]).toEqual([path, 404]) // prettier-ignore
    await site.call(settings.update, { customCss: '' })
    const after = await Promise.all(paths.map(visit))
    expect(after.filter((text) => text.includes('/assets/custom'))).toEqual([])
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
    const wrong = {
      ...typed,
      logo: 'javascript:alert(1)',
      accentColor: 'purple',
      announcementUntil: 'soon',
      headerLinks: 'Home',
      footerLinks: '[A](a b)',
      newFor: 'long',
      customCss: '@import "x"',
    }
    const all = await send('/dashboard/settings/general', wrong)
    expect(all.status).toBe(422)
    const summary = /<div class="summary".*?<\/ul>/s.exec(all.text)?.[0] ?? ''
    const named = [...summary.matchAll(/#field-(\w+)">([^:<]+): /g)].map(([, field, label]) => [field, label])
    expect(named).toEqual([
      ['logo', 'Logo'],
      ['accentColor', 'Accent colour'],
      ['announcementUntil', 'Until'],
      ['headerLinks', 'Links in the header'],
      ['footerLinks', 'Links in the footer'],
      ['customCss', 'Custom CSS'],
      ['newFor', 'An account is new for'],
    ])
    for (const [field = ''] of named.slice(1))
      expect(all.text).toMatch(new RegExp(`id="field-${field}"[^>]*aria-invalid="true"`))
    expect(all.text).not.toMatch(/announcementUntil must|headerLinks must|newFor must/)
    for (const text of ['value="purple"', 'value="soon"', 'Home</textarea>', '[A](a b)</textarea>', 'value="long"', '@import']) expect(all.text).toContain(text) // prettier-ignore
    const past = await send('/dashboard/settings/general', { ...typed, announcementUntil: '2001-01-01' })
    expect(past.text).toContain('Until: Enter a date or a time that is still to come')
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

it('a browser shows pages with CSS of the owner, which reaches no other host even past the checks', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { page } = await visitSite({ script: false, expected: /Content Security Policy|^failed: .* csp$/ })
  const asked: unknown[] = []
  const other = createServer((request, response) => {
    asked.push(request.url)
    response.end()
  }).listen(0, '127.0.0.1')
  cleanup(() => void other.close())
  await once(other, 'listening')
  const at = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const background = async () => {
    await page.goto(`${site.url}/login`)
    return page.locator('header').evaluate((header) => getComputedStyle(header).backgroundColor)
  }
  const plain = await background()
  await site.call(settings.update, { customCss: 'header { background: rgb(1, 2, 3) }' })
  expect([plain, await background()]).toEqual([plain, 'rgb(1, 2, 3)'])
  expect(plain).not.toBe('rgb(1, 2, 3)')
  const customCss = `@import "${at}/a.css"; @font-face { font-family: x; src: url(${at}/x.woff2) } body { font-family: x } header { background: rgb(4, 5, 6) url(${at}/b.png) } input[name=email] { background: image-set("${at}/c.png" 1x) } main { mask: url(${at}/d.svg#m) }` // prettier-ignore
  await site.db.updateTable('settings').set({ customCss }).execute()
  expect(await background()).toBe('rgb(4, 5, 6)')
  await page.waitForLoadState('networkidle')
  await fetch(`${at}/awake`)
  expect(asked).toEqual(['/awake'])
})

it('links are divided at line breaks, and at commas between them', () => {
  const links = ['[A, B](https://maps.example/@52.5,13.4)', '[C](/c_(d))', '[E](mailto:us@example.org)']
  for (const between of [',', ' , ', '\n', '\r\n\r\n']) expect(valuesIn(links.join(between), BETWEEN_LINKS)).toEqual(links) // prettier-ignore
  expect(links.map((link) => linkIn(link)?.label)).toEqual(['A, B', 'C', 'E'])
  expect(valuesIn('a, b', BETWEEN_LINKS)).toEqual(['a, b'])
  expect(valuesIn('a, b')).toEqual(['a', 'b'])
})
