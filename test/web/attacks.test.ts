import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as settings from '../../src/service/settings.js'
import { serveSite, visit, type ServedSite } from '../support/browser.js'
import { cleanup, OWNER } from '../support/site.js'

/** What would run, in each of these places. `fired` is set by any of it. */
const CALL = 'globalThis.fired=1'
const ENCODED = Array.from(CALL, (letter) => `&#${letter.charCodeAt(0)};`).join('')

const tags = [
  'script',
  'svg',
  'img',
  'iframe',
  'object',
  'embed',
  'video',
  'audio',
  'body',
  'details',
  'input',
  'math',
  'style',
  'base',
  'meta',
  'form',
  'a',
  'template',
  'noscript',
  'marquee',
]
const events = [
  'onload',
  'onerror',
  'onfocus autofocus',
  'ontoggle open',
  'onpointerover',
  'onclick',
  'onanimationstart',
  'onbegin',
  'onstart',
]
const urls = [
  `javascript:${CALL}`,
  `JaVaScRiPt:${CALL}`,
  `java\tscript:${CALL}`,
  ` javascript:${CALL}`,
  `javascript&colon;${CALL}`,
  `&#106;avascript:${CALL}`,
  `data:text/html,<script>${CALL}</script>`,
  `vbscript:${CALL}`,
  `\u0001javascript:${CALL}`,
]

const PAYLOADS = [
  `<script>${CALL}</script>`,
  `"><script>${CALL}</script>`,
  `'><svg/onload=${CALL}>`,
  `</title><script>${CALL}</script>`,
  `</textarea><script>${CALL}</script>`,
  `</script><script>${CALL}</script>`,
  `<!--><script>${CALL}</script>-->`,
  `<scr<script>ipt>${CALL}</scr</script>ipt>`,
  `<img src=x onerror=${ENCODED}>`,
  `<svg><script>${CALL}</script></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${CALL}></style></mglyph></table></mtext></math>`,
  `<noscript><p title="</noscript><img src=x onerror=${CALL}>">`,
  `\`\`\`html"onmouseover="${CALL}\n<script>${CALL}</script>\n\`\`\``,
  `![x"onerror="${CALL}](https://example.invalid/x.png)`,
  `![x](https://example.invalid/x.png "\\" onerror=\\"${CALL}")`,
  `[a](https://example.invalid "x\\" onmouseover=\\"${CALL}")`,
  `[a][b]\n\n[b]: javascript:${CALL}`,
  `<https://example.invalid/"onmouseover="${CALL}>`,
  `<javascript:${CALL}>`,
  `http://example.invalid/"onmouseover="${CALL}`,
  `&lt;script&gt;${CALL}&lt;/script&gt;`,
  `&#60;img src=x onerror=${CALL}&#62;`,
  `| <script>${CALL}</script> |\n|---|\n| <img src=x onerror=${CALL}> |`,
  `\u2028</script><script>${CALL}</script>`,
  `{{constructor.constructor('${CALL}')()}}`,
  `\${${CALL}}`,
  ...tags.flatMap((tag) =>
    events.map((event) => `<${tag} src=x href=x ${event.replace(/^\w+/, (name) => `${name}=${CALL}`)}>`),
  ),
  ...urls.flatMap((url) => [
    `[click](${url})`,
    `[click](<${url}>)`,
    `![pic](${url})`,
    `<a href="${url}">click</a>`,
    `<iframe src="${url}"></iframe>`,
    `<form action="${url}"><button>x</button></form>`,
  ]),
]

async function assertQuiet(site: ServedSite, paths: readonly string[], token?: string): Promise<void> {
  const { page, context } = await visit({ expected: /status of 40[34]|ERR_|net::/ })
  if (token !== undefined) await context.addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  await page.route(
    (url) => url.hostname !== 'localhost',
    (route) => route.abort(),
  ) // pictures of other hosts
  const violations: string[] = []
  await page.exposeFunction('violated', (text: string) => void violations.push(text))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      ;(globalThis as unknown as { violated(text: string): void }).violated(`${violatedDirective} ${blockedURI}`)
    })
  })
  const found: unknown[] = []
  for (const path of paths) {
    await page.goto(site.url + path)
    await page.evaluate(() => {
      for (const each of document.querySelectorAll<HTMLElement>('main *')) {
        each.dispatchEvent(new Event('pointerover'))
        each.dispatchEvent(new Event('mouseover'))
        each.focus()
      }
    })
    const state = await page.evaluate(() => ({
      fired: 'fired' in globalThis,
      scripts: Array.from(document.scripts).filter(
        ({ type, src }) =>
          type !== 'application/ld+json' && !new URL(src || 'about:blank').pathname.startsWith('/assets/'),
      ).length,
      handlers: Array.from(document.querySelectorAll('*')).filter((each) =>
        Array.from(each.attributes).some(({ name }) => name.startsWith('on') || name === 'style'),
      ).length,
      links: Array.from(document.querySelectorAll('[href],[src],[action],[formaction]'))
        .flatMap((each) => ['href', 'src', 'action', 'formaction'].map((name) => each.getAttribute(name) ?? ''))
        .filter((url) => /^\s*(javascript|vbscript|data)\s*:/i.test(url)),
    }))
    if (state.fired || state.scripts + state.handlers + state.links.length > 0) found.push([path, state])
  }
  expect(found).toEqual([])
  expect(violations).toEqual([])
}

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
    token,
  )
  expect(PAYLOADS.length).toBeGreaterThan(200)
}, 300_000)

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
