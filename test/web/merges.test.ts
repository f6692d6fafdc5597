import { expect, it } from 'vitest'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import { serveSite, visit } from '../support/browser.js'
import { makeSite, OWNER } from '../support/site.js'

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
    ['', 'Choose a post, or enter its number'],
    ['999', 'not'],
    [String(other.number), 'A post cannot be merged into itself.'],
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

it('a post is merged from the inbox: by words, with choices, and back to the inbox, which names the one that stands', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  const author = await site.member([])
  const { post: stays } = await site.call(posts.create, { title: 'Export <as> CSV' })
  const as = site.callAs({ ...operator, userId: author.userId })
  const { post: other } = await as(posts.create, { title: 'Spreadsheets please' })
  const get = (at: string) => site.http(`GET /${at}`, { headers: { cookie: `feedbackctl=${token}` } })
  const at = `/posts/${other.slug}/merge`
  const send = (body: Record<string, string>) => site.http(`POST /${at}`, { headers: { ...FORM, cookie: `feedbackctl=${token}` }, body: new URLSearchParams(body).toString() }) // prettier-ignore

  const inbox = (await get('/dashboard')).text
  const [, way = ''] = new RegExp(`href="(${at}[^"]*)" data-key="i"`).exec(inbox) ?? []
  expect(way).toContain('?to=%2Fdashboard')
  expect(inbox, 'the title leads to the page for the team, and back').toMatch(new RegExp(`href="/dashboard/posts/${other.slug}[?]from=[^"]*" data-key="o"`)) // prettier-ignore
  const form = (await get(way)).text
  expect(form).toMatch(/<input[^>]*id="field-into"[^>]*autofocus/)
  const to = '/dashboard#row-x'
  const empty = await send({ to, into: ' ' })
  expect([empty.status, empty.text.includes('Choose a post, or enter its number')]).toEqual([422, true])
  const none = await send({ to, into: 'zebra' })
  expect([none.status, none.text.includes('No post has these words.'), none.text.includes('value="zebra"')]).toEqual([422, true, true]) // prettier-ignore
  const own = await send({ to, into: 'spreadsheets' })
  expect(own.text, 'it is no choice for itself').toContain('No post has these words.')
  const found = await send({ to, into: 'export csv' })
  expect(found.text).toContain('Choose one of the posts that were found')
  expect(found.text).toContain('Found for “export csv”')
  expect(found.text).toContain(`name="chosen" value="${stays.number}"`)
  const merged = await send({ to, into: 'export csv', chosen: String(stays.number) })
  const location = String(merged.headers.location)
  expect(location).toMatch(new RegExp(`^/dashboard[?]done=mergedInto[.]${stays.number}&undo=[^#]+#row-x$`))
  const said = (await get(location)).text.replaceAll(/[\u2066-\u2069]/g, '')
  expect(said).toContain(`The posts are merged: #${stays.number} Export &lt;as> CSV stands for both.`)
  expect((await get('/dashboard?done=mergedInto.999')).text).toContain('#999 stands for both.')
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
  expect([status, headers.location]).toEqual([303, expect.stringMatching(`^/dashboard/posts/${stays.slug}[?]done=merged&undo=`)]) // prettier-ignore
})

it('the post that stays is looked for while it is typed, by keyboard or pointer, and said to screen readers', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post: other } = await site.call(posts.create, { title: 'Spreadsheets please' })
  const { post: csv } = await site.call(posts.create, { title: 'Export <b>as</b> CSV' })
  const { post: pdf } = await site.call(posts.create, { title: 'Export as PDF' })
  const { page } = await visit({ viewport: { width: 390, height: 800 } })
  const at = `/posts/${other.slug}/merge`
  await page.goto(`${site.url}/login?redirect=${at}`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
  const field = page.getByRole('combobox', { name: 'The post that stays' })
  const options = page.locator('[role=listbox] [role=option]')
  const said = page.locator('[role=status][data-offered]')
  await field.fill('export') // letters one after another may be searched for one by one
  await expect.poll(() => options.count()).toBe(2)
  expect(await said.textContent()).toBe('2 posts found. Choose one with the arrow keys and Enter.')
  expect(await field.getAttribute('aria-expanded')).toBe('true')
  await field.press('ArrowDown')
  const active = await field.getAttribute('aria-activedescendant')
  expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true')
  await field.press('Escape')
  expect([await options.first().isVisible(), await field.inputValue()]).toEqual([false, 'export'])
  await field.fill('spreadsheets') // the post itself is no choice
  await expect.poll(() => said.textContent()).toContain('No post has these words.')
  await field.fill('CSV')
  await expect.poll(() => options.allInnerTexts()).toEqual([expect.stringContaining('Export <b>as</b> CSV')])
  await field.press('ArrowDown')
  await field.press('Enter')
  expect(await field.inputValue()).toBe(`#${csv.number} · Export <b>as</b> CSV`)
  expect(await options.first().isVisible()).toBe(false)
  await field.fill('PDF')
  await options.getByText('Export as PDF').click()
  expect(await field.inputValue()).toBe(`#${pdf.number} · Export as PDF`)
  await field.press('Enter')
  await page.waitForURL(`**/posts/${pdf.slug}?*`)
})

it('a title that begins with a number names no other post, and what is chosen counts', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const cookie = `feedbackctl=${await site.owner()}`
  const { post: first } = await site.call(posts.create, { title: 'Unrelated' })
  const { post: reason } = await site.call(posts.create, { title: '#1 reason to switch' })
  const { post: other } = await site.call(posts.create, { title: 'Dark mode' })
  const to = `POST //posts/${other.slug}/merge`
  const send = (form: Record<string, string>) => site.http(to, { headers: { ...FORM, cookie }, body: new URLSearchParams(form).toString() }) // prettier-ignore
  expect([(await send({ into: reason.title })).status, first.number]).toEqual([422, 1])
  const { headers } = await send({ into: reason.title, chosen: String(reason.number) })
  expect(headers.location).toMatch(new RegExp(`^/posts/${reason.slug}[?]`))
})

it('without a script, an address offers what its words find', async () => {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {} })
  const token = await site.owner()
  const { post: other } = await site.call(posts.create, { title: 'Spreadsheets please' })
  const { post: stays } = await site.call(posts.create, { title: 'Export as CSV' })
  const get = async (into: string) => (await site.http(`GET //posts/${other.slug}/merge?${new URLSearchParams({ into }).toString()}`, { headers: { cookie: `feedbackctl=${token}` } })).text // prettier-ignore
  const found = await get('export')
  expect(found).toContain('Found for “export”')
  expect(found).toContain(`name="chosen" value="${stays.number}"`)
  expect(found).toMatch(/value="export"[^>]*id="field-into"/)
  expect(found).not.toContain('role="alert"')
  expect(await get(`#${stays.number} · Export as CSV`), 'a number is no search').not.toContain('Found for')
})
