import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { serveSite, visit, type ServedSite } from '../support/browser.js'

const NASTY = `]]>&amp;<b>"'\u0001\ufffe &nbsp;`

async function filled(site: ServedSite) {
  await site.owner()
  const { board } = await site.call(boards.create, { name: 'Ideas & more', display: true })
  const { post } = await site.call(posts.create, {
    title: 'Dark mode',
    contentMarkdown: `Please, **soon**.\n\n![A *chart*](https://evil.example/t.png) ![](data:image/png;base64,AA)\n\n${NASTY}`,
    boardId: board.boardId,
  })
  await site.call(comments.create, { post_id: post.slug, body: `Yes. ${NASTY}` })
  await site.call(comments.create, { post_id: post.slug, body: 'Only for us', is_internal: true })
  // As earlier versions stored it
  await site.db
    .updateTable('posts')
    .set({ contentMarkdown: `${post.contentMarkdown}\u0001` })
    .execute()
  return { board, post }
}

describe('what machines read', () => {
  it('is XML: feeds of the site, a board and a post, and the sitemap', async () => {
    const site = await serveSite('sqlite', { path: '/feedback' })
    const { board, post } = await filled(site)
    const { page } = await visit()
    await page.goto(`${site.url}/boards`)
    const read = (path: string) =>
      page.evaluate(async (url) => {
        const response = await fetch(url)
        const xml = new DOMParser().parseFromString(await response.text(), 'application/xml')
        const texts = (name: string) => Array.from(xml.querySelectorAll(name), ({ textContent }) => textContent ?? '')
        return {
          type: response.headers.get('content-type'),
          broken: texts('parsererror'),
          titles: texts('title'),
          ids: texts('id'),
          contents: texts('content'),
          bases: Array.from(xml.querySelectorAll('content'), (content) => content.getAttribute('xml:base')),
          places: texts('loc'),
          links: Array.from(xml.querySelectorAll('link'), (link) => link.getAttribute('href') ?? ''),
        }
      }, site.url + path)
    const address = `${site.url}/posts/${post.slug}`
    const feeds = [
      await read('/feed.atom'),
      await read(`/boards/${board.url}/feed.atom`),
      await read(`/posts/${post.slug}/feed.atom`),
    ]
    for (const feed of feeds) {
      expect(feed).toMatchObject({ type: 'application/atom+xml; charset=utf-8', broken: [] })
      expect(feed.titles).toContain('Dark mode')
      expect(feed.ids).toContain(`urn:uuid:${post.postId}`)
      expect(feed.links).not.toEqual([])
      expect(feed.links.filter((link) => !link.startsWith(site.url))).toEqual([])
      expect(feed.contents.join('')).toContain('<strong>soon</strong>')
      expect(feed.contents.join('')).not.toContain('Only for us')
      expect(feed.contents.join('')).not.toContain('<img')
      expect(feed.contents.join('')).toContain('>A chart (evil.example)</a>')
      expect(feed.bases).toContain(address)
    }
    expect(feeds[2]?.titles).toContain('Comment by Ada')
    const sitemap = await read('/sitemap.xml')
    expect(sitemap).toMatchObject({ type: 'application/xml; charset=utf-8', broken: [] })
    expect(sitemap.places).toEqual(expect.arrayContaining([`${site.url}/`, `${site.url}/boards/${board.url}`, address]))
    expect((await site.http('GET //robots.txt')).text).toContain(`Sitemap: ${site.url}/sitemap.xml`)
  })

  it('is in the head of a post: its address, Open Graph, a feed, and counts of votes and comments', async () => {
    const site = await serveSite('sqlite', { path: '/feedback' })
    const { post } = await filled(site)
    const { page } = await visit()
    await page.goto(`${site.url}/posts/${post.slug}`)
    const address = `${site.url}/posts/${post.slug}`
    const attribute = (selector: string, name: string) => page.locator(selector).getAttribute(name)
    expect(await attribute('link[rel=canonical]', 'href')).toBe(address)
    expect(await attribute('link[rel=alternate]', 'href')).toBe(`/feedback/posts/${post.slug}/feed.atom`)
    expect(await attribute('meta[property="og:title"]', 'content')).toBe('Dark mode')
    expect(await attribute('meta[property="og:url"]', 'content')).toBe(address)
    expect(await attribute('meta[name=description]', 'content')).toMatch(/^Please, soon\./)
    const data: unknown = JSON.parse((await page.locator('script[type="application/ld+json"]').textContent()) ?? '')
    expect(data).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'DiscussionForumPosting',
      headline: 'Dark mode',
      url: address,
      author: { '@type': 'Person', name: 'Ada' },
      interactionStatistic: [
        { interactionType: 'https://schema.org/LikeAction', userInteractionCount: 1 },
        { interactionType: 'https://schema.org/CommentAction', userInteractionCount: 1 },
      ],
    })
    await page.goto(`${site.url}/login`)
    expect(await attribute('meta[name=robots]', 'content')).toBe('noindex')
  })
})
