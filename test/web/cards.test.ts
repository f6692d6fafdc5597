import { createRequire } from 'node:module'
import { readdirSync, readFileSync } from 'node:fs'
import type Sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { cardOf } from '../../src/core/images/card.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as settings from '../../src/service/settings.js'
import { serveSite } from '../support/browser.js'
import { engines } from '../support/site.js'

const sharp = createRequire(import.meta.url)('sharp') as typeof Sharp

/** Where something is drawn: rows of 10 pixels, and columns of a third of the width. */
async function drawnAt(png: Buffer): Promise<{ accent: number[]; rows: number[]; thirds: boolean[] }> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  expect(info).toMatchObject({ width: 1200, height: 630 })
  const isInk = (x: number, y: number) => (data[(y * info.width + x) * 3] ?? 255) < 160
  const rows = []
  const thirds = [false, false, false]
  for (let y = 20; y < info.height; y++)
    for (let x = 0; x < info.width; x++)
      if (isInk(x, y)) {
        if (rows.at(-1) !== Math.floor(y / 10)) rows.push(Math.floor(y / 10))
        if (y > 160 && y < 500) thirds[Math.floor(x / 400)] = true
      }
  return { accent: [...data.subarray(0, 3)], rows, thirds }
}

describe.each(engines)('the image of a post, on %s', (engine) => {
  it('shows its title, also of languages that are written from right to left', async () => {
    const site = await serveSite(engine)
    await site.owner()
    await site.call(settings.update, { title: 'Moonbase', accentColor: 'C0392B' })
    await site.call(boards.create, { name: '💡 Ideas', url: 'ideas', display: true })
    const imageOf = async (title: string) => {
      const { post } = await site.call(posts.create, { title, boardId: 'ideas' })
      const page = await (await fetch(`${site.url}/posts/${encodeURIComponent(post.slug)}`)).text()
      const [, address = ''] = /property="og:image" content="([^"]+)"/.exec(page) ?? []
      expect(page).toContain('<meta property="og:image:width" content="1200"/>')
      expect(page).toContain('<meta name="twitter:card" content="summary_large_image"/>')
      // It is drawn at a low priority: beside other work, the server may say that it is busy
      let image = await fetch(address)
      for (let tries = 1; image.status === 503 && tries < 5; tries++) image = await fetch(address)
      expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png'])
      return Buffer.from(await image.arrayBuffer())
    }
    const short = await imageOf('Dark')
    const drawn = await drawnAt(short)
    expect(drawn.accent.map((value) => Math.round(value / 8))).toEqual([0xc0, 0x39, 0x2b].map((value) => Math.round(value / 8))) // prettier-ignore
    expect(drawn.thirds).toEqual([true, false, false])
    expect((await drawnAt(await imageOf('داكن'))).thirds).toEqual([false, false, true])
    expect((await drawnAt(await imageOf('月面'))).thirds).toEqual([true, false, false])
    expect((await drawnAt(await imageOf(`<b>&amp; ${'W'.repeat(90)}`))).thirds).toEqual([true, true, true])
    // In place of letters that would be boxes, the name of the site
    const [korean, emoji] = [await imageOf('한국어'), await imageOf('🎉')]
    expect(korean.equals(emoji)).toBe(true)
    expect(korean.equals(short)).toBe(false)
    expect((await imageOf('Dark 🎉')).equals(short)).toBe(true)
  })

  it('is there for posts that everybody may read', async () => {
    const site = await serveSite(engine)
    const owner = await site.owner()
    await site.call(boards.create, { name: 'Secret', display: false })
    const { post } = await site.call(posts.create, { title: 'Merger', boardId: 'secret' })
    const path = `${site.url}/posts/${post.slug}/card.png`
    expect((await fetch(path)).status).toBe(404)
    expect((await fetch(`${site.url}/posts/nothing/card.png`)).status).toBe(404)
    // Also with a session: an image that a cache keeps shows nothing private
    expect((await fetch(path, { headers: { cookie: `feedbackctl=${owner}` } })).status).toBe(404)
  })
})

it('has the letters of every language of the pages', () => {
  const folder = new URL('../../src/core/catalogue/', import.meta.url)
  const missing = readdirSync(folder).map((name) => {
    const letters = Array.from(new Set(readFileSync(new URL(name, folder), 'utf8').match(/\p{L}/gu)))
    return [name, letters.filter((title) => cardOf({ title, site: '한', accent: '#000000' }) === undefined)]
  })
  expect(missing).toEqual(missing.map(([name]) => [name, []]))
})
