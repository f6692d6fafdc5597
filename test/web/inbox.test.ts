import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as moderation from '../../src/service/moderation.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as users from '../../src/service/users.js'
import { NARROW, serveSite, visit, WIDE } from '../support/browser.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const MODERATOR = ['dashboard:read', 'post:destroy', 'comment:update:any', 'comment:view_internal', 'board:read', 'user:block'] as const satisfies Permission[] // prettier-ignore
const cookieOf = (token: string) => ({ accept: 'text/html', cookie: `feedbackctl=${token}` })

async function open(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
  const [owner, author] = [await site.owner(), await site.member([], { email: 'max@secret.example' })]
  await site.call(boards.create, { name: 'Ideas' })
  const moderator = await site.member([...MODERATOR])
  const as = site.callAs({ ...operator, userId: author.userId })
  const wish = async (title: string) => (await as(posts.create, { title, boardId: 'ideas', contentMarkdown: 'Buy' })).post // prettier-ignore
  const get = (path: string, token = moderator.token) => site.http(`GET /${path}`, { headers: cookieOf(token) })
  const send = (path: string, fields: Record<string, string | string[]>, token = moderator.token) =>
    site.http(`POST /${path}`, {
      headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each]))).toString(), // prettier-ignore
    })
  return { site, owner, author, moderator, as, wish, get, send }
}

const versionOf = ({ postId, updatedAt }: { postId: string; updatedAt: string }): string => `${postId} ${updatedAt}`
const plain = (text: string): string => text.replaceAll(/[\u2066-\u2069]/g, '')
/** The number beside the link to the dashboard. */
const badge = (html: string): string | undefined =>
  /class="to-dashboard"(?:(?!<\/a>).)*class="count"[^>]*>([^<]*)</s.exec(html)?.[1]
const rowsIn = (html: string): number => html.split('data-row').length - 1
const chosenIn = (html: string): string[] =>
  Array.from(html.matchAll(/<input[^>]*name="chosen"[^>]*>/g), ([box]) => box)
    .filter((box) => box.includes('checked'))
    .map((box) => /value="(\S+) /.exec(box)?.[1] ?? '')

describe.each(engines)('the inbox on %s', (engine) => {
  it('shows a report within one request, with reason and person, to moderators alone', async () => {
    const { site, owner, author, moderator, wish, get, send } = await open(engine)
    const post = await wish('Cheap watches')
    const reader = await site.member([])
    expect((await get('/dashboard', author.token)).status).toBe(404)
    expect(badge((await get('/dashboard')).text)).toBe('1')
    await send('/posts/1/report', { reason: 'Only advertising' }, reader.token)
    const { text } = await get('/dashboard?reason=reported')
    expect(text).toContain('Only advertising')
    expect(plain(text)).toContain('Reported by ')
    expect(text).toContain('name="chosen"')
    expect((await get('/posts/1', author.token)).text).not.toContain('Only advertising')
    const kept = await send('/dashboard?reason=reported', { one: `keep ${versionOf(post)}` })
    expect(kept.headers.location).toMatch(/^\/dashboard\?reason=reported&done=decidedKeep\.1&undo=[\w-]+$/)
    expect((await site.http('GET /posts/1/reported', { token: reader.token })).body.reported).toMatchObject([
      { id: post.postId, is_open: false },
    ])
    const after = await get('/dashboard')
    expect(after.text).toContain('Nothing waits.')
    expect(plain(after.text)).toContain('1 kept or marked as spam in the last 7 days.')
    expect(plain(after.text)).not.toContain('without a status')
    expect([badge(after.text), badge((await get('/')).text)]).toEqual([undefined, undefined])
    await wish('Another')
    expect([badge((await get('/')).text), badge((await get('/', author.token)).text)]).toEqual(['1', undefined])
    await site.http('POST /moderation/2', { token: moderator.token, body: { decision: 'keep' } })
    expect(badge((await get('/')).text)).toBeUndefined()
    await site.db.updateTable('posts').set({ createdAt: '2020-01-01T00:00:00.000Z' }).execute()
    expect(plain((await get('/dashboard', owner)).text)).toMatch(/href="\/dashboard\/posts\?waiting=7&amp;sort=oldest">\s*Posts without a status for 7 days/) // prettier-ignore
    const late = (await get('/dashboard/posts?waiting=7&sort=oldest', owner)).text
    expect([rowsIn(late), plain(late).includes('No status for 7 days')]).toEqual([2, true])
    expect((await get('/dashboard/posts?waiting=x', owner)).text).toContain('class="summary"')
  })

  it('decides about the chosen ones, and takes that back with one button', async () => {
    const { site, author, as, wish, get, send } = await open(engine)
    const made = [await wish('One'), await wish('Two'), await wish('Three')]
    const { activity } = await as(comments.create, { post_id: made[0]?.postId, body: 'A word' })
    const chosen = [...made.slice(0, 2).map(versionOf), `${activity.id} ${activity.comment.updated_at}`]
    const answer = await send('/dashboard?days=30', { chosen, verb: 'block' })
    const to = String(answer.headers.location)
    expect(to).toMatch(/^\/dashboard\?days=30&done=decidedBlock\.3&undo=/)
    const shown = await get(to)
    expect(shown.text).toContain('3 hidden as spam. Their authors are blocked.')
    expect(rowsIn(shown.text), 'the third, by a blocked person').toBe(1)
    expect((await site.call(users.show, { user: author.userId })).user.isBlocked).toBe(true)
    const undo = /action="(\/undo\/[^"]+)"/.exec(shown.text)?.[1] ?? ''
    expect((await send(undo, { to: '/dashboard?days=30' })).headers.location).toBe('/dashboard?days=30&done=undone.3')
    expect(rowsIn((await get('/dashboard')).text)).toBe(4)
    expect((await site.call(users.show, { user: author.userId })).user.isBlocked).toBe(false)
    expect((await site.events()).slice(-4).map(([action]) => action).toSorted()).toEqual(['comment.reopened', 'post.reopened', 'post.reopened', 'user.unblocked']) // prettier-ignore
  })

  it('puts off until a day that a page asks for, says who did, and wakes', async () => {
    const { site, owner, wish, get, send } = await open(engine)
    const made = [await wish('One'), await wish('Two')]
    const chosen = made.map(versionOf)
    const asked = await send('/dashboard', { chosen, verb: 'snooze' })
    expect([asked.status, asked.text.includes('Snooze until when?'), asked.text.match(/name="chosen" value/g)?.length]).toEqual([200, true, 2]) // prettier-ignore
    expect(asked.text, 'what it is about, and the first choice has the focus').toMatch(/<bdi>#1 One<\/bdi>.*<bdi>#2 Two<\/bdi>.*value="1d"[^>]*autofocus/s) // prettier-ignore
    const past = await send('/dashboard', { chosen, verb: 'snooze', date: '2020-01-01' })
    expect(past.text).toContain('Choose a day within the coming year.')
    expect(past.text).toContain('value="2020-01-01"')
    const day = new Date(site.clock.now.getTime() + 3 * 86_400_000).toISOString().slice(0, 10)
    expect((await send('/dashboard', { chosen, verb: 'snooze', date: day })).headers.location).toMatch(/^\/dashboard\?done=decidedSnooze\.2&undo=/) // prettier-ignore
    const empty = await get('/dashboard', owner)
    expect([rowsIn(empty.text), badge(empty.text)]).toEqual([0, undefined])
    const off = await get('/dashboard?reason=snoozed', owner)
    expect([rowsIn(off.text), plain(off.text).match(/Snoozed by [^<]+ until <time datetime="/g)?.length]).toEqual([
      2, 2,
    ])
    expect([off.text.includes('2 are snoozed'), off.text.includes('wait for a decision')]).toEqual([true, false])
    expect(off.text).toMatch(/href="\/dashboard\?reason=snoozed" aria-current="true"/)
    const page = `/dashboard/posts/${made[0]?.slug}`
    expect(plain((await get(page)).text)).toMatch(/Snoozed by [^<]+ until /)
    expect((await send(page, { one: `wake ${versionOf(made[0]!)}` })).headers.location).toContain('done=decidedWake.1')
    const woken = await send('/dashboard?reason=snoozed', { one: `wake ${versionOf(made[1]!)}` })
    expect(woken.headers.location).toMatch(/^\/dashboard\?reason=snoozed&done=decidedWake\.1&undo=/)
    expect(rowsIn((await get('/dashboard')).text)).toBe(2)
    const one = await send('/dashboard', { one: `snooze ${versionOf(made[0]!)}`, until: '1d' })
    expect(one.headers.location).toContain('done=decidedSnooze.1')
  })

  it('offers no snooze for what is hidden, and in the table nothing that is hidden for what is not', async () => {
    const { wish, get, send } = await open(engine)
    const [spam] = [await wish('Spam'), await wish('Fine')]
    const snooze = /name="one" value="snooze /
    expect((await get(`/dashboard/posts/${spam.slug}`)).text).toMatch(snooze)
    expect((await get('/dashboard/posts')).text).not.toContain('Not spam')
    await send('/dashboard', { one: `spam ${versionOf(spam)}` })
    const shown = (await get(`/dashboard/posts/${spam.slug}`)).text
    expect([snooze.test(shown), /name="one" value="keep /.test(shown)]).toEqual([false, true])
    expect((await get('/dashboard/posts?spam=true')).text).toMatch(/data-many="e"[^>]*>\s*Not spam/)
    const kept = await send('/dashboard/posts/decide', { ids: '#2', decision: 'keep' })
    expect(plain((await get(String(kept.headers.location))).text)).toContain('1 post is not marked as spam.')
  })

  it('says how many notes of the team a post has, to those who read them', async () => {
    const { site, owner, as, wish, get } = await open(engine)
    const [noted] = [await wish('Noted'), await wish('Plain')]
    await as(comments.create, { post_id: noted.postId, body: 'For everybody' })
    for (const body of ['Ask finance', 'They agree'])
      await site.http(`POST /posts/${noted.postId}/comments`, { token: owner, body: { body, is_internal: true } })
    const reader = await site.member(['dashboard:read', 'post:destroy', 'board:read'])
    const [shown, without] = [(await get('/dashboard')).text, (await get('/dashboard', reader.token)).text]
    const rows = shown.split('<article').slice(1)
    expect(rows.map((row) => />2 notes</.test(row) && row.includes('<bdi>Noted'))).toContain(true)
    expect(rows.filter((row) => /\d notes?</.test(row) && row.includes('<bdi>Plain'))).toEqual([])
    expect(/\d notes?</.test(without)).toBe(false)
  })

  it('hides what else a blocked person wrote with one button', async () => {
    const { author, wish, get, send } = await open(engine)
    const made = [await wish('One'), await wish('Two'), await wish('Three')]
    expect((await get('/dashboard')).text).not.toContain('by blocked users as spam')
    const { headers } = await send('/dashboard', { one: `block ${versionOf(made[0]!)} ${made[1]?.postId}` })
    const said = (await get(String(headers.location).split('#', 1)[0] ?? '')).text
    const flash = /class="flash".*?<button[^>]*data-key="u"/s.exec(said)?.[0] ?? ''
    expect(plain(flash), 'where it is in sight').toContain('Hide 2 more by blocked users as spam')
    expect(said.split('more by blocked').length).toBe(2)
    const choice = `${made[2]?.postId}..planned.`
    const at = /<form[^>]*action="([^"]*)"[^>]*>(?:(?!<\/form>).)*more by blocked/s.exec((await get(`/dashboard?choices=${choice}`)).text)?.[1] // prettier-ignore
    const none = await send(String(at), { verb: 'spam', chosen: `${made[0]?.postId} unread` })
    expect(none.headers.location, 'the choices of rows stay').toContain(`choices=${choice}`)
    const { text } = await get('/dashboard')
    expect(plain(text)).toContain('Hide 2 more by blocked users as spam')
    const chosen = Array.from(text.matchAll(/type="hidden" name="chosen" value="([^"]+)"/g), ([, value = '']) => value)
    const answer = await send('/dashboard', { chosen, verb: 'spam' })
    expect(answer.headers.location).toMatch(/^\/dashboard\?done=decidedSpam\.2&undo=/)
    expect([rowsIn((await get('/dashboard')).text), (await get('/dashboard', author.token)).status]).toEqual([0, 303])
  })

  it('names each that could not be decided, with its reason, and keeps it chosen', async () => {
    const { site, owner, author, wish, get, send } = await open(engine)
    const made = await Promise.all(['One', 'Two', 'Three'].map(wish))
    const own = (await site.http('POST /posts', { token: owner, body: { title: 'By the owner' } })).body.post
    const reader = await site.member([])
    await site.http(`POST /posts/${own.postId}/report`, { token: reader.token, body: {} })
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    await site.http('PATCH /posts', { token: author.token, body: { id: made[1]?.postId, title: 'Changed', partial: true } }) // prettier-ignore
    await site.http('DELETE /posts', { token: owner, body: { id: made[2]?.postId } })
    const answer = await send('/dashboard', { chosen: [...made.map(versionOf), versionOf(own)], verb: 'block' })
    const { text } = await get(String(answer.headers.location))
    expect(plain(text)).toContain('1 hidden as spam.')
    expect(plain(text)).toContain('3 were not decided')
    expect(text).toMatch(/>Changed<\/a>: The text was changed meanwhile/)
    expect(text).toMatch(/>By the owner<\/a>: The owner of the site cannot be blocked/)
    expect(text).toContain('A post or comment that no longer waits: This post no longer exists.')
    expect(new Set(chosenIn(text))).toEqual(new Set([made[1]?.postId, own.postId]))
    expect((await get('/dashboard')).text).not.toContain('checked')
    expect((await send('/dashboard', { verb: 'keep' })).headers.location).toBe('/dashboard?done=chooseFirst')
  })

  it('leaves what a colleague has decided meanwhile, unless that is the same', async () => {
    const { site, owner, as, wish, get, send } = await open(engine)
    const [kept, spam, late] = [await wish('Kept'), await wish('Spam'), await wish('Later')]
    const { activity } = await as(comments.create, { post_id: '1', body: 'Hello' })
    const form = { waiting: 'true' }
    expect((await get('/dashboard')).text).toContain('name="waiting" value="true"')
    await send('/dashboard', { ...form, one: `keep ${versionOf(kept)}` }, owner)
    await send('/dashboard', { ...form, one: `spam ${versionOf(spam)}` }, owner)
    await send('/dashboard', { ...form, one: `snooze ${versionOf(late)}`, until: '1d' }, owner)
    await send('/dashboard', { ...form, one: `keep ${activity.id} ${activity.comment.updated_at}` }, owner)
    const rows = [...[kept, spam, late].map(versionOf), `${activity.id} ${activity.comment.updated_at}`]
    for (const verb of ['spam', 'block', 'delete', 'snooze', 'keep']) {
      const { headers } = await send('/dashboard', { ...form, chosen: rows, verb, confirmed: 'yes', until: '1w' })
      const same = { spam: [spam], keep: [kept] }[verb]?.map(({ postId }) => postId) ?? []
      const refused = Array.from(String(headers.location).matchAll(/([0-9a-f-]{36})\.ALREADY_DECIDED/g), ([, id]) => id)
      const all =
        verb === 'keep'
          ? [spam.postId, late.postId]
          : rows.map((row) => row.split(' ')[0]).filter((id) => !same.includes(id ?? ''))
      expect([verb, refused]).toEqual([verb, all])
      expect(plain((await get(String(headers.location))).text)).toContain('It was decided or snoozed meanwhile')
    }
    await site.db.updateTable('users').set({ name: 'Ada' }).where('isOwner', '=', 1).execute()
    const no = await send('/dashboard', { ...form, one: `keep ${versionOf(late)}` })
    const { text } = await get(String(no.headers.location))
    expect(text).toMatch(/class="flash nothing"[^>]*>\s*Nothing was decided/)
    const told = /class="unmet".*?<\/section>/s.exec(text)?.[0] ?? ''
    expect(told).toContain(`<a href="/dashboard/posts/${late.slug}"><bdi>Later</bdi></a>: It was decided or snoozed`)
    expect(told).toMatch(/Post snoozed<\/span>\s*<bdi>Ada<\/bdi>\s*<time datetime="/)
    const stays = (await site.call(moderation.list, { snoozed: true })).items
    expect(stays.map(({ id }) => id)).toEqual([late.postId])
    expect((await site.db.selectFrom('posts').select('postId').where('is_spam', '=', 1).execute())).toEqual([{ postId: spam.postId }]) // prettier-ignore
    await site.http(`POST /posts/${kept.postId}/report`, { token: owner, body: {} })
    const again = await send('/dashboard', { ...form, one: `spam ${versionOf(kept)}` })
    expect(again.headers.location, 'it waits again').toContain('done=decidedSpam.1')
    const single = { decision: 'keep', if_waiting: true }
    expect((await site.http(`POST /moderation/${spam.postId}`, { token: owner, body: single })).body.code).toBe('ALREADY_DECIDED') // prettier-ignore
  })

  it('refuses a form that was tampered with, or never says what it does not know', async () => {
    const { wish, get, send } = await open(engine)
    const post = await wish('One')
    const unread = await send('/dashboard', { chosen: post.postId, verb: 'spam' })
    expect([unread.status, unread.headers.location], 'a text that was not read').toEqual([303, expect.stringContaining('VALIDATION_ERROR')]) // prettier-ignore
    const odd = await send('/dashboard', { one: `keep ${versionOf(post)} x\ny` })
    expect([odd.status, odd.headers.location]).toEqual([303, expect.not.stringContaining('#')])
    expect((await get(`/dashboard?unmet=${post.postId}.SITE_IS_HACKED`)).text).not.toContain('SITE_IS_HACKED')
    const many = Array.from({ length: 199 }, () => versionOf(post))
    expect((await send('/dashboard', { chosen: many, verb: 'spam' })).status).toBeLessThan(500)
  })

  it('keeps its filter, and offers only what the person may do', async () => {
    const { site, owner, wish, get } = await open(engine)
    await wish('One')
    await site.call(boards.create, { name: 'Bugs' })
    const empty = await get('/dashboard?board=bugs&reason=&days=')
    expect([empty.status, empty.headers.location]).toEqual([303, '/dashboard?board=bugs'])
    const { text } = await get('/dashboard?board=ideas&reason=new')
    expect(text).toContain('action="/dashboard?board=ideas&amp;reason=new"')
    expect(rowsIn(text)).toBe(1)
    expect((await get('/dashboard?board=bugs')).text).not.toContain('data-row')
    expect(text).toContain('value="block')
    const weak = await site.member(['dashboard:read', 'post:destroy'])
    const weaker = (await get('/dashboard', weak.token)).text
    expect([weaker.includes('value="spam'), weaker.includes('value="block')]).toEqual([true, false])
    const editor = await site.member(['dashboard:read', 'board:update'])
    expect((await get('/dashboard', editor.token)).headers.location).toMatch(/^\/dashboard\/\w+$/)
    expect((await get('/dashboard', owner)).status).toBe(200)
  })

  it('holds no address of anybody, nor do the comments', async () => {
    const { site, author, as, wish, get } = await open(engine)
    const post = await wish('One')
    await as(comments.create, { post_id: post.postId, body: 'A word' })
    await site.http(`POST /posts/${post.postId}/report`, { token: author.token, body: { reason: 'x' } })
    for (const path of ['/dashboard', '/dashboard/comments']) expect((await get(path)).text).not.toMatch(/secret\.example|@example\.org/) // prettier-ignore
  })

  it('has the comments of the whole site, by text, author, kind and time', async () => {
    const { site, author, as, wish, get, send } = await open(engine)
    const post = await wish('One')
    const { activity } = await as(comments.create, { post_id: post.postId, body: 'About telescopes' })
    await site.call(comments.create, { post_id: post.postId, body: 'A note', is_internal: true })
    const { user } = await site.call(users.show, { user: author.userId })
    const on = async (query: string) => rowsIn((await get(`/dashboard/comments${query}`)).text)
    expect([await on(''), await on('?q=TELE'), await on(`?author=${user.username}`), await on('?kind=internal'), await on('?kind=spam')]).toEqual([2, 1, 1, 1, 0]) // prettier-ignore
    expect([await on('?since=2999-01-01'), await on('?author=nobody'), await on('?since=soon')]).toEqual([0, 0, 0])
    expect((await get('/dashboard/comments?author=nobody')).text).toContain('role="alert"')
    const spam = await send('/dashboard/comments', { chosen: `${activity.id} ${activity.comment.updated_at}`, verb: 'spam' }) // prettier-ignore
    expect(spam.headers.location).toMatch(/^\/dashboard\/comments\?done=decidedSpam\.1/)
    expect(await on('?kind=spam')).toBe(1)
    const reader = await site.member(['dashboard:read'])
    const seen = (await get('/dashboard/comments', reader.token)).text
    expect([rowsIn(seen), seen.includes('name="chosen"')]).toEqual([0, false])
    await send('/dashboard/comments', { one: `keep ${activity.id} ${(await site.call(comments.show, { comment_id: activity.id })).activity.comment.updated_at}` }) // prettier-ignore
    const after = (await get('/dashboard/comments', reader.token)).text
    expect([rowsIn(after), after.includes('name="chosen"')]).toEqual([1, false])
    expect((await send('/dashboard/comments', { chosen: activity.id, verb: 'burn' })).headers.location).toBe('/dashboard/comments?done=decidedNone') // prettier-ignore
  })
})

async function full(count: number, more: Permission[] = []) {
  const site = await serveSite('sqlite')
  await site.owner()
  const moderator = await site.member([...MODERATOR, ...more])
  const author = await site.member([])
  const as = site.callAs({ ...operator, userId: author.userId })
  for (let number = 1; number <= count; number++) {
    await as(posts.create, { title: `Wish ${number}`, contentMarkdown: 'Some words about it.' })
    await site.http(`POST /posts/${number}/report`, { token: moderator.token, body: { reason: 'an ad' } })
  }
  return { site, moderator }
}

const decisions = async (site: TestSite) =>
  (await site.events()).map(([action]) => action).filter((action) => /kept|marked_spam|reopened/.test(action))

async function enter(window: Parameters<typeof visit>[0], { site, moderator }: Awaited<ReturnType<typeof full>>) {
  const { page } = await visit(window)
  await page.context().addCookies([{ name: 'feedbackctl', value: moderator.token, url: site.url }])
  await page.goto(`${site.url}/dashboard`)
  return page
}

it('ten reported posts are decided by keyboard alone, a key for each, and the focus is never lost', async () => {
  const made = await full(10)
  const { site } = made
  const page = await enter({ viewport: WIDE }, made)
  const focused = () => page.evaluate(() => (document.activeElement === document.body ? 'body' : document.activeElement?.className)) // prettier-ignore
  const current = () => page.evaluate(() => document.querySelector('[data-current] h2')?.textContent)
  expect(await current()).toBe('Wish 10')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  expect([await current(), await page.evaluate(() => document.activeElement?.id.startsWith('row-'))]).toEqual(['Wish 9', true]) // prettier-ignore
  await page.keyboard.press('s')
  await page.locator('.flash').waitFor()
  expect([await current(), await focused()]).toEqual(['Wish 8', 'flash'])
  expect(await page.locator('.flash').ariaSnapshot()).toContain('1 hidden as spam.')
  await page.keyboard.press('u')
  await expect.poll(() => page.innerText('.flash')).toContain('taken back')
  expect(await focused()).toBe('flash')
  await page.keyboard.press('z')
  await page.locator('#field-date').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('value'))).toBe('1d')
  await page.keyboard.press('z')
  await expect.poll(() => page.innerText('.flash')).toContain('1 snoozed.')
  const other = await page.context().newPage()
  await other.goto(`${site.url}/dashboard?reason=snoozed`)
  expect(await other.innerText('.until'), 'the time of the reader').toMatch(/^Snoozed by .* until (?!.*UTC).*\d:(00|15|30|45)/) // prettier-ignore
  await other.close()
  await page.keyboard.press('u')
  await expect.poll(() => page.innerText('.flash')).toContain('taken back')
  for (let left = 10; left > 0; left--) {
    await expect.poll(() => page.locator('[data-row]').count()).toBe(left)
    await page.keyboard.press(left % 2 === 0 ? 'e' : 's')
  }
  await expect.poll(() => page.innerText('main')).toContain('Nothing waits.')
  expect(await focused()).toBe('flash')
  expect(await decisions(site)).toHaveLength(12)
})

it('twenty things are decided with at most 1.6 keys each', async () => {
  const made = await full(20)
  const { site } = made
  const team = await site.member([...MODERATOR, 'comment:create', 'comment:create_internal', 'post:update'])
  const page = await enter({ viewport: WIDE }, { site, moderator: team })
  const current = () => page.evaluate(() => document.querySelector('[data-current] h2')?.textContent)
  let keys = 0
  const press = async (key: string) => {
    keys += 1
    await page.keyboard.press(key)
  }
  const plan = [...Array<string>(5).fill('spam'), ...Array<string>(4).fill('repeat'), ...Array<string>(5).fill('answer'), ...Array<string>(6).fill('new')] // prettier-ignore
  for (const [index, what] of plan.entries()) {
    await expect.poll(() => page.locator('[data-row]').count()).toBe(20 - index)
    expect([what, await current()]).toEqual([what, `Wish ${20 - index}`])
    if (what === 'spam') await press('s')
    else if (what === 'new') await press('e')
    else if (what === 'repeat') {
      await press('#')
      await page.locator('.narrow .danger').waitFor()
      await page.locator('.narrow >> text=cannot be undone').waitFor()
      await page.locator('h1:focus').waitFor()
      await press('#')
    } else {
      await press('r')
      await page.locator('.post-columns').waitFor()
      await page.locator('#field-body:focus').waitFor()
      await page.keyboard.type('Use the other button, see #1?') // what is said is no key of ours
      await press('Control+Enter')
    }
    await expect.poll(() => page.locator('[data-row]').count()).toBe(19 - index) // the page before has a flash too
    await expect.poll(() => page.evaluate(() => [document.activeElement?.className, document.activeElement?.getAttribute('role')])).toEqual(['flash', 'status']) // prettier-ignore
  }
  await expect.poll(() => page.innerText('main')).toContain('Nothing waits.')
  expect(keys / 20).toBeLessThanOrEqual(1.6)
  expect(await decisions(site)).toEqual([...Array<string>(5).fill('post.marked_spam'), ...Array<string>(11).fill('post.kept')]) // prettier-ignore
})

it('a status given in a row takes the post out of the inbox, by a key, with its button, and with Apply', async () => {
  const made = await full(4)
  const { site } = made
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const team = await site.member([...MODERATOR, 'post:update'])
  const page = await enter({ viewport: WIDE }, { site, moderator: team })
  const stages = async () => {
    const { posts: rows } = await site.call(posts.list, { roadmapIds: ['planned'] })
    return rows.map(({ title }) => title)
  }
  const left = async (count: number) => {
    await expect.poll(() => page.locator('[data-row]').count()).toBe(count)
  }
  await page.keyboard.press('m')
  await page.locator('.inbox select:focus').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.evaluate(() => document.activeElement?.id.startsWith('row-'))).toBe(true)
  await page.keyboard.press('m')
  await page.keyboard.press('p')
  await page.keyboard.press('Enter')
  await left(3)
  expect([await stages(), await page.evaluate(() => document.activeElement?.className)]).toEqual([['Wish 4'], 'flash'])
  await page.keyboard.press('u')
  await left(4)
  expect(await stages()).toEqual([])
  await page.locator('.inbox select').nth(1).selectOption('planned')
  await page.locator('[data-row]').nth(1).locator('button', { hasText: 'Keep' }).click()
  await left(3)
  expect(await stages()).toEqual(['Wish 3'])
  await page.locator('.inbox select').nth(2).selectOption('planned')
  await page.click('.verbs button[value=each]')
  await left(2)
  expect(await stages()).toEqual(['Wish 3', 'Wish 1'])
  // What else there is to do is folded, and its keys work
  expect(await page.locator('[data-row] >> text=Spam and block').first().isVisible()).toBe(false)
  await page.locator('[data-row]').first().locator('summary').click()
  expect(await page.locator('[data-row]').first().locator('a', { hasText: 'Delete' }).isVisible()).toBe(true)
  expect(await page.locator('.each').count(), 'one system of buttons').toBe(0)
})

it('keys choose rows, do nothing in fields, are listed by ?, and can be switched off', async () => {
  const made = await full(3)
  const page = await enter({ viewport: WIDE }, made)
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  expect(await page.locator('[name=chosen]:checked').count()).toBe(2)
  await page.keyboard.press('x')
  await page.keyboard.press('k')
  await page.keyboard.press('k')
  await page.keyboard.press('Shift+X')
  expect(await page.locator('[name=chosen]:checked').count(), 'what is chosen is taken back as a range too').toBe(0)
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Shift+X')
  expect(await page.locator('[name=chosen]:checked').count()).toBe(3)
  expect(await page.locator('.verbs output').ariaSnapshot()).toContain('3 chosen')
  await expect.poll(() => page.evaluate(() => document.activeElement?.id.startsWith('row-'))).toBe(true)
  await page.focus('#search')
  await page.keyboard.type('sex?')
  expect(await page.inputValue('#search')).toBe('sex?')
  expect(await page.locator('dialog[open]').count()).toBe(0)
  await page.focus('[data-row]')
  await page.keyboard.press('?')
  expect(await page.locator('dialog[open] kbd').allInnerTexts()).toEqual(expect.arrayContaining(['j', 'k', 'x', 'e', 's', 'z', 'u', '?'])) // prettier-ignore
  await page.keyboard.press('Space')
  expect(await page.locator('dialog[open]').count(), 'the key is for Close').toBe(0)
  expect(await page.innerText('button.shortcuts')).toBe('Keys ?')
  await page.keyboard.press('?')
  await page.click('dialog label')
  await page.keyboard.press('Escape')
  expect(await page.innerText('button.shortcuts')).toBe('Keys are off')
  await page.reload()
  expect(await page.innerText('button.shortcuts')).toBe('Keys are off')
  await page.keyboard.press('e')
  await page.keyboard.press('?')
  expect([await page.locator('dialog[open]').count(), await page.locator('[data-row]').count()]).toEqual([0, 3])
  await page.click('button.shortcuts')
  await page.click('dialog label')
  await page.keyboard.press('Escape')
  for (const box of await page.locator('[name=chosen]').all()) await box.uncheck() // they outlast a reload
  const posted: string[] = []
  page.on('request', (request) => void (request.method() === 'POST' && posted.push(request.postData() ?? '')))
  await page.locator('[name=chosen]').first().focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('e')
  await page.locator('.flash').waitFor()
  expect(posted, 'Enter in a checkbox sends nothing').toHaveLength(1)
  expect(await decisions(made.site)).toEqual(['post.kept'])
  for (const key of ['x', 'j', 'x', 's']) await page.keyboard.press(key)
  await expect.poll(() => page.innerText('main')).toContain('Nothing waits.')
  expect(await page.innerText('.flash'), 'a key is for all that are chosen').toContain('2 hidden as spam.')
})

it('what is chosen and not sent is still so after a link, Back and Undo, until its text changes', async () => {
  const made = await full(4, ['post:update', 'roadmap:read'])
  const { site } = made
  await site.call(roadmaps.create, { name: 'Planned' })
  const page = await enter({ viewport: WIDE }, made)
  const row = (title: string) => page.locator('[data-row]', { has: page.locator('h2', { hasText: title }) })
  const chosen = async () => {
    const rows = await page.locator('[data-row]').all()
    return Promise.all(rows.map(async (each) => [await each.locator('h2').innerText(), await each.locator('[name=chosen]').isChecked(), await each.locator('select').inputValue()])) // prettier-ignore
  }
  await row('Wish 3').locator('[name=chosen]').check()
  await row('Wish 2').locator('select').selectOption('planned')
  const before = [['Wish 4', false, ''], ['Wish 3', true, ''], ['Wish 2', false, 'planned'], ['Wish 1', false, '']] // prettier-ignore
  await page.click('.sections a[href$="/dashboard/posts"]')
  await page.locator('table').waitFor()
  await page.click('.sections a[href$="/dashboard"]')
  await expect.poll(chosen).toEqual(before)
  await row('Wish 1').locator('h2 a').click()
  await page.locator('h1', { hasText: 'Wish 1' }).waitFor()
  await page.goBack()
  await expect.poll(chosen).toEqual(before)
  await row('Wish 4').locator('button[value^=keep]').click()
  await page.locator('.flash').waitFor()
  expect(await chosen()).toEqual(before.slice(1))
  await row('Wish 3').locator('[name=chosen]').uncheck() // which the page came with
  await page.click('.flash button')
  await expect.poll(() => page.innerText('.flash')).toContain('taken back')
  expect(await chosen()).toEqual([before[0], ['Wish 3', false, ''], ...before.slice(2)])
  await row('Wish 3').locator('[name=chosen]').check()
  expect(await page.locator('.verbs output').ariaSnapshot()).toContain('1 chosen')
  site.clock.now = new Date(site.clock.now.getTime() + 1000)
  await site.call(posts.update, { id: '3', contentMarkdown: 'Other words.', partial: true })
  await page.goto(`${site.url}/dashboard`)
  expect(await chosen(), 'nobody has read it as it is').toEqual([before[0], ['Wish 3', false, ''], ...before.slice(2)])
  await row('Wish 2').locator('[name=chosen]').check()
  await page.click('.verbs button[value=spam]')
  await page.locator('.flash').waitFor()
  await page.click('.flash button')
  await expect.poll(() => page.innerText('.flash')).toContain('taken back')
  expect((await chosen())[2], 'what was sent is not chosen any more').toEqual(['Wish 2', false, ''])
  await row('Wish 2').locator('[name=chosen]').check()
  expect(await page.evaluate(() => sessionStorage.getItem('draft choices'))).toContain('true')
  await page.click('.to-logout')
  await page.locator('.flash').waitFor()
  await expect.poll(() => page.evaluate(() => sessionStorage.getItem('draft choices')), { message: 'signing out forgets them' }).toBeNull() // prettier-ignore
})

it('ten reported posts are decided without a script in ten clicks and one button', async () => {
  const made = await full(10)
  const page = await enter({ script: false, viewport: NARROW }, made)
  for (const box of await page.locator('[name=chosen]').all()) await box.check()
  await page.click('.verbs button[value=keep]')
  expect(await page.innerText('main')).toContain('Nothing waits.')
  expect(await page.innerText('.flash')).toContain('10 kept.')
  await page.click('.flash button')
  expect(await page.locator('[data-row]').count()).toBe(10)
})

const MOST_BYTES = 20_000

it('weighs at most 20 kB at the first visit', async () => {
  const made = await full(20)
  const { page } = await visit()
  await page.context().addCookies([{ name: 'feedbackctl', value: made.moderator.token, url: made.site.url }])
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => void sizes.push(request.sizes().then(({ responseBodySize: body, responseHeadersSize: head }) => body + head))) // prettier-ignore
  await page.goto(`${made.site.url}/dashboard`, { waitUntil: 'networkidle' })
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(sizes.length).toBeGreaterThan(3)
  expect(total).toBeLessThanOrEqual(MOST_BYTES)
})
