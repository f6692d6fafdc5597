import { expect, it } from 'vitest'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { makeSite } from '../support/site.js'

const FORM = { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' }

async function withPost() {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  const { roadmap } = await site.call(roadmaps.create, { name: 'Shipped', display: true })
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const path = `//posts/${post.slug}`
  const member = await site.member()
  const get = async (at = path, by?: string) =>
    (await site.http(`GET ${at}`, { headers: by ? { cookie: `feedbackctl=${by}` } : {} })).text
  const send = (at: string, body: Record<string, string>, by = token) =>
    site.http(`POST ${at}`, {
      headers: { ...FORM, cookie: `feedbackctl=${by}` },
      body: new URLSearchParams(body).toString(),
    })
  return { site, token, member, roadmap, post, path, get, send }
}

it('a message with a new status stands above the comments, in the thread, the history and the feed', async () => {
  const { site, member, roadmap, post, path, get, send, token } = await withPost()
  expect(await get(path, token)).toContain('Post an update')
  expect(await get(path, member.token)).not.toContain('Post an update')
  expect(await get(`${path}/update`, token)).toMatch(/<textarea[^>]*name="message"/)
  const { status, headers } = await send(`${path}/update`, { roadmapId: roadmap.url, message: 'It is **there**.' })
  expect([status, headers.location]).toEqual([303, `/posts/${post.slug}?done=updated`])
  const page = await get()
  const [, official = ''] = /<section class="official"(.*?)<\/section>/s.exec(page) ?? []
  expect(official).toContain('Update from the team')
  expect(official).toContain('It is <strong>there</strong>.')
  expect(official).toContain('Shipped')
  expect(page.indexOf('class="official"')).toBeLessThan(page.indexOf('id="comments"'))
  const { activity } = await site.call(comments.list, { post_id: post.postId })
  expect(page).toContain(`id="comment-${activity[0]?.id}"`)
  expect(page).toMatch(new RegExp(`<details class="history">.*comments/${activity[0]?.id}">Message<`, 's'))
  expect(await get(`${path}/feed.atom`)).toContain('<title>Shipped: Update by Ada')
})

it('an update that says nothing is refused, and one without a message where the status is another is not', async () => {
  const { site, roadmap, post, path, send } = await withPost()
  const before = (await site.events()).length
  for (const fields of [{ message: '' }, { message: ' \n', roadmapId: '' }]) {
    const refused = await send(`${path}/update`, { ...fields, quiet: 'true' })
    expect([refused.status, refused.text.includes('Write a message, or choose another status.')]).toEqual([422, true])
    expect(refused.text).toContain('href="#field-message"')
  }
  expect((await site.events()).length).toBe(before)
  const sent = await send(`${path}/update`, { message: '', roadmapId: roadmap.url })
  expect(sent.headers.location).toBe(`/posts/${post.slug}?done=updated`)
  const again = await send(`${path}/update`, { message: '', roadmapId: roadmap.url })
  expect(again.status).toBe(422)
})

it('a form that is older than the post is shown again with what was typed', async () => {
  const { site, post, path, get, send, token } = await withPost()
  const [, version = ''] = /name="ifUpdatedAt" value="([^"]+)"/.exec(await get(`${path}/update`, token)) ?? []
  site.clock.now = new Date(site.clock.now.getTime() + 1000)
  await site.call(posts.update, { id: post.postId, title: 'Dark theme' })
  const refused = await send(`${path}/update`, { message: 'Typed', ifUpdatedAt: version })
  expect(refused.status).toBe(409)
  expect(refused.text).toContain('Dark theme')
  expect(refused.text).toMatch(/<textarea[^>]*>\s*Typed/)
  expect((await site.call(comments.list, { post_id: post.postId })).activity).toEqual([])
})

it('a comment is marked as the answer, and no longer', async () => {
  const { site, member, token, post, path, get, send } = await withPost()
  const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Settings, then Look.' })
  const at = `${path}/comments/${activity.id}`
  expect(await get(path, member.token)).not.toContain('Mark as answer')
  expect((await send(`${at}/answer`, {}, member.token)).status).toBe(403)
  expect(await get(path, token)).toContain('Mark as answer')
  expect((await send(`${at}/answer`, {})).status).toBe(303)
  expect(await get()).toMatch(/<section class="official".*Answer.*Settings, then Look\..*<\/section>/s)
  await send(`${at}/unanswer`, {})
  expect(await get()).not.toContain('class="official"')
})
