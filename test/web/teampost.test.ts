import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as events from '../../src/service/events.js'
import * as labs from '../../src/service/labs.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as users from '../../src/service/users.js'
import { serveSite, visit, WIDE } from '../support/browser.js'
import { makeMachine } from '../support/cli.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const SITE = 'http://localhost'
const MODERATOR = ['dashboard:read', 'post:update', 'post:destroy', 'comment:create', 'comment:update:any', 'comment:view_internal', 'comment:create_internal', 'board:read', 'roadmap:read', 'vote:assign', 'vote:unassign'] as const satisfies Permission[] // prettier-ignore
const cookieOf = (token: string) => ({ accept: 'text/html', cookie: `feedbackctl=${token}` })

async function open(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
  const [owner, author] = [await site.owner(), await site.member([], { email: 'max@secret.example' })]
  for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name, display: true })
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const moderator = await site.member([...MODERATOR])
  const as = site.callAs({ ...operator, userId: author.userId })
  const wish = async (title: string) => (await as(posts.create, { title, boardId: 'ideas', contentMarkdown: 'Please' })).post // prettier-ignore
  const get = (path: string, token = moderator.token) => site.http(`GET /${path}`, { headers: cookieOf(token) })
  const send = (path: string, fields: Record<string, string>, token = moderator.token) =>
    site.http(`POST /${path}`, {
      headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  const at = ({ slug }: { slug: string }, rest = '') => `/dashboard/posts/${slug}${rest}`
  return { site, owner, author, moderator, as, wish, get, send, at }
}

const plain = (text: string): string => text.replaceAll(/[\u2066-\u2069]/g, '')

describe.each(engines)('the page of a post for the team on %s', (engine) => {
  it('is there for the team alone, and shows to each what they may do and read', async () => {
    const { site, owner, author, wish, get, at } = await open(engine)
    const post = await wish('Dark mode')
    expect((await get(at(post), author.token)).status).toBe(404)
    const moved = await get(`/dashboard/posts/${post.number}?from=/dashboard/posts`, owner)
    expect([moved.status, moved.headers.location]).toEqual([303, `${at(post)}?from=/dashboard/posts`])
    const reader = (await get(at(post), (await site.member(['dashboard:read'])).token)).text
    const { text } = await get(at(post))
    const all = (await get(at(post), owner)).text
    const shown = (html: string) => [html.includes('/move"'), html.includes('value="spam '), html.includes('/delete"'), html.includes('is_internal'), html.includes('post.created'), html.includes('max@secret.example')] // prettier-ignore
    expect(shown(reader)).toEqual([false, false, false, false, false, false])
    expect(shown(text)).toEqual([true, true, true, true, false, false])
    expect(shown(all)).toEqual([true, true, true, true, true, true])
    expect([text.includes('1 post'), reader.includes('1 post')], 'the card of the author').toEqual([true, false])
    for (const html of [reader, text]) expect(html).not.toMatch(/secret\.example|@example\.org/)
  })

  it('leads to forms in the frame of its section, which others get without it', async () => {
    const { site, author, wish, get, send, at } = await open(engine)
    const post = await wish('Dark mode')
    const comment = (await site.call(comments.create, { post_id: post.postId, body: 'Hello' })).activity
    const section = (text: string) =>
      /<nav class="sections".*?aria-current="page"[^>]*>([^<]*)/s.exec(text)?.[1] ?? null
    for (const form of ['edit', 'merge', 'update', `comments/${comment.id}/edit`]) {
      const path = `/posts/${post.slug}/${form}`
      expect([form, section((await get(path)).text)]).toEqual([form, null])
      const of = async (to: string, token?: string) => section((await get(`${path}?to=${encodeURIComponent(to)}`, token)).text) // prettier-ignore
      expect([form, await of(`${at(post)}?from=/dashboard`)]).toEqual([form, 'Posts'])
      expect([form, await of('/dashboard?kind=posts')]).toEqual([form, 'Inbox'])
      for (const to of ['/dashboardx', '/posts', 'https://evil.example/dashboard', '/dashboard/settings/general'])
        expect([form, to, await of(to)]).toEqual([form, to, null])
    }
    const own = await get(`/posts/${post.slug}/edit?to=${at(post)}`, author.token)
    expect([own.status, section(own.text)]).toEqual([200, null])
    const refused = await send(`/posts/${post.slug}/edit`, { title: '', to: at(post) })
    expect([refused.status, section(refused.text)]).toEqual([422, 'Posts'])
    const preview = await send(`/posts/${post.slug}/update`, { message: 'Soon', preview: 'yes', to: at(post) })
    expect([preview.status, section(preview.text)]).toEqual([200, 'Posts'])
    const saved = await send(`/posts/${post.slug}/edit`, { title: 'Night mode', to: at(post) })
    expect(saved.headers.location).toContain(at(post))
  })

  it('says how many a new status tells before it is set, and sets one of which nobody is told', async () => {
    const { site, wish, send, get, at } = await open(engine)
    const post = await wish('Dark mode')
    const said = '1 person will be told: 1 on the page only.'
    expect((await get(at(post))).text).toContain(said)
    expect((await get(`/posts/${post.slug}/update`)).text).toContain(said)
    for (const path of [at(post), `/posts/${post.slug}`, `/posts/${post.slug}/update`, `/posts/${post.slug}/edit`])
      expect((await get(path)).text).toMatch(/type="checkbox" name="quiet"/)
    await send(at(post, '/move'), { roadmapId: 'planned', quiet: 'true' })
    await send(`/posts/${post.slug}/update`, { message: 'Soon', quiet: 'true' })
    await send(`/posts/${post.slug}/status`, { roadmapId: '', quiet: 'true' })
    await send(`/posts/${post.slug}/edit`, { title: 'Dark', roadmapId: 'planned', quiet: 'true' })
    await send('/dashboard/posts/move', { ids: post.postId, roadmapId: 'none', quiet: 'true' })
    const { events: changes } = await site.call(events.list, { action: 'post.updated', subject: post.postId })
    const about = at(post, `/told/${changes[0]?.id}`)
    expect((await get(about)).text).toContain('Nobody was told of this.')
    expect((await get(`${about}?told=false`)).text).toContain('Done without telling anybody')
    expect((await get(about, (await site.member(['dashboard:read'])).token)).status).toBe(404)
    const quiet = changes.map(({ details }) => details?.some(({ field, after }) => field === 'quiet' && after === 'true')) // prettier-ignore
    expect(quiet).toEqual([true, true, true, true, true])
    expect((await get(at(post), (await site.member(['dashboard:read'])).token)).text).not.toContain('name="quiet"')
  })

  it('changes status and board, and both can be undone', async () => {
    const { site, wish, send, get, at } = await open(engine)
    const post = await wish('Dark mode')
    const done = await send(at(post, '/move?from=/dashboard/posts&row=0'), { roadmapId: 'planned' })
    expect(done.headers.location).toMatch(/^\/dashboard\/posts\/[\w-]+\?from=%2Fdashboard%2Fposts&row=0&done=statusSet&undo=/) // prettier-ignore
    const where = async () => {
      const { roadmap, board } = (await site.call(posts.show, { id: post.postId })).post
      return [roadmap?.url, board?.url]
    }
    await send(at(post, '/move'), { boardId: 'bugs' })
    expect(await where()).toEqual(['planned', 'bugs'])
    const { text } = await get(String(done.headers.location))
    await send(/action="(\/undo\/[^"]+)"/.exec(text)?.[1] ?? '', { to: at(post) })
    expect(await where()).toEqual([undefined, 'bugs'])
  })

  it('has comments and notes, and a reply to a note is a note on every surface', async () => {
    const { site, author, as, wish, send, get, at } = await open(engine)
    const post = await wish('Dark mode')
    const noted = await send(at(post, '/comments'), { body: 'Look at this one', is_internal: 'true' })
    const id = /#comment-(.+)$/.exec(String(noted.headers.location))?.[1] ?? ''
    expect(noted.headers.location).toBe(`${at(post)}?done=noted#comment-${id}`)
    await send(at(post, '/comments'), { body: 'A reply in the dashboard', parent_id: id })
    await send(`/posts/${post.slug}/comments`, { body: 'A reply on the page', parent_id: id })
    await site.call(comments.create, { post_id: post.postId, body: 'A reply by a program', parent_id: id })
    const refused = await send(at(post, '/comments'), { body: 'For all', parent_id: id, is_internal: 'false' })
    expect(refused.status, 'the form cannot ask for it').toBe(303)
    const programs = await site.http(`POST /posts/${post.postId}/comments`, { token: (await site.member([...MODERATOR])).token, body: { body: 'For all', parent_id: id, is_internal: false } }) // prettier-ignore
    expect([programs.status, programs.body.code]).toEqual([400, 'VALIDATION_ERROR'])
    await send(at(post, '/comments'), { body: 'For everybody' })
    const { activity } = await as(comments.list, { post_id: post.postId })
    expect(activity.map(({ comment }) => [comment.body, comment.is_internal]).filter(([, internal]) => !internal)).toEqual([['For everybody', false]]) // prettier-ignore
    const seen = (await get(`/posts/${post.slug}`, author.token)).text
    expect([seen.includes('A reply'), seen.includes('For everybody')]).toEqual([false, true])
    const { text } = await get(at(post))
    expect(text.split('class="comment internal"')).toHaveLength(6)
    const empty = await send(at(post, '/comments'), { body: ' ', is_internal: 'true' })
    expect([empty.status, empty.text.includes('href="#field-body-note"')]).toEqual([422, true])
  })

  it('offers only what changes something, and unblocks the author for those who may block', async () => {
    const { site, author, wish, get, send, at } = await open(engine)
    const post = await wish('Cheap watches')
    const guard = await site.member([
      'dashboard:read',
      'post:destroy',
      'comment:update:any',
      'board:read',
      'user:block',
    ])
    const verbs = async (token = guard.token, of = post) => Array.from((await get(at(of), token)).text.matchAll(/name="one" value="(\w+) /g), ([, verb]) => verb) // prettier-ignore
    expect(await verbs()).toEqual(['keep', 'spam', 'block', 'snooze'])
    await send(at(post), { one: `spam ${post.postId} ${post.updatedAt}` }, guard.token)
    expect(await verbs(), 'it is hidden').toEqual(['keep', 'block'])
    const waits = await wish('More watches')
    await site.db.updateTable('posts').set({ is_spam: 1 }).where('postId', '=', waits.postId).execute()
    expect(await verbs(guard.token, waits), 'hidden, but nobody has decided').toEqual([
      'keep',
      'spam',
      'block',
      'snooze',
    ])
    await site.call(users.block, { user: author.userId })
    expect(await verbs(), 'its author is blocked').toEqual(['keep'])
    const { user } = await site.call(users.show, { user: author.userId })
    const unblock = `/dashboard/users/${user.username}/unblock`
    expect((await get(at(post), guard.token)).text).toContain(`action="${unblock}"`)
    expect((await get(at(post))).text, 'they may not block').not.toContain(`action="${unblock}"`)
    const done = await send(unblock, { to: at(post) }, guard.token)
    expect(done.headers.location).toBe(`${at(post)}?done=unblocked`)
    expect((await get(at(post), guard.token)).text).not.toContain(`action="${unblock}"`)
    const profile = async (token: string) => (await get(`/users/${user.username}`, token)).text.includes(`href="/dashboard/users/${user.username}"`) // prettier-ignore
    const reader = await site.member(['dashboard:read', 'user:read'])
    expect([await profile(guard.token), await profile(reader.token)], 'a link only where it leads somewhere').toEqual([false, true]) // prettier-ignore
  })

  it('shows a report at the next request to moderators alone, and the reporter sees that it is reviewed', async () => {
    const { site, author, wish, get, send, at } = await open(engine)
    const post = await wish('Cheap watches')
    const [reporter, reader] = [await site.member([]), await site.member(['dashboard:read'])]
    await get(at(post))
    await send('/posts/1/report', { reason: 'Only advertising' }, reporter.token)
    const { user } = await site.call(users.show, { user: reporter.userId })
    for (const path of ['/dashboard', at(post)]) {
      const { text } = await get(path)
      expect([text.includes('Only advertising'), plain(text).includes(`Reported by ${user.name || user.username}`)]).toEqual([true, true]) // prettier-ignore
    }
    for (const [path, token] of [
      [at(post), reader.token],
      [`/posts/${post.slug}`, author.token],
      [`/posts/${post.slug}`, reporter.token],
    ] as const)
      // prettier-ignore
      expect((await get(path, token)).text).not.toContain('Only advertising')
    expect((await get(`/posts/${post.slug}`, reporter.token)).text).toContain('Reported by you')
    const kept = await send(at(post), { one: `keep ${post.postId} ${post.updatedAt}` })
    expect(kept.headers.location).toMatch(/done=decidedKeep\.1&undo=/)
    expect((await get(at(post))).text).not.toContain('Only advertising')
    const seen = (await get(`/posts/${post.slug}`, reporter.token)).text
    expect([seen.includes('Reviewed by the team'), seen.includes('Reported by you'), seen.includes(`/posts/${post.slug}/report"`)]).toEqual([true, false, true]) // prettier-ignore
    expect((await get(`/posts/${post.slug}`, author.token)).text).not.toContain('Reviewed by the team')
  })

  it('adds and removes the vote of somebody else where the site allows it', async () => {
    const { site, author, wish, get, send, at } = await open(engine)
    const post = await wish('Dark mode')
    const eve = await site.member([])
    expect((await get(at(post))).text).not.toContain('name="user_id"')
    await site.call(labs.update, { voteOnBehalf: true })
    const { user } = await site.call(users.show, { user: eve.userId })
    expect((await get(at(post))).text).toContain('name="user_id"')
    expect((await send(at(post, '/vote'), { user_id: ` ${user.username} ` })).headers.location).toBe(`${at(post)}?done=voteAdded#voters`) // prettier-ignore
    const count = async () => (await site.call(posts.show, { id: post.postId })).post.voters.votesCount
    expect(await count()).toBe(2)
    const again = await send(at(post, '/vote'), { user_id: user.username })
    expect([again.status, again.text.includes('role="alert"')]).toEqual([409, true])
    await send(at(post, '/unvote'), { user_id: author.userId })
    expect(await count()).toBe(1)
  })

  it('pins and locks the post for who may change posts', async () => {
    const { site, wish, get, send, at } = await open(engine)
    const post = await wish('Dark mode')
    const reader = await site.member(['dashboard:read'])
    expect((await get(at(post), reader.token)).text).not.toContain('name="locked"')
    expect((await get(at(post))).text).toContain(`action="${at(post, '/rules')}"`)
    const rules = async () => {
      const { pinned, locked } = (await site.call(posts.show, { id: post.postId })).post
      return [pinned, locked]
    }
    const set = await send(at(post, '/rules'), { pinned: 'true', locked: 'votes' })
    expect([set.headers.location, await rules()]).toEqual([`${at(post)}?done=saved`, [true, 'votes']])
    expect((await get(at(post))).text).toMatch(/name="pinned" value="true" checked[^]*value="votes" selected/)
    await send(at(post, '/rules'), { locked: 'none' })
    expect(await rules()).toEqual([undefined, undefined])
    const [, seen = ''] = /name="ifUpdatedAt" value="([^"]+)"[^]*name="pinned"/.exec((await get(at(post))).text) ?? []
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    await site.call(posts.update, { id: post.postId, pinned: true, partial: true })
    const older = await send(at(post, '/rules'), { locked: 'votes', ifUpdatedAt: seen })
    expect([older.status, await rules()]).toEqual([409, [true, undefined]])
    await site.call(posts.update, { id: post.postId, pinned: false, partial: true })
    expect((await send(at(post, '/rules'), { pinned: 'true', locked: 'all' }, reader.token)).status).toBe(403)
    expect(await rules()).toEqual([undefined, undefined])
  })

  it('goes on with the neighbours of the filter, also where the post has left it', async () => {
    const { site, wish, get, at } = await open(engine)
    const made = [await wish('One'), await wish('Two'), await wish('Three')]
    const list = '/dashboard/posts?board=ideas&sort=oldest'
    const links = Array.from((await get(list)).text.matchAll(/href="(\/dashboard\/posts\/[^"?]+\?from=[^"]+)"/g), ([, to = '']) => to.replaceAll('&amp;', '&')) // prettier-ignore
    expect(links).toHaveLength(3)
    const around = async (path: string) => {
      const { text } = await get(path)
      return ['prev', 'next'].map((rel) => new RegExp(`rel="${rel}" href="/dashboard/posts/([^?"]+)`).exec(text)?.[1])
    }
    const [one, two, three] = made.map(({ slug }) => slug)
    expect(await around(links[1] ?? '')).toEqual([one, three])
    expect(await around(links[0] ?? '')).toEqual([undefined, two])
    await site.call(posts.update, { id: made[1]?.postId, boardId: 'bugs', partial: true })
    expect(await around(links[1] ?? '')).toEqual([one, three])
    expect(await around(at(made[1]!, '?from=//evil.example'))).toEqual([undefined, undefined])
    expect((await get(links[1] ?? '')).text).toContain('href="/dashboard/posts?board=ideas&amp;sort=oldest"')
    const question = (await get(`${links[1]}`.replace('?', '/delete?'))).text
    expect([question.includes('This also deletes'), question.includes('name="to" value="/dashboard/posts?board=ideas')]).toEqual([true, true]) // prettier-ignore
  })
})

it('keys lead to the menu, the fields and the neighbours, and the focus is never lost', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const moderator = await site.member([...MODERATOR])
  for (const title of ['One', 'Two']) await site.call(posts.create, { title })
  const { page } = await visit({ viewport: WIDE })
  await page.context().addCookies([{ name: 'feedbackctl', value: moderator.token, url: site.url }])
  await page.goto(`${site.url}/dashboard/posts?sort=oldest`)
  await page.keyboard.press('o')
  await page.locator('.post-columns').waitFor()
  const focused = () => page.evaluate(() => [document.activeElement?.tagName, document.activeElement?.id])
  await page.keyboard.press('n')
  expect(await focused()).toEqual(['TEXTAREA', 'field-body-note'])
  await page.keyboard.type('mnr]e')
  await page.locator('h1').click()
  await page.keyboard.press('m')
  expect(await focused()).toEqual(['BUTTON', ''])
  await page.keyboard.press('Enter')
  await page.locator('.flash').waitFor()
  expect([await page.innerText('.panels .chip.status'), (await focused())[0]]).toEqual([expect.stringContaining('Planned'), 'DIV']) // prettier-ignore
  await page.keyboard.press('u')
  await expect.poll(() => page.innerText('.flash')).toContain('taken back')
  await page.keyboard.press(']')
  await expect.poll(() => page.innerText('h1')).toBe('Two')
  await page.keyboard.press('[')
  await expect.poll(() => page.innerText('h1')).toBe('One')
  await page.keyboard.press('?')
  expect(await page.locator('dialog[open] kbd').allInnerTexts()).toEqual([']', 'c', 'm', 'r', 'n', '#', 'u', '?'])
  await page.keyboard.press('Escape')
  await page.keyboard.press('c')
  await page.locator('.post-form').waitFor()
  await page.fill('#field-title', 'One more')
  await page.click('.post-form .buttons .primary')
  await page.locator('.post-columns').waitFor()
  expect([await page.innerText('h1'), new URL(page.url()).pathname.startsWith('/dashboard/posts/one-more')]).toEqual(['One more', true]) // prettier-ignore
})

it('names to mention are offered as on the page of visitors, once somebody writes', async () => {
  const site = await serveSite('sqlite')
  const [owner, { userId }] = [await site.owner(), await site.member()]
  const { post } = await site.callAs({ ...operator, userId })(posts.create, { title: 'Wish' })
  const { page } = await visit()
  await page.context().addCookies([{ name: 'feedbackctl', value: owner, url: site.url }])
  const loaded: string[] = []
  page.on('request', (request) => void loaded.push(new URL(request.url()).pathname))
  await page.goto(`${site.url}/dashboard/posts/${post.slug}`, { waitUntil: 'networkidle' })
  expect(loaded.filter((path) => path.includes('/mentions.'))).toEqual([])
  await page.locator('#field-body').pressSequentially('Thanks, @')
  await page.locator('#people li[data-username]').first().click()
  expect(await page.inputValue('#field-body')).toMatch(/^Thanks, @\S+ $/)
})

it('weighs at most 20 kB at the first visit, and 10 kB later', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  const server = machine.start('serve') // of what is built, as people get it
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const send = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect([path, response.status]).toEqual([path, 201])
    return (await response.json()) as { post: { postId: string; slug: string } }
  }
  for (const name of ['Planned', 'In progress', 'Done']) await send('roadmaps', { name, display: true })
  const slugs: string[] = []
  for (let number = 1; number <= 2; number++) {
    const { post } = await send('posts', { title: `Wish ${number}`, contentMarkdown: 'Some words. '.repeat(40) })
    for (let count = 0; count < 20; count++) await send(`posts/${post.postId}/comments`, { body: `Some words about it, number ${count}` }) // prettier-ignore
    slugs.push(post.slug)
  }
  const { page } = await visit()
  await page.context().addCookies([{ name: 'feedbackctl', value: token, url }])
  let sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => void sizes.push(request.sizes().then(({ responseBodySize: body, responseHeadersSize: head }) => body + head))) // prettier-ignore
  const weigh = async (slug = '') => {
    sizes = []
    await page.goto(`${url}/dashboard/posts/${slug}`, { waitUntil: 'networkidle' })
    expect(await page.locator('.comment').count()).toBeGreaterThan(19)
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }
  const [first, later] = [await weigh(slugs[0]), await weigh(slugs[1])]
  expect([first, later].map((bytes, index) => bytes > 1000 && bytes <= [20_000, 10_000][index]!)).toEqual([true, true]) // prettier-ignore
})
