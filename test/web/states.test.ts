import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import { makeSite } from '../support/site.js'

it('lists show all posts, open ones or done ones, and posts show their tags, which lead to others', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  const { board } = await site.call(boards.create, { name: 'Ideas' })
  const { roadmap: shipped } = await site.call(roadmaps.create, { name: 'Shipped', display: true })
  const { roadmap: no } = await site.call(roadmaps.create, { name: 'Declined', display: true })
  const make = async (title: string, roadmapId: string | null) => {
    const { post } = await site.call(posts.create, { title, boardId: board.boardId })
    await site.call(posts.update, { id: post.postId, roadmapId, partial: true })
    return post
  }
  const open = await make('Open wish', null)
  await make('Done wish', shipped.id)
  await make('Refused wish', no.id)
  const get = async (path: string, by = '') => (await site.http(`GET /${path}`, { headers: { cookie: `feedbackctl=${by}` } })).text // prettier-ignore
  const titles = async (path: string) => [...(await get(path)).matchAll(/<bdi>(\w+ wish)<\/bdi>/g)].map(([, title]) => title ?? '').toSorted((a, b) => (a < b ? -1 : 1)) // prettier-ignore
  for (const path of ['/', '/boards/ideas']) {
    expect(await titles(path)).toEqual(['Open wish'])
    expect(await titles(`${path}?status=all`)).toEqual(['Done wish', 'Open wish', 'Refused wish'])
    expect(await titles(`${path}?status=open&sort=newest`)).toEqual(['Open wish'])
    expect(await titles(`${path}?status=done`)).toEqual(['Done wish', 'Refused wish'])
    expect(await titles(`${path}?status=other`)).toEqual(['Open wish'])
    expect(await get(`${path}?q=done`), 'a search finds done ones').toContain('<mark>Done</mark>')
    expect(await get(`${path}?status=done`)).toMatch(/<a href="[^"]*" aria-current="true">Done</)
    expect(await get(`${path}?status=done`)).toMatch(/<link rel="canonical" href="[^"]*\?status=done"/)
    expect(await get(path), 'the form sends a choice that was made alone').not.toMatch(
      /<(input|select)[^>]*name="status"/,
    )
  }
  expect(await get('/?status=done', token)).toMatch(/export\/posts\?kind=done&amp;kind=declined/)
  const table = await get('/dashboard/posts?sort=trending', token)
  // What is done with all posts of the table is done with those that it lists
  expect([table.includes('Open wish'), table.includes('Done wish'), table.includes('kind=')]).toEqual([
    true,
    true,
    false,
  ])
  expect(await get('/dashboard/posts?sort=trending&kind=open', token)).not.toContain('Done wish')
  expect(await get('/roadmaps/shipped?status=open')).not.toContain('Progress')
  expect(await titles('/?status=open&roadmap=shipped'), 'a roadmap has posts of one kind').toEqual(['Done wish'])
  expect(await get('/boards/ideas')).toContain('3 posts')
  expect(await titles('/roadmaps')).toEqual(['Done wish'])
  expect(await get('/roadmaps')).toMatch(/Not planned:.*href="\/roadmaps\/declined"/s)

  const names = ['Web', 'Phone', 'Desk', 'Enterprise']
  for (const name of names) await site.call(tags.create, { name, display: name !== 'Enterprise' })
  await site.call(posttags.tag, { ids: [open.postId], add: names.map((name) => name.toLowerCase()) })
  const listed = await get('/')
  expect(listed).toMatch(/<ul class="tags" aria-label="Tags">.*Desk.*Phone.*Web/s)
  expect([listed.includes('Enterprise'), (await get('/', token)).includes('+1')]).toEqual([false, true])
  const shown = await get(`/posts/${open.slug}`, token)
  expect(shown).toMatch(/Enterprise/)
  expect(await get(`/posts/${open.slug}`)).not.toContain('Enterprise')
  expect(await titles('/search?q=tag%3Aphone')).toEqual(['Open wish'])
})

it('a list whose posts are all done shows them', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  await site.owner()
  await site.call(roadmaps.create, { name: 'Shipped', display: true })
  const { post } = await site.call(posts.create, { title: 'Done wish' })
  await site.call(posts.update, { id: post.postId, roadmapId: 'shipped', partial: true })
  const get = async (path: string) => (await site.http(`GET /${path}`)).text
  expect(await get('/')).toMatch(/<bdi>Done wish<\/bdi>/)
  expect(await get('/')).toMatch(/aria-current="true">All</)
  expect(await get('/?status=open')).not.toContain('Done wish')
})
