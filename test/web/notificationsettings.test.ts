import { expect, it } from 'vitest'
import { claimMailKey, putNotificationSettings } from '../../src/db/notificationsettings.js'
import * as boards from '../../src/service/boards.js'
import * as notifications from '../../src/service/notificationsettings.js'
import * as posts from '../../src/service/posts.js'
import { actorOf } from '../../src/service/lib/sessions.js'
import { mailPages } from '../../src/web/index.js'
import { serveSite, visit } from '../support/browser.js'
import { makeSite } from '../support/site.js'

const FORM = { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' }
const KEY = 'k'.repeat(43)
const LINK = `/notifications/mail?token=${KEY}`
const CLICK = `/notifications/mail/unsubscribe?token=${KEY}`

/** A site with somebody who follows a post on a public board, and gets mails about it. */
async function withReader(options: Parameters<typeof makeSite>[1] = {}) {
  const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: {}, ...options })
  await site.owner()
  const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
  const { token, userId } = await site.member([], { email: 'eve@example.org' })
  const as = { cookie: `feedbackctl=${token}` }
  const call = site.callAs(await actorOf(`Bearer ${token}`, site.base))
  const { post } = await call(posts.create, { title: 'Dark mode', boardId: board.boardId })
  await claimMailKey(site.db, userId, KEY)
  const get = (at: string, headers: Record<string, string> = {}) => site.http(`GET /${at}`, { headers })
  const send = (at: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
    site.http(`POST /${at}`, { headers: { ...FORM, ...headers }, body: new URLSearchParams(body).toString() })
  const chosen = async () => (await call(notifications.settings, {})).settings
  return { site, board, post, token, userId, as, get, send, chosen }
}

/** What the form of a page would send. */
const fieldsOf = (html: string): Record<string, string> => ({
  ...Object.fromEntries(Array.from(html.matchAll(/<select[^>]* name="(\w+)".*?<option value="([^"]*)" selected/gs), ([, name = '', value = '']) => [name, value])), // prettier-ignore
  ...Object.fromEntries(Array.from(html.matchAll(/<input type="checkbox" name="(\w+)" value="true" checked/g), ([, name = '']) => [name, 'true'])), // prettier-ignore
  timeZone: /<input[^>]* name="timeZone"[^>]*>/.exec(html)?.[0].match(/value="([^"]*)"/)?.[1] ?? '',
})

it('a person chooses in their settings, where they are led from their notifications', async () => {
  const { as, get, send, chosen } = await withReader()
  const at = '/settings/notifications'
  for (const from of ['/settings', '/notifications']) expect((await get(from, as)).text).toContain(`href="${at}"`)
  const { text } = await get(at, as)
  const fields = fieldsOf(text)
  expect(fields).toEqual({ status: 'default', answer: 'default', reply: 'default', mention: 'default', post: 'default', digest: 'daily', weekday: 'monday', hour: '8', timeZone: 'UTC', quietFrom: '0', quietUntil: '0', followsAuthored: 'true', followsVoted: 'true', followsCommented: 'true', followsMentioned: 'true' }) // prettier-ignore
  expect(text).toContain('Page and mail (default)')
  const { followsVoted: _, ...without } = fields
  const saved = await send(at, { ...without, reply: 'digest', digest: 'weekly', weekday: 'friday', hour: '17', timeZone: 'Europe/Berlin' }, as) // prettier-ignore
  expect(saved.headers.location).toBe(`${at}?done=saved`)
  expect(await chosen()).toMatchObject({ reply: 'digest', defaults: ['status', 'answer', 'mention', 'post'], digest: 'weekly', weekday: 'friday', hour: 17, timeZone: 'Europe/Berlin', followsVoted: false, followsAuthored: true }) // prettier-ignore
  expect(fieldsOf((await get(at, as)).text)).toMatchObject({ reply: 'digest', hour: '17', timeZone: 'Europe/Berlin' })
  const wrong = await send(at, { ...without, timeZone: 'Mars/Base', status: 'none' }, as)
  expect(wrong.status).toBe(422)
  expect(wrong.text).toContain('There is no such time zone.')
  expect(fieldsOf(wrong.text)).toMatchObject({ timeZone: 'Mars/Base', status: 'none' })
  expect((await get(at)).headers.location).toContain('/login')
})

it.each([
  [{ timezoneId: 'Europe/Berlin' }, 'Europe/Berlin'],
  [{ timezoneId: 'Europe/Berlin', script: false }, 'UTC'],
] as const)('the time zone is that of the browser until one is chosen: %o', async (options, expected) => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { token, userId } = await site.member()
  const { page } = await visit(options)
  await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  const shown = async () => {
    await page.goto(`${site.url}/settings/notifications`)
    return page.inputValue('#field-timeZone')
  }
  expect(await shown()).toBe(expected)
  await page.click('main form .primary')
  await page.locator('.flash').waitFor()
  expect(await shown()).toBe(expected)
  await putNotificationSettings(site.db, userId, { timeZone: 'Asia/Tokyo' })
  expect(await shown()).toBe('Asia/Tokyo')
})

it('every page says to whom mail has stopped, and that to nobody else', async () => {
  const { site, userId, as, get } = await withReader()
  const before = (await get('/')).text
  const note = 'Mails to your address come back,'
  expect((await get('/', as)).text).not.toContain(note)
  const at = site.clock.now.toISOString()
  const bounce = { userId, bounces: 3, reason: '550 <no> such user', bouncedAt: at, suppressedAt: at }
  await site.db.insertInto('mail_bounces').values(bounce).execute()
  for (const path of ['/', '/boards', '/notifications']) expect((await get(path, as)).text).toContain(note)
  const { text } = await get('/settings/notifications', as)
  expect(text).toContain('550 &lt;no> such user')
  expect(text).not.toContain(note)
  expect((await get('/')).text).toBe(before)
})

it('the link of a mail shows choices and changes nothing, without signing in', async () => {
  const { site, board, post, get, send, chosen, userId } = await withReader()
  const events = async () => (await site.db.selectFrom('events').select('id').execute()).length
  const before = await events()
  for (const address of [LINK, CLICK]) {
    const { status, text, headers } = await get(`${address}&post=${post.number}`)
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(text).toContain('e***@example.org')
    expect(text).not.toContain('eve@example.org')
    expect(text).toContain('Stop all mail')
    expect(text).toContain('Dark mode')
    expect(text).toContain('Stop following this post')
  }
  await site.call(boards.update, { boardId: board.boardId, display: false, partial: true })
  const hidden = (await get(`${LINK}&post=${post.number}`)).text
  expect(hidden).not.toContain('Dark mode')
  expect(hidden).toContain(`post #${post.number}`)
  expect((await get(`${LINK}&post=999`)).text).not.toContain('Stop following')
  expect(await events()).toBe(before + 1) // of the board
  await site.db.updateTable('users').set({ isBlocked: 1, username: 'renamed' }).where('userId', '=', userId).execute()
  const { text } = await get(LINK)
  const saved = await send('/notifications/mail', { ...fieldsOf(text), token: KEY, status: 'page' })
  expect(saved.headers.location).toBe(`${LINK}&done=saved`)
  expect(fieldsOf((await get(LINK)).text)).toMatchObject({ status: 'page', reply: 'default' })
  await site.db.updateTable('users').set({ isBlocked: 0 }).execute()
  const left = await send('/notifications/mail/unfollow', { token: KEY, about: String(post.number) })
  expect(left.headers.location).toBe(`${LINK}&post=${post.number}&done=unfollowed`)
  expect((await get(`${LINK}&post=${post.number}`)).text).not.toContain('Stop following')
  const stopped = await send('/notifications/mail/stop', { token: KEY })
  expect(stopped.headers.location).toBe(`${LINK}&done=mailStopped`)
  expect(await chosen()).toMatchObject({ status: 'page', answer: 'page', reply: 'page', mention: 'page', defaults: [] })
})

it('a link with a key of nobody is not known', async () => {
  const { get, send } = await withReader()
  for (const address of [
    '/notifications/mail?token=x',
    '/notifications/mail',
    '/notifications/mail/unsubscribe?token=x',
  ]) {
    // prettier-ignore
    const { status, text } = await get(address, { accept: 'text/html' })
    expect([status, text.includes('This link is not known')]).toEqual([404, true])
  }
  expect((await send('/notifications/mail/unsubscribe?token=x', {})).status).toBe(404)
  expect((await send('/notifications/mail/unsubscribe', { token: KEY })).status).toBe(404) // the address alone says it
  expect((await send('/notifications/mail/stop', { token: 'x' })).status).toBe(404)
})

const MULTIPART = '--x\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'

/** What mail programs send. */
const CLICKS: Record<string, { headers: Record<string, string>; body?: string }> = {
  'a form': { headers: { 'content-type': FORM['content-type'] }, body: 'List-Unsubscribe=One-Click' },
  'a form in parts': { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: MULTIPART },
  'a form from another site': {
    headers: { 'content-type': FORM['content-type'], origin: 'https://mail.example', 'sec-fetch-site': 'cross-site' },
    body: 'List-Unsubscribe=One-Click',
  },
  nothing: { headers: {} },
}

it.each(Object.entries(CLICKS))('one click of a mail program stops all mail: %s', async (_name, { headers, body }) => {
  const { site, send, chosen } = await withReader()
  const { status, text, headers: answered } = await site.http(`POST /${CLICK}&post=1`, { headers, ...(body !== undefined && { body }) }) // prettier-ignore
  expect(status).toBe(200)
  expect(text).toContain('No notifications are mailed to you any more.')
  expect([answered['cache-control'], answered['set-cookie']]).toEqual(['no-store', undefined])
  expect((await chosen()).status).toBe('page')
  const forged = await send('/notifications/mail/stop', { token: KEY }, { origin: 'https://evil.example' })
  expect(forged.status).toBe(403) // that is for the page alone
})

it('the pages are there where a site has no others', async () => {
  const { get, send, chosen } = await withReader({ surfaces: [mailPages] })
  const { status, text } = await get(LINK)
  expect([status, text.includes('Stop all mail')]).toEqual([200, true])
  expect((await get('/settings/notifications')).status).toBe(404)
  const saved = await send('/notifications/mail', { ...fieldsOf(text), token: KEY, reply: 'none' })
  expect([saved.status, saved.text.includes('Saved')]).toEqual([200, true])
  expect((await chosen()).reply).toBe('none')
  expect((await send(CLICK, { 'List-Unsubscribe': 'One-Click' })).status).toBe(200)
  expect((await chosen()).status).toBe('page')
})

it('the team chooses for who did not, and a form that is older is refused', async () => {
  const { site, get, send, chosen } = await withReader()
  const { token } = await site.member(['dashboard:read', 'settings:read', 'settings:update'])
  const team = { cookie: `feedbackctl=${token}` }
  const at = '/dashboard/settings/notifications'
  const { text } = await get(at, team)
  const [, version = ''] = /name="ifVersion" value="([^"]+)"/.exec(text) ?? []
  const fields = { ...fieldsOf(text), ifVersion: version }
  expect(fields).toMatchObject({ status: 'page,mail', report: 'page,digest' })
  expect((await send(at, { ...fields, status: 'digest' }, team)).headers.location).toBe(`${at}?done=saved`)
  expect((await chosen()).status).toBe('digest')
  expect((await send(at, { ...fields, status: 'none' }, team)).status).toBe(409)
  const { token: other } = await site.member(['dashboard:read'])
  expect((await get(at, { cookie: `feedbackctl=${other}` })).status).toBe(404)
})
