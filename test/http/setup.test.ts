import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const SITE = 'https://feedback.example.org' // see makeSite

describe.each(engines)('the first owner on %s', (engine) => {
  const outcome = async (site: TestSite, headers: Record<string, string>, body: object = OWNER) => {
    const { status, body: answer } = await site.http('POST /auth/setup', { body, headers })
    return [status, answer.code]
  }

  it.each([
    ['of another site', { origin: 'https://evil.example' }],
    ['of no origin', { origin: 'null' }],
    ['of another port', { host: 'localhost:8000', origin: 'http://localhost:3000' }],
    ['of another site, without its origin', { 'sec-fetch-site': 'cross-site' }],
    ['of another host of the site', { 'sec-fetch-site': 'same-site' }],
    ['whose host name points here', { host: 'evil.example:8000', origin: 'http://evil.example:8000' }],
    ['whose host name points here, without its origin', { host: 'evil.example', 'sec-fetch-site': 'same-origin' }],
    ['whose host name only begins well', { host: 'localhost.evil.example', origin: 'http://localhost.evil.example' }],
    ['that begins like the site', { origin: `${SITE}.evil.example` }],
    ['of the site without TLS', { origin: 'http://feedback.example.org' }],
  ])('is not made by a page %s', async (_, headers) => {
    const site = await makeSite(engine)
    await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
    expect(await outcome(site, headers)).toEqual([403, 'SETUP_REFUSED'])
    expect(await outcome(site, { ...headers, 'content-type': 'text/plain' })).toEqual([403, 'SETUP_REFUSED'])
    expect(await outcome(site, { ...headers, 'feedbackctl-dry-run': '1' })).toEqual([403, 'SETUP_REFUSED'])
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: false })
    expect(await site.events()).toEqual([])
  })

  it.each([
    ['a program', {}],
    ['a page of the site', { host: 'inner:8000', origin: SITE, 'sec-fetch-site': 'same-site' }],
    ['a page that the server itself sends', { host: 'localhost:8000', origin: 'http://localhost:8000' }],
    ['a page of its loopback address', { host: '127.0.0.1:8000', origin: 'http://127.0.0.1:8000' }],
    ['a page of its loopback address of IPv6', { host: '[::1]:8000', origin: 'http://[::1]:8000' }],
    ['a page at the address of the site', { host: 'feedback.example.org', 'sec-fetch-site': 'same-origin' }],
    ['a page that cors.origins names', { origin: 'https://client.example.org', 'sec-fetch-site': 'cross-site' }],
  ])('is made by %s', async (_, headers) => {
    const site = await makeSite(engine, { corsOrigins: 'https://client.example.org' })
    await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
    expect(await outcome(site, headers)).toEqual([201, undefined])
  })

  it('is made by a page of any own host where the server listens on the network', async () => {
    const site = await makeSite(engine)
    await (await site.server()).listen({ host: '0.0.0.0', port: 0 })
    const own = { host: 'board.example.net:8000', origin: 'http://board.example.net:8000' }
    expect(await outcome(site, { ...own, origin: 'https://evil.example' })).toEqual([403, 'SETUP_REFUSED'])
    expect(await outcome(site, own)).toEqual([201, undefined])
  })

  it('is refused where mail is not configured, unless it says that it does without', async () => {
    const site = await makeSite(engine, { mail: false })
    expect(await outcome(site, {})).toEqual([501, 'MAIL_CONFIG_MISSING'])
    const without = { ...OWNER, noMail: true }
    expect(await outcome(site, { origin: 'https://evil.example' }, without)).toEqual([501, 'MAIL_CONFIG_MISSING'])
    expect(await outcome(site, {}, { ...OWNER, noMail: 'true' })).toEqual([501, 'MAIL_CONFIG_MISSING'])
    expect(await outcome(site, {}, without)).toEqual([201, undefined])
  })

  it('needs the token of setup.token over HTTP, and wrong ones are limited', async () => {
    const token = 'a token of the tests'
    const site = await makeSite(engine, {
      setupToken: token,
      rates: { token: { points: 3, seconds: 60 } },
      trustProxy: 'true',
    })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (const setupToken of [undefined, '', 'wrong'])
      expect(await outcome(site, from('203.0.113.1'), { ...OWNER, setupToken })).toEqual([401, 'INVALID_TOKEN'])
    expect(await outcome(site, from('203.0.113.1'), { ...OWNER, setupToken: token })).toEqual([429, 'RATE_LIMITED'])
    expect(await outcome(site, from('203.0.113.2'), { ...OWNER, setupToken: token, email: 'no' })).toEqual([
      400,
      'EMAIL_INVALID',
    ])
    expect(await outcome(site, from('203.0.113.2'), { ...OWNER, setupToken: token })).toEqual([201, undefined])
    expect(site.logs.join('')).not.toContain(token)
  })
})

describe('serve', () => {
  it('says that the site has no owner and where to make one, loudly where strangers could', async () => {
    const machine = await makeMachine('sqlite')
    const alone = machine.start('serve', { env: { FEEDBACKCTL_SITE_URL: 'https://board.example.org' } })
    await alone.says(
      /no owner yet: open https:\/\/board\.example\.org to set it up, or run \\"feedbackctl setup\\" on this machine"/,
    )
    expect((await alone.stop()).stderr).not.toContain('DANGER')
    const open = machine.start('serve', { env: { FEEDBACKCTL_LISTEN: '0.0.0.0:0' } })
    await open.says(/DANGER: anyone who reaches 0\.0\.0\.0:[1-9]\d* first can become the owner of this site/)
    await open.stop()
    const env = { FEEDBACKCTL_LISTEN: '0.0.0.0:0', FEEDBACKCTL_SETUP_TOKEN: 'CANARY of sixteen' }
    const guarded = machine.start('serve', { env })
    await guarded.says(/with the token of setup\.token, or run/)
    const { stderr } = await guarded.stop()
    expect(stderr).not.toMatch(/DANGER|CANARY/)
  })
})

describe('setup --server', () => {
  it('sends the token of setup.token, and creates the statuses there', async () => {
    const machine = await makeMachine('sqlite')
    const token = { FEEDBACKCTL_SETUP_TOKEN: 'CANARY of sixteen' }
    const server = machine.start('serve', { env: { ...token, FEEDBACKCTL_MAIL_URL: 'folder:mail' } })
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const args = `setup --server ${url} --email ada@example.org --password-stdin --json`
    const stdin = 'correct horse battery\n'
    const refused = await machine.run(args, { stdin })
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('INVALID_TOKEN')])
    const made = await machine.run(`${args} --statuses`, { stdin, env: token })
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(JSON.parse((await machine.run(`roadmaps list --server ${url} --json`)).stdout).total_count).toBe(4)
  })
})
