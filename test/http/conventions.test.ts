import { connect } from 'node:net'
import jwt from 'jsonwebtoken'
import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/core/ids.js'
import * as boards from '../../src/service/boards.js'
import { connect as connectDatabase } from '../../src/db/connect.js'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import { oneTimeToken } from '../../src/service/lib/tokens.js'
import { countHashes } from '../support/argon2.js'
import { cleanup, engines, makeSite, OWNER } from '../support/site.js'

describe.each(engines)('authentication on %s', (engine) => {
  const secret = 'a secret of the tests, long enough'
  const sign = (claims: object, key = secret, options: jwt.SignOptions = {}) =>
    jwt.sign({ userId: newId(), iat: 1_772_445_600, exp: 1_772_618_400, ...claims }, key, options)

  it.each([
    ['no header', undefined, 400, 'INVALID_AUTH_HEADER'],
    ['an empty token', 'Bearer', 401, 'INVALID_AUTH_HEADER_FORMAT'],
    ['another scheme', 'Token x', 401, 'INVALID_AUTH_HEADER_FORMAT'],
    ['three parts', 'Bearer a b', 401, 'INVALID_AUTH_HEADER_FORMAT'],
    ['no space', 'Bearerx', 401, 'INVALID_AUTH_HEADER_FORMAT'],
    ['nonsense', 'Bearer nonsense', 401, 'INVALID_TOKEN'],
    ['another secret', `Bearer ${sign({}, 'another secret')}`, 401, 'INVALID_TOKEN'],
    ['another algorithm', `Bearer ${sign({}, secret, { algorithm: 'HS512' })}`, 401, 'INVALID_TOKEN'],
    ['no algorithm', `Bearer ${sign({}, '', { algorithm: 'none' })}`, 401, 'INVALID_TOKEN'],
    ['a token that has expired', `Bearer ${sign({ exp: 1_772_445_599 })}`, 401, 'INVALID_TOKEN'],
    ['a token that is not valid yet', `Bearer ${sign({ nbf: 1_772_500_000 })}`, 401, 'INVALID_TOKEN'],
    ['a token made for a mail', `Bearer ${sign({ type: 'resetPassword' })}`, 401, 'INVALID_TOKEN'],
    ['a token without a user', `Bearer ${sign({ userId: undefined })}`, 401, 'INVALID_TOKEN'],
    ['a token of an unknown user', `Bearer ${sign({})}`, 404, 'USER_NOT_FOUND'],
  ])('%s', async (_, authorization, status, code) => {
    const site = await makeSite(engine)
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const refused = await site.http('POST /boards', { headers })
    expect([refused.status, refused.body.code]).toEqual([status, code])
    const optional = await site.http('GET /boards', { headers })
    expect(optional.status).toBe(200) // public operations ignore an invalid header
  })

  it('accepts the scheme in any letter case, and rejects blocked users and users without permissions', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member(['board:create'])
    expect((await site.http('POST /boards', { headers: { authorization: `bEaReR   ${token}` } })).status).toBe(201)
    const blocked = await site.http('POST /boards', {
      token: (await site.member(['board:create'], { blocked: true })).token,
    })
    expect([blocked.status, blocked.body.code]).toEqual([403, 'USER_BLOCK'])
    const unpermitted = await site.http('POST /boards', { token: (await site.member([], { everyone: false })).token })
    expect([unpermitted.status, unpermitted.body.code]).toEqual([403, 'ACCESS_DENIED'])
  })

  it('applies a block or a changed permission to the next request', async () => {
    const site = await makeSite(engine)
    const { token, userId } = await site.member(['board:create'])
    expect((await site.http('POST /boards', { token })).status).toBe(201)
    await site.db.updateTable('users').set({ isBlocked: 1 }).where('userId', '=', userId).execute()
    expect((await site.http('POST /boards', { token })).body.code).toBe('USER_BLOCK')
    await site.db.updateTable('users').set({ isBlocked: 0 }).where('userId', '=', userId).execute()
    await site.db.deleteFrom('role_permissions').where('permission', '=', 'board:create').execute()
    expect((await site.http('POST /boards', { token })).body.code).toBe('NOT_ENOUGH_PERMISSION')
  })
})

describe('HTTP', () => {
  it('serves the probes, and the OpenAPI document with every operation', async () => {
    const site = await makeSite('sqlite')
    const root = await site.http('GET //api')
    expect([root.status, root.headers['content-type'], root.text]).toEqual([200, 'text/html; charset=utf-8', '👍'])
    expect((await site.http('GET //healthz')).body).toEqual({ status: 'ok' })
    expect((await site.http('GET //readyz')).body).toEqual({ status: 'ready' })
    const { body } = await site.http('GET /openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(body.paths['/boards'])).toEqual(['get', 'post', 'patch', 'delete'])
  })

  it('serves the API documentation as a page', async () => {
    const site = await makeSite('sqlite')
    const page = await site.http('GET /docs/')
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')])
    expect((await site.http('HEAD /docs')).status).toBe(200)
    expect((await site.http('GET /docs/json')).body.paths).toHaveProperty('/auth/setup')
  })

  it('is not ready if the database does not respond, and does not disclose why', async () => {
    const site = await makeSite('sqlite')
    await site.http('GET /boards')
    await site.db.destroy()
    const { status, body } = await site.http('GET //readyz')
    expect([status, body.code]).toEqual([500, 'SERVER_ERROR'])
    expect((await site.http('GET //healthz')).status).toBe(200)
  })

  it.each([
    ['GET /nothing', undefined, 404, 'NOT_FOUND'],
    ['GET //nothing', undefined, 404, 'NOT_FOUND'],
    ['PUT /boards', '{}', 404, 'NOT_FOUND'],
    ['GET /boards/%E0%A4%A', undefined, 400, 'DECODE_URI_ERROR'],
    ['GET /nothing/%zz', undefined, 400, 'DECODE_URI_ERROR'],
    ['POST /boards', '{"name":', 400, 'INVALID_JSON'],
    ['POST /boards', '{"__proto__":{"isOwner":true}}', 400, 'INVALID_JSON'],
    ['POST /boards', '5', 400, 'INVALID_AUTH_HEADER'],
    ['POST /auth/setup', '5', 400, 'VALIDATION_ERROR'],
    ['POST /auth/setup', 'null', 400, 'VALIDATION_ERROR'],
    ['POST /auth/setup', `"${'x'.repeat(401_409)}"`, 413, 'PAYLOAD_TOO_LARGE'],
  ])('%s with %.30s returns a JSON error', async (request, body, status, code) => {
    const site = await makeSite('sqlite')
    const response = await site.http(request, { body })
    expect([response.status, response.body.code]).toEqual([status, code])
    expect(response.body.message).toMatch(/\.$/)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.headers['x-request-id']).toMatch(/^[\w-]+$/)
    const isSetup = request.endsWith('/auth/setup') // for pages of the site alone
    expect(response.headers['access-control-allow-origin']).toBe(isSetup ? undefined : '*')
  })

  it('rejects deeply nested values', async () => {
    const site = await makeSite('sqlite')
    for (const body of [
      `{"email":${'['.repeat(45_000)}${']'.repeat(45_000)}}`,
      `{"email":${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}}`,
    ]) {
      const refused = await site.http('POST /auth/login', { body })
      expect([refused.status, refused.body.code]).toEqual([400, 'VALIDATION_ERROR'])
      expect(refused.text.length).toBeLessThan(1000)
    }
  })

  it('returns 404 for a very long URL, and rejects unknown fields such as __proto__', async () => {
    const site = await makeSite('sqlite')
    expect((await site.http(`GET /boards/${'a'.repeat(6000)}`)).body.code).toBe('NOT_FOUND')
    expect((await site.http('GET /boards?__proto__=x')).body.errors[0]).toMatchObject({
      code: 'UNKNOWN_FIELD',
      field: '__proto__',
    })
    expect((await site.http('GET /boards?toString=x')).body.errors[0]).toMatchObject({
      code: 'UNKNOWN_FIELD',
      field: 'toString',
    })
  })

  it('reports that mail is not configured before it reads the body', async () => {
    const site = await makeSite('sqlite', { mail: false })
    for (const [body, type] of [
      ['{"email":', 'application/json'],
      ['x=1', 'text/plain'],
      ['"' + 'x'.repeat(200_000) + '"', 'application/json'],
    ] as const) {
      expect((await site.http('POST /auth/setup', { body, headers: { 'content-type': type } })).status).toBe(501)
    }
  })

  it('responds to malformed HTTP with a JSON error', async () => {
    const site = await makeSite('sqlite')
    const { port } = new URL(await (await site.server()).listen({ host: '127.0.0.1', port: 0 }))
    const send = (bytes: string) =>
      new Promise<string>((resolve) => {
        let text = ''
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes))
        socket
          .on('data', (data) => (text += data))
          .on('close', () => resolve(text))
          .on('error', () => resolve(text))
      })
    const answer = await send('nonsense\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*access-control-allow-origin: \*[^]*"code":"BAD_REQUEST"/)
    expect(site.logs.join('')).toContain(/X-Request-Id: (\S+)/.exec(answer)?.[1])
    expect(await send(`GET /api HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 [^]*"code":"BAD_REQUEST"/,
    )
  })

  it('does not disclose the address of the database', async () => {
    const site = await makeSite('sqlite')
    const unreachable = await connectDatabase('postgres://someone:CANARY@127.0.0.1:1/none')
    const server = await buildServer(
      operations,
      {
        db: unreachable,
        now: () => new Date(),
        secret: () => 'x'.repeat(20),
        mail: null,
        siteUrl: '',
        ping: async () => {},
      },
      { level: 'error', stream: { write: (line) => void site.logs.push(line) } },
    )
    const { statusCode, payload } = await server.inject('/api/v1/boards')
    expect([statusCode, JSON.parse(payload).code]).toEqual([503, 'DATABASE_UNREACHABLE'])
    expect(payload).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|database\.url/)
    expect(site.logs.join('')).toContain('ECONNREFUSED')
    expect(site.logs.join('')).not.toContain('stack')
    expect(site.logs.join('')).not.toContain('CANARY')
    await server.close()
  })

  it('rejects a body that is not JSON, and parses an empty body of any type as {}', async () => {
    const site = await makeSite('sqlite')
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const refused = await site.http('POST /auth/setup', { body: 'email=a@b.org', headers: { 'content-type': type } })
      expect([refused.status, refused.body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
      expect((await site.http('POST /auth/setup', { body: '', headers: { 'content-type': type } })).body.code).toBe(
        'EMAIL_INVALID',
      )
    }
    expect(
      (await site.http('GET /boards', { body: 'ignored', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(200)
  })

  it('accepts JSON only in valid UTF-8', async () => {
    const site = await makeSite('sqlite')
    const { token } = await site.member(['board:create'])
    const send = async (payload: Buffer | string, headers: Record<string, string> = {}) => {
      const answer = await (
        await site.server()
      ).inject({
        method: 'POST',
        url: '/api/v1/boards',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        payload,
      })
      return [answer.statusCode, answer.json<{ code?: string }>().code]
    }
    expect(await send(Buffer.from('{"name":"a\xff\xfeb"}', 'latin1'))).toEqual([400, 'INVALID_JSON'])
    expect(await send('{"name":"a"}', { 'content-type': 'application/json; charset=iso-8859-1' })).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ])
    expect(await send('{"name":"a"}', { 'content-encoding': 'gzip' })).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    expect((await site.http('GET /boards')).body.total_count).toBe(0)
    expect(await send('{"name":"日本語"}', { 'content-type': 'application/json; charset="UTF-8"' })).toEqual([
      201,
      undefined,
    ])
  })

  it('requires an account for a dry run of a write only, and makes no hash for one', async () => {
    const site = await makeSite('sqlite')
    const headers = { 'feedbackctl-dry-run': '1' }
    const hashed = countHashes()
    const setup = await site.http('POST /auth/setup', { headers, body: OWNER })
    expect([setup.status, setup.body.code]).toEqual([400, 'INVALID_AUTH_HEADER'])
    expect((await site.http('POST /posts/get', { headers })).status).toBe(200)
    const refused = await site.http('POST /auth/signup', {
      headers,
      body: { email: 'eve@example.org', password: 'a good password' },
    })
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_AUTH_HEADER'])
    const { token, userId } = await site.member()
    const reset = await oneTimeToken(site.db, site.clock.now, { userId, purpose: 'resetPassword', hours: 1 })
    const choice = { token: reset, password: 'another password' }
    const chosen = await site.http('POST /auth/password/set', { headers, body: choice })
    expect([chosen.status, chosen.body.code]).toEqual([400, 'INVALID_AUTH_HEADER'])
    const signed = await site.http('POST /auth/signup', {
      headers,
      token,
      body: { email: 'eve@example.org', password: 'a good password' },
    })
    expect([signed.status, signed.body.user.authToken]).toEqual([201, ''])
    expect(hashed.hash).toBe(0)
    expect(
      (await site.http('POST /auth/login', { body: { email: 'eve@example.org', password: 'a good password' } })).body
        .code,
    ).toBe('USER_NOT_FOUND')
  })

  it('reads the query of a write too, and rejects unknown fields in it', async () => {
    const site = await makeSite('sqlite')
    const { token } = await site.member(['board:create'])
    expect(
      (await site.http('POST /boards?name=a&color=aaaaaa', { token, body: { name: 'b' } })).body.board,
    ).toMatchObject({ name: 'b', color: 'aaaaaa' })
    expect((await site.http('POST /boards?nmae=a', { token, body: { name: 'b' } })).body.errors[0].code).toBe(
      'UNKNOWN_FIELD',
    )
  })

  it('accepts trailing slashes and paths in any letter case, and preserves the case of parameters', async () => {
    const site = await makeSite('sqlite')
    await site.call(boards.create, { name: 'Ideas' })
    expect((await site.http('GET /boards/')).status).toBe(200)
    expect((await site.http('GET /BOARDS/ideas/')).status).toBe(200)
    expect((await site.http('GET /boards/IDEAS')).body.message).toContain('"IDEAS"')
  })

  it('returns 304 for a matching ETag, on reads only', async () => {
    const site = await makeSite('sqlite')
    const { headers } = await site.http('GET /boards')
    const etag = String(headers.etag)
    expect(etag).toMatch(/^W\/"/)
    for (const tag of [etag, `"other", ${etag}`, '*']) {
      const cached = await site.http('GET /boards', { headers: { 'if-none-match': tag } })
      expect([cached.status, cached.text, cached.headers.etag]).toEqual([304, '', etag])
    }
    await site.call(boards.create, { name: 'Ideas' })
    expect((await site.http('GET /boards', { headers: { 'if-none-match': etag } })).status).toBe(200)
    expect((await site.http('POST /auth/login', { body: {}, headers: { 'if-none-match': '*' } })).status).toBe(400)
  })

  it('responds to CORS preflights', async () => {
    const site = await makeSite('sqlite')
    const { status, headers, text } = await site.http('OPTIONS /boards', {
      headers: {
        origin: 'https://example.org',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    expect([status, text]).toEqual([204, ''])
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET,HEAD,PUT,PATCH,POST,DELETE',
      'access-control-allow-headers': 'authorization,content-type',
      'access-control-max-age': '3600',
    })
    const answer = await site.http('GET /boards', {
      headers: { origin: 'https://example.org', authorization: 'Bearer x' },
    })
    const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase()
    const names = ['retry-after', 'etag', 'x-request-id', 'cache-status', 'x-should-retry', 'feedbackctl-refusal']
    for (const name of [...names, 'content-disposition']) expect(exposed.split(', ')).toContain(name)
    expect(String(headers.vary)).toContain('Access-Control-Request-Headers')
  })

  it('uses one request id for a response and its log line: the client’s, if it is safe to log', async () => {
    const site = await makeSite('sqlite')
    const given = await site.http('GET /boards', { headers: { 'x-request-id': 'from-the-proxy.1' } })
    expect(given.headers['x-request-id']).toBe('from-the-proxy.1')
    const own = await site.http('GET /boards', { headers: { 'x-request-id': 'no good"' } })
    expect(own.headers['x-request-id']).toMatch(/^[0-9a-z]{8}-[0-9a-z]+$/)
    const lines = site.logs.map((line) => JSON.parse(line))
    expect(lines.at(-1)).toMatchObject({
      reqId: own.headers['x-request-id'],
      op: 'boards.list',
      method: 'GET',
      status: 200,
      ms: expect.any(Number),
    })
  })

  it.each([
    [undefined, '127.0.0.1'],
    ['10.0.0.0/8', '127.0.0.1'],
    ['loopback', '198.51.100.7'],
    ['127.0.0.1, 198.51.100.0/24', '203.0.113.9'],
    ['true', '203.0.113.9'],
  ])('logs the address of the client, cached or not, with trust-proxy %s as %s', async (trustProxy, expected) => {
    const site = await makeSite('sqlite', { trustProxy })
    const headers = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' }
    for (let request = 0; request < 2; request++) await site.http('GET /boards', { headers })
    const lines = site.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    expect(lines.map(({ remoteAddress }) => remoteAddress)).toEqual([expected, expected])
  })

  it.each([
    ['203.0.113.9:40000, 198.51.100.7:50000', '203.0.113.9'],
    ['[2001:db8::9]:40000, 198.51.100.7', '2001:db8::9'],
    ['[2001:db8::9]', '2001:db8::9'],
    ['2001:db8::9', '2001:db8::9'],
  ])('logs the address that proxies forward as %s without the port', async (forwarded, expected) => {
    const site = await makeSite('sqlite', { trustProxy: '127.0.0.1, 198.51.100.0/24' })
    for (let request = 0; request < 2; request++)
      await site.http('GET /boards', { headers: { 'x-forwarded-for': forwarded } })
    const lines = site.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    expect(lines.map(({ remoteAddress }) => remoteAddress)).toEqual([expected, expected])
  })

  it('logs an error that repeats once in full, then with a count each minute, and says when it is over', async () => {
    const site = await makeSite('sqlite')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    cleanup(async () => void vi.useRealTimers())
    await site.db.schema.alterTable('counters').renameTo('gone').execute()
    const ids: unknown[] = []
    for (let second = 0; second < 80; second++) {
      const { status, headers } = await site.http('GET /boards')
      expect(status).toBe(500)
      ids.push(headers['x-request-id'])
      vi.advanceTimersByTime(1000)
    }
    await site.db.schema.alterTable('gone').renameTo('counters').execute()
    vi.advanceTimersByTime(30_000)
    const lines = site.logs.map((line) => JSON.parse(line))
    const errors = lines.filter(({ msg, err, count }) => msg !== 'request' && (err ?? count) !== undefined)
    expect(errors).toMatchObject([
      { level: 50, reqId: ids[0], err: { message: expect.stringContaining('no such table') } },
      {
        level: 50,
        code: 'SERVER_ERROR',
        first: ids[0],
        count: expect.any(Number),
        msg: expect.stringMatching(/^goes on: /),
      },
      { level: 30, code: 'SERVER_ERROR', first: ids[0], count: 80, seconds: 79, msg: expect.stringMatching(/^over: /) },
    ])
    const requests = lines.filter(({ msg }) => msg === 'request')
    expect(requests.map(({ errorOf }) => errorOf)).toEqual([undefined, ...Array(79).fill(ids[0])])
  })

  it('responds to HEAD without a body', async () => {
    const site = await makeSite('sqlite')
    const { status, text, headers } = await site.http('HEAD /boards')
    expect([status, text]).toEqual([200, ''])
    expect(Number(headers['content-length'])).toBeGreaterThan(10)
  })

  it('hides the cause of an internal error, and logs it with the request id', async () => {
    const site = await makeSite('sqlite')
    await site.db.schema.dropTable('counters').execute()
    const { status, body, headers } = await site.http('GET /boards')
    expect([status, body.code]).toEqual([500, 'SERVER_ERROR'])
    expect(body.message).not.toContain('counters')
    expect(
      site.logs.find(
        (line) => line.includes(String(headers['x-request-id'])) && line.includes('no such table: counters'),
      ),
    ).toBeDefined()
  })
})

it('a choice that is near a valid one is guessed', async () => {
  const site = await makeSite('sqlite')
  const messageOf = async (sort: string) =>
    (await site.http('POST /posts/get', { body: { sort } })).body.errors[0].message
  expect(await messageOf('newst')).toMatch(/"newst" is not\. Did you mean "newest"\?$/)
  expect(await messageOf('purple')).toMatch(/"purple" is not\.$/)
})
