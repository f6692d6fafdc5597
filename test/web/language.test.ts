import { describe, expect, it } from 'vitest'
import * as auth from '../../src/service/auth.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
const EVE = { email: 'eve@example.org', password: 'a good password' }

const send = (site: TestSite, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  site.http(`POST /${path}`, { body: new URLSearchParams(fields).toString(), headers: { ...FORM, ...headers } })

/** What a browser sends back: the name and the value of each cookie. */
const cookiesIn = ({ 'set-cookie': set = [] }: Record<string, string | string[] | number | undefined>): string =>
  [set]
    .flat()
    .map((text) => String(text).split(';')[0])
    .join('; ')

const newestMail = (site: TestSite) =>
  site.db.selectFrom('deliveries').selectAll().orderBy('deliveryId', 'desc').executeTakeFirstOrThrow()

const languageAt = async (site: TestSite, path: string, headers: Record<string, string>): Promise<string> => {
  const { text, headers: sent } = await site.http(`GET /${path}`, { headers })
  const [, shown = ''] = /<html lang="([^"]+)"/.exec(text) ?? []
  expect(sent['content-language']).toBe(shown)
  return shown
}

describe.each(engines)('the language of an account on %s', (engine) => {
  it('is that of the page where it began; pages and mails are in it whatever the browser asks for', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost' })
    await site.owner()
    const { headers } = await send(site, '/join', EVE, { 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' })
    const mail = await newestMail(site)
    expect(mail.subject).toBe('Moonbase – bitte bestätigen Sie Ihre E-Mail-Adresse')
    expect(mail.html).toContain('<html lang="de">')
    const cookie = cookiesIn(headers)
    for (const asked of ['en', 'fr', 'de'])
      expect(await languageAt(site, '/', { cookie, 'accept-language': asked })).toBe('de')
    expect(await languageAt(site, '/', { 'accept-language': 'en' }), 'of a visitor').toBe('en')
    await send(site, '/password-reset', { email: EVE.email }, { 'accept-language': 'en' })
    expect((await newestMail(site)).text).toContain('Wählen Sie hier ein neues:')
  })

  it('changes at once, also back to what the browser asks for', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost' })
    await site.owner()
    const { headers } = await send(site, '/login', { email: OWNER.email, password: OWNER.password })
    const cookie = cookiesIn(headers)
    const here = { cookie, 'accept-language': 'en' }
    expect(await languageAt(site, '/settings', here)).toBe('en')
    expect(await languageAt(site, '/', here)).toBe('en')
    const changed = await send(site, '/settings/language', { language: 'de' }, here)
    expect([changed.status, changed.headers.location]).toEqual([303, '/settings?done=saved'])
    expect(cookiesIn(changed.headers)).toBe('feedbackctl-language=de')
    for (const path of ['/', '/settings', '/nowhere'])
      expect(await languageAt(site, path, { ...here, accept: 'text/html' })).toBe('de')
    const wrong = await send(site, '/settings/language', { language: 'tlh' }, here)
    expect([wrong.status, await languageAt(site, '/', here)]).toEqual([422, 'de'])
    const back = await send(site, '/settings/language', { language: 'auto' }, here)
    expect(back.headers['set-cookie']).toMatch(/^feedbackctl-language=; Max-Age=0;/)
    expect(await languageAt(site, '/', here)).toBe('en')
    expect(await languageAt(site, '/', { cookie, 'accept-language': 'de' })).toBe('de')
  })

  it('stays what was chosen while a site is set up, and can be changed at each step', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost', rates: {} })
    const chosen = await send(site, '/language', { language: 'de', to: '/setup/create-account' })
    const here = { cookie: cookiesIn(chosen.headers), 'accept-language': 'en' }
    expect(await languageAt(site, '/setup/create-account', here)).toBe('de')
    const made = await send(site, '/setup/create-account', OWNER, here)
    const signedIn = { ...here, cookie: `${here.cookie}; ${cookiesIn(made.headers)}` }
    for (const step of ['/setup/create-board', '/setup/create-roadmaps']) {
      expect(await languageAt(site, step, signedIn)).toBe('de')
      const { text } = await site.http(`GET /${step}`, { headers: signedIn })
      expect(text).toMatch(new RegExp(`action="/settings/language" class="languages">.*name="to" value="${step}"`, 's'))
    }
    const changed = await send(site, '/settings/language', { language: 'fr', to: '/setup/create-roadmaps' }, signedIn)
    expect([changed.status, changed.headers.location]).toEqual([303, '/setup/create-roadmaps'])
    expect(await languageAt(site, '/setup/create-roadmaps', signedIn)).toBe('fr')
    expect((await site.http('GET //', { headers: signedIn })).text).not.toContain('class="languages"')
  })

  it('is in the API where an account has one, and absent where not', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { body: none } = await site.http('GET /users/profile', { token })
    expect(none.user).not.toHaveProperty('language')
    const { body: changed } = await site.http('PATCH /users/profile', { token, body: { language: 'de' } })
    expect(changed.user).toMatchObject({ name: OWNER.name, language: 'de' })
    expect((await site.http('GET /users/profile', { token })).body.user.language).toBe('de')
    expect((await site.http('GET /users/profile/data', { token })).body.profile.language).toBe('de')
    const { status, body } = await site.http('PATCH /users/profile', { token, body: { language: 'xx' } })
    expect([status, body.errors[0]]).toMatchObject([400, { field: 'language', code: 'UNKNOWN_CHOICE' }])
    expect((await site.http('GET /users/profile', { token })).body.user.language).toBe('de')
    await site.http('PATCH /users/profile', { token, body: { language: 'auto' } })
    expect((await site.http('GET /users/profile', { token })).body.user).not.toHaveProperty('language')
  })

  it('is that of an invitation, where the owner gives it', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { user } = await site.call(users.create, { email: EVE.email, language: 'de' })
    expect(user.language).toBe('de')
    expect((await newestMail(site)).subject).toBe('Moonbase – Sie sind eingeladen')
    await site.call(users.create, { email: 'bob@example.org' })
    expect((await newestMail(site)).subject).toBe('Moonbase – you are invited')
  })
})

it('a cookie of a visitor counts more than the browser, and less than the account', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
  await site.owner()
  const { headers } = await send(site, '/language', { language: 'de', to: '/boards' })
  const visitor = cookiesIn(headers)
  expect(headers.location).toBe('/boards')
  expect(await languageAt(site, '/', { cookie: visitor, 'accept-language': 'en' })).toBe('de')
  await site.call(auth.signup, { ...EVE, language: 'en' })
  const { headers: signedIn } = await send(site, '/login', EVE)
  expect(await languageAt(site, '/', { cookie: `${visitor}; ${cookiesIn(signedIn)}` })).toBe('en')
})

describe.each(engines)('the language of a site on %s', (engine) => {
  it('is that of whoever asks for none there is: pages, feeds and mails', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost', siteLanguage: 'de' })
    await site.owner()
    for (const [asked, shown] of [
      ['it, ko', 'de'],
      ['it, en;q=0.5', 'en'],
      ['it, pt-PT;q=0.8, en;q=0.5', 'pt'],
      ['', 'de'],
      ['de', 'de'],
    ] as const)
      // prettier-ignore
      expect([asked, await languageAt(site, '/', { 'accept-language': asked })]).toEqual([asked, shown])
    expect(await languageAt(site, '/', {})).toBe('de')
    expect(await languageAt(site, '/', { cookie: 'feedbackctl-language=en' }), 'chosen in this browser').toBe('en')
    await site.call(users.create, { email: EVE.email })
    expect((await newestMail(site)).html).toContain('<html lang="de">')
    await site.call(users.create, { email: 'mallory@example.org', language: 'en' })
    expect((await newestMail(site)).html).toContain('<html lang="en">')
  })
})
