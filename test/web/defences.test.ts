import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { languageFor } from '../../src/core/language.js'
import { ResponseCache } from '../../src/http/cache/responses.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as settings from '../../src/service/settings.js'
import { htmlOf } from '../../src/core/markdown/html.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const FORM = 'application/x-www-form-urlencoded'

const send = (site: TestSite, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  site.http(`POST /${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': FORM, 'sec-fetch-site': 'same-origin', ...headers },
  })

const signIn = (site: TestSite, fields: Record<string, string> = {}) =>
  send(site, '/login', { email: OWNER.email, password: OWNER.password, ...fields })

const cookieIn = (headers: Record<string, unknown>): string =>
  String([headers['set-cookie']].flat()[0]).split(';')[0] ?? ''

describe.each(engines)('the setup page on %s', (engine) => {
  const { name, email, password, siteTitle } = OWNER

  it.each([
    ['whose host name points here', { host: 'evil.example:8000', origin: 'http://evil.example:8000' }],
    ['whose host name points here, without its origin', { host: 'evil.example', 'sec-fetch-site': 'same-origin' }],
    ['of another site', { origin: 'https://evil.example' }],
  ])('takes no owner from a page %s', async (_, headers: Record<string, string>) => {
    const site = await makeSite(engine)
    await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
    const { status, text } = await site.http('POST //setup/create-account', {
      body: new URLSearchParams({ name, email, password, siteTitle }).toString(),
      headers: { 'content-type': FORM, ...headers },
    })
    expect(status).toBe(403)
    expect(text).not.toContain(password)
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: false })
    expect(await site.events()).toEqual([])
  })

  it('takes the owner from a page of its own', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost' })
    await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
    const own = { host: 'localhost:8000', origin: 'http://localhost:8000' }
    expect((await send(site, '/setup/create-account', { name, email, password, siteTitle }, own)).status).toBe(303)
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: true })
  })
})

describe('forms of visitors', () => {
  it('that change an account lead to sign in, carry no password, and are not done by who signs in', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
    await site.owner()
    for (const [path, to] of [
      ['/settings/password', '/login?redirect=%2Fsettings'],
      ['/settings/delete', '/login?redirect=%2Fsettings'],
      ['/settings/totp/disable', '/login?redirect=%2Fsettings'],
      ['/logout', '/login'],
    ] as const) {
      const { status, headers, text } = await send(site, path, { currentPassword: 'typed-secret', password: 'b' })
      expect([path, status, headers.location]).toEqual([path, 303, to])
      expect(JSON.stringify([headers, text])).not.toContain('typed-secret')
    }
    const { headers } = await signIn(site, { 'pending-route': '/logout', 'pending-fields': '{}' })
    expect(headers.location).toBe('/')
    const inside = await site.http('GET //settings', { headers: { cookie: cookieIn(headers), accept: 'text/html' } })
    expect(inside.status).toBe(200)
    const nested = { email: OWNER.email, password: 'wrong password', 'pending-route': '/x' }
    const signed = await signIn(site, { 'pending-route': '/login', 'pending-fields': JSON.stringify(nested) })
    expect([signed.status, signed.headers.location]).toEqual([303, '/'])
  })

  it('that name no action, or do not fill its path, only sign in', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
    await site.owner()
    const before = await site.events()
    for (const [route, params] of [
      ['constructor', '{}'],
      ['__proto__', '{}'],
      ['/posts/x/vote', '{}'],
      ['/posts/:slug/delete', '{}'],
      ['/posts/:slug/delete', '{"slug":".."}'],
      ['/posts/:slug/delete', '{"slug":{"a":1}'],
      ['/posts/:slug/delete', 'null'],
      ['/posts/:slug/vote', '{"slug":"\\ud800"}'],
      ['/posts/:slug/../../logout', '{"slug":"x"}'],
    ] as const) {
      const { status, headers } = await signIn(site, { 'pending-route': route, 'pending-params': params, 'pending-fields': '{}' }) // prettier-ignore
      expect([route, params, status, headers.location]).toEqual([route, params, 303, '/'])
    }
    for (const route of ['constructor', '__proto__', 'toString', '/posts/:slug/vote'])
      expect((await send(site, '/login/first', { 'pending-route': route, 'pending-params': '{"slug":"\\ud800"}' })).status).toBe(200) // prettier-ignore
    expect((await site.events()).filter(([action]) => action !== 'user.signed_in')).toEqual(before)
  })

  it('keep a text of the greatest length, whatever its characters', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
    await site.owner()
    for (const [title, character, length] of [
      ['Quotes', '"', 65_000],
      ['Lines', 'a\n', 32_000],
      ['Words', '票', 21_000],
    ] as const) {
      const contentMarkdown = character.repeat(length)
      const { text } = await send(site, '/posts/new', { title, contentMarkdown, checked: 'yes' })
      const hidden = Array.from(text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g), ([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"').replaceAll('&amp;', '&')]) // prettier-ignore
      const { status, headers } = await signIn(site, Object.fromEntries(hidden))
      expect([title, status]).toEqual([title, 303])
      const [slug] = String(headers.location).split('/').at(-1)?.split('?') ?? []
      const { body } = await site.http('POST /posts/slug', { body: { slug } })
      expect(body.post.contentMarkdown === contentMarkdown.trim()).toBe(true)
    }
  })

  it('are in no cache when they come back with what was typed', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
    await site.owner()
    const back = await send(site, '/posts/new', { title: 'Mine', checked: 'yes' })
    expect([back.status, back.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(back.text).toContain('pending-route')
  })
})

it('a body that is no form is refused, and is no error of the server', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
  await site.owner()
  for (const [type, body] of [
    ['application/json', '{"email":{"toString":1}}'],
    ['application/json', `{"email":${'['.repeat(40_000)}${']'.repeat(40_000)}}`],
    ['text/plain', 'email=x'],
  ] as const) {
    const { status } = await site.http('POST //login', { body, headers: { 'content-type': type } })
    expect([type, status]).toEqual([type, 415])
  }
  expect(site.logs.filter((line) => line.includes('"level":50'))).toEqual([])
})

it('a code to scan that is none of ours is not drawn', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
  await site.owner()
  const cookie = cookieIn((await signIn(site)).headers)
  await send(site, '/settings/totp', {}, { cookie })
  const long = { code: '000000', secret: 'x', uri: `otpauth://${'a'.repeat(5000)}` }
  const { status, headers } = await send(site, '/settings/totp/enable', long, { cookie })
  expect([status, headers.location]).toEqual([303, '/settings'])
})

it('links repeated by reference grow a page by no more than their text would', () => {
  const reference = (times: number, length: number) => `[a]: /${'u'.repeat(length)}\n\n${'[a] '.repeat(times)}`
  expect(htmlOf({ markdown: reference(3, 50), level: 2 }).match(/href="\/u{50}"/g)).toHaveLength(3)
  expect(htmlOf({ markdown: reference(10_000, 20_000), level: 2 }).length).toBeLessThan(1_000_000)
  const pictures = `${'![b][a] '.repeat(8000)}\n\n[a]: https://example.org/${'u'.repeat(20_000)}`
  expect(htmlOf({ markdown: pictures, level: 2 }).length).toBeLessThan(1_000_000)
})

describe('a page', () => {
  const shown = (markdown: string) => htmlOf({ markdown, level: 2 })
  const link = (href: string, name: string) =>
    `<p><a href="${href}" class="image" rel="ugc nofollow noopener noreferrer">${name}</a></p>\n`

  it('links to images of other hosts, and shows those of its own', () => {
    const at = 'https://evil.example/a/t.png'
    expect(shown(`![A *nice* <chart>](${at} "x")`)).toBe(link(at, 'A nice &lt;chart&gt; (evil.example)'))
    expect(shown(`![](${at}?x=1)`)).toBe(link(`${at}?x=1`, 't.png (evil.example)'))
    expect(shown('![](http://evil.example:8080)')).toBe(link('http://evil.example:8080', '(evil.example:8080)'))
    for (const other of ['//evil.example/t.png', 'https:evil.example/t.png', 'HTTPS://EVIL.example/t.png'])
      expect([other, shown(`![a](<${other}>)`)]).toEqual([other, expect.not.stringContaining('<img')])
    for (const other of [
      String.raw`\\\evil.example/t.png`,
      String.raw`/\\evil.example/t.png`,
      '/&#47;evil.example/t.png',
    ])
      for (const [, src = ''] of shown(`![a](<${other}>)`).matchAll(/<img src="([^"]*)"/g))
        expect([other, new URL(src, 'http://here').host]).toEqual([other, 'here'])
    expect(shown(`[![b](${at})](/boards)`)).toContain('<a href="/boards" rel="ugc nofollow noopener noreferrer">b (evil.example)</a>') // prettier-ignore
    expect(shown('![a](data:image/png;base64,AA)')).toBe('<p>a</p>\n')
    expect(shown('![a](/icon.svg)')).toBe('<p><img src="/icon.svg" alt="a" loading="lazy" /></p>\n')
  })

  it('loads nothing from elsewhere but the logos, and none that browsers refuse', async () => {
    const site = await makeSite('sqlite')
    await site.owner()
    const home = async () => {
      const { headers, text } = await site.http('GET //')
      const [, images] = /img-src ([^;]+)/.exec(String(headers['content-security-policy'])) ?? []
      return [images, ...Array.from(text.matchAll(/<img src="([^"]*)"/g), ([, src]) => src)]
    }
    expect(await home()).toEqual(["'self' data:"])
    await site.call(settings.update, { logo: 'https://cdn.example.com/logo.png' })
    expect(await home()).toEqual(["'self' data: https://cdn.example.com", 'https://cdn.example.com/logo.png'])
    await site.call(settings.update, { logo: 'example.com/logo.png' })
    expect(await home()).toEqual(["'self' data: https://example.com", 'https://example.com/logo.png'])
    await expect(site.call(settings.update, { logo: 'http://example.com/logo.png' })).rejects.toThrow(/https/)
    await site.db.updateTable('settings').set({ logo: 'http://example.com/logo.png' }).execute() // of an earlier version
    expect(await home()).toEqual(["'self' data:"])
    await site.db.updateTable('settings').set({ logo: 'https://a;script-src/x.png' }).execute()
    expect(await home()).toEqual(["'self' data:"])
    await site.call(settings.update, { logo: 'https://cdn.example.com/a.png', logoDark: 'example.org/b.png' })
    expect(await home()).toEqual(["'self' data: https://cdn.example.com https://example.org", 'https://cdn.example.com/a.png']) // prettier-ignore
    await site.call(settings.update, { logoDark: 'https://cdn.example.com/b.png' })
    expect(await home()).toEqual(["'self' data: https://cdn.example.com", 'https://cdn.example.com/a.png'])
  })
})

it('an address in capitals is not led to itself', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const { status, headers } = await site.http('GET //POSTS/1?page=1', { headers: { accept: 'text/html' } })
  expect([status, headers.location]).toEqual([301, `/posts/${post.slug}?page=1`])
})

it('a comment leads to its place on the page, with a word that it is there', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const cookie = cookieIn((await signIn(site)).headers)
  const { headers } = await send(site, `/posts/${post.slug}/comments`, { body: 'Yes' }, { cookie })
  const { activity } = await site.call(comments.list, { post_id: post.slug })
  const id = activity[0]?.id
  expect(headers.location).toBe(`/posts/${post.slug}/comments/${id}?done=commented`)
  const { headers: found } = await site.http(`GET /${String(headers.location)}`)
  expect(found.location).toBe(`/posts/${post.slug}?done=commented#comment-${id}`)
})

describe('what a visitor may cost', () => {
  it('is bounded for a preview: by the length of a text, before any work, and by a limit of its address', async () => {
    const rates = { preview: { points: 2, seconds: 60 } }
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost', trustProxy: 'loopback', rates })
    await site.owner()
    const preview = (contentMarkdown: string, address = '198.51.100.1') =>
      send(site, '/posts/new', { title: 'x', contentMarkdown, preview: 'yes' }, { 'x-forwarded-for': address })
    const long = await preview(`**${'x'.repeat(65_536)}**`)
    expect([long.status, long.text.includes('<strong>')]).toEqual([422, false])
    for (const status of [200, 200, 429]) {
      const { text, ...answer } = await preview('**bold**')
      expect([answer.status, text.includes('<strong>bold')]).toEqual([status, status === 200])
    }
    expect((await preview('**bold**', '198.51.100.2')).status).toBe(200)
  })

  it('is one sitemap and one feed, whatever is added to the address, and whoever asks', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost/below', rerun: false })
    await site.owner()
    const made = vi.spyOn(ResponseCache.prototype, 'open')
    for (const path of ['/sitemap.xml', '/feed.atom', '/robots.txt']) {
      const { text } = await site.http(`GET /${path}`)
      for (const other of [`${path}?1`, `${path}?page=2`, `${path}/`, path.toUpperCase(), path.replace('.', '%2e')]) {
        const { status, headers } = await site.http(`GET /${other}`)
        expect([other, status, headers.location]).toEqual([other, 301, `/below${path}`])
      }
      for (const cookie of ['feedbackctl=1', 'feedbackctl=2', 'x=y'])
        expect((await site.http(`GET /${path}`, { headers: { cookie } })).text).toBe(text)
    }
    const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
    const { headers } = await site.http(`GET //boards/${board.url}/feed.atom?x`)
    expect(headers.location).toBe(`/below/boards/${board.url}/feed.atom`)
    expect(made).toHaveBeenCalledTimes(6) // each for those with a cookie of ours, and for all others
    made.mockRestore()
  })

  it('is the words of a search that are used: the first 200 characters', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
    await site.owner()
    const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
    await site.call(posts.create, { title: 'dark late', boardId: board.boardId })
    const q = encodeURIComponent(`dark${' '.repeat(200)}late`)
    for (const path of [`/?q=${q}`, `/boards/${board.url}?q=${q}`, `/search?q=${q}`]) {
      const { text } = await site.http(`GET /${path}`)
      expect([path, text.includes('<mark>dark</mark> late')]).toEqual([path, true])
    }
  })

  it('is no memory for the languages that its browser asks for', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = () => (collect(), process.memoryUsage().heapUsed)
    const before = used()
    for (let n = 0; n < 900; n++) expect(languageFor(`de,${String(n).padEnd(16_000, 'x')}`)).toBe('de')
    expect(used() - before).toBeLessThan(4_000_000)
  })
})

describe('the cookie of a session', () => {
  it('is no API key', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
    const { body } = await site.http('POST /keys', { token: await site.owner(), body: { name: 'ci' } })
    for (const cookie of [`feedbackctl=${body.token}`, `feedbackctl=%20${body.token}`]) {
      const { text } = await site.http('GET //', { headers: { cookie } })
      expect([text.includes('Sign out'), text.includes('Sign in')]).toEqual([false, true])
      expect((await site.http('GET //settings', { headers: { cookie } })).headers.location).toMatch(/^\/login/)
      expect((await send(site, '/posts/new', { title: 'Mine', checked: 'yes' }, { cookie })).text).toContain('pending')
    }
  })

  it('stays with the site when a page of the same host over http sends a form to it', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'https://feedback.example.org' })
    await site.owner()
    const from = async (origin: string) =>
      (
        await site.http('POST //login', {
          body: new URLSearchParams({ email: OWNER.email, password: OWNER.password }).toString(),
          headers: { 'content-type': FORM, host: 'feedback.example.org', origin },
        })
      ).status
    expect(await from('https://feedback.example.org')).toBe(303)
    expect(await from('http://feedback.example.org')).toBe(403)
  })
})

it('the token of a mail is in no link', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
  await site.owner()
  for (const path of ['/password-reset/confirm', '/email-verify', '/login/link']) {
    const { status, text } = await site.http(`GET /${path}?token=a-secret`)
    expect([path, status]).toEqual([path, 200])
    expect(text.match(/(href|action)="[^"]*a-secret/g)).toBeNull()
  }
  const missing = await site.http('GET //nowhere?token=a-secret', { headers: { accept: 'text/html' } })
  expect(missing.text.match(/(href|action)="[^"]*a-secret/g)).toBeNull()
})

describe.each(engines)('limits of forms on %s', (engine) => {
  const rates = { 'sign-in': { points: 3, seconds: 900 } }
  const HERE = { 'x-forwarded-for': '198.51.100.1' }

  it('refuse a public address to sign in after wrong passwords, the right one too', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost', trustProxy: 'loopback', rates })
    await site.owner()
    const { email, password } = OWNER
    const login = (given: string, headers = HERE) => send(site, '/login', { email, password: given }, headers)
    for (const status of [403, 403, 403, 429]) expect((await login('a wrong password')).status).toBe(status)
    const refused = await login(password)
    expect([refused.status, refused.headers['retry-after'], refused.headers['set-cookie']]).toEqual([429, '900', undefined]) // prettier-ignore
    expect(refused.text).toContain('class="summary"')
    expect((await login(password, { 'x-forwarded-for': '198.51.100.2' })).status).toBe(303)
  })

  it('refuse to delete an account after wrong passwords, the right one too', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost', trustProxy: 'loopback', rates })
    await site.owner()
    const password = 'the right password'
    const { userId, token } = await site.member([], { password })
    const remove = (given: string) =>
      send(site, '/settings/delete', { password: given, posts: 'keep' }, { ...HERE, cookie: `feedbackctl=${token}` })
    for (const status of [403, 403, 403, 429]) expect((await remove('a wrong password')).status).toBe(status)
    expect((await remove(password)).status).toBe(429)
    site.clock.now = new Date(site.clock.now.getTime() + 900_000)
    const { status, headers } = await remove(password)
    expect([status, headers.location]).toEqual([303, '/?done=accountDeleted'])
    expect(await site.events()).toContainEqual(['user.deleted', userId])
  })
})
