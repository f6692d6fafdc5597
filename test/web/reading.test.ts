import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite, OWNER, type Engine, type TestSite } from '../support/site.js'
import { NARROW, serveSite, visit, WIDE } from '../support/browser.js'

const at = (engine: Engine) => makeSite(engine, { siteUrl: 'http://localhost' })

const send = (site: TestSite, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  site.http(`POST /${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
  })

async function signedIn(site: TestSite): Promise<{ cookie: string }> {
  const { headers } = await send(site, '/login', { email: OWNER.email, password: OWNER.password })
  return { cookie: String([headers['set-cookie']].flat()[0]).split(';')[0] ?? '' }
}

describe.each(engines)('reading on %s', (engine) => {
  it('a comment has an address that leads to its page of the thread', async () => {
    const site = await at(engine)
    await site.owner()
    const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: '' })
    const ids = []
    for (let index = 0; index < 51; index++)
      ids.push((await site.call(comments.create, { post_id: post.slug, body: `Comment ${index}` })).activity.id)
    const path = `/posts/${post.slug}`

    const headers = await signedIn(site)
    const sent = await send(site, `${path}/comments`, { body: 'The newest' }, headers)
    expect(sent.status).toBe(303)
    const { headers: on } = await site.http(`GET /${String(sent.headers.location)}`)
    expect(on.location).toMatch(new RegExp(`^${path}\\?done=commented#comment-[-0-9a-f]{36}$`))

    const { status, headers: found } = await site.http(`GET /${path}/comments/${ids[0]}`)
    expect([status, found.location]).toEqual([303, `${path}?page=2#comment-${ids[0]}`])
    const { text: second } = await site.http(`GET /${path}?page=2`)
    expect(second).toContain(`id="comment-${ids[0]}"`)
    expect(second).toContain(`href="${path}/comments/${ids[0]}"`)
    expect(second).toContain(`href="${path}#comments">Newer comments</a>`)
    expect((await site.http(`GET /${path}`)).text).toContain(`href="${path}?page=2#comments">Older comments</a>`)
    expect((await site.http(`GET /${path}?page=9`)).headers.location).toBe(`${path}?page=2#comments`)
    expect((await site.http(`GET /${path}/comments/01a2058f-f585-71fc-8232-9a4654c44f18`)).status).toBe(404)
  })

  it('a vote without a script leads back to the post in its list', async () => {
    const site = await at(engine)
    await site.owner()
    const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: '' })
    const { text } = await site.http('GET //?sort=newest')
    expect(text).toContain(`name="to" value="/?sort=newest#post-${post.number}"`)
    const { headers } = await send(
      site,
      `/posts/${post.slug}/unvote`,
      { to: `/?sort=newest#post-${post.number}` },
      await signedIn(site),
    )
    expect(headers.location).toBe(`/?sort=newest&done=unvoted#post-${post.number}`)
  })

  it('a board after the first 100 is in the filter, preset for a new post, and kept by an edit', async () => {
    const site = await at(engine)
    await site.owner()
    for (let index = 0; index < 101; index++) await site.call(boards.create, { name: `Board ${index}`, display: true })
    const { post } = await site.call(posts.create, { title: 'Far', contentMarkdown: '', boardId: 'board-100' })
    await site.call(posts.create, { title: 'Near', contentMarkdown: '', boardId: 'board-1' })
    const chosen = '<option value="board-100" selected>'
    const list = (await site.http('GET //?board=board-100')).text
    expect(list).toContain(chosen)
    expect(list).toContain('Far')
    expect(list).not.toContain('Near')
    expect((await site.http('GET //?board=nothing')).status).toBe(404)
    expect((await site.http('GET //posts/new?board=board-100')).text).toContain(chosen)
    const headers = await signedIn(site)
    expect((await site.http(`GET //posts/${post.slug}/edit`, { headers })).text).toContain(chosen)
    const refused = await send(site, '/posts/new', { title: ' ', boardId: 'board-100' }, headers)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain(chosen)
  })

  it('an address after the last page leads to the last page', async () => {
    const site = await at(engine)
    await site.owner()
    await site.call(posts.create, { title: 'Only', contentMarkdown: '' })
    const { status, headers } = await site.http('GET //?sort=votes&page=9')
    expect([status, headers.location]).toEqual([303, '/?sort=votes&page=1'])
  })
})

it('a half-written comment is there after a reload, and not after it is sent', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: '' })
  const { page } = await visit({})
  await page.goto(`${site.url}/login`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
  await page.waitForURL(`${site.url}/`)
  await page.goto(`${site.url}/posts/${post.slug}`)
  await page.fill('#field-body', 'Half a com')
  await page.check('input[name=is_internal]')
  await page.reload()
  expect(await page.inputValue('#field-body')).toBe('Half a com')
  expect(await page.isChecked('input[name=is_internal]')).toBe(true)
  await page.click('.comment-form button[type=submit]')
  await page.waitForURL(/#comment-/)
  expect(await page.locator('.comment:target').innerText()).toContain('Half a com')
  expect(await page.locator('.flash').innerText()).toBe('Your note is saved. Only the team sees it.')
  await page.reload()
  expect(await page.locator('#field-body').inputValue()).toBe('')

  await page.goto(`${site.url}/posts/new`)
  await page.fill('#field-title', 'A draft')
  await page.goto(`${site.url}/search?q=zebra`)
  await page.click('.empty .button')
  expect(await page.inputValue('#field-title')).toBe('zebra')
  await page.goto(`${site.url}/posts/new`)
  expect(await page.inputValue('#field-title')).toBe('A draft')
})

it('without a script, the message about a comment is in sight beside the comment', async () => {
  const site = await serveSite('sqlite')
  const owner = await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: 'A long text.\n\n'.repeat(80) })
  for (let index = 0; index < 10; index++) await site.call(comments.create, { post_id: post.slug, body: `Comment ${index}` }) // prettier-ignore
  for (const viewport of [WIDE, NARROW]) {
    const { page } = await visit({ script: false, viewport })
    await page.context().addCookies([{ name: 'feedbackctl', value: owner, url: site.url }])
    await page.goto(`${site.url}/posts/${post.slug}`)
    await page.locator('textarea[name=body]:visible').fill('The newest')
    await page
      .locator('form:has(textarea[name=body]:visible) button[type=submit]:not([formaction]):visible')
      .first()
      .click()
    const boxOf = (selector: string) => page.locator(selector).first().boundingBox()
    const [message, comment] = [await boxOf('.flash'), await boxOf('.comment:target > article')]
    const shows = { y: message?.y, end: (message?.y ?? 0) + (message?.height ?? 0), comment: comment?.y }
    expect(shows.y).toBe(0)
    expect(shows.comment).toBeGreaterThanOrEqual(shows.end)
    expect(shows.comment).toBeLessThan(viewport.height)
  }
})
