import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { withoutHtml } from '../../src/core/markdown/index.js'
import { htmlOf } from '../../src/core/markdown/html.js'
import { excerptOf } from '../../src/core/markdown/excerpt.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { HOSTILE } from '../support/hostile.js'
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
