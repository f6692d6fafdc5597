import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import { serveSite, visit, type ServedSite } from '../support/browser.js'
import { assertQuiet, PAYLOADS } from '../support/payloads.js'
import { cleanup, OWNER } from '../support/site.js'

it(`nothing of ${PAYLOADS.length} payloads runs, in any field, for visitors and for the team`, async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  const paths: string[] = []
  const text = (length: number, payload: string) => payload.slice(0, length)
  for (const [index, payload] of PAYLOADS.entries()) {
    const { post } = await site.call(posts.create, { title: text(100, payload), contentMarkdown: payload })
    // As if the operation had stored it unchanged: the page must not rely on that
    if (index % 2 === 0)
      await site.db.updateTable('posts').set({ contentMarkdown: payload }).where('postId', '=', post.postId).execute()
    if (index % 12 === 0) {
      const { board } = await site.call(boards.create, { name: text(50, payload), display: true })
      const { roadmap } = await site.call(roadmaps.create, { name: text(50, payload), display: true })
      await site.call(posts.update, { id: post.postId, boardId: board.boardId, roadmapId: roadmap.id, partial: true })
      paths.push(
        `/boards/${encodeURIComponent(board.url)}`,
        `/search?q=${encodeURIComponent(payload)}`,
        `/login?redirect=${encodeURIComponent(payload)}`,
        `/posts/new?title=${encodeURIComponent(payload)}&board=${encodeURIComponent(payload)}`,
        `/?sort=${encodeURIComponent(payload)}&done=${encodeURIComponent(payload)}`,
      )
    }
  }
  const { post } = await site.call(posts.create, { title: 'Comments' })
  for (const [index, payload] of PAYLOADS.entries()) {
    const { activity } = await site.call(comments.create, { post_id: post.slug, body: payload })
    if (index % 2 === 0)
      await site.db.updateTable('comments').set({ body: payload }).where('id', '=', activity.id).execute()
  }
  const { posts: all } = await site.call(posts.list, { limit: 100 })
  paths.push(
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((page) => `/posts/${post.slug}?page=${page}`),
    ...Array.from({ length: Math.ceil(PAYLOADS.length / 20) + 1 }, (_, page) => `/?page=${page + 1}`),
    '/boards',
    '/roadmaps',
  )
  paths.push(...all.filter((_, index) => index % 4 === 0).map(({ slug }) => `/posts/${encodeURIComponent(slug)}`))
  await site.call(settings.update, { title: PAYLOADS[1], description: PAYLOADS[3] })
  await assertQuiet(site, paths)
  await assertQuiet(
    site,
    [
      ...paths.filter((_, index) => index % 3 === 0),
      `/posts/${encodeURIComponent(all[5]?.slug ?? '')}/edit`,
      '/settings',
    ],
    { token },
  )
  expect(PAYLOADS.length).toBeGreaterThan(200)
}, 300_000)

/** Some of every kind, for fields that have a page each. */
const SOME = PAYLOADS.filter((_, index) => index < 10 || index % 24 === 0)
/** An address of a picture runs nothing, but a test of all addresses cannot know that. */
const addressed = (payload: string): string => payload.replace(/^\s*\w+:/, '')

/** A site with a payload in each field of each table, as if an operation, or an import, had stored them unchecked. */
async function poisoned(site: ServedSite): Promise<string[]> {
  const { db } = site
  const paths: string[] = []
  for (const [index, payload] of SOME.entries()) {
    const { userId } = await site.member([], { email: `person${index}@example.org` })
    const { board } = await site.call(boards.create, { name: `Board ${index}`, display: true })
    const { roadmap } = await site.call(roadmaps.create, { name: `Roadmap ${index}`, display: true })
    const { post } = await site.call(posts.create, { title: `Post ${index}` })
    await site.call(posts.update, { id: post.postId, boardId: board.boardId, roadmapId: roadmap.id, partial: true })
    const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Yes' })
    await site.call(moderation.reportPost, { post_id: post.postId, reason: payload })
    const url = `${payload}${index}`
    const place = { name: payload, url, color: payload }
    await db.updateTable('users').set({ name: payload, username: url, avatar: addressed(payload) }).where('userId', '=', userId).execute() // prettier-ignore
    await db.updateTable('boards').set(place).where('boardId', '=', board.boardId).execute()
    await db.updateTable('roadmaps').set(place).where('id', '=', roadmap.id).execute()
    await db.updateTable('posts').set({ title: payload, userId, slug: url }).where('postId', '=', post.postId).execute()
    await db.updateTable('votes').set({ userId }).where('postId', '=', post.postId).execute()
    await db.updateTable('comments').set({ author_id: userId }).where('id', '=', activity.id).execute()
    const named = encodeURIComponent(url)
    const at = `/posts/${named}`
    paths.push(at, ...['voters', 'edit', 'delete', 'report', 'feed.atom'].map((part) => `${at}/${part}`))
    paths.push(`/boards/${named}`, `/boards/${named}/feed.atom`, `/roadmaps/${named}`, `/?board=${named}`)
  }
  const [payload = ''] = SOME
  await db.updateTable('settings').set({ title: payload, description: payload, logo: payload, logoDark: payload, icon: payload, accentColor: payload, googleAnalyticsId: payload, customCss: payload }).execute() // prettier-ignore
  await db.updateTable('sessions').set({ userAgent: payload, address: payload }).execute()
  return [...paths, '/', '/?page=2', '/boards', '/roadmaps', '/settings', '/feed.atom', '/sitemap.xml']
}

it('nothing runs that is stored as a name, an address, a colour, a picture or a program, in pages and feeds', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  const paths = await poisoned(site)
  const isXml = (path: string) => /\.(?:atom|xml)$/.test(path)
  await assertQuiet(site, paths.filter((path) => !isXml(path)), { token }) // prettier-ignore
  expect(paths.length).toBeGreaterThan(100)
  // A browser shows a feed with a style of its own, so the elements are read instead.
  const { page } = await visit({ expected: /status of 404/ }) // the picture of the site
  await page.goto(site.url)
  for (const path of paths.filter((each) => isXml(each))) {
    const found = await page.evaluate(async (address) => {
      const text = await (await fetch(address)).text()
      const { documentElement: root } = new DOMParser().parseFromString(text, 'application/xml')
      return [root.localName, ...new Set(Array.from(root.querySelectorAll('*'), ({ namespaceURI }) => namespaceURI))]
    }, path)
    const isFeed = path.endsWith('.atom')
    expect([path, ...found]).toEqual([path, isFeed ? 'feed' : 'urlset', isFeed ? 'http://www.w3.org/2005/Atom' : 'http://www.sitemaps.org/schemas/sitemap/0.9']) // prettier-ignore
  }
}, 300_000)

it('nothing runs that a form shows again', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  await site.http('POST /auth/password/reset', { body: { email: OWNER.email } })
  const reset = await site.mailedToken(OWNER.email)
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const path = `/posts/${post.slug}`
  const long = SOME.slice(0, 7).map((payload) => payload + ' '.repeat(100) + payload) // longer than titles and names may be
  const all = (forms: readonly (readonly [path: string, form: string])[], texts: readonly string[]) =>
    forms.flatMap(([at, form]) => texts.map((text) => ({ path: at, form, text })))
  const visitors = [
    ['/login', 'main form'],
    ['/join', 'main form'],
    ['/password-reset', 'main form'],
    [`/password-reset/confirm?token=${reset}`, 'main form'],
    ['/posts/new', '.post-form'],
    [path, 'section > .comment-form'],
    ['/', '.filters form'],
    ['/', 'header .search'],
    ['/boards', '.languages'],
  ] as const
  const members = [
    ['/posts/new', '.post-form'],
    [`${path}/edit`, '.post-form'],
    [`${path}/report`, 'main form'],
    ['/settings', 'form[action="/settings/name"]'],
    ['/settings', 'form[action="/settings/password"]'],
  ] as const
  await assertQuiet(site, [], { forms: all(visitors, long) })
  await assertQuiet(site, [], { token, forms: all(members, long) })
  expect(long.every((text) => text.length > 100)).toBe(true)
}, 300_000)

it('nothing runs in a mail', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  for (const [index, payload] of SOME.entries()) {
    await site.db.updateTable('settings').set({ title: payload, accentColor: payload }).execute()
    await site.call(users.create, { email: `person${index}@example.org`, name: payload.slice(0, 100) })
  }
  const mails = await site.db.selectFrom('deliveries').select('html').execute()
  expect(mails.length).toBeGreaterThan(SOME.length)
  const { page } = await visit()
  for (const { html } of mails) {
    await page.setContent(html)
    const found = await page.evaluate(() => ({
      fired: 'fired' in globalThis,
      elements: [...new Set(Array.from(document.body.querySelectorAll('*'), ({ localName }) => localName))],
      links: Array.from(document.links, ({ protocol }) => protocol),
    }))
    expect(found).toEqual({ fired: false, elements: ['main', 'h1', 'p', 'a', 'br'], links: ['http:'] })
  }
})

it.each([
  ['a script', '<script>globalThis.fired=1</script>'],
  ['a handler that runs', '<img src=data:, onerror=globalThis.fired=1>'],
  ['a handler that waits', '<p onclick=globalThis.fired=1>x</p>'],
  ['a link', '<a href=" javascript:globalThis.fired=1">x</a>'],
  ['cut data', '<script type="application/ld+json">{"a": "</script>'],
  ['a page that is not there', ''],
])('%s is noticed where a page has it', async (_, content) => {
  const server = createServer((_request, response) => {
    response.statusCode = content === '' ? 404 : 200
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>x</title><main>${content}</main>`)
  }).listen(0, '127.0.0.1')
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(assertQuiet({ url }, ['/'])).rejects.toThrow(/expected \[.*\] to deeply equal \[\]/)
})

it('a page of another origin changes nothing in the name of whoever is signed in', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const evil = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>evil</title><body>
      <form method="post" action="${site.url}/posts/${post.slug}/delete"><button id="form">x</button></form>
      <form method="post" action="${site.url}/posts/new" enctype="text/plain"><input name="title" value="evil"><button id="plain">x</button></form>
      <iframe src="${site.url}/settings"></iframe>`)
  }).listen(0, '127.0.0.1')
  cleanup(async () => void evil.close())
  await new Promise((resolve) => void evil.once('listening', resolve))
  const { page } = await visit({ expected: /40[03]|415|frame-ancestors|X-Frame|CORS|ERR_|Framing/ })
  await page.goto(`${site.url}/login`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button')
  await page.locator('text=Sign out').waitFor()
  const before = await site.events()
  for (const host of ['127.0.0.1', 'localhost'] /* another site; another origin of the same site */) {
    const address = `http://${host}:${(evil.address() as AddressInfo).port}/`
    for (const button of ['#form', '#plain']) {
      await page.goto(address)
      await page.click(button)
      await page.waitForLoadState()
    }
    await page.goto(address)
    const sent = await page.evaluate(async (url) => {
      const body = new URLSearchParams({ title: 'evil', checked: 'yes' })
      const kinds: RequestInit[] = [{ credentials: 'include' }, { credentials: 'include', mode: 'no-cors' }]
      return Promise.all(kinds.map((kind) => fetch(url, { method: 'POST', body, ...kind }).then((answer) => answer.type, () => 'refused'))) // prettier-ignore
    }, `${site.url}/posts/new`)
    expect(sent.filter((type) => type !== 'refused' && type !== 'opaque')).toEqual([])
    expect(page.frames().some((frame) => frame.url().endsWith('/settings'))).toBe(false)
  }
  expect(await site.events()).toEqual(before)
})
