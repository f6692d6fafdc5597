import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { QueryExecutor } from 'kysely'
import Markdown, { type MarkdownIt } from 'markdown-it'
import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { render, withoutHtml } from '../../src/core/markdown/index.js'
import { htmlOf } from '../../src/core/markdown/html.js'
import { excerptOf } from '../../src/core/markdown/excerpt.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as boards from '../../src/service/boards.js'
import { amount } from '../faults/amount.js'
import { HOSTILE, hostileText } from '../support/hostile.js'
import { assertProperty } from '../support/properties.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const LONGEST = 65_000
const kinds = Object.entries(HOSTILE)
/** These take longest. */
const SLOW = ['a long table', 'many tables', 'addresses', 'headings']

/** A site with a post of each kind, the last of which has a comment of each kind. */
async function hostileSite(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: 'http://localhost', rates: {} })
  await site.owner()
  const slugs: string[] = []
  for (const [kind, text] of kinds) {
    const { post } = await site.call(posts.create, { title: kind, contentMarkdown: `${text(LONGEST)}\n\n${newId()}` }) // rendered by no test before
    slugs.push(post.slug)
  }
  for (const [, text] of kinds) await site.call(comments.create, { post_id: slugs.at(-1) ?? '', body: text(1000) })
  return { site, slugs }
}

describe.each(engines)('on %s', (engine) => {
  it('a feed has a bound, whatever is in it', async () => {
    const { site, slugs } = await hostileSite(engine)
    for (const path of ['/feed.atom', `/posts/${slugs.at(-1)}/feed.atom`]) {
      const { status, text } = await site.http(`GET /${path}`)
      expect([path, status, text.match(/<entry>/g)?.length]).toEqual([path, 200, kinds.length + (path === '/feed.atom' ? 0 : 1)]) // prettier-ignore
      expect(text.length / kinds.length).toBeLessThan(60_000)
    }
  })

  it('a text that is slow to render holds up no other request', async () => {
    const { site, slugs } = await hostileSite(engine)
    await site.http('GET //healthz') // loads what the first request loads
    for (const path of SLOW.map((kind) => `/posts/${slugs[kinds.findIndex(([each]) => each === kind)]}`)) {
      const state = { isOver: false }
      const slow = site.http(`GET /${path}`).finally(() => (state.isOver = true))
      let others = 0
      for (; !state.isOver; others++) {
        expect((await site.http('GET //healthz')).status).toBe(200)
        await setImmediate() // requests of the tests go over no socket
      }
      expect((await slow).status).toBe(200)
      expect([path, others > 20]).toEqual([path, true]) // 2 or 3 where the text is rendered beside them
    }
  })

  it('a list of long texts is read and written in many turns of the event loop', async () => {
    const site = await makeSite(engine, { rates: {} })
    await site.owner()
    for (let number = 0; number < 40; number++) await site.call(posts.create, { title: `Wish ${number}`, contentMarkdown: '漢字 '.repeat(16_000) }) // prettier-ignore
    await site.http('GET //healthz')
    const executor = Object.getPrototypeOf(site.db.getExecutor()) as QueryExecutor
    const { executeQuery } = executor
    let most = 0
    vi.spyOn(executor, 'executeQuery').mockImplementation(async function (this: QueryExecutor, query) {
      const result = await executeQuery.call(this, query)
      const texts = (result.rows as { contentMarkdown?: string | null }[]).map((row) => row.contentMarkdown ?? '')
      most = Math.max(most, Buffer.byteLength(texts.join('')))
      return result
    })
    const state = { isOver: false }
    const long = site.http('POST /posts/get', { body: { limit: 40 } }).finally(() => (state.isOver = true))
    let turns = 0
    for (; !state.isOver; turns++) await setImmediate()
    const { body } = await long
    expect(most, 'bytes of texts in one query').toSatisfy((bytes: number) => bytes > 100_000 && bytes <= 1_000_000)
    expect(body.posts.map((post: { contentMarkdown: string }) => post.contentMarkdown.length)).toEqual(body.posts.map(() => 47_999)) // prettier-ignore
    expect([body.posts.length, turns > 20]).toEqual([40, true]) // 6 on SQLite where all rows are read at once and written at once
  })
})

it.each(kinds)('%s: becomes no more HTML than its length allows', (_, text) => {
  for (const length of [1000, LONGEST])
    expect(htmlOf({ markdown: text(length), level: 2 }).length).toBeLessThan(length * 12 + 4000)
  expect(excerptOf(text(LONGEST)).length).toBeLessThanOrEqual(241)
})

it('a table has as many cells as its text has room for', () => {
  const table = (rows: number, row: string) => `|a|b|c|\n|-|-|-|\n${`${row}\n`.repeat(rows)}`
  const html = (markdown: string) => htmlOf({ markdown, level: 2 })
  expect(html(table(5000, '|1|2|3|')).match(/<td>/g)).toHaveLength(15_000)
  expect(html(table(20, '|')).match(/<td>/g)).toHaveLength(60)
  expect(html(table(500, '|'))).not.toContain('<table>')
})

it('an ordinary long text is rendered and stored as it is written', async () => {
  const text = `# Title\n\nSome *words* with \`<code>\` and [a link](https://example.org).\n\n`.repeat(800)
  expect(await withoutHtml(text)).toBe(text)
  expect(htmlOf({ markdown: text, level: 2 }).match(/<h2>/g)).toHaveLength(800)
})

/** Characters of a text that is slow in many ways: of the greatest length, a thread takes seconds for each. */
const LONG = 40_000
/** Characters of Markdown that one turn of the event loop may parse: the excerpts of a page, and short texts. */
const MOST_PARSED = 25_000
/** What a page may become, with a post of the greatest length or a hundred comments. */
const MOST_HTML = 2_500_000

/** Counts the Markdown that this thread parses, by turns of the event loop. Returns the most of one turn so far. */
function countParsed(): () => number {
  const { parse } = Markdown.prototype
  let [turn, most, isCounting] = [0, 0, false]
  vi.spyOn(Markdown.prototype, 'parse').mockImplementation(function (this: MarkdownIt, text, env) {
    turn += text.length
    most = Math.max(most, turn)
    if (!isCounting) {
      isCounting = true
      globalThis.setImmediate(() => ([turn, isCounting] = [0, false]))
    }
    return parse.call(this, text, env)
  })
  return () => most
}

it('no page, feed or answer renders more than little of any Markdown in one turn of the event loop', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  await site.call(boards.create, { name: 'Ideas', display: true })
  const most = countParsed()
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const read = async (request: string, options: Parameters<typeof site.http>[1] = {}) => {
    const { status, text } = await site.http(request, options)
    expect([request, status]).toEqual([request, 200])
    expect([request, most()]).toEqual([request, expect.toSatisfy((count: number) => count <= MOST_PARSED)])
    return text.length
  }
  const readPage = async (path: string) =>
    expect([path, (await read(`GET //${path}`)) < MOST_HTML]).toEqual([path, true])
  const texts = fc.array(hostileText(LONG), { minLength: 1, maxLength: 2 })
  await assertProperty(
    fc.asyncProperty(texts, async (all) => {
      const paths = ['', '?sort=votes', 'boards/ideas', 'feed.atom', 'boards/ideas/feed.atom', 'search?query=table', 'sitemap.xml'] // prettier-ignore
      for (const text of all) {
        const body = { title: 'A table of text', contentMarkdown: `${text}\n\n${newId()}`, boardId: 'ideas' }
        const { status, body: made } = await site.http('POST /posts', { token, body })
        expect([status, most()]).toEqual([201, expect.toSatisfy((count: number) => count <= MOST_PARSED)])
        const { slug } = made.post
        for (let count = 0; count < 3; count++)
          await site.call(comments.create, { post_id: slug, body: `${text.slice(count * 900, (count + 1) * 900)} ${newId()}` }) // prettier-ignore
        const at = `posts/${slug}`
        paths.push(at, `${at}/feed.atom`)
        await read(`GET /posts/${slug}/activity`)
      }
      for (const path of paths) await readPage(path)
      await read('GET //posts/similar?title=table+text', { headers: { cookie: `feedbackctl=${token}` } })
      await read('POST /posts/get', { body: { limit: 100 } })
      await read('GET /posts/search/table?limit=100')
      await read('GET /moderation?limit=100', { token })
      const preview = new URLSearchParams({ title: 'x', contentMarkdown: all[0] ?? '', preview: 'yes' }).toString()
      await read('POST //posts/new', { body: preview, headers: form })
    }),
    { numRuns: amount(2, 200) },
  )
  expect(most()).toBeGreaterThan(0)
})

it('texts that take much to render displace no others from the cache', async () => {
  const ordinary = Array.from({ length: 50 }, () => ({ markdown: `An *ordinary* text. ${newId()}`, level: 2 as const }))
  const parse = vi.spyOn(Markdown.prototype, 'parse')
  for (const text of ordinary) await render([text])
  expect(parse).toHaveBeenCalled()
  for (let count = 0; count < 20; count++)
    await render([{ markdown: HOSTILE['many links']?.(LONGEST - count * 10) ?? '', level: 2 }]) // 12 MB of HTML
  parse.mockClear()
  for (const text of ordinary) await render([text])
  expect(parse).not.toHaveBeenCalled()
})

it('a long answer gives other requests a turn between its steps', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  await site.owner()
  const contentMarkdown = 'Some words of a text. '.repeat(2900)
  for (let count = 0; count < 30; count++) await site.call(posts.create, { title: `Post ${count}`, contentMarkdown })
  await site.http('GET //healthz') // loads what the first request loads
  const state = { isOver: false, turns: 0 }
  const count = () => {
    state.turns++
    if (!state.isOver) globalThis.setImmediate(count)
  }
  const list = site.http('POST /posts/get', { body: { limit: 100 } }).finally(() => (state.isOver = true))
  globalThis.setImmediate(count)
  const { body, text } = await list
  expect([body.posts.length, body.results.length, text.length > 3_000_000]).toEqual([30, 30, true])
  expect(state.turns).toBeGreaterThan(3) // reading, serialising, encoding, tagging
})

/** Four pages with more texts than wait for their turn. */
async function busySite() {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  const slugs: string[] = []
  for (let count = 0; count < 4; count++) {
    const { post } = await site.call(posts.create, { title: `Post ${count}`, contentMarkdown: `**bold** ${newId()}` })
    slugs.push(post.slug)
    for (let number = 0; number < 50; number++)
      await site.call(comments.create, { post_id: post.slug, body: `**bold** ${newId()} ${'words '.repeat(10)}` })
  }
  return { site, token, slugs }
}

it('a page whose texts were given up, as many others were in the way, is not kept', async () => {
  const { site, slugs } = await busySite()
  const boldOf = async (slug: string) =>
    (await site.http(`GET //posts/${slug}`)).text.match(/<strong>bold<\/strong>/g)?.length ?? 0
  const first = await Promise.all(slugs.map((slug) => boldOf(slug)))
  expect(first.filter((count) => count < 51)).not.toEqual([]) // or nothing was in the way
  for (const slug of slugs) expect([slug, await boldOf(slug)]).toEqual([slug, 51])
})

it('what is stored does not depend on what is in the way', async () => {
  const { site, token, slugs } = await busySite()
  const contentMarkdown = `Some words.\n\n    <code> of ${newId()}\n\n${'More words. '.repeat(300)}`.trim()
  const state = { isOver: false }
  const pages = Promise.all(slugs.map((slug) => site.http(`GET //posts/${slug}`))).finally(() => (state.isOver = true))
  const stored = []
  while (!state.isOver) {
    const body = { title: 'Code', contentMarkdown }
    stored.push((await site.http('POST /posts', { token, body })).body.post.contentMarkdown === contentMarkdown)
  }
  await pages
  expect(new Set(stored)).toEqual(new Set([true]))
})

it('a form has a number of fields that a browser could have sent from ours', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost' })
  const token = await site.owner()
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const fields = (count: number, name: (number: number) => string) =>
    Array.from({ length: count }, (_, number) => `${name(number)}=1`).join('&')
  const statusOf = async (body: string, headers = {}) =>
    (await site.http('POST //posts/new', { body, headers: { ...form, ...headers } })).status
  for (const headers of [{}, { cookie: `feedbackctl=${token}` }])
    for (const name of [(number: number) => `a${number}`, () => 'a']) {
      expect(await statusOf(fields(30_000, name), headers)).toBe(400)
      expect(await statusOf(fields(201, name), headers)).toBe(400)
      expect(await statusOf(fields(200, name), headers)).toBe('cookie' in headers ? 422 : 200)
    }
})
