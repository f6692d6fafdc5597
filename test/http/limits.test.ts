import { describe, expect, it, vi } from 'vitest'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import { RequestLimit } from '../../src/service/lib/requests.js'
import { Limits } from '../../src/service/lib/limits.js'
import { cleanup, engines, httpOf, makeSite, OWNER, type Engine, type TestSite } from '../support/site.js'

const RATES = { 'sign-in': { points: 3, seconds: 900 }, mail: { points: 2, seconds: 3600 }, token: { points: 10, seconds: 60 } } // prettier-ignore
const ONE = { ...RATES, 'sign-in': { points: 1, seconds: 900 } }
const RIGHT = { email: OWNER.email, password: OWNER.password }
const WRONG = { ...RIGHT, password: 'a wrong password' }

/** A site behind a proxy on this machine, and its owner. */
async function makeLimited(engine: Engine, rates = RATES) {
  const site = await makeSite(engine, { trustProxy: 'loopback', rates })
  await site.owner()
  return site
}

/** Sends a request from an address. */
const from =
  (http: TestSite['http'], address: string) =>
  async (request: string, body: unknown): Promise<{ status: number; code?: string; retryAfter?: unknown }> => {
    const { status, body: answer, headers } = await http(request, { body, headers: { 'x-forwarded-for': address } })
    return { status, code: answer?.code, retryAfter: headers['retry-after'] }
  }

/** The statuses of the same request, sent one after another. */
async function inTurn(times: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = []
  for (let time = 0; time < times; time++) statuses.push((await send()).status)
  return statuses
}

const later = (site: TestSite, seconds: number) =>
  void (site.clock.now = new Date(site.clock.now.getTime() + seconds * 1000))

describe.each(engines)('limits on %s', (engine) => {
  it('refuse an account to one address after wrong passwords, the right one too, until the time is over', async () => {
    const site = await makeLimited(engine)
    const [here, elsewhere] = [from(site.http, '198.51.100.1'), from(site.http, '198.51.100.2')]
    expect(await inTurn(3, () => here('POST /auth/login', WRONG))).toEqual([403, 403, 403])
    later(site, 300)
    expect(await here('POST /auth/login', RIGHT)).toEqual({ status: 429, code: 'RATE_LIMITED', retryAfter: '600' })
    expect((await here('POST /auth/login', { ...RIGHT, email: ` ${OWNER.email.toUpperCase()}` })).status).toBe(429)
    expect((await elsewhere('POST /auth/login', RIGHT)).status).toBe(200)
    later(site, 600)
    expect((await here('POST /auth/login', RIGHT)).status).toBe(200)
  })

  it('count failures only, and forget those of an account when it signs in', async () => {
    const site = await makeLimited(engine)
    const here = from(site.http, '198.51.100.1')
    expect(await inTurn(12, () => here('POST /auth/login', RIGHT))).toEqual(Array(12).fill(200))
    for (let round = 0; round < 4; round++) {
      expect(await inTurn(2, () => here('POST /auth/login', WRONG))).toEqual([403, 403])
      expect((await here('POST /auth/login', RIGHT)).status).toBe(200)
    }
    expect(await inTurn(5, () => here('POST /auth/login', { email: 'no address' }))).toEqual(Array(5).fill(400))
  })

  it('refuse an address that tries many accounts, and an account that many addresses try', async () => {
    const site = await makeLimited(engine, ONE)
    const here = from(site.http, '2001:db8:1:1::1')
    for (let n = 0; n < 10; n++)
      expect((await here('POST /auth/login', { ...WRONG, email: `u${n}@example.org` })).status).toBe(404)
    expect((await here('POST /auth/login', RIGHT)).status).toBe(429)
    const neighbour = from(site.http, '2001:db8:1:1:ffff::2')
    expect((await neighbour('POST /auth/login', RIGHT)).status, 'the same network').toBe(429)
    expect((await from(site.http, '2001:db8:1:2::1')('POST /auth/login', RIGHT)).status).toBe(200)
    for (let n = 0; n < 10; n++) await from(site.http, `203.0.113.${n}`)('POST /auth/login', WRONG)
    expect((await from(site.http, '198.51.100.9')('POST /auth/login', RIGHT)).status).toBe(429)
  })

  it('are met by many requests at once as by one after another, and the right ones among them pass', async () => {
    const site = await makeLimited(engine)
    const here = from(site.http, '198.51.100.1')
    const wrong = await Promise.all(Array.from({ length: 20 }, () => here('POST /auth/login', WRONG)))
    expect(wrong.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      ...Array(3).fill(403),
      ...Array(17).fill(429),
    ])
    const elsewhere = from(site.http, '198.51.100.2')
    const right = await Promise.all(Array.from({ length: 20 }, () => elsewhere('POST /auth/login', RIGHT)))
    expect(right.map(({ status }) => status)).toEqual(Array(20).fill(200))
  })

  it('are shared by all servers on a database', async () => {
    const site = await makeLimited(engine)
    const log = { level: 'silent', stream: { write: () => {} } }
    const other = await buildServer(
      operations,
      { ...site.base, ping: async () => {}, limits: new Limits(RATES) },
      log,
      { trustProxy: 'loopback' },
    )
    cleanup(() => other.close())
    const [one, two] = [from(site.http, '198.51.100.1'), from(httpOf(other), '198.51.100.1')]
    expect(await inTurn(2, () => one('POST /auth/login', WRONG))).toEqual([403, 403])
    expect(await inTurn(2, () => two('POST /auth/login', WRONG))).toEqual([403, 429])
    expect((await one('POST /auth/login', RIGHT)).status).toBe(429)
  })

  it('count the mails to one person, whoever asks for them, and those that one address causes', async () => {
    const site = await makeLimited(engine)
    const reset = (address: string, email: string) => from(site.http, address)('POST /auth/password/reset', { email })
    expect((await reset('198.51.100.1', OWNER.email)).status).toBe(200)
    expect((await reset('198.51.100.2', OWNER.email)).status).toBe(200)
    expect((await reset('198.51.100.3', OWNER.email)).status).toBe(429)
    const here = from(site.http, '198.51.100.4')
    for (let n = 0; n < 20; n++) {
      const email = `m${n}@example.org`
      expect((await here('POST /auth/signup', { email, password: 'long enough' })).status).toBe(201)
    }
    const one = { email: 'one.more@example.org', password: 'long enough' }
    expect((await here('POST /auth/signup', one)).status).toBe(429)
    expect(await site.db.selectFrom('users').select('userId').where('email', '=', one.email).execute()).toEqual([])
  })

  it('count the mails to somebody who is signed in, whatever address the request names', async () => {
    const site = await makeLimited(engine)
    const { token } = await site.member()
    const verify = (email: string) => site.http('POST /auth/email/verify', { token, body: { email } })
    const statuses = [await verify('a@example.org'), await verify('b@example.org'), await verify('c@example.org')]
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429])
  })

  it('count wrong tokens of mails', async () => {
    const site = await makeLimited(engine)
    const here = from(site.http, '198.51.100.1')
    const token = 'x'.repeat(43)
    for (let n = 0; n < 5; n++) {
      expect((await here('POST /auth/password/set', { token, password: 'long enough' })).status).toBe(404)
      expect((await here('POST /auth/email/validate', { token })).status).toBe(404)
    }
    expect((await here('POST /auth/password/validateToken', { token })).status).toBe(429)
  })

  it('let a person in again who has set a new password', async () => {
    const site = await makeLimited(engine, ONE)
    for (let n = 0; n < 10; n++) await from(site.http, `203.0.113.${n}`)('POST /auth/login', WRONG)
    const here = from(site.http, '198.51.100.1')
    expect((await here('POST /auth/login', RIGHT)).status).toBe(429)
    await here('POST /auth/password/reset', { email: OWNER.email })
    const changed = { token: await site.mailedToken(OWNER.email), password: 'another password' }
    expect((await here('POST /auth/password/set', changed)).status).toBe(200)
    expect((await here('POST /auth/login', { ...RIGHT, password: changed.password })).status).toBe(200)
  })

  it('do not let strangers shut a person out where they have signed in before', async () => {
    const site = await makeLimited(engine, ONE)
    const [home, elsewhere] = [from(site.http, '198.51.100.1'), from(site.http, '198.51.100.2')]
    const attack = () =>
      Promise.all(
        Array.from({ length: 10 }, (_, n) => from(site.http, `2001:db8:0:${n}::1`)('POST /auth/login', WRONG)),
      )
    expect((await home('POST /auth/login', RIGHT)).status).toBe(200)
    const neighbour = await site.member([], { password: 'long enough' })
    const { email } = await site.db.selectFrom('users').select('email').where('userId', '=', neighbour.userId).executeTakeFirstOrThrow() // prettier-ignore
    expect((await elsewhere('POST /auth/login', { email, password: 'long enough' })).status).toBe(200)
    expect((await attack()).map(({ status }) => status)).toEqual(Array(10).fill(403))
    expect((await elsewhere('POST /auth/login', RIGHT)).status, 'another account signed in there').toBe(429)
    expect((await home('POST /auth/login', RIGHT)).status).toBe(200)
    expect(await inTurn(2, () => home('POST /auth/login', WRONG)), 'its own failures count').toEqual([403, 429])
    expect((await home('POST /auth/login', RIGHT)).status).toBe(429)
  })

  it('know an address for 30 days after a sign-in, which is stored once a day', async () => {
    const site = await makeLimited(engine, ONE)
    const home = from(site.http, '198.51.100.1')
    const [DAY, stored] = [86_400, () => site.db.selectFrom('limits').select('until').execute()]
    const attacked = async () => {
      for (let n = 0; n < 10; n++) await from(site.http, `203.0.113.${n}`)('POST /auth/login', WRONG)
      return (await home('POST /auth/login', RIGHT)).status
    }
    expect((await home('POST /auth/login', RIGHT)).status).toBe(200)
    const first = await stored()
    expect(first).toEqual([{ until: '2026-04-01T10:00:00.000Z' }])
    later(site, DAY - 1)
    expect((await home('POST /auth/login', RIGHT)).status).toBe(200)
    expect(await stored()).toEqual(first)
    later(site, 1)
    expect((await home('POST /auth/login', RIGHT)).status).toBe(200)
    expect(await stored()).toEqual([{ until: '2026-04-02T10:00:00.000Z' }])
    later(site, 29.9 * DAY)
    expect(await attacked()).toBe(200)
    later(site, 31 * DAY)
    expect(await attacked()).toBe(429)
  })

  it('do not know an address after a wrong password, a dry run or a missing code', async () => {
    const site = await makeLimited(engine)
    const headers = { 'x-forwarded-for': '198.51.100.1' }
    const dry = await site.http('POST /auth/login', {
      body: RIGHT,
      headers: { ...headers, 'feedbackctl-dry-run': '1' },
    })
    expect(dry.status).toBe(200)
    expect(await site.db.selectFrom('limits').selectAll().execute()).toEqual([])
    await from(site.http, '198.51.100.1')('POST /auth/login', WRONG)
    const { user } = (await site.http('POST /auth/login', { body: RIGHT })).body
    await site.db.insertInto('totp').values({ userId: user.userId, secret: 'unread', enabledAt: site.clock.now.toISOString(), step: 0 }).execute() // prettier-ignore
    expect((await from(site.http, '198.51.100.1')('POST /auth/login', RIGHT)).code).toBe('TOTP_REQUIRED')
    const last = new Date(site.clock.now.getTime() + 900_000).toISOString()
    const untils = await site.db.selectFrom('limits').select('until').execute()
    expect(new Set(untils.map(({ until }) => until))).toEqual(new Set([last]))
  })

  it.each([
    ['an address with ports', (n: number) => `203.0.113.200:${40_000 + n}`],
    ['an IPv6 address with ports', (n: number) => `[2001:db8::${n}]:${40_000 + n}`],
    ['a forwarded address of this machine', () => '127.0.0.1'],
    ['a forwarded IPv6 address of this machine', () => '::1'],
  ])('count %s as one client', async (_, address) => {
    for (const trustProxy of ['loopback', 'true']) {
      const site = await makeSite(engine, { trustProxy, rates: { ...ONE, requests: { points: 12, seconds: 60 } } })
      const login = (n: number) =>
        from(site.http, address(n))('POST /auth/login', { ...WRONG, email: `u${n}@example.org` })
      for (let n = 0; n < 10; n++) expect((await login(n)).code).toBe('USER_NOT_FOUND')
      expect((await login(10)).code).toBe('RATE_LIMITED')
      const read = (n: number) => site.http('GET /boards', { headers: { 'x-forwarded-for': address(n) } })
      expect([(await read(11)).status, (await read(12)).status]).toEqual([200, 429])
    }
  })

  it('keep no address and no e-mail address', async () => {
    const site = await makeLimited(engine)
    await from(site.http, '198.51.100.1')('POST /auth/login', WRONG)
    const stored = JSON.stringify(await site.db.selectFrom('limits').selectAll().execute())
    expect(JSON.parse(stored)).toHaveLength(3)
    expect(stored).not.toMatch(/198\.51|example/)
  })

  it('by address do not apply to programs on this machine, or to a proxy on it that nobody named', async () => {
    const site = await makeSite(engine, { rates: ONE })
    await site.owner()
    const login = (email: string) => site.http('POST /auth/login', { body: { ...WRONG, email } })
    for (let n = 0; n < 15; n++) expect((await login(`u${n}@example.org`)).status).toBe(404)
    for (let n = 0; n < 10; n++) expect((await login(OWNER.email)).status).toBe(403)
    expect((await login(OWNER.email)).status).toBe(429)
  })
})

describe('the limit of requests', () => {
  const requests = (points: number, seconds: number) => ({ ...RATES, requests: { points, seconds } })
  const get = (http: TestSite['http'], address: string, url = '/boards') =>
    http(`GET ${url}`, { headers: { 'x-forwarded-for': address } })
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status)

  it('counts every request of an address, cached ones and unknown paths too, until the time is over', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const site = await makeSite('sqlite', { trustProxy: 'loopback', rates: requests(4, 60) })
    const urls = ['/boards', '/boards', '//nothing', '//healthz']
    for (const url of urls) expect((await get(site.http, '198.51.100.1', url)).status).not.toBe(429)
    const { status, body, headers } = await get(site.http, '198.51.100.1')
    expect([status, body.code, headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '60'])
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-request-id': expect.any(String) })
    expect(headers['access-control-expose-headers']).toContain('Retry-After')
    // A page could not read why its preflight is refused
    const preflight = { origin: 'https://client.example.org', 'access-control-request-method': 'POST' }
    const asked = await site.http('OPTIONS /posts', { headers: { ...preflight, 'x-forwarded-for': '198.51.100.1' } })
    expect([asked.status, asked.headers['access-control-max-age']]).toEqual([204, '3600'])
    expect((await get(site.http, '198.51.100.2')).status).toBe(200)
    await get(site.http, '198.51.100.1')
    const warnings = site.logs.map((line) => JSON.parse(line)).filter(({ msg }) => /too many/.test(msg))
    expect(warnings).toMatchObject([{ level: 40, remoteAddress: '198.51.100.1', seconds: 60 }])
    vi.advanceTimersByTime(59_999)
    expect((await get(site.http, '198.51.100.1')).status).toBe(429)
    vi.advanceTimersByTime(1)
    expect((await get(site.http, '198.51.100.1')).status).toBe(200)
  })

  it('tells people in words of their language, and programs in JSON', async () => {
    const site = await makeSite('sqlite', { trustProxy: 'loopback', rates: requests(1, 120) })
    const page = (language: string) =>
      site.http('GET //', {
        headers: { accept: 'text/html,*/*', 'accept-language': language, 'x-forwarded-for': '198.51.100.1' },
      })
    await page('en')
    const { status, headers, text } = await page('de-AT')
    expect([status, headers['content-type'], headers['content-language']]).toEqual([429, 'text/html; charset=utf-8', 'de']) // prettier-ignore
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(text).toContain('<p>Zu viele Versuche. Versuchen Sie es in 2 Minuten noch einmal.</p>')
    expect((await page('en')).text).toContain('<p>Too many attempts. Try again in 2 minutes.</p>')
    expect((await get(site.http, '198.51.100.1')).body.code).toBe('RATE_LIMITED')
  })

  it('does not limit programs on this machine', async () => {
    const site = await makeSite('sqlite', { rates: requests(2, 60) })
    for (let n = 0; n < 10; n++) expect((await site.http('GET /boards')).status).toBe(200)
  })

  it.each(engines)('adds up what an address sends to two servers on %s', async (engine) => {
    const site = await makeSite(engine, { trustProxy: 'loopback', rates: requests(20, 60) })
    const rate = { points: 20, seconds: 60 }
    const other = await buildServer(
      operations,
      { ...site.base, ping: async () => {} },
      { level: 'silent', stream: { write: () => {} } },
      { trustProxy: 'loopback', requests: new RequestLimit(rate, { db: site.db, now: () => new Date() }) },
    )
    cleanup(() => other.close())
    const [one, two] = [site.http, httpOf(other)]
    const send = (http: TestSite['http'], times: number, address = '198.51.100.1') =>
      Promise.all(Array.from({ length: times }, () => get(http, address)))
    expect(new Set(statuses([...(await send(one, 12)), ...(await send(two, 12))]))).toEqual(new Set([200]))
    await expect.poll(async () => (await get(one, '198.51.100.1')).status).toBe(429)
    await expect.poll(async () => (await get(two, '198.51.100.1')).status).toBe(429)
    expect(statuses(await send(two, 1, '198.51.100.2'))).toEqual([200])
  })

  it('names a proxy that trust-proxy does not name, once', async () => {
    for (const [trustProxy, count] of [
      [undefined, 1],
      ['10.0.0.0/8', 1],
      ['loopback', 0],
    ] as const) {
      const site = await makeSite('sqlite', { trustProxy })
      for (let n = 0; n < 3; n++) await get(site.http, '198.51.100.1')
      const warnings = site.logs.map((line) => JSON.parse(line)).filter(({ msg }) => /trust-proxy/.test(msg))
      expect(warnings.map(({ proxy }) => proxy)).toEqual(Array(count).fill('127.0.0.1'))
    }
  })
})
