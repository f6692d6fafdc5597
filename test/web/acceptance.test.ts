import { generate } from 'otplib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import * as tags from '../../src/service/tags.js'
import * as users from '../../src/service/users.js'
import { violationsOf } from '../support/axe.js'
import { NARROW, serveSite, visit, WIDE, type ServedSite } from '../support/browser.js'
import { makeMachine } from '../support/cli.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

// What the design of the dashboard promises, where no other file tries it. README.md has the others.

const SITE = 'http://localhost'
const MODERATOR = ['dashboard:read', 'post:destroy', 'post:update', 'comment:update:any', 'board:read', 'roadmap:read', 'user:read', 'user:block'] as const satisfies Permission[] // prettier-ignore

const reader = (site: TestSite, token: string) => async (path: string) =>
  site.http(`GET /${path}`, { headers: { accept: 'text/html', cookie: `feedbackctl=${token}` } })

const sender = (site: TestSite, token?: string) => async (path: string, form: Record<string, string>) =>
  site.http(`POST /${path}`, {
    headers: { accept: 'text/html', origin: SITE, 'content-type': 'application/x-www-form-urlencoded', ...(token && { cookie: `feedbackctl=${token}` }) }, // prettier-ignore
    body: new URLSearchParams(form).toString(),
  })

/** The number beside the link to the dashboard. */
const badge = (html: string): string | undefined =>
  /class="to-dashboard"(?:(?!<\/a>).)*class="count"[^>]*>([^<]*)</s.exec(html)?.[1]

const ENTITIES: Record<string, string> = { '&quot;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#39;': "'" }

/** The hidden fields of a page. */
const hidden = (text: string): Record<string, string> =>
  Object.fromEntries(
    Array.from(text.matchAll(/<input[^>]*type="hidden"[^>]*>/g), ([tag]) => {
      const valueOf = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
      return [valueOf('name'), valueOf('value').replaceAll(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity)]
    }),
  )

describe.each(engines)('the dashboard on %s', (engine) => {
  it('acceptance 6: the count in the header is right after each decision, of another process too', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    await machine.run('users create eve@example.org --generate-password --name Eve')
    for (const title of ['One', 'Two', 'Three']) await machine.run(`posts create ${title} --as eve@example.org`)
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const headers = { accept: 'text/html', cookie: `feedbackctl=${token}`, origin: url }
    const count = async (path = '/') => badge(await (await fetch(url + path, { headers })).text())
    expect([await count(), await count('/dashboard/boards')]).toEqual(['3', '3'])
    await machine.run('moderate keep 1')
    expect(await count()).toBe('2')
    await machine.run('moderate spam 2')
    expect([await count('/boards'), await count('/dashboard')]).toEqual(['1', '1'])
    await machine.run('posts create Four --as eve@example.org')
    expect(await count()).toBe('2')
    const page = await (await fetch(`${url}/dashboard`, { headers })).text()
    const one = /name="chosen" value="([^"]+)"/.exec(page)?.[1] ?? ''
    await fetch(`${url}/dashboard`, { method: 'POST', redirect: 'manual', headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' }, body: new URLSearchParams({ one: `keep ${one}` }).toString() }) // prettier-ignore
    expect(await count()).toBe('1')
    await machine.run('posts delete 3 --yes')
    await machine.run('posts delete 4 --yes')
    expect(await count()).toBeUndefined()
  })

  it('acceptance 19: nobody is offered to block themselves or the owner, and no form does it', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    const [team, other] = [await site.member([...MODERATOR, 'role:assign']), await site.member([])]
    const ownId = (await site.db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow()).userId // prettier-ignore
    const nameOf = async (user: string) => (await site.call(users.show, { user })).user.username
    const people = [await nameOf(ownId), await nameOf(team.userId)]
    for (const token of [owner, team.token])
      for (const username of token === owner ? people.slice(0, 1) : people) {
        const path = `/dashboard/users/${username}`
        const { status, text } = await reader(site, token)(path)
        expect([path, status, /\/(block|delete)"/.exec(text.slice(text.indexOf('<main')))?.[0]]).toEqual([path, 200, undefined]) // prettier-ignore
        const { text: list } = await reader(site, token)('/dashboard/users')
        const boxes = Array.from(list.matchAll(/type="checkbox" name="users" value="([^"]+)"/g), ([, id = '']) => id)
        expect(boxes, 'the others can be chosen').toContain(other.userId)
        expect(boxes.filter((id) => id === ownId || (token !== owner && id === team.userId))).toEqual([])
        for (const verb of ['block', 'delete']) {
          const sent = await sender(site, token)(`${path}/${verb}`, { name: username, username, posts: 'keep' })
          expect([verb, username, sent.status]).toEqual([verb, username, expect.toSatisfy((code) => code >= 400 && code < 500)]) // prettier-ignore
        }
      }
    const left = await sender(site, owner)('/settings/delete', { password: OWNER.password, posts: 'keep' })
    expect(left.status).not.toBe(500)
    expect((await reader(site, owner)('/dashboard/users')).status, 'the owner is still there').toBe(200)
    expect((await site.call(users.show, { user: ownId })).user).toMatchObject({ isBlocked: false, isOwner: true })
    expect((await site.call(users.show, { user: team.userId })).user.isBlocked).toBe(false)
  })

  it('acceptance 26: block in the inbox ends their sessions, and hides what waits of theirs if asked', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    await site.owner()
    const [team, author] = [await site.member([...MODERATOR]), await site.member([])]
    const as = site.callAs({ ...operator, userId: author.userId })
    const { post } = await as(posts.create, { title: 'One' })
    await as(posts.create, { title: 'Two' })
    await as(comments.create, { post_id: post.postId, body: 'A word' })
    const [get, send] = [reader(site, team.token), sender(site, team.token)]
    expect((await reader(site, author.token)('/settings')).status).toBe(200)
    await send('/dashboard', { one: `block ${post.postId} ${post.updatedAt}` })
    expect((await reader(site, author.token)('/settings')).headers.location, 'the session has ended').toContain('/login') // prettier-ignore
    expect((await site.http('GET /users/permissions', { token: author.token })).status).toBeGreaterThanOrEqual(400)
    const { text } = await get('/dashboard')
    expect(text.split('data-row').length - 1, 'the others still wait').toBe(2)
    const chosen = new URLSearchParams([...Array.from(text.matchAll(/type="hidden" name="chosen" value="([^"]+)"/g), ([, value = '']) => ['chosen', value] as [string, string]), ['verb', 'spam']]) // prettier-ignore
    await site.http('POST //dashboard', { headers: { accept: 'text/html', origin: SITE, cookie: `feedbackctl=${team.token}`, 'content-type': 'application/x-www-form-urlencoded' }, body: chosen.toString() }) // prettier-ignore
    expect((await site.call(moderation.list, {})).total).toBe(0)
    expect((await site.call(posts.list, { spam: true })).posts).toHaveLength(2)
  })

  it('acceptance 34: a form of the dashboard waits for a password and a second factor, and keeps what was typed', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const token = await site.owner()
    const { secret } = (await site.http('POST /totp', { token, body: {} })).body
    const codeAt = () => generate({ secret, epoch: site.clock.now.getTime() / 1000 })
    await site.http('POST /totp/enable', { token, body: { code: await codeAt() } })
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    const send = sender(site)
    const form = { name: '💡 Ideas & "more" <b>', url: 'wünsche', color: 'red', display: 'true', view_voters: 'true' }
    const first = await send('/dashboard/boards/new', form)
    const asked = await send('/login', { ...hidden(first.text), email: OWNER.email, password: OWNER.password })
    expect(asked.text).toContain('name="code"')
    const mistaken = await send('/login', { ...hidden(asked.text), email: OWNER.email, code: '000000' })
    expect(mistaken.text).toContain('name="code"')
    const refused = await send('/login', { ...hidden(mistaken.text), email: OWNER.email, code: await codeAt() })
    expect(refused.status, 'the colour is wrong, which its own form says').toBe(422)
    expect(refused.text).toContain('value="💡 Ideas &amp; &quot;more&quot; ')
    expect(refused.text).toContain('value="wünsche"')
    expect((await site.call(boards.list, {})).boards).toEqual([])
  })
})

/** A site with something on every page of the team. The owner is signed in to the page. */
async function filled() {
  const site = await serveSite('sqlite', {
    rates: {},
    backups: { every: 3600, list: async () => [{ file: 'old.backup', createdAt: '2026-02-28T12:00:00.000Z', version: '1.2.3', schema: '0042_backup_tasks', encrypted: false, redacted: false, bytes: 1_234_567 }] }, // prettier-ignore
  })
  const owner = await site.owner()
  for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name, display: true })
  for (const name of ['Planned', 'Done']) await site.call(roadmaps.create, { name, display: true })
  for (const name of ['Web', 'Mobile']) await site.call(tags.create, { name })
  const author = await site.member([])
  const as = site.callAs({ ...operator, userId: author.userId })
  for (let number = 1; number <= 4; number++)
    await as(posts.create, { title: `Wish ${number} for a mode that is darker than the night`, contentMarkdown: 'Please.', boardId: number % 2 ? 'ideas' : 'bugs' }) // prettier-ignore
  await as(comments.create, { post_id: '1', body: 'Yes' })
  await site.call(posts.update, { id: '2', roadmapId: 'planned', partial: true })
  await site.call(roles.create, { name: 'Moderators', permissions: ['post:update'] })
  await site.db.updateTable('posts').set({ votesCount: 10_432, commentsCount: 10_432 }).execute()
  const { username } = (await site.call(users.show, { user: author.userId })).user
  const pages = [
    '/dashboard',
    '/dashboard/posts',
    '/dashboard/posts?board=ideas&sort=votes',
    '/dashboard/posts/1',
    '/dashboard/comments',
    '/dashboard/boards',
    '/dashboard/boards/new',
    '/dashboard/boards/ideas/settings',
    '/dashboard/boards/ideas/delete',
    '/dashboard/roadmaps',
    '/dashboard/roadmaps/planned/settings',
    '/dashboard/tags',
    '/dashboard/tags/web/merge',
    '/dashboard/users',
    `/dashboard/users/${username}`,
    `/dashboard/users/${username}/delete`,
    '/dashboard/invitations',
    '/dashboard/overview',
    '/dashboard/settings/roles',
    '/dashboard/settings/roles/new?recipe=moderator',
    ...['general', 'domains', 'notifications', 'legal', 'mail', 'log', 'backups', 'keys'].map((each) => `/dashboard/settings/${each}`), // prettier-ignore
  ]
  return { site, owner, username, pages }
}

async function enter({ site, owner }: { site: ServedSite; owner: string }, window: Parameters<typeof visit>[0]) {
  const { page } = await visit(window)
  await page.context().addCookies([{ name: 'feedbackctl', value: owner, url: site.url }])
  return page
}

/** Counts of votes that have more than one line. */
const brokenCounts = (page: Page) =>
  page.evaluate(() => {
    const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT)
    const broken: string[] = []
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const [count] = /10[.,\u00a0\u202f]432|10[KT]/.exec(node.nodeValue ?? '') ?? []
      if (count === undefined) continue
      const range = document.createRange()
      const start = (node.nodeValue ?? '').indexOf(count)
      range.setStart(node, start)
      range.setEnd(node, start + count.length)
      if (new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size > 1) broken.push(node.nodeValue ?? '') // prettier-ignore
    }
    return broken
  })

const [MOST_FIRST, MOST_LATER] = [20_000, 10_000]

it.each([
  { colorScheme: 'dark', viewport: { width: 1600, height: 900 } },
  { forcedColors: 'active', viewport: NARROW, locale: 'ar' },
] as const)(
  'acceptance 12, 30, 33: every page of the team passes axe, fits and is light, its counts have one line, and no select navigates: %o',
  async (window) => {
    const made = await filled()
    const page = await enter(made, window)
    const problems: unknown[] = []
    let selects = 0
    const bytes: Promise<number>[] = []
    page.on('requestfinished', (request) => {
      const isPage = request.resourceType() === 'document' // scripts that a page loads late are counted for none
      if (isPage || !isLater) bytes.push(request.sizes().then(({ responseBodySize: body, responseHeadersSize: head }) => body + head)) // prettier-ignore
    })
    let isLater = false
    for (const [index, path] of made.pages.entries()) {
      await page.goto(made.site.url + path)
      await page.waitForLoadState('networkidle')
      const weight = (await Promise.all(bytes.splice(0))).reduce((sum, size) => sum + size, 0)
      if (weight > (index === 0 ? MOST_FIRST : MOST_LATER)) problems.push([path, 'weighs', weight])
      isLater = true
      const at = page.url() // a post has an address of its own
      for (const violation of await violationsOf(page)) problems.push([path, ...violation])
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth) // prettier-ignore
      if (wider > 0) problems.push([path, 'is wider than its window', wider])
      for (const text of await brokenCounts(page)) problems.push([path, 'has a broken count', text])
      await page.evaluate(() => {
        for (const each of document.querySelectorAll('details')) each.open = true
        addEventListener('beforeunload', () => document.documentElement.setAttribute('data-left', ''))
        addEventListener('submit', () => document.documentElement.setAttribute('data-left', ''), true)
      })
      for (const select of await page.locator('select:visible').all()) {
        selects++
        await select.focus()
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'End']) await page.keyboard.press(key)
        await page.keyboard.press('Tab')
        const left = await page.evaluate(() => document.documentElement.hasAttribute('data-left'))
        if (left || page.url() !== at) problems.push([path, 'a select led to', page.url()])
      }
    }
    expect(problems).toEqual([])
    expect(selects).toBeGreaterThan(5)
  },
)

it('acceptance 13, 14: after each form the focus is on a message that is announced', async () => {
  const made = await filled()
  const { site, username } = made
  const page = await enter(made, { viewport: WIDE })
  const forms: [path: string, fields: Record<string, string>, button: string][] = [
    ['/dashboard/boards/new', { name: 'Wishes' }, 'main .settings-form button.primary'],
    ['/dashboard/boards/wishes/settings', { name: 'More wishes' }, 'main .settings-form button.primary'],
    ['/dashboard/boards/wishes/delete', {}, 'main .danger'],
    ['/dashboard/roadmaps/new', { name: 'Later' }, 'main .settings-form button.primary'],
    ['/dashboard/tags/new', { name: 'Tablet' }, 'main .settings-form button.primary'],
    ['/dashboard/tags/tablet/delete', {}, 'main .danger'],
    [`/dashboard/users/${username}`, { notes: 'Pays.' }, 'form[action$="/notes"] button'],
    [`/dashboard/users/${username}/block`, {}, 'main form .danger'],
    ['/dashboard/invitations', { emails: 'bob@example.org' }, 'main .settings-form button'],
    ['/dashboard/settings/roles/new', { name: 'Helpers' }, 'main .verbs button'],
    ['/dashboard/settings/general', { title: 'Marsbase' }, 'form[action$="/general"] button.primary'],
    ['/dashboard/settings/domains', { domains: 'spam.example' }, 'form[action$="/add"] button'],
  ]
  const wrong: unknown[] = []
  for (const [path, fields, button] of forms) {
    await page.goto(site.url + path)
    for (const [name, value] of Object.entries(fields)) await page.fill(`main [name=${name}]`, value)
    await page.click(button)
    const message = page.locator('.flash, .summary, .outcomes').first()
    await message.waitFor()
    const focus = await page.evaluate(() => document.activeElement?.className ?? '')
    const tree = await message.ariaSnapshot()
    if (!/^- (status|alert)/.test(tree) || !/flash|summary|outcomes/.test(focus)) wrong.push([path, focus, tree.slice(0, 100)]) // prettier-ignore
  }
  expect(wrong).toEqual([])
})

it.each(['light', 'dark'] as const)('acceptance 29: an old backup is red: %s', async (colorScheme) => {
  const made = await filled()
  const page = await enter(made, { viewport: WIDE, colorScheme })
  await page.goto(`${made.site.url}/dashboard/settings/backups`)
  const colors = await page.locator('.problem').evaluateAll((all) => all.map((each) => (getComputedStyle(each).color.match(/\d+/g) ?? []).map(Number))) // prettier-ignore
  expect(colors.length).toBe(2)
  for (const [red = 0, green = 0, blue = 0] of colors) expect(red).toBeGreaterThan(Math.max(green, blue) + 40)
})

it('acceptance 34: a form that is refused until an address is confirmed keeps what was typed', async () => {
  const site = await serveSite('sqlite', { rates: {}, unverified: 'read' })
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const team = await site.member(['dashboard:read', 'post:update', 'comment:create', 'comment:create_internal', 'comment:view_internal']) // prettier-ignore
  await site.db.updateTable('users').set({ isVerified: 0 }).where('userId', '=', team.userId).execute()
  const sent = await site.http(`POST //dashboard/posts/${post.slug}/comments`, {
    headers: { accept: 'text/html', origin: site.url, cookie: `feedbackctl=${team.token}`, 'content-type': 'application/x-www-form-urlencoded' }, // prettier-ignore
    body: new URLSearchParams({ body: 'A reply of some length', is_internal: '' }).toString(),
  })
  expect(sent.status).toBe(403)
  expect(sent.text).toContain('A reply of some length')
})
