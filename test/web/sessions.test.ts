import { h } from 'preact'
import { describe, expect, it } from 'vitest'
import { login } from '../../src/service/auth.js'
import { sessions as job } from '../../src/jobs/sessions.js'
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
  ends: true,
  async load({ call, query }) {
    await call(login, { email: OWNER.email, password: query.password ?? '' })
    throw new Ended({ to: '/settings', flash: 'saved', language: 'de' })
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

  it('does nothing for HEAD where it ends as a form does, so that a look at its address uses nothing up', async () => {
    const pages = { ...routes.pages, '/back': async () => back }
    const site = await makeSite(engine, { siteUrl: SITE, surfaces: [surfaceOf({ ...routes, pages })] })
    await site.owner()
    const rows = () => site.db.selectFrom('sessions').select('sessionId').execute()
    const before = [await rows(), await site.events()]
    const looked = await site.http(`HEAD //back?password=${encodeURIComponent(OWNER.password)}`, { headers: HTML }) // prettier-ignore
    expect([looked.status, looked.text, setIn(looked), looked.headers.location]).toEqual([200, '', [], undefined])
    expect(looked.headers['cache-control']).toBe('no-store')
    expect([await rows(), await site.events()]).toEqual(before)
  })

  it('ends as a form does only where it says so', async () => {
    const { ends: _, ...undeclared } = back
    const pages = { ...routes.pages, '/back': async () => undeclared }
    const site = await makeSite(engine, { siteUrl: SITE, surfaces: [surfaceOf({ ...routes, pages })] })
    await site.owner()
    const sent = await get(site, `/back?password=${encodeURIComponent(OWNER.password)}`)
    expect([sent.status, sent.headers.location]).toEqual([500, undefined])
  })
})

const DAY_S = 24 * 60 * 60

const maxAgeIn = (sent: Sent): number | undefined => {
  const [, seconds] = /^feedbackctl=.*; Max-Age=(\d+)/.exec(setIn(sent).find((each) => each.startsWith('feedbackctl=')) ?? '') ?? [] // prettier-ignore
  return seconds === undefined ? undefined : Number(seconds)
}

const EVE = { email: 'eve@example.org', password: 'a good password' }

describe.each(engines)('a session of a browser on %s', (engine) => {
  async function world(options: Partial<Parameters<typeof makeSite>[1]> = {}) {
    const site = await makeSite(engine, { siteUrl: SITE, ...options })
    await site.owner()
    const { userId } = await site.member([], EVE)
    await site.db.deleteFrom('sessions').execute()
    const signIn = async (cookie = '') => {
      const sent = await send(site, '/login', EVE, cookie)
      expect(sent.status).toBe(303)
      return sent
    }
    return {
      site,
      userId,
      signIn,
      after: (days: number) => void (site.clock.now = new Date(site.clock.now.getTime() + days * DAY_S * 1000)),
      isIn: async (cookie: string) => (await get(site, '/settings', cookie)).status === 200,
      rows: () => site.db.selectFrom('sessions').selectAll().orderBy('createdAt').execute(),
    }
  }

  it('lives 30 days after each visit, and its cookie with it', async () => {
    const { site, signIn, after, isIn, rows } = await world()
    const sent = await signIn()
    expect(maxAgeIn(sent)).toBe(30 * DAY_S)
    let cookie = cookieIn(sent)
    after(0.5)
    const soon = await get(site, '/settings', cookie)
    expect([soon.status, setIn(soon)], 'its end moves once a day').toEqual([200, []])
    after(28.5)
    const late = await get(site, '/settings', cookie)
    expect([late.status, maxAgeIn(late), late.headers['cache-control']]).toEqual([200, 30 * DAY_S, 'no-store'])
    const [row] = await rows()
    expect(row).toMatchObject({ kind: 'browser', expiresAt: new Date(site.clock.now.getTime() + 30 * DAY_S * 1000).toISOString() }) // prettier-ignore
    expect(setIn(await get(site, '/settings', cookie)), 'and not again').toEqual([])
    cookie = cookieIn(late)
    after(29)
    expect(await isIn(cookie)).toBe(true)
    expect(await rows()).toHaveLength(1)
    after(31)
    expect(await isIn(cookie)).toBe(false)
    await job.run({ db: site.db, now: site.base.now, log: undefined as never, signal: new AbortController().signal })
    expect(await rows()).toEqual([])
  })

  it('goes on for a cookie that an answer was lost of, and for one beside it', async () => {
    const { signIn, after, isIn } = await world()
    const cookie = cookieIn(await signIn())
    after(20)
    expect(await Promise.all([isIn(cookie), isIn(cookie)])).toEqual([true, true])
    after(20)
    expect(await isIn(cookie)).toBe(true)
  })

  it('ends a year after the sign-in, however often it is used', async () => {
    const { site, signIn, after, isIn } = await world()
    let cookie = cookieIn(await signIn())
    const ages: (number | undefined)[] = []
    for (let visit = 0; visit < 18; visit++) {
      after(20)
      const sent = await get(site, '/settings', cookie)
      expect(sent.status).toBe(200)
      cookie = cookieIn(sent) || cookie
      ages.push(maxAgeIn(sent))
    }
    expect(ages.slice(-3)).toEqual([30 * DAY_S, 25 * DAY_S, undefined])
    after(4.9)
    expect(await isIn(cookie)).toBe(true)
    after(0.2)
    expect(await isIn(cookie)).toBe(false)
  })

  it('lives as the settings say, from its next use on where they change', async () => {
    const { site, signIn, after, isIn, rows } = await world({ browserSessions: { idle: 900, absolute: 3600 } })
    const sent = await signIn()
    expect(maxAgeIn(sent)).toBe(900)
    const cookie = cookieIn(sent)
    after(10 / 1440)
    expect(await isIn(cookie)).toBe(true)
    after(14 / 1440)
    expect(await isIn(cookie)).toBe(true)
    after(16 / 1440)
    expect(await isIn(cookie)).toBe(false)
    const again = cookieIn(await signIn())
    Object.assign(site.base.browserSessions!, { idle: 60 })
    expect(await isIn(again)).toBe(true)
    const [, row] = await rows()
    expect(row?.expiresAt).toBe(new Date(site.clock.now.getTime() + 60_000).toISOString())
  })

  it('goes on where its pages come from the response cache', async () => {
    const { site, signIn, after } = await world({ browserSessions: { idle: 900, absolute: 30 * DAY_S }, rerun: false }) // which would be a use, too
    const cookie = cookieIn(await signIn())
    for (let minutes = 0; minutes <= 40; minutes += 2) {
      await get(site, '/boards', cookie) // a request that writes is not cached, the next is
      const { text } = await get(site, '/boards', cookie)
      expect([minutes, text.includes('action="/logout"')]).toEqual([minutes, true])
      after(2 / 1440)
    }
  })

  it('is listed with its end, and revoked at once', async () => {
    const { site, userId, signIn, after, isIn } = await world()
    const cookie = cookieIn(await signIn())
    after(10)
    expect(await isIn(cookie)).toBe(true)
    const token = await site.signIn(userId)
    const { sessions } = (await site.http('GET /sessions', { token })).body
    const ends = sessions.map((each: { expiresAt: string }) => (Date.parse(each.expiresAt) - site.clock.now.getTime()) / 1000 / DAY_S) // prettier-ignore
    expect(ends).toEqual([2, 30])
    await site.http(`DELETE /sessions/${sessions[1].sessionId}`, { token, body: {} })
    expect(await isIn(cookie)).toBe(false)
  })

  it('begins anew with each sign-in, and the one before has ended', async () => {
    const { site, signIn, isIn, rows } = await world()
    const first = cookieIn(await signIn())
    const second = cookieIn(await signIn(first))
    expect([await isIn(first), await isIn(second)]).toEqual([false, true])
    const ada = cookieIn(await send(site, '/login', { email: OWNER.email, password: OWNER.password }, second))
    expect([await isIn(second), await isIn(ada), (await rows()).length]).toEqual([false, true, 1])
    const other = cookieIn(await signIn())
    expect([await isIn(ada), await isIn(other)], 'in another browser').toEqual([true, true])
  })

  it('has another id after a new password; the other sessions have ended', async () => {
    const { site, userId, signIn, after, isIn, rows } = await world()
    const [other, mine] = [cookieIn(await signIn()), cookieIn(await signIn())]
    const token = await site.signIn(userId)
    after(1)
    const wrong = await send(site, '/settings/password', { currentPassword: 'x', password: 'a better password' }, mine)
    expect([wrong.status, await isIn(mine)]).toEqual([403, true])
    const sent = await send(site, '/settings/password', { currentPassword: EVE.password, password: 'a better password' }, mine) // prettier-ignore
    expect([sent.status, sent.headers.location]).toEqual([303, '/settings?done=passwordSet'])
    expect(maxAgeIn(sent)).toBe(30 * DAY_S)
    expect([await isIn(mine), await isIn(other), await isIn(cookieIn(sent))]).toEqual([false, false, true])
    expect((await site.http('GET /users/profile', { token })).body.code).toBe('INVALID_TOKEN')
    expect(await rows()).toEqual([expect.objectContaining({ createdAt: '2026-03-02T10:00:00.000Z' })])
  })

  it('has another id after the second factor is switched on or off', async () => {
    const { site, signIn, isIn } = await world()
    let cookie = cookieIn(await signIn())
    const changed = async (path: string, fields: Record<string, string>) => {
      const sent = await send(site, path, fields, cookie)
      const next = cookieIn(sent)
      expect([await isIn(cookie), await isIn(next)]).toEqual([false, true])
      cookie = next
      return sent
    }
    const begun = await send(site, '/settings/totp', {}, cookie)
    const secret = /name="secret" value="(\w+)"/.exec(begun.text)?.[1] ?? ''
    const { generate } = await import('otplib')
    const code = await generate({ secret, epoch: site.clock.now.getTime() / 1000 })
    const { text } = await changed('/settings/totp/enable', { code })
    const [, recovery = ''] = /<code>([\w-]+)<\/code>/.exec(text) ?? []
    await changed('/settings/totp/disable', { code: recovery })
  })
})

it('a browser that visits after the secret was rotated gets a token of the new one', async () => {
  const site = await makeSite('sqlite', { siteUrl: SITE })
  let [secret, previous] = ['the first secret of this site', '']
  const until = new Date(site.clock.now.getTime() + 3 * DAY_S * 1000)
  Object.assign(site.base, { secret: () => secret, previousSecret: () => (previous ? { secret: previous, until } : undefined) }) // prettier-ignore
  await site.member([], EVE)
  const before = cookieIn(await send(site, '/login', EVE))
  ;[secret, previous] = ['the next secret of this site', secret]
  const sent = await get(site, '/settings', before)
  expect(sent.status).toBe(200)
  const after = cookieIn(sent)
  expect(after).toMatch(/^feedbackctl=./)
  site.clock.now = new Date(site.clock.now.getTime() + 4 * DAY_S * 1000)
  expect((await get(site, '/settings', before)).status).toBe(303)
  expect((await get(site, '/settings', after)).status).toBe(200)
})

describe.each(engines)('a token of the API on %s', (engine) => {
  it('lasts two days however often it is used, also as a cookie, and keeps its id', async () => {
    const site = await makeSite(engine, { siteUrl: SITE })
    await site.member([], EVE)
    const signIn = async () => (await site.http('POST /auth/login', { body: EVE })).body.user.authToken as string
    const [token, other] = [await signIn(), await signIn()]
    const cookie = `feedbackctl=${token}`
    for (const days of [0, 1, 0.9]) {
      site.clock.now = new Date(site.clock.now.getTime() + days * DAY_S * 1000)
      expect((await site.http('GET /users/profile', { token })).status).toBe(200)
      const sent = await get(site, '/settings', cookie)
      expect([sent.status, setIn(sent)]).toEqual([200, []])
    }
    const change = { currentPassword: EVE.password, password: 'a better password' }
    const changed = await site.http('POST /users/password', { token, body: change })
    expect([changed.status, changed.headers['set-cookie']]).toEqual([204, undefined])
    expect((await site.http('GET /users/profile', { token })).status).toBe(200)
    expect((await site.http('GET /users/profile', { token: other })).body.code).toBe('INVALID_TOKEN')
    site.clock.now = new Date(site.clock.now.getTime() + 0.1 * DAY_S * 1000)
    expect((await site.http('GET /users/profile', { token })).body.code).toBe('INVALID_TOKEN')
  })
})
