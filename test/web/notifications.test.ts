import { expect, it } from 'vitest'
import { notifications as job } from '../../src/jobs/notifications.js'
import * as comments from '../../src/service/comments.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { makeSite } from '../support/site.js'

const FORM = { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' }
const log = { info: () => {}, warn: () => {}, error: () => {} }

async function withFollower() {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  await site.owner()
  const { roadmap } = await site.call(roadmaps.create, { name: 'Shipped', display: true })
  const { post } = await site.call(posts.create, { title: 'Dark <b>mode</b>' })
  const { token } = await site.member()
  const headers = { cookie: `feedbackctl=${token}` }
  const get = (at: string) => site.http(`GET /${at}`, { headers })
  const send = (at: string, body: Record<string, string> = {}) =>
    site.http(`POST /${at}`, { headers: { ...FORM, ...headers }, body: new URLSearchParams(body).toString() })
  const { run: handle } = job({ mail: { url: 'sendmail:', from: '' } })
  const run = async () => void (await handle({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })) // prettier-ignore
  await run()
  return { site, roadmap, post, path: `/posts/${post.slug}`, get, send, run }
}

it('a follower sees a number at the bell, opens what it counts, and it is read', async () => {
  const { site, roadmap, post, path, get, send, run } = await withFollower()
  expect((await get('/notifications')).text).toContain('Nothing new for you')
  expect((await get(path)).text).toContain('Follow')
  expect((await send(`${path}/follow`)).headers.location).toBe(`${path}?done=followed`)
  expect((await get(path)).text).toContain('Unfollow')
  await site.call(posts.update, {
    id: post.postId,
    roadmapId: roadmap.id,
    partial: true,
    message: 'It **is** <there>.',
  })
  await run()
  const { text } = await get('/')
  expect(text).toMatch(/href="\/notifications".*?<span class="count" aria-hidden="true">1</s)
  const list = (await get('/notifications')).text
  expect(list).toMatch(/“\u2068Dark &lt;b>mode&lt;\/b>\u2069” is now \u2068Shipped\u2069/)
  expect(list).toContain('It is &lt;there>.')
  const [, id = ''] = /href="\/notifications\/(\d+)"/.exec(list) ?? []
  const head = await site.http(`HEAD //notifications/${id}`, { headers: {} })
  expect(head.status).not.toBe(500)
  const { activity } = await site.call(comments.list, { post_id: post.postId })
  const opened = await get(`/notifications/${id}`)
  expect([opened.status, opened.headers.location]).toEqual([303, `${path}/comments/${activity[0]?.id}`])
  expect((await get('/')).text).not.toContain('<span class="count"')
  expect((await get('/notifications/999999')).status).toBe(404)
  await send(`${path}/unfollow`)
  expect((await get(path)).text).not.toContain('Unfollow')
})

it('all are marked as read up to the newest that the page showed', async () => {
  const { site, post, path, get, send, run } = await withFollower()
  await send(`${path}/follow`)
  const say = async (message: string) => {
    await site.call(posts.update, { id: post.postId, partial: true, message })
    await run()
  }
  await say('One')
  await say('Two')
  const [, until = ''] = /name="until" value="(\d+)"/.exec((await get('/notifications')).text) ?? []
  await say('Three')
  const { headers } = await send('/notifications/read', { until })
  expect(headers.location).toBe('/notifications?done=notificationsRead')
  const { text } = await get('/notifications')
  expect(text.match(/class="unread"/g)).toHaveLength(1)
  expect((await site.http('GET //notifications')).status).toBe(303)
})

it('a merge names both posts', async () => {
  const { site, post, path, get, send, run } = await withFollower()
  await send(`${path}/follow`)
  const { post: into } = await site.call(posts.create, { title: 'Night <i>theme' })
  await site.call(merges.merge, { ids: [post.postId], into: into.postId })
  await run()
  const { text } = await get('/notifications')
  expect(text).toContain(
    '“\u2068Night &lt;i>theme\u2069” now also stands for “\u2068Dark &lt;b>mode&lt;/b>\u2069”, which you followed',
  )
})
