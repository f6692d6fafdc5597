import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { makeSite, OWNER } from '../support/site.js'

const POLICY = "default-src 'none';frame-ancestors 'none'"
const SECURITY = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=31536000',
}

/** Sends bytes to a server, and returns what it responds. */
const exchange = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (data) => (text += data)).on('close', () => resolve(text))
    socket.on('error', reject)
  })

describe('security headers', () => {
  it('are in every response: fresh, cached, not modified, failed, and of requests that are refused early', async () => {
    const site = await makeSite('sqlite')
    const fresh = await site.http('GET /boards')
    expect(fresh.headers).toMatchObject(SECURITY)
    const cached = await site.http('GET /boards')
    expect(cached.headers).toMatchObject(SECURITY)
    const again = await site.http('GET /boards', { headers: { 'if-none-match': String(cached.headers.etag) } })
    expect([again.status, again.headers]).toEqual([304, expect.objectContaining(SECURITY)])
    for (const request of ['GET /nothing', 'GET //nothing', 'POST /boards', 'GET /openapi.json', 'GET //healthz'])
      expect((await site.http(request)).headers).toMatchObject(SECURITY)
    const { 'strict-transport-security': _, ...early } = SECURITY
    expect((await site.http('GET /boards/%zz')).headers).toMatchObject(early)
    const url = await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
    const malformed = (await exchange(url, 'nonsense\r\n\r\n')).toLowerCase()
    for (const [name, value] of Object.entries(early)) expect(malformed).toContain(`${name}: ${value}`)
  })

  it('let a page have a policy of its own', async () => {
    const site = await makeSite('sqlite')
    const page = await site.http('GET //email-verify/')
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'self';.*form-action 'self';frame-ancestors 'none'$/,
    )
    const docs = await site.http('GET /docs/')
    expect(docs.headers['content-security-policy']).toMatch(/^default-src 'self'/)
    expect(docs.headers['x-content-type-options']).toBe('nosniff')
    const [, script = ''] = /<script src="([^"]+)"/.exec(docs.text) ?? []
    const asset = await site.http(`GET /docs/${script.replace(/^.*\/docs\/|^\.\//, '')}`)
    expect([asset.status, String(asset.headers['content-type'])]).toEqual([200, expect.stringContaining('javascript')])
  })

  it('ask for https only where the site has it', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://feedback.example.org' })
    expect((await site.http('GET /boards')).headers).not.toHaveProperty('strict-transport-security')
  })
})

describe('a request with two Host headers', () => {
  it('is refused, whether its response is cached or not', async () => {
    const site = await makeSite('sqlite')
    await site.owner()
    const url = await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
    await (await fetch(`${url}/api/v1/boards`)).text()
    for (const path of ['/api/v1/boards', '/api/v1/auth/setup', '/api']) {
      const answer = await exchange(url, `GET ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"BAD_REQUEST"/)
    }
    expect(await exchange(url, 'GET /api HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/)
  })
})

it('a request target that names a host, or looks as if it did, is a path', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://feedback.example.org/board' })
  await site.owner()
  const url = await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
  const get = async (target: string) =>
    // A cached response has the same headers, some of them in lower case
    (await exchange(url, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`))
      .replaceAll(/^(x-request-id|date|content-length): .*\r\n/gim, '')
      .replaceAll(/^[\w-]+:/gm, (name) => name.toLowerCase())
  const plain = await get('/?sort=votes')
  expect(plain).toMatch(/^HTTP\/1\.1 200/)
  expect(await get('http://evil.example/?sort=votes')).toBe(plain)
  expect(await get('HTTP://evil.example?sort=votes')).toBe(plain)
  expect(await get('/board//?sort=votes')).toBe(plain)
  for (const target of ['http://evil.example/evil.example/x', '//evil.example/x', '/board//evil.example/x']) {
    const missing = await get(target)
    expect(missing).toMatch(/^HTTP\/1\.1 404/)
    expect(missing).not.toMatch(/["(]\s*(https?:)?\/\/evil/)
  }
})

describe('cors.origins', () => {
  const LISTED = 'https://client.example.org'
  const from = (origin: string) => ({ headers: { origin } })
  const preflight = (origin: string, method = 'PATCH') => ({
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type',
    },
  })
  const allowed = 'access-control-allow-origin'

  it('lets pages of all origins use the API, but for setup', async () => {
    const site = await makeSite('sqlite')
    expect((await site.http('GET /boards', from('https://evil.example'))).headers[allowed]).toBe('*')
    expect((await site.http('OPTIONS /boards', preflight('https://evil.example'))).headers[allowed]).toBe('*')
    expect((await site.http('OPTIONS /auth/setup', preflight('https://evil.example', 'GET'))).headers[allowed]).toBe(
      '*',
    )
    expect((await site.http('GET /auth/setup', from('https://evil.example'))).headers[allowed]).toBe('*')
    for (const path of ['/auth/setup', '/auth/setup/', '/AUTH/setup?x=1']) {
      const refused = await site.http(`OPTIONS ${path}`, preflight('https://evil.example', 'POST'))
      expect([refused.status, refused.body.code, refused.headers[allowed]]).toEqual([403, 'SETUP_REFUSED', undefined])
    }
  })

  it('lets pages of some origins use it, also where responses are cached', async () => {
    const site = await makeSite('sqlite', { corsOrigins: `${LISTED}, http://localhost:3000` })
    for (const _ of ['fresh', 'cached'])
      for (const [origin, answer] of [
        [LISTED, LISTED],
        ['http://localhost:3000', 'http://localhost:3000'],
        ['https://evil.example', undefined],
      ] as const) {
        const { headers } = await site.http('GET /boards', from(origin))
        expect([headers[allowed], String(headers.vary)]).toEqual([answer, expect.stringContaining('Origin')])
      }
    expect((await site.http('OPTIONS /boards', preflight(LISTED))).headers[allowed]).toBe(LISTED)
    expect((await site.http('OPTIONS /boards', preflight('https://evil.example'))).headers[allowed]).toBeUndefined()
    expect((await site.http('OPTIONS /auth/setup', preflight(LISTED, 'POST'))).headers[allowed]).toBe(LISTED)
  })

  it('lets no page of another origin use it', async () => {
    const site = await makeSite('sqlite', { corsOrigins: 'none' })
    expect((await site.http('GET /boards', from(LISTED))).headers[allowed]).toBeUndefined()
    expect((await site.http('OPTIONS /boards', preflight(LISTED))).headers[allowed]).toBeUndefined()
  })

  it('lets the pages of the site, and those that it names, read what setup responds', async () => {
    const site = await makeSite('sqlite', { corsOrigins: LISTED })
    const made = await site.http('POST /auth/setup', { body: OWNER, headers: { origin: LISTED } })
    expect([made.status, made.headers[allowed]]).toEqual([201, LISTED])
  })
})
