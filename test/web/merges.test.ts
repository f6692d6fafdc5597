import { expect, it } from 'vitest'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { makeSite } from '../support/site.js'

const FORM = { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' }

it('a post is merged by a form, its addresses lead to the other one, and its text stands there until the merge is taken back', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  const member = await site.member()
  const { post: other } = await site.call(posts.create, { title: 'Dark theme', contentMarkdown: 'My **eyes**' })
  const { post: stays } = await site.call(posts.create, { title: 'Dark mode' })
  await site.call(comments.create, { post_id: other.postId, body: 'Please' })
  const [from, to] = [`/posts/${other.slug}`, `/posts/${stays.slug}`]
  const get = (at: string, by = '') => site.http(`GET /${at}`, { headers: { cookie: `feedbackctl=${by}` } })
  const send = (at: string, body: Record<string, string>, by = token) => site.http(`POST /${at}`, { headers: { ...FORM, cookie: `feedbackctl=${by}` }, body: new URLSearchParams(body).toString() }) // prettier-ignore

  expect((await get(from, token)).text).toContain(`href="${from}/merge"`)
  expect((await get(from, member.token)).text).not.toContain(`${from}/merge`)
  expect(await get(`${from}/merge`, member.token)).toMatchObject({ status: 303, headers: { location: from } })
  expect((await get(`${from}/merge`, token)).text).toMatch(new RegExp(`type="radio" name="chosen" value="${stays.number}"`)) // prettier-ignore
  for (const [into, problem] of [
    ['', 'role="alert"'],
    ['999', 'not'],
    [String(other.number), 'one and the same'],
  ] as const) {
    const { status, text } = await send(`${from}/merge`, { into })
    expect([into, status >= 400, text.includes(problem)]).toEqual([into, true, true])
  }
  await send(`${from}/merge`, { into: String(stays.number) }, member.token)
  expect((await get(from)).status).toBe(200)
  const merged = await send(`${from}/merge`, { chosen: '', into: `http://localhost${to}?sort=new` })
  expect([merged.status, merged.headers.location]).toEqual([303, expect.stringMatching(`^${to}[?]done=merged&undo=`)])

  for (const path of [from, `/posts/${other.number}`, `${from}/feed.atom`, `${from}/voters`])
    expect([path, await get(path)]).toMatchObject([path, { status: 301, headers: { location: expect.stringMatching(`^${to}`) } }]) // prettier-ignore
  const page = (await get(to)).text
  expect(page).toMatch(/<details class="history">.*1 post was merged into this one.*Dark theme.*My <strong>eyes/s)
  expect(page).toContain('Please')
  expect(page).toContain(`written on #${other.number} `)
  expect(page).not.toContain('Take the merge back')
  expect((await get('/feed.atom')).text).not.toContain('Dark theme')
  expect((await get('/sitemap.xml')).text).not.toContain(other.slug)

  expect((await get(to, token)).text).toContain('Take the merge back')
  expect((await get(`${to}/delete`, token)).text).toContain('The post that was merged into it is deleted too.')
  const back = await send(`${to}/unmerge`, { ids: other.postId })
  expect([back.status, back.headers.location]).toEqual([303, `${to}?done=unmerged`])
  expect((await get(from)).text).toContain('Please')
  expect((await get(to)).text).not.toContain('Please')
})

it('a post is merged from its page for the team, which leads to the one of the post that stays', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  const { post: other } = await site.call(posts.create, { title: 'Dark theme' })
  const { post: stays } = await site.call(posts.create, { title: 'Dark mode' })
  const team = `/dashboard/posts/${other.slug}`
  const cookie = `feedbackctl=${token}`
  const link = /href="([^"]*[/]merge[?][^"]*)"/.exec((await site.http(`GET /${team}`, { headers: { cookie } })).text)?.[1] ?? '' // prettier-ignore
  expect(link).toBe(`/posts/${other.slug}/merge?${new URLSearchParams({ to: team }).toString()}`)
  expect((await site.http(`GET /${link}`, { headers: { cookie } })).text).toMatch(
    new RegExp(`href="${team}"[^>]*>Cancel`),
  )
  const { status, headers } = await site.http(`POST //posts/${other.slug}/merge`, { headers: { ...FORM, cookie }, body: new URLSearchParams({ into: String(stays.number), to: team }).toString() }) // prettier-ignore
  expect([status, headers.location]).toEqual([303, expect.stringMatching(`^/dashboard/posts/${stays.number}[?]done=merged&undo=`)]) // prettier-ignore
  const landed = await site.http(`GET /${String(headers.location)}`, { headers: { cookie } })
  expect(landed.headers.location).toContain(`/dashboard/posts/${stays.slug}?done=merged&undo=`)
})
