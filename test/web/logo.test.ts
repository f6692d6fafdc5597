import { describe, expect, it } from 'vitest'
import { images } from '../../src/jobs/images.js'
import * as users from '../../src/service/users.js'
import { PNG, storeImage } from '../support/images.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const GENERAL = '/dashboard/settings/general'

const cookieOf = (token: string) => ({ cookie: `feedbackctl=${token}` })

/** Sends the form of the settings with a file. */
function save(site: TestSite, token: string, file: Buffer, fields: Record<string, string> = {}) {
  const boundary = 'x'.repeat(20)
  const part = (head: string, body: Buffer | string) => [Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')] // prettier-ignore
  const body = Buffer.concat([
    ...Object.entries({ title: 'Moonbase', allowSignup: 'true', ...fields }).flatMap(([name, value]) => part(`name="${name}"`, value)), // prettier-ignore
    ...part('name="images"; filename="logo.png"', file),
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
    expect(text).toContain(`<img src="${logo}"`)
    expect(text).toContain(`<link rel="apple-touch-icon" href="${path}"`)

    site.clock.now = new Date(site.clock.now.getTime() + 48 * 3_600_000)
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const { run, isDue } = images()
    const place = { db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal }
    expect(await isDue?.(place)).toBe(false)
    await run(place)
    expect((await site.http(`GET /${path}`)).status).toBe(200)
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
