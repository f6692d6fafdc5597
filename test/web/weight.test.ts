import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { seededRandom } from '../../src/core/random.js'
import { operator } from '../../src/service/lib/access.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import * as votes from '../../src/service/votes.js'
import { serveSite, visit } from '../support/browser.js'

const random = seededRandom(20)
const pick = (all: readonly string[]): string => all[Math.floor(random() * all.length)] ?? ''

/** Words that repeat as little as those of people do, so that they compress no better. */
const VOCABULARY = Array.from(
  { length: 800 },
  () =>
  Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(['b', 'ch', 'd', 'l', 'm', 'n', 'r', 's', 't', 'st']) + pick(['a', 'e', 'i', 'o', 'u', 'ea'])).join(''), // prettier-ignore
)
const text = (words: number): string => Array.from({ length: words }, () => pick(VOCABULARY)).join(' ')

/** A board that people use: twenty of them, thirty posts, one of them discussed. */
async function busySite() {
  const site = await serveSite('sqlite', { isCached: true })
  await site.owner()
  await site.call(settings.update, { accentColor: '7a2e8f', description: text(12) })
  for (let count = 0; count < 8; count++)
    await site.call(boards.create, { name: text(1), display: true, color: pick(['c0392b', '2980b9']) })
  for (const name of ['Planned', 'In progress', 'Shipped'])
    await site.call(roadmaps.create, { name, display: true, color: '2980b9' })
  const { roadmaps: stages } = await site.call(roadmaps.list, { limit: 10 })
  const { boards: places } = await site.call(boards.list, { limit: 100 })
  const people: string[] = []
  for (let count = 0; count < 20; count++) {
    const email = `person${count}@example.org`
    const { user } = await site.call(users.create, { email, name: `${text(1)} ${text(1)}`, password: 'xkcd936 correct horse' }) // prettier-ignore
    people.push(user.userId)
  }
  const as = (userId: string) => site.callAs({ ...operator, userId })
  let last = ''
  for (let count = 0; count < 30; count++) {
    const author = pick(people)
    const { post } = await as(author)(posts.create, {
      title: text(7),
      contentMarkdown: text(60),
      boardId: pick(places.map(({ boardId }) => boardId)),
    })
    last = post.slug
    await site.call(posts.update, { id: post.postId, roadmapId: stages[count % 3]?.id, partial: true })
    for (const userId of people.slice(0, count % 20))
      if (userId !== author) await as(userId)(votes.add, { postId: post.postId })
    if (count === 29)
      for (const userId of people) await as(userId)(comments.create, { post_id: post.postId, body: text(40) })
  }
  return { site, path: `/posts/${encodeURIComponent(last)}` }
}

/** Counts the bytes that a page gets over the wire, headers and all. A call returns those since the last call. */
async function meter(page: Page): Promise<() => number> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  let bytes = 0
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  return () => {
    const counted = bytes
    bytes = 0
    return counted
  }
}

/** Opens a page and looks at all of it, so that what loads late is loaded too. */
async function readThrough(page: Page, url: string): Promise<void> {
  await page.goto(url)
  for (let turns = 0; turns < 12; turns++) await page.mouse.wheel(0, 800)
  await page.waitForLoadState('networkidle')
}

it('a first visit takes at most 20 kB over the wire, and a later page 8 kB, all from the site', async () => {
  const { site, path } = await busySite()
  const weights: { first: string; path: string; bytes: number; most: number }[] = []
  const hosts = new Set<string>()
  for (const first of ['/', path, '/roadmaps']) {
    const { page } = await visit()
    page.on('request', (request) => void hosts.add(new URL(request.url()).origin))
    const weigh = await meter(page)
    await readThrough(page, site.url + first)
    weights.push({ first, path: first, bytes: weigh(), most: 20_000 }) // and the icon, which only a window asks for
    for (const later of ['/?page=2', '/boards', '/roadmaps', path, `${path}/voters`, '/posts/new', '/login']) {
      if (later === first) continue
      await readThrough(page, site.url + later)
      weights.push({ first, path: later, bytes: weigh(), most: 8000 })
    }
  }
  expect(weights.filter(({ bytes, most }) => bytes < 500 || bytes > most)).toEqual([])
  expect(hosts).toEqual(new Set([site.url]))
})
