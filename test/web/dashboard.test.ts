import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as mails from '../../src/service/mails.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import type { BackupFile } from '../../src/service/lib/context.js'
import type { Permission } from '../../src/core/permissions.js'
import { serveSite, visit, WIDE } from '../support/browser.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const cookieOf = (token: string) => ({ accept: 'text/html', cookie: `feedbackctl=${token}` })
const plain = (text: string): string => text.replaceAll(/[\u2066-\u2069]/g, '')
const rowsOf = (text: string): string => text.slice(text.indexOf('<table'), text.indexOf('</table>'))
const get = (site: TestSite, path: string, token: string) => site.http(`GET /${path}`, { headers: cookieOf(token) })
const send = (site: TestSite, path: string, token: string, form: Record<string, string>) =>
  site.http(`POST /${path}`, {
    headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })

describe.each(engines)('the dashboard on %s', (engine) => {
  const open = async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    const member = async (permissions: Permission[]) => (await site.member(permissions)).token
    return { site, owner, member }
  }

  it('is there for those who may read it, and offers what they may do', async () => {
    const { site, member } = await open()
    const visitor = await site.http('GET //dashboard/boards', { headers: { accept: 'text/html' } })
    expect([visitor.status, visitor.headers.location]).toEqual([303, '/login?redirect=%2Fdashboard%2Fboards'])
    const outsider = await member(['board:update'])
    for (const path of ['/dashboard', '/dashboard/boards']) expect((await get(site, path, outsider)).status).toBe(404)
    expect((await get(site, '/', outsider)).text).not.toContain('href="/dashboard"')
    const editor = await member(['dashboard:read', 'board:update'])
    const home = await get(site, '/dashboard', editor)
    expect([home.status, home.headers.location]).toEqual([303, '/dashboard/posts'])
    const { text } = await get(site, '/dashboard/boards', editor)
    expect(text).toContain('href="/dashboard/boards" aria-current="page"')
    expect(text, 'it needs board:create').not.toContain('/dashboard/boards/new')
    const reader = await get(site, '/dashboard', await member(['dashboard:read']))
    expect(reader.headers.location, 'the posts are for all of the team').toBe('/dashboard/posts')
  })

  it('makes, changes and deletes boards', async () => {
    const { site, member } = await open()
    const token = await member(['dashboard:read', 'board:create', 'board:read', 'board:update', 'board:destroy'])
    const made = await send(site, '/dashboard/boards/new', token, { name: '💡 Ideas', url: '', color: '', display: 'true', view_voters: 'true' }) // prettier-ignore
    expect(made.headers.location).toBe('/dashboard/boards?done=boardCreated')
    expect((await site.call(boards.show, { url: 'ideas' })).board).toMatchObject({ name: '💡 Ideas', display: true, view_voters: true }) // prettier-ignore
    const wrong = await send(site, '/dashboard/boards/ideas/settings', token, { name: '', url: 'ideas', color: 'red' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('aria-invalid="true"')
    const changed = await send(site, '/dashboard/boards/ideas/settings', token, { name: 'Plans', url: 'plans', color: '#15803d' }) // prettier-ignore
    expect(changed.status).toBe(303)
    expect((await site.call(boards.show, { url: 'plans' })).board).toMatchObject({ name: 'Plans', color: '15803d', display: false, view_voters: false }) // prettier-ignore
    expect((await get(site, '/dashboard/boards', token)).text).toContain('Plans')
    await site.call(posts.create, { title: 'Dark mode', boardId: 'plans' })
    expect((await get(site, '/dashboard/boards/plans/delete', token)).text).toContain(
      '1 post stays, without a board, where everyone sees it.',
    )
    const mover = await member(['dashboard:read', 'board:read', 'board:destroy', 'post:update'])
    await send(site, '/dashboard/boards/new', token, { name: 'Archive', display: 'true' })
    const question = (await get(site, '/dashboard/boards/plans/delete', mover)).text
    expect(question).toContain('<option value="archive">Archive</option>')
    expect(question, 'the board is private').toContain('where everyone sees it')
    await send(site, '/dashboard/boards/plans/delete', mover, { moveTo: 'archive' })
    expect((await site.call(boards.show, { url: 'archive' })).board.post_count).toBe('1')
    await send(site, '/dashboard/boards/archive/delete', token, {})
    await expect(site.call(boards.show, { url: 'archive' })).rejects.toMatchObject({ code: 'BOARD_NOT_FOUND' })
    expect((await site.call(posts.show, { slug: '1' })).post).not.toHaveProperty('board')
  })

  it('makes the usual roadmaps once, and moves, changes and deletes them', async () => {
    const { site, member } = await open()
    const token = await member(['dashboard:read', 'roadmap:create', 'roadmap:read', 'roadmap:update', 'roadmap:destroy']) // prettier-ignore
    const names = async () => (await site.call(roadmaps.list, {})).roadmaps.map(({ name }) => name)
    expect((await get(site, '/dashboard/roadmaps', token)).text).toContain('action="/dashboard/roadmaps/usual"')
    for (const _ of [1, 2]) await send(site, '/dashboard/roadmaps/usual', token, {})
    expect(await names()).toEqual(['Under review', 'Planned', 'In progress', 'Complete'])
    expect((await get(site, '/dashboard/roadmaps', token)).text).not.toContain('/dashboard/roadmaps/usual')
    expect((await send(site, '/dashboard/roadmaps/complete/position', token, { position: '1' })).status).toBe(303)
    expect(await names()).toEqual(['Complete', 'Under review', 'Planned', 'In progress'])
    const form = { name: 'Done', url: 'done', color: '15803d', display: 'true' }
    await send(site, '/dashboard/roadmaps/complete/settings', token, form)
    await send(site, '/dashboard/roadmaps/new', token, { name: 'Maybe', url: '', color: '' })
    expect((await site.call(roadmaps.show, { url: 'maybe' })).roadmap).toMatchObject({ display: false, kind: 'open' })
    await send(site, '/dashboard/roadmaps/maybe/settings', token, { name: 'Maybe', url: 'maybe', kind: 'declined' })
    expect((await get(site, '/dashboard/roadmaps/maybe/settings', token)).text).toContain('<option value="declined" selected') // prettier-ignore
    expect((await get(site, '/dashboard/roadmaps', token)).text).toContain('Declined')
    await send(site, '/dashboard/roadmaps/maybe/settings', token, { name: 'Maybe', url: 'maybe', kind: 'never' })
    expect((await site.call(roadmaps.show, { url: 'maybe' })).roadmap.kind).toBe('declined')
    await send(site, '/dashboard/roadmaps/maybe/delete', token, {})
    await site.call(posts.create, { title: 'Dark mode' })
    await site.call(posts.update, { id: '1', roadmapId: 'done', partial: true })
    expect((await get(site, '/dashboard/roadmaps/done/delete', token)).text).toContain('1 post stays, without a status.') // prettier-ignore
    await send(site, '/dashboard/roadmaps/done/delete', token, {})
    expect(await names()).toEqual(['Under review', 'Planned', 'In progress'])
  })

  it('changes the settings of the site, for those who may', async () => {
    const { site, member } = await open()
    const token = await member(['dashboard:read', 'settings:read', 'settings:update'])
    const form = { title: 'Moonbase 2', description: '', logo: '', accentColor: '#ffd400' }
    const saved = await send(site, '/dashboard/settings/general', token, form)
    expect(saved.headers.location).toBe('/dashboard/settings/general?done=saved')
    expect((await site.call(settings.site, {})).settings).toMatchObject({ title: 'Moonbase 2', accentColor: 'ffd400', allowSignup: false }) // prettier-ignore
    const wrong = await send(site, '/dashboard/settings/general', token, { ...form, accentColor: 'yellow' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('value="yellow"')
    await send(site, '/dashboard/settings/labs', token, { voteOnBehalf: 'true' })
    expect((await site.call(settings.site, {})).settings.labs).toMatchObject({ voteOnBehalf: true })
    await send(site, '/dashboard/settings/domains/add', token, { domains: 'spam.example, bad.example\nspam.example' })
    await send(site, '/dashboard/settings/domains/remove', token, { domains: 'bad.example' })
    expect(await site.call(settings.blockedDomains, {})).toEqual({ domains: ['spam.example'] })
    const reader = await member(['dashboard:read', 'settings:read'])
    const { text } = await get(site, '/dashboard/settings/domains', reader)
    expect(text).toContain('spam.example')
    expect(text).not.toContain('/dashboard/settings/domains/')
    expect((await send(site, '/dashboard/settings/domains/add', reader, { domains: 'x.example' })).status).toBe(403)
  })

  it('shows the log with filters that have addresses', async () => {
    const { site, owner, member } = await open()
    await site.http('POST /boards', { body: { name: 'Ideas', display: true }, token: owner })
    await site.http('PATCH /boards', { body: { boardId: 'ideas', name: 'Plans', partial: true }, token: owner })
    const renamed = 'Name <del dir="auto">Ideas</del> <ins dir="auto">Plans</ins>'
    const reader = await member(['dashboard:read', 'event:read', 'board:read'])
    expect((await get(site, '/dashboard/settings/log', reader)).text).toContain(renamed)
    const token = await member(['dashboard:read', 'event:read'])
    const { text } = await get(site, '/dashboard/settings/log', token)
    expect([text.includes('<bdi>Plans</bdi>'), text.includes('Ideas')], 'it may be from when it was private').toEqual([true, false]) // prettier-ignore
    expect(text, 'it needs user:read').not.toContain('@')
    const filtered = (await get(site, '/dashboard/settings/log?action=board.created', token)).text
    expect([rowsOf(filtered).includes('Board created'), rowsOf(filtered).includes('Board changed')]).toEqual([
      true,
      false,
    ])
    const tidy = await get(site, '/dashboard/settings/log?q=&action=board.created', token)
    expect(tidy.headers.location).toBe('/dashboard/settings/log?action=board.created')
    expect((await get(site, '/dashboard/settings/log', await member(['dashboard:read']))).status).toBe(404)
  })

  it('names actions in the language of the reader, and people by their names', async () => {
    const { site, owner } = await open()
    const { email, password } = OWNER
    const { user } = (await site.http('POST /auth/login', { body: { email, password } })).body
    const event = { action: 'post.sharpened', subject_id: user.userId, actor_id: user.userId, origin: 'http' }
    await site.db
      .insertInto('events')
      .values({ ...event, created_at: '2026-03-02T10:00:00.000Z' })
      .execute()
    await site.call(users.update, { user: user.userId, name: 'Ada Lovelace', username: 'countess' })
    await site.http('POST /boards', { body: { name: 'Ideas', display: true }, token: owner })
    const log = async (language: string) => {
      const headers = { ...cookieOf(owner), 'accept-language': language }
      return rowsOf((await site.http('GET //dashboard/settings/log', { headers })).text)
    }
    const english = await log('en')
    expect(english).toMatch(/Board created[^<]*<.*Ada Lovelace/s)
    expect(english).toContain('<code>post.sharpened</code>')
    expect(english, 'a sign-in is by whoever it is of').toMatch(/Signed in<(?:(?!<tr).)*<bdi>Ada Lovelace</s)
    expect(english).not.toContain('A visitor')
    expect(await log('de')).toContain('Board angelegt')
    const { post } = await site.call(posts.create, { title: 'Dark mode', boardId: 'ideas' })
    for (const pinned of [true, false]) await site.call(posts.update, { id: post.postId, pinned, partial: true })
    expect(await log('en')).toMatch(/<del>Pinned<\/del>.*<ins>Pinned<\/ins>/s)
  })

  it('finds people of filters by name, and says at the form what it does not find', async () => {
    const { site, owner, member } = await open()
    for (const [name, username] of [
      ['Vik Rao', 'vik'],
      ['Mina Okafor', 'mina-o'],
      ['Mina Lind', 'mina-l'],
    ] as const) {
      const { userId } = await site.member([], { email: `${username}@example.org` })
      await site.call(users.update, { user: userId, username, name })
    }
    const reader = await member(['dashboard:read', 'event:read', 'board:read', 'comment:view_internal'])
    for (const [path, field] of [
      ['/dashboard/settings/log', 'person'],
      ['/dashboard/posts', 'author'],
      ['/dashboard/comments', 'author'],
    ] as const) {
      const at = (name: string, token = owner) => get(site, `${path}?${field}=${name}`, token)
      expect((await at('Vik+Rao')).headers.location).toBe(`${path}?${field}=vik`)
      expect((await at('vik')).status).toBe(200)
      const { status, text } = await at('Mina')
      expect([status, plain(text).includes('Several people match “Mina”')]).toEqual([200, true])
      for (const each of ['mina-o', 'mina-l']) expect(text).toContain(`href="${path}?${field}=${each}"`)
      for (const token of [owner, reader]) {
        const nobody = await at('Nobody+%26+co', token)
        expect([nobody.status, plain(nobody.text).includes('Nobody is found for “Nobody &amp; co”')]).toEqual([
          200,
          true,
        ])
        expect(nobody.text).toMatch(/id="field-(?:person|author)"[^>]*aria-invalid="true"/)
        expect(nobody.text).toContain('value="Nobody &amp; co"')
      }
      expect(plain((await at('Vik+Rao', reader)).text), 'they may not search people').toContain('Nobody is found for')
    }
    const log = async (query: string) => (await get(site, `/dashboard/settings/log?${query}`, owner)).text
    const spam = await log('action=spam')
    expect(plain(spam)).toContain('There is no action “spam”. Choose one from the list.')
    expect(spam).toContain('href="/dashboard/settings/log?action=post.marked_spam"')
    const marked = await log('action=post.marked_spam')
    expect(marked, 'there is none yet').not.toContain('There is no action')
    expect(marked).toContain('<option value="post.marked_spam" selected')
    expect(await log('since=soon')).toMatch(/class="summary".*<form class="filter-bar"/s)
  })

  it('leads whoever lost a role for want of a second factor to where it is turned on', async () => {
    const { site, owner } = await open()
    const { token, userId } = await site.member(['dashboard:read', 'event:read'])
    const role = (await site.call(users.show, { user: userId })).user.roles.find(({ name }) => name !== '@everyone')
    const path = `/dashboard/settings/roles/${role?.id}`
    const answer = await send(site, path, owner, { name: 'Team', require_totp: 'true', permissions: 'dashboard:read', preview: 'yes' }) // prettier-ignore
    expect(answer.text).toContain('Whoever has no second factor loses what the role permits, at once')
    await site.call(roles.update, { id: role?.id ?? '', require_totp: true })
    for (const page of ['/dashboard', '/dashboard/settings/log']) {
      const { status, headers } = await get(site, page, token)
      expect([page, status, headers.location]).toEqual([page, 303, '/settings#second-factor'])
    }
    expect((await get(site, '/settings', token)).text).toContain('One of your roles counts only with two-factor')
    expect((await site.http('GET /totp', { token })).body).toMatchObject({ isEnabled: false, isNeeded: true })
    const { token: other } = await site.member([])
    expect((await get(site, '/dashboard', other)).status).toBe(404)
    expect((await get(site, '/settings', other)).text).not.toContain('One of your roles')
  })

  it('undoes an event after a question, and shows what contradicts it', async () => {
    const { site, owner } = await open()
    await site.call(boards.create, { name: 'Ideas' })
    await site.call(boards.update, { boardId: 'ideas', name: 'Plans', partial: true })
    const { text } = await get(site, '/dashboard/settings/log', owner)
    const [, at = ''] = /href="(\/dashboard\/settings\/log\/\d+\/undo)"/.exec(text) ?? []
    expect(text.match(/log\/\d+\/undo"/g)).toHaveLength(1)
    expect((await get(site, at, owner)).text).toContain('Undo this change?')
    expect((await site.call(boards.show, { url: 'ideas' })).board.name).toBe('Plans')
    const done = await send(site, at, owner, {})
    expect(done.headers.location).toMatch(/^\/dashboard\/settings\/log\?subject=.*done=undone/)
    expect((await site.call(boards.show, { url: 'ideas' })).board.name).toBe('Ideas')
    const again = (await get(site, at, owner)).text
    expect(again).toContain('Newer changes contradict this one')
    expect(again).toContain('<code>undoes</code>')
    expect(again).not.toContain('>Undo</button>')
    expect((await send(site, at, owner, {})).status).toBe(409)
  })

  it('leads from the log to what is still there, and from what is gone to its log', async () => {
    const { site, owner } = await open()
    await site.call(posts.create, { title: 'Stays' })
    const { post } = await site.call(posts.create, { title: 'Goes' })
    const { role } = await site.call(roles.create, { name: 'Goes too' })
    const { userId } = await site.member()
    const { username } = (await site.call(users.show, { user: userId })).user
    await site.call(users.update, { user: userId, name: 'Eve' })
    const links = async () => {
      const { text } = await get(site, '/dashboard/settings/log', owner)
      const paths = Array.from(text.matchAll(/href="([^"]+)"/g), ([, path = '']) => path)
      return [...new Set(paths.filter((path) => /^\/posts\/[\da-f]|\/users\/\w|roles\/\w|\?subject=/.test(path)))]
    }
    for (const path of await links()) expect([path, [200, 301, 303]]).toEqual([path, expect.arrayContaining([(await get(site, path, owner)).status])]) // prettier-ignore
    expect(await links()).toEqual(expect.arrayContaining([`/posts/${post.postId}`, `/dashboard/settings/roles/${role.id}`, `/dashboard/users/${username}`])) // prettier-ignore
    await site.call(posts.remove, { id: post.postId })
    await site.call(roles.remove, { id: role.id })
    await site.call(users.remove, { user: userId })
    const left = await links()
    expect(left.join(' ')).not.toMatch(`/posts/${post.postId}|roles/${role.id}|users/${username}`)
    expect(left).toEqual(expect.arrayContaining([post.postId, role.id, userId].map((id) => `/dashboard/settings/log?subject=${id}`))) // prettier-ignore
    for (const path of left) expect([path, [200, 301, 303]]).toEqual([path, expect.arrayContaining([(await get(site, path, owner)).status])]) // prettier-ignore
    const { events: found } = (await site.http('GET /events?limit=100', { token: owner })).body
    const gone = found.filter((event: { subject_gone?: true }) => event.subject_gone)
    expect(new Set(gone.map((event: { subject_id: string }) => event.subject_id))).toEqual(new Set([post.postId, role.id, userId])) // prettier-ignore
  })

  it('shows a key once, and revokes it', async () => {
    const { site, member } = await open()
    const token = await member(['dashboard:read', 'settings:update'])
    const made = await send(site, '/dashboard/settings/keys', token, { name: 'Sync', days: '30' })
    const [, key = ''] = /<code>([^<]+)<\/code>/.exec(made.text) ?? []
    expect(made.headers['cache-control']).toBe('no-store')
    expect((await site.http('GET /users/profile', { token: key })).status).toBe(200)
    const list = (await get(site, '/dashboard/settings/keys', token)).text
    expect(list).not.toContain(key)
    const [path = ''] = /\/dashboard\/settings\/keys\/[\w-]+\/revoke/.exec(list) ?? []
    expect((await get(site, path, await member(['dashboard:read']))).status, 'a key of somebody else').toBe(404)
    await send(site, path, token, {})
    expect((await site.http('GET /users/profile', { token: key })).status).toBe(401)
  })

  it('leads the owner of a new site, until it is done', async () => {
    const { site, owner, member } = await open()
    const page = async () => (await get(site, '/dashboard/overview', owner)).text
    expect(await page()).toContain('create the four usual statuses')
    await send(site, '/dashboard/roadmaps/usual', owner, {})
    await site.call(boards.create, { name: 'Ideas' })
    const text = await page()
    for (const done of ['create the four usual statuses', 'Create a first board']) expect(text).not.toContain(done)
    expect(text).toContain('Invite your team')
    for (const [step, path] of [
      ['Add a logo', 'settings/general'],
      ['Send yourself a test mail', 'settings/mail'],
      ['Make a first backup', 'settings/backups'],
    ] as const)
      // prettier-ignore
      expect(text).toContain(`<a href="/dashboard/${path}">${step}</a>`)
    await send(site, '/dashboard/settings/mail/test', owner, {})
    expect(await page()).not.toContain('Send yourself a test mail')
    expect((await get(site, '/dashboard/overview', await member(['dashboard:read', 'settings:update']))).status).toBe(404) // prettier-ignore
    expect(await page()).not.toContain('Invite your team')
  })

  it('shows mails to the owner, and sends them again', async () => {
    const { site, owner, member } = await open()
    const failed = { lastError: '550 No such user', dueAt: null, attempts: 9 }
    await site.db.updateTable('deliveries').set(failed).execute()
    const page = '/dashboard/settings/mail'
    const { text } = await get(site, page, owner)
    expect(text).toContain('550 No such user')
    expect(text, 'links sign people in').not.toMatch(/token=/)
    expect((await get(site, page, await member(['dashboard:read', 'settings:update']))).status).toBe(404)
    const [, id = ''] = /settings\/mail\/([\w-]+)\/retry/.exec(text) ?? []
    await send(site, `${page}/${id}/retry`, owner, {})
    expect((await site.call(mails.list, {})).mails).toMatchObject([{ state: 'waiting', attempts: 0 }])
    expect((await send(site, `${page}/${id}/cancel`, owner, {})).text).toContain('its text is erased')
    await send(site, `${page}/${id}/cancel`, owner, { checked: 'yes' })
    expect((await get(site, page, owner)).text).toContain('No mail waits')
    await send(site, `${page}/test`, owner, {})
    const { mails: queued } = await site.call(mails.list, {})
    expect(queued).toMatchObject([{ recipient: OWNER.email, subject: 'Moonbase – a test mail', state: 'waiting' }])
    expect((await get(site, page, owner)).text).not.toContain('refuses mail')
    const { userId } = await site.member([], { email: 'eve@example.org' })
    const at = site.clock.now.toISOString()
    await site.db.insertInto('mail_bounces').values({ userId, bounces: 3, reason: '550 <gone>', bouncedAt: at, suppressedAt: at }).execute() // prettier-ignore
    const { text: refusing } = await get(site, page, owner)
    for (const said of ['1 address refuses mail', 'eve@example.org', '550 &lt;gone>']) expect(refusing).toContain(said)
    expect((await send(site, `${page}/refused/${userId}/remove`, owner, {})).headers.location).toBe(`${page}?done=mailAgain`) // prettier-ignore
    expect((await get(site, page, owner)).text).not.toContain('refuses mail')
  })

  it('offers to undo what the address names, once', async () => {
    const { site, owner } = await open()
    await site.call(boards.create, { name: 'Ideas' })
    await site.call(posts.create, { title: 'Dark mode' })
    const moved = await site.http('POST /posts/move', { body: { ids: ['1'], boardId: 'ideas' }, token: owner })
    const { undo_id: id } = moved.body.undo
    const path = `/dashboard/boards?q=i&done=saved&undo=${id}`
    const { text } = await get(site, path, owner)
    expect(text).toContain(`action="/undo/${id}"`)
    expect(text).toContain('name="to" value="/dashboard/boards?q=i"')
    const form = { to: '/dashboard/boards?q=i' }
    const undone = await send(site, `/undo/${id}`, owner, form)
    expect(undone.headers.location).toBe('/dashboard/boards?q=i&done=undone.1')
    expect((await get(site, String(undone.headers.location), owner)).text).toContain('1 change is taken back.')
    expect((await site.call(posts.show, { slug: '1' })).post).not.toHaveProperty('board')
    const again = await send(site, `/undo/${id}`, owner, form)
    expect(again.headers.location).toBe('/dashboard/boards?q=i&done=undoneNot')
  })
})

it('a script lets roadmaps be dragged, and shows a colour while it is typed', async () => {
  const site = await serveSite('sqlite')
  const owner = await site.owner()
  await site.call(roadmaps.createUsual, {})
  const { page } = await visit({ viewport: WIDE })
  await page.context().addCookies([{ name: 'feedbackctl', value: owner, url: site.url }])
  await page.goto(`${site.url}/dashboard/roadmaps`)
  await page.locator('.stages li').first().dragTo(page.locator('.stages li').nth(2))
  const names = async () => (await site.call(roadmaps.list, {})).roadmaps.map(({ name }) => name)
  await expect.poll(names).toEqual(['Planned', 'In progress', 'Under review', 'Complete'])
  await expect.poll(() => page.locator('.stages li').first().innerText()).toContain('Planned')
  await page.goto(`${site.url}/dashboard/settings/general`)
  await page.fill('[name=accentColor]', '#c0392b')
  const colour = () =>
    page
      .locator('.look .button')
      .first()
      .evaluate((button) => getComputedStyle(button).backgroundColor)
  await expect.poll(colour).toBe('rgb(192, 57, 43)')
})

it('the page of backups shows by itself that a backup was made', async () => {
  const files: BackupFile[] = []
  const site = await serveSite('sqlite', { rates: {}, backups: { every: null, list: async () => files } })
  const owner = await site.owner()
  const at = site.clock.now.toISOString()
  const { page } = await visit({ viewport: WIDE })
  await page.context().addCookies([{ name: 'feedbackctl', value: owner, url: site.url }])
  await page.goto(`${site.url}/dashboard/settings/backups`)
  await page.getByRole('button', { name: 'Make a backup now' }).click()
  await page.locator('[data-progress=busy]').waitFor()
  files.push({ file: 'made.backup', createdAt: at, version: '1.2.3', schema: '', encrypted: false, redacted: false, bytes: 1000 }) // prettier-ignore
  await site.db.updateTable('backup_tasks').set({ isOpen: 0, endedAt: at, file: 'made.backup' }).execute()
  await page.getByText('The backup was made: made.backup').waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'made.backup' }).count()).toBe(1)
})
