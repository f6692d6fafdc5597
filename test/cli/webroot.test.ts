import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

interface Answer {
  status: number
  body: string
  headers: Record<string, string | string[] | undefined>
}

/** Sends the path as it is: `fetch` would remove its dots. */
const get = (server: string, target: string, { method = 'GET', headers = {} } = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server)
    request({ host: hostname, port, path: target, method, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (part: string) => (body += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }))
    })
      .on('error', reject)
      .end()
  })

const HTML = { accept: 'text/html' }

async function withClient() {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const folder = path.join(machine.folder, 'client')
  mkdirSync(path.join(folder, 'assets'), { recursive: true })
  mkdirSync(path.join(folder, '.git'))
  const files = {
    'index.html': '<title>Another client</title>',
    'assets/index-D4f8a9Bc.js': 'run()',
    'assets/plain.css': 'a{}',
    'assets/empty.txt': '',
    '.env': 'CANARY',
    '.git/config': 'CANARY',
    '../secret.txt': 'CANARY',
    '../client-2.txt': 'CANARY',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
  symlinkSync(path.join(machine.folder, 'secret.txt'), path.join(folder, 'linked.txt'))
  symlinkSync(machine.folder, path.join(folder, 'up'))
  symlinkSync(path.join(folder, '.env'), path.join(folder, 'env.txt'))
  symlinkSync(path.join(folder, 'assets', 'plain.css'), path.join(folder, 'within.css'))
  return machine
}

describe('serve --web-root', () => {
  it('serves another client: its files, and its index.html for what looks like a page; the API wins', async () => {
    const machine = await withClient()
    const [, server = ''] = await machine.start('serve --web-root client').says(/listening on (http:\S+?)"/)
    for (const target of ['/', '/boards', '/posts/dark-mode-x1?tab=1', '/index.html']) {
      const { status, body, headers } = await get(server, target, { headers: HTML })
      expect([target, status, body]).toEqual([target, 200, '<title>Another client</title>'])
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }) // prettier-ignore
      expect(headers['content-security-policy']).toContain("frame-ancestors 'self'")
    }
    const hashed = await get(server, '/assets/index-D4f8a9Bc.js')
    expect([hashed.status, hashed.body]).toEqual([200, 'run()'])
    expect(hashed.headers).toMatchObject({ 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable', 'content-length': '5' }) // prettier-ignore
    const plain = await get(server, '/assets/plain.css')
    expect([plain.body, plain.headers['cache-control']]).toEqual(['a{}', 'no-cache'])
    const again = await get(server, '/assets/plain.css', { headers: { 'if-none-match': String(plain.headers.etag) } })
    expect([again.status, again.body]).toEqual([304, ''])
    expect((await get(server, '/within.css')).body).toBe('a{}')
    expect(await get(server, '/assets/empty.txt')).toMatchObject({ status: 200, body: '' })
    const head = await get(server, '/assets/plain.css', { method: 'HEAD' })
    expect([head.status, head.body, head.headers['content-length']]).toEqual([200, '', '3'])
    expect((await get(server, '/assets/gone-D4f8a9Bc.js')).status).toBe(404)
    expect(JSON.parse((await get(server, '/api/v1/boards', { headers: HTML })).body)).toHaveProperty('boards')
    expect(await get(server, '/api/v1/none', { headers: HTML })).toMatchObject({ status: 404, body: expect.stringContaining('NOT_FOUND') }) // prettier-ignore
    expect((await get(server, '/healthz')).status).toBe(200)
    expect((await get(server, '/boards', { method: 'POST', headers: HTML })).status).toBe(404)
  })

  it('compresses what can be, and anew when it has changed', async () => {
    const machine = await withClient()
    const file = path.join(machine.folder, 'client/assets/app.js')
    const text = 'run();'.repeat(1000)
    writeFileSync(file, text)
    writeFileSync(path.join(machine.folder, 'client/photo.png'), text)
    const [, server = ''] = await machine.start('serve --web-root client').says(/listening on (http:\S+?)"/)
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
    const fetched = async (accepted: string, target = '/assets/app.js') => {
      const { hostname: host, port } = new URL(server)
      const headers = { 'accept-encoding': accepted }
      const sent = request({ host, port, path: target, headers }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const { 'content-encoding': encoding, vary, etag = '' } = response.headers
      return { encoding, vary, etag, body: Buffer.concat((await response.toArray()) as Buffer[]) }
    }
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
    ] as const)
      // prettier-ignore
      for (const time of ['first', 'again']) {
        const { body, ...headers } = await fetched(accepted)
        expect([time, headers]).toEqual([time, { encoding, vary: 'accept-encoding', etag: expect.stringMatching(/^W\//) }])
        expect([time, body.length < text.length, unpack[encoding](body).toString()]).toEqual([time, true, text])
      }
    const plain = await fetched('identity')
    expect([plain.encoding, plain.vary, plain.body.toString()]).toEqual([undefined, 'accept-encoding', text])
    expect(await fetched('br', '/photo.png')).toMatchObject({ encoding: undefined, vary: undefined })
    const { etag } = await fetched('br')
    const known = { headers: { 'accept-encoding': 'br', 'if-none-match': etag } }
    expect(await get(server, '/assets/app.js', known)).toMatchObject({ status: 304, body: '' })
    const head = await get(server, '/assets/app.js', { method: 'HEAD', headers: { 'accept-encoding': 'br' } })
    expect([head.status, head.body, head.headers['content-encoding']]).toEqual([200, '', 'br'])
    writeFileSync(file, `${text}more()`)
    expect(await get(server, '/assets/app.js', known)).toMatchObject({ status: 200 })
    expect(brotliDecompressSync((await fetched('br')).body).toString()).toBe(`${text}more()`)
  })

  it('serves nothing that is hidden or outside', async () => {
    const machine = await withClient()
    const [, server = ''] = await machine.start('serve --web-root client').says(/listening on (http:\S+?)"/)
    const targets = [
      '/.env',
      '/%2eenv',
      '/.git/config',
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/../../secret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/..%5csecret.txt',
      '/../client-2.txt',
      '//secret.txt',
      '/linked.txt',
      '/up/secret.txt',
      '/env.txt',
      '/%00',
      '/%ff',
      `/${encodeURIComponent(path.join(machine.folder, 'secret.txt'))}`,
    ]
    for (const target of targets)
      for (const headers of [{}, HTML]) {
        const { status, body } = await get(server, target, { headers })
        expect(body).not.toContain('CANARY')
        const expected = status === 200 ? '<title>Another client</title>' : body
        expect([target, [200, 400, 404].includes(status), body]).toEqual([target, true, expected])
      }
  })

  it('needs a folder with an index.html', async () => {
    const machine = await withClient()
    for (const folder of ['none', 'client/assets'])
      expect(await machine.run(`serve --web-root ${folder}`)).toMatchObject({
        code: 78,
        stderr: expect.stringContaining('has no index.html'),
      })
  })
})

it('serve --web-enabled false has the API, and no pages but those that mails lead to', async () => {
  const machine = await withClient()
  const [, server = ''] = await machine.start('serve --web-enabled false').says(/listening on (http:\S+?)"/)
  const send = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams(fields)
    const response = await fetch(server + path, { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } })
    return { status: response.status, text: await response.text() }
  }
  const tokens: string[] = []
  const mailed = async (page: string) => {
    const link = new RegExp(`http:\\S+?(/${page}/\\?token=([\\w-]+))`)
    const found = () =>
      readdirSync(path.join(machine.folder, 'mail'))
        .map((name) =>
          link.exec(
            readFileSync(path.join(machine.folder, 'mail', name), 'utf8')
              .replaceAll(/=\r?\n/g, '')
              .replaceAll('=3D', '='),
          ),
        ) // prettier-ignore
        .find((match) => match && !tokens.includes(match[2] ?? ''))
    await expect.poll(found).toBeTruthy()
    const [, target = '', token = ''] = found() ?? []
    tokens.push(token)
    const { status, body } = await get(server, target, { headers: HTML })
    expect([page, status, body.includes(`action="/${page}"`)]).toEqual([page, 200, true])
    expect(body).not.toMatch(/href="\/(?:login|join|boards|search|feed\.atom|)"/)
    return token
  }
  await machine.run('users create grace@example.org --name Grace --language de')
  const invited = await mailed('password-reset/confirm')
  const chosen = await send('/password-reset/confirm', { token: invited, password: 'quite a good one' })
  expect([chosen.status, chosen.text.includes('<h1>Your password is set.</h1>')]).toEqual([200, true])
  const again = await send('/password-reset/confirm', { token: invited, password: 'quite a good one' })
  expect([again.text.includes('This link no longer works'), again.text.includes('href="/password-reset"')]).toEqual([
    true,
    true,
  ])
  expect((await send('/password-reset', { email: 'grace@example.org' })).text).toContain(
    'If this address has an account, we sent it a link',
  )
  await mailed('password-reset/confirm')
  const joined = await fetch(`${server}/api/v1/auth/signup`, {
    method: 'POST',
    body: JSON.stringify({ email: 'eve@example.org', password: 'quite a good one' }),
    headers: { 'content-type': 'application/json' },
  })
  expect(joined.status).toBe(201)
  const verified = await send('/email-verify', { token: await mailed('email-verify') })
  expect([verified.status, verified.text.includes('<h1>Your address is confirmed.</h1>')]).toEqual([200, true])
  expect((await send('/email-verify', { token: 'used' })).text).not.toContain('href="/settings"')
  expect((await send('/login', { email: 'eve@example.org', password: 'quite a good one' })).status).toBe(404)
  for (const target of ['/', '/boards', '/login', '/posts/new']) {
    const { status, headers } = await get(server, target, { headers: HTML })
    expect([target, status, headers['content-type']]).toEqual([target, 404, 'application/json; charset=utf-8'])
  }
  expect((await get(server, '/api/v1/boards')).status).toBe(200)
  expect(await machine.run('serve --web-enabled perhaps')).toMatchObject({ code: 78 })
})
