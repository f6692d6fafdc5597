import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as legal from '../../src/service/legal.js'
import * as settings from '../../src/service/settings.js'
import { engines, makeSite } from '../support/site.js'

const SITE = 'http://localhost'

describe.each(engines)('legal pages on %s', (engine) => {
  async function open() {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    const headers = { accept: 'text/html', cookie: `feedbackctl=${owner}` }
    return {
      site,
      visit: (path: string, language = 'en') =>
        site.http(`GET /${path}`, { headers: { accept: 'text/html', 'accept-language': language } }),
      asOwner: async (path: string) => (await site.http(`GET /${path}`, { headers })).text,
      send: (path: string, form: Record<string, string>) =>
        site.http(`POST /${path}`, {
          headers: { ...headers, origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(form).toString(),
        }),
    }
  }

  it('are there for every visitor once they have a text, also of a site whose boards are private', async () => {
    const { site, visit, asOwner } = await open()
    await site.call(boards.create, { name: 'Secret', display: false })
    for (const path of ['/legal/imprint', '/legal/cookies', '/legal/Imprint', '/legal/__proto__'])
      expect([path, (await visit(path)).status]).toEqual([path, 404])
    expect((await visit('/')).text).not.toContain('/legal/')
    await site.call(settings.update, { footerLinks: ['[Web](https://example.org)'] })
    await site.call(legal.set, { name: 'imprint', markdown: '# Ada\n\nBerlin & <b>Potsdam</b>' })
    const { status, text } = await visit('/legal/imprint')
    expect([status, text.match(/<h1>.*?<\/h1>/g)]).toEqual([200, ['<h1>Imprint</h1>']])
    expect(text).toMatch(/<h2>Ada<\/h2>\s*<p>Berlin &amp; &lt;b>|<h2>Ada<\/h2>\s*<p>Berlin &amp; &lt;b&gt;/)
    expect(text).toMatch(/<footer>[^]*href="\/legal\/imprint" aria-current="page"[^]*<\/footer>/)
    for (const path of ['/', '/boards', '/nowhere', '/login'])
      expect((await visit(path)).text).toMatch(/example\.org[^]*href="\/legal\/imprint">Imprint<\/a>[^]*<\/footer>/)
    expect(await asOwner('/dashboard')).toContain('href="/legal/imprint"')
    expect((await visit('/', 'de')).text).toContain('href="/legal/imprint">Impressum</a>')
    expect((await visit('/sitemap.xml')).text.match(/<loc>[^<]*\/legal\/\w+<\/loc>/g)).toEqual([`<loc>${SITE}/legal/imprint</loc>`]) // prettier-ignore
    await site.call(legal.set, { name: 'imprint', markdown: '' })
    expect((await visit('/legal/imprint')).status).toBe(404)
    expect((await visit('/')).text).not.toContain('/legal/')
  })

  it('the sign-up says what people accept, as far as it is there, beside the note of the owner', async () => {
    const { site, visit } = await open()
    const said = async (language = 'en') => {
      const [, html = ''] = /<p class="field sentence">(.*?)<\/p>/.exec((await visit('/join', language)).text) ?? []
      return html
    }
    await site.call(legal.set, { name: 'imprint', markdown: 'Ada' })
    expect(await said()).toBe('')
    await site.call(legal.set, { name: 'terms', markdown: 'Be kind.' })
    expect(await said()).toBe('By signing up you accept the <a href="/legal/terms">Terms</a>.')
    await site.call(legal.set, { name: 'privacy', markdown: 'Nothing is sold.' })
    expect(await said()).toBe('By signing up you accept the <a href="/legal/terms">Terms</a> and the <a href="/legal/privacy">Privacy policy</a>.') // prettier-ignore
    expect(await said('de')).toContain('akzeptieren Sie die <a href="/legal/terms">Nutzungsbedingungen</a> und die')
    await site.call(settings.update, { signupNote: 'Be **kind**.' })
    expect((await visit('/join')).text).toMatch(/<strong>kind<\/strong>[^]*By signing up/)
    await site.call(settings.update, { signupNote: 'You accept our [terms](/legal/terms).' })
    expect(await said(), 'the note says nothing of privacy').toBe('By signing up you accept the <a href="/legal/privacy">Privacy policy</a>.') // prettier-ignore
    await site.call(settings.update, { signupNote: 'Not our [old terms](/legal/terms-2019).' })
    expect(await said()).toContain('href="/legal/terms"')
    await site.call(legal.set, { name: 'terms', markdown: '' })
    expect(await said()).toBe('By signing up you accept the <a href="/legal/privacy">Privacy policy</a>.')
    await site.call(settings.update, { signupNote: 'You accept our [policy](/legal/privacy).' })
    const { text } = await visit('/join')
    expect([text.includes('You accept our'), await said()]).toEqual([true, ''])
  })

  it('their addresses are beside their texts, for who wants to link to them', async () => {
    const { site, asOwner } = await open()
    await site.call(legal.set, { name: 'terms', markdown: 'Be kind.' })
    const text = await asOwner('/dashboard/settings/legal')
    expect(text).toContain(`<a href="/legal/terms"><code>${SITE}/legal/terms</code></a>`)
    expect(text).toContain(`once it has a text: ${SITE}/legal/privacy`)
    expect(text).not.toContain('<a href="/legal/privacy">')
  })

  it('the owner writes them in the browser, and a refused form keeps what was typed', async () => {
    const { site, asOwner, send } = await open()
    const path = '/dashboard/settings/legal'
    const form = await asOwner(path)
    const versions = Array.from(form.matchAll(/name="ifVersion" value="([^"]+)"/g), ([, version = '']) => version)
    expect(versions).toHaveLength(3)
    expect((await send(`${path}/terms`, { markdown: 'Be kind.\r\n\r\nAlways.', ifVersion: versions[2] ?? '' })).status).toBe(303) // prettier-ignore
    expect((await site.call(legal.show, { name: 'terms' })).page.markdown).toBe('Be kind.\n\nAlways.')
    expect(await asOwner(path)).toContain('Be kind.\n\nAlways.')
    const stale = await send(`${path}/terms`, { markdown: 'Be rude.', ifVersion: versions[2] ?? '' })
    expect([stale.status, stale.text.includes('Be rude.'), stale.text.includes('Be kind.')]).toEqual([409, true, true])
    const refused = await send(`${path}/privacy`, { markdown: 'x'.repeat(50_001) })
    expect([refused.status, refused.text.match(/aria-invalid="true"/g)]).toEqual([422, ['aria-invalid="true"']])
    expect(refused.text).toMatch(/id="field-privacy"[^>]*aria-invalid="true"/)
    expect(refused.text).toContain('href="#field-privacy"')
    expect((await send(`${path}/cookies`, { markdown: 'x' })).status).not.toBe(303)
    expect((await send(`${path}/terms`, { markdown: '' })).status).toBe(303)
    expect((await site.call(legal.list, {})).pages).toEqual([])
  })

  it('cost what the text of a post may, and run nothing', async () => {
    const { site, visit } = await open()
    const cells = (cell: string) => `${`|${cell}`.repeat(60)}|\n`
    const texts = [
      (cells('a') + cells('-') + cells('').repeat(2000)).slice(0, 50_000), // rows of empty cells
      Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth * 2)}- x\n`).join('').slice(0, 50_000), // prettier-ignore
      '> '.repeat(25_000),
      '[a]('.repeat(12_500),
      '&'.repeat(50_000),
      '</style><script>alert(1)</script>[x](javascript:alert(1)) <img src=x onerror=alert(1)> \u202eRTL שלום',
    ]
    for (const [index, markdown] of texts.entries()) {
      await site.call(legal.set, { name: 'terms', markdown })
      const { status, text } = await visit('/legal/terms')
      expect([index, status, text.length < 1_000_000]).toEqual([index, 200, true])
      expect(text).not.toMatch(/<\/style>|<script>|href="javascript|<img src="?x/)
    }
    const one = await visit('/legal/terms')
    expect(await visit('/legal/terms')).toMatchObject({ status: 200, text: one.text })
  })
})
