import { describe, expect, it } from 'vitest'
import { images } from '../../src/jobs/images.js'
import { undo } from '../../src/service/eventundo.js'
import { list } from '../../src/service/events.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import { PNG, storeImage } from '../support/images.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const GENERAL = '/dashboard/settings/general'

const cookieOf = (token: string) => ({ cookie: `feedbackctl=${token}` })

/** Sends the form of the settings with a file, or one for each field of files. */
function save(
  site: TestSite,
  token: string,
  sent: Buffer | Record<string, Buffer>,
  fields: Record<string, string> = {},
) {
  const boundary = 'x'.repeat(20)
  const part = (head: string, body: Buffer | string) => [Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')] // prettier-ignore
  const body = Buffer.concat([
    ...Object.entries({ title: 'Moonbase', allowSignup: 'true', ...fields }).flatMap(([name, value]) => part(`name="${name}"`, value)), // prettier-ignore
    ...Object.entries(Buffer.isBuffer(sent) ? { images: sent } : sent).flatMap(([name, file]) => part(`name="${name}"; filename="logo.png"`, file)), // prettier-ignore
    Buffer.from(`--${boundary}--\r\n`),
  ])
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'sec-fetch-site': 'same-origin', ...cookieOf(token) } // prettier-ignore
  return site.http(`POST /${GENERAL}`, { body, headers })
}

const logoOf = async (site: TestSite): Promise<string | null> =>
  (await site.http('GET /settings/site')).body.settings.logo

describe.each(engines)('a logo that was uploaded, on %s', (engine) => {
  it('is served by the site to everybody, also where boards are private, and is kept', async () => {
    const site = await makeSite(engine, { siteUrl: SITE })
    const token = await site.owner()
    const { status, headers } = await save(site, token, PNG)
    expect([status, headers.location]).toEqual([303, `${GENERAL}?done=saved`])
    const logo = (await logoOf(site)) ?? ''
    expect(logo).toMatch(/^http:\/\/localhost\/api\/v1\/images\/[\da-f-]{36}-\d+x\d+\.webp$/)
    const path = logo.slice(SITE.length)
    const shown = await site.http(`GET /${path}`)
    expect([shown.status, shown.headers['content-type'], shown.headers['cache-control']]).toEqual([200, 'image/webp', 'public, max-age=3600']) // prettier-ignore
    const { text } = await site.http('GET //')
    const [, width, height] = /-(\d+)x(\d+)\.webp$/.exec(logo) ?? []
    const drawn = Math.round((28 * Number(width)) / Number(height))
    expect(text).toContain(`<img src="${logo}" alt width="${drawn}" height="28"`) // nothing moves once it is loaded
    expect(text).toContain(`<link rel="apple-touch-icon" href="${path}"`)

    site.clock.now = new Date(site.clock.now.getTime() + 48 * 3_600_000)
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const { run, isDue } = images()
    const place = { db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal }
    expect(await isDue?.(place)).toBe(false)
    await run(place)
    expect((await site.http(`GET /${path}`)).status).toBe(200)
  })

  it('moves with the site, and comes back with an undo', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const token = await site.owner()
    expect((await save(site, token, PNG)).status).toBe(303)
    const path = ((await logoOf(site)) ?? '').slice(SITE.length)
    await site.call(settings.update, { logo: '' })
    const { events } = await site.call(list, { created: 'desc' })
    await site.call(undo, { id: String(events[0]?.id) })
    expect(await logoOf(site)).toBe(SITE + path)
    site.base.siteUrl = 'https://moved.example.org/board'
    const { settings: moved } = await site.call(settings.site, {})
    expect([moved.logo, moved.icon]).toEqual(Array(2).fill(`https://moved.example.org/board${path}`))
    const { text } = await (await site.server()).inject({ url: '/board/', headers: { accept: 'text/html' } }).then(({ payload }) => ({ text: payload })) // prettier-ignore
    expect(text).toContain(`<img src="https://moved.example.org/board${path}"`)
  })

  it('stays when its uploader is deleted, and goes when there is another', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    const { token, userId } = await site.member(['settings:update', 'dashboard:read'])
    expect((await save(site, token, PNG)).status).toBe(303)
    const path = ((await logoOf(site)) ?? '').slice(SITE.length)
    await site.call(users.remove, { user: userId })
    expect((await site.http(`GET /${path}`)).status).toBe(200)
    await site.http('PATCH /settings/site', { token: owner, body: { logo: '' } })
    expect((await site.http(`GET /${path}`)).status).toBe(404)
  })

  it('may be another one in dark mode, which is served and kept like it', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const token = await site.owner()
    const dark = async (): Promise<string | null> => (await site.http('GET /settings/site')).body.settings.logoDark
    const refused = await save(site, token, { images: PNG, imagesDark: Buffer.from('<svg/>') })
    const refusedIn = Array.from(refused.text.matchAll(/<input type="file"[^>]*name="(\w+)"[^>]*aria-invalid="true"/g), ([, name]) => name) // prettier-ignore
    expect([refused.status, refusedIn, await logoOf(site)]).toEqual([422, ['imagesDark'], null])
    expect(refused.text).toContain(`value="${SITE}/api/v1/images/`) // it need not be sent again

    expect((await save(site, token, { images: PNG, imagesDark: PNG })).status).toBe(303)
    const [light, other] = [(await logoOf(site)) ?? '', (await dark()) ?? '']
    expect(light).not.toBe(other)
    const { text } = await site.http('GET //')
    expect(text).toContain(
      `<picture><source srcset="${other}" media="(prefers-color-scheme: dark)" width="56" height="28"/><img src="${light}"`,
    )
    const path = other.slice(SITE.length)
    expect((await site.http(`GET /${path}`)).status).toBe(200)
    site.clock.now = new Date(site.clock.now.getTime() + 48 * 3_600_000)
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    await images().run({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })
    expect((await site.http(`GET /${path}`)).status).toBe(200)

    await site.call(settings.update, { logoDark: '' })
    expect((await site.http('GET //')).text).not.toContain('<picture')
    await images().run({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })
    expect([await dark(), (await site.http(`GET /${path}`)).status]).toEqual([null, 404])
    expect(await logoOf(site)).toBe(light)
  })

  it('is removed by a box, unless a new one is sent with it', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const token = await site.owner()
    const page = async () => (await site.http(`GET /${GENERAL}`, { headers: cookieOf(token) })).text
    expect(await page()).not.toContain('name="removeLogo"')
    expect((await save(site, token, PNG)).status).toBe(303)
    const first = (await logoOf(site)) ?? ''
    const form = await page()
    expect(form).toMatch(/name="removeLogo" value="true"/)
    expect(form, 'it is at no other address').toMatch(/<details class="history"><summary>Use a logo at another/)
    const removed = { logo: first, removeLogo: 'true', shownLogo: first }
    expect((await save(site, token, PNG, removed)).status).toBe(303)
    const second = (await logoOf(site)) ?? ''
    expect([second === '', second === first]).toEqual([false, false])
    expect((await save(site, token, {}, { ...removed, logo: second, shownLogo: second })).status).toBe(303)
    expect(await logoOf(site)).toBeNull()
    const again = await save(site, token, PNG, { title: 'x'.repeat(300) })
    const [, uploaded = ''] = /name="shownLogo" value="([^"]+)"/.exec(again.text) ?? []
    expect([again.status, uploaded.includes('/images/')], 'what the page shows can be removed').toEqual([422, true])
    await save(site, token, {}, { logo: uploaded, shownLogo: uploaded, removeLogo: 'true' })
    expect(await logoOf(site)).toBeNull()
    await save(site, token, {}, { logo: 'https://example.com/logo.png' })
    expect(await page()).toContain('<details class="history" open><summary>Use a logo at another')
    const refused = await save(site, token, {}, { logo: 'nothing' })
    expect([refused.status, /<details class="history" open>.*id="field-logo"/s.test(refused.text)]).toEqual([422, true])
  })

  it('in dark mode has an address that is refused by its own name', async () => {
    const site = await makeSite(engine, { siteUrl: 'https://feedback.example.org' })
    const { token } = await site.member(['settings:update'])
    for (const [logoDark, code] of [
      ['nothing', 'INVALID_LOGO_URL'],
      ['http://example.com/a.png', 'INVALID_LOGO_URL'],
      ['javascript:alert(1)', 'INVALID_LOGO_URL'],
      [`https://feedback.example.org/api/v1/images/00000000-0000-7000-8000-000000000000-1x1.webp`, 'INVALID_LOGO_URL'],
      [`https://example.com/${'a'.repeat(236)}`, 'LOGO_URL_TOO_LONG'],
    ]) {
      const { status, body } = await site.http('PATCH /settings/site', { token, body: { title: 'New', logoDark } })
      expect([logoDark, status, body.code, body.errors]).toEqual([logoDark, 400, 'VALIDATION_ERROR', [expect.objectContaining({ code, field: 'logoDark' })]]) // prettier-ignore
    }
    expect((await site.http('GET /settings/site')).body.settings).toMatchObject({ title: 'Feedback', logoDark: null })
  })

  it('makes no image public that its setter may not see, and names none that is not there', async () => {
    const site = await makeSite(engine, { siteUrl: SITE })
    await site.owner()
    const { token } = await site.member(['settings:update'])
    const { imageId: hidden } = await storeImage(site.db)
    const set = async (logo: string) => {
      const { status, body } = await site.http('PATCH /settings/site', { token, body: { logo } })
      return [status, body.code]
    }
    for (const imageId of [hidden, '00000000-0000-7000-8000-000000000000'])
      expect(await set(`${SITE}/api/v1/images/${imageId}-1x1.webp`)).toEqual([400, 'INVALID_LOGO_URL'])
    expect(await logoOf(site)).toBeNull()
  })
})

it('a file that is no image is refused beside its field, and changes nothing', async () => {
  const site = await makeSite('sqlite', { siteUrl: SITE })
  const token = await site.owner()
  const { status, text } = await save(site, token, Buffer.from('<svg/>'), { title: 'Typed' })
  expect([status, text.includes('value="Typed"'), /<input type="file"[^>]*aria-invalid="true"/.test(text)]).toEqual([422, true, true]) // prettier-ignore
  expect(await logoOf(site)).toBeNull()
})
