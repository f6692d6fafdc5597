import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as users from '../../src/service/users.js'
import { makeSite, engines } from '../support/site.js'

const SITE = 'http://localhost'

it.each(engines)('a person has a page of what they wrote, which author names lead to, on %s', async (engine) => {
  const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
  const owner = await site.owner()
  const eve = await site.member([], { email: 'eve@example.org' })
  await site.call(users.update, { user: eve.userId, username: 'eve', name: 'Eve <b>' })
  await site.call(boards.create, { name: 'Secret', url: 'secret', display: false })
  const write = (title: string, boardId?: string) =>
    site.http('POST /posts', { token: eve.token, body: { title, ...(boardId && { boardId }) } })
  const { body: written } = await write('Dark mode')
  const { postId } = (await write('For few')).body.post
  await site.http('PATCH /posts', { token: owner, body: { id: postId, title: 'For few', boardId: 'secret' } })
  await site.http(`POST /posts/${written.post.postId}/comments`, {
    token: eve.token,
    body: { body: 'My eyes *hurt*.' },
  })
  const get = async (path: string, token?: string) => {
    const { status, text, headers } = await site.http(`GET /${path}`, {
      headers: { accept: 'text/html', ...(token !== undefined && { cookie: `feedbackctl=${token}` }) },
    })
    return { status, text, to: headers.location as string | undefined }
  }

  for (const path of ['/', `/posts/${written.post.slug}`, `/posts/${written.post.slug}/voters`])
    expect([path, (await get(path)).text.includes('href="/users/eve"')]).toEqual([path, true])

  const { status, text } = await get('/users/eve')
  expect(status).toBe(200)
  expect(text).toContain('Eve &lt;b>')
  expect(text).toContain('Dark mode')
  expect(text).not.toContain('For few')
  expect(text).not.toContain('noindex')
  expect((await get('/users/eve', owner)).text).toContain('For few')
  expect((await get('/users/eve/votes')).text).toContain('Dark mode')
  expect((await get('/users/eve/comments')).text).toContain('My eyes hurt.')
  expect(await get('/users/eve?page=7')).toMatchObject({ status: 303, to: '/users/eve' })
  expect(await get(`/users/${eve.userId}/votes`)).toMatchObject({ status: 301, to: '/users/eve/votes' })
  await site.call(users.update, { user: eve.userId, username: 'eva' })
  await site.db.insertInto('former_usernames').values({ username: 'eve', userId: eve.userId }).execute()
  expect(await get('/users/eve/comments?page=2')).toMatchObject({ status: 301, to: '/users/eva/comments?page=2' })

  const send = (form: Record<string, string>) =>
    site.http('POST //settings/profile', {
      headers: {
        accept: 'text/html',
        origin: SITE,
        cookie: `feedbackctl=${eve.token}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
    })
  expect((await get('/settings', eve.token)).text.match(/name="show\w+" value="true" checked/g)).toHaveLength(3)
  expect((await send({ showProfile: 'true', showComments: 'true' })).status).toBe(303)
  expect((await get('/users/eva/votes')).text).toContain('This list is private')
  expect((await get('/users/eva')).text).not.toContain('/users/eva/votes')
  expect((await get('/users/eva/votes', eve.token)).text).toContain('Not shown to others')
  await send({})
  const hidden = (await get('/users/eva')).text
  expect(hidden).toContain('This profile is private')
  expect(hidden).toContain('noindex')
  expect(hidden).not.toContain('Dark mode')

  await send({ showProfile: 'true' })
  await site.call(users.block, { user: 'eva' })
  expect((await get('/users/eva')).text).toContain('This profile is private')
  expect((await get('/users/eva', owner)).text).toContain('Blocked')
  await site.call(users.remove, { user: 'eva' })
  expect((await get('/users/eva')).status).toBe(404)
  const { text: left } = await get(`/posts/${written.post.slug}`)
  expect(left).toContain('Deleted user')
  expect(left).not.toContain('href="/users/')
})
