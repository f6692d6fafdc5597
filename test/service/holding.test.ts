import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as boards from '../../src/service/boards.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as settings from '../../src/service/settings.js'
import { miscounts } from '../../src/db/recount.js'
import { notifications as job } from '../../src/jobs/notifications.js'
import type { Notification } from '../../src/service/notifications.js'
import type { NotifiedSummary } from '../../src/service/told.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const DAY_MS = 24 * 60 * 60_000
const TEAM: Permission[] = ['dashboard:read', 'post:destroy', 'comment:update:any', 'board:read']

/** A site that holds first posts, with a shown post of the owner, and a new person. */
async function makeHolding(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
  const owner = await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  await site.call(settings.update, { holdFirstPosts: true })
  const { post: shown } = await site.call(posts.create, { title: 'Dark mode', boardId: 'ideas' })
  const [author, other, team] = [await site.member([]), await site.member([]), await site.member(TEAM)]
  const create = async (title: string, token = author.token) =>
    (await site.http('POST /posts', { token, body: { title, contentMarkdown: 'Buy watches', boardId: 'ideas' } })).body.post // prettier-ignore
  const comment = async (body: string, token = author.token, on = shown.postId) =>
    (await site.http(`POST /posts/${on}/comments`, { token, body: { body } })).body.activity
  const decide = (id: string, decision: string) =>
    site.http(`POST /moderation/${id}`, { token: team.token, body: { decision } })
  const waiting = async () => (await site.http('GET /moderation', { token: team.token })).body.items
  return { site, owner, shown, author: author.token, other: other.token, team: team.token, create, comment, decide, waiting } // prettier-ignore
}

const page = (site: TestSite, path: string, token?: string) =>
  site.http(`GET /${path}`, { headers: { accept: 'text/html', ...(token && { cookie: `feedbackctl=${token}` }) } })

/** Everything that a person can ask for about posts, as one text. */
async function everything(
  site: TestSite,
  token: string | undefined,
  post: { postId: string; slug: string; number: number },
) {
  // prettier-ignore
  const found: string[] = []
  const ask = async (request: string, body?: unknown) => {
    const { status, text } = await site.http(request, { token, body })
    found.push(`${request} ${status} ${text}`)
  }
  await ask('POST /posts/get', {})
  await ask('POST /posts/get', { query: 'watches' })
  await ask('GET /posts/search/watches')
  await ask('GET /export/posts')
  for (const id of [post.postId, post.slug, String(post.number)]) {
    await ask('POST /posts/slug', { id })
    await ask(`GET /posts/${id}/activity`)
    await ask(`GET /posts/${id}/history`)
    await ask('POST /votes', { postId: id })
    await ask(`POST /posts/${id}/report`, {})
    await ask(`POST /posts/${id}/comments`, { body: 'Me too' })
  }
  for (const path of [
    '/',
    '/feed.atom',
    '/sitemap.xml',
    '/boards/ideas',
    '/boards/ideas/feed.atom',
    '/?query=watches',
    '/search?query=watches',
    `/posts/${post.slug}`,
    `/posts/${post.slug}/feed.atom`,
    '/posts/similar?title=watches',
  ]) {
    // prettier-ignore
    const { status, text } = await page(site, path, token)
    found.push(`${path} ${status} ${text}`)
  }
  return found
}

describe.each(engines)('the first post of a new person on %s', (engine) => {
  it('is told to its author once it is kept, and once alone', async () => {
    const { site, owner, shown, author, other, team, create, comment, decide } = await makeHolding(engine)
    const { run: handle } = job({ mail: null })
    const log = { info() {}, warn() {}, error() {} }
    const told = async (token = author) => {
      await handle({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })
      const { notifications: rows } = (await site.http('GET /notifications', { token })).body
      return rows.map(({ kind, post: { title }, comment: about }: Notification) => [kind, about?.body ?? title].join(' ')) // prettier-ignore
    }
    await told()
    await site.http(`POST /posts/${shown.postId}/report`, { token: other, body: {} })
    const [post, spam] = [await create('Watches'), await create('Spam')]
    const [remark, second] = [await comment('Hello', other), await comment('Again', other)]
    await site.http('POST /moderation', { token: team, body: { decision: 'spam', ids: [spam.postId] } })
    const keep = { token: team, body: { decision: 'keep', ids: [post.postId, remark.id, second.id] } }
    const { undo } = (await site.http('POST /moderation', keep)).body
    await site.http(`POST /undo/${undo.undo_id}`, { token: team, body: {} })
    expect([await told(), await told(other)], 'taken back at once').toEqual([[], []])
    const reports = async ({ postId }: { postId: string }) =>
      (await site.http(`GET /posts/${postId}/notifications`, { token: owner })).body.told.map(({ kind, is_held: isHeld }: NotifiedSummary) => [kind, isHeld]) // prettier-ignore
    expect([await reports(post), await reports(shown)], 'nobody reported what is held').toEqual([
      [['report', true]],
      [['report', true], ['report', true], ['report', undefined]],
    ]) // prettier-ignore
    const about = (await page(site, `/dashboard/posts/${post.slug}`, owner)).text
    expect(about).toMatch(/<strong>Waits for a look<\/strong>/)
    expect(about).not.toContain('<strong>Report</strong>')
    await site.http('POST /moderation', keep)
    expect([await told(), await told(other)]).toEqual([['published Watches'], ['published Again', 'published Hello']])
    const news = (await page(site, '/notifications', author)).text.replaceAll(/[\u2066-\u2069]/g, '')
    expect(news).toContain('What you wrote on “Watches” is published')
    await decide(post.postId, 'reopen')
    await decide(post.postId, 'keep')
    await decide(spam.postId, 'keep')
    expect(await told(), 'neither twice, nor what was shown or hidden before').toEqual(['published Watches'])
  })

  it('is shown at once, unless the site holds it', async () => {
    const { site, shown, other, create, comment } = await makeHolding(engine)
    await site.call(settings.update, { holdFirstPosts: false })
    expect(await create('Cheap watches')).not.toHaveProperty('is_held')
    expect((await comment('Nice')).comment).not.toHaveProperty('is_held')
    expect((await site.http('GET /settings/site')).body.settings.holdFirstPosts).toBe(false)
    // One that was merged into another was not hidden
    const { postId } = await create('Night theme', other)
    await site.call(merges.merge, { ids: [postId], into: shown.postId })
    await site.call(settings.update, { holdFirstPosts: true })
    expect(await create('Fewer mails', other)).not.toHaveProperty('is_held')
  })

  it('is nowhere for others, while its author sees it with a note', async () => {
    const { site, author, other, create } = await makeHolding(engine)
    const post = await create('Cheap watches')
    expect(post.is_held).toBe(true)
    for (const token of [undefined, other])
      for (const text of await everything(site, token, post)) expect(text).not.toMatch(/Cheap watches|Buy watches/)
    for (const token of [undefined, other]) {
      expect((await site.http('POST /posts/slug', { token, body: { id: post.postId } })).body.code).toBe('POST_NOT_FOUND') // prettier-ignore
      expect((await page(site, `/posts/${post.slug}`, token)).status).toBe(404)
    }
    expect((await site.http('GET /boards')).body.boards).toMatchObject([{ post_count: '1' }])
    expect((await site.http('POST /posts/get', { body: {} })).body.total_count).toBe(1)
    const own = await page(site, `/posts/${post.slug}`, author)
    expect(own.status).toBe(200)
    expect(own.text).toContain('Waits for a look')
    expect(own.text).toContain('Until then, only you and the team see it.')
    expect((await site.http('POST /posts/slug', { token: author, body: { id: post.number.toString() } })).body.post).toMatchObject({ is_held: true }) // prettier-ignore
    expect(await miscounts(site.db)).toEqual([])
  })

  it('waits in the inbox as new, however old, until it is kept; then nothing more of its author waits', async () => {
    const { site, team, create, comment, decide, waiting } = await makeHolding(engine)
    const post = await create('Cheap watches')
    const second = await create('More watches')
    expect(second.is_held, 'none of them is shown yet').toBe(true)
    const before = new Date(site.clock.now.getTime() - 20 * DAY_MS).toISOString()
    await site.db.updateTable('posts').set({ createdAt: before }).where('postId', '=', post.postId).execute()
    expect(await waiting()).toMatchObject([
      { id: second.postId, reasons: ['new'], is_held: true, is_spam: false },
      { id: post.postId, reasons: ['new'] },
    ])
    expect((await site.http('GET /moderation/count', { token: team })).body).toMatchObject({ total: 2, reasons: { new: 2, spam: 0 } }) // prettier-ignore
    expect((await page(site, '/dashboard/inbox', team)).text).not.toContain('Nothing waits')
    expect((await decide(post.postId, 'keep')).status).toBe(200)
    expect((await site.http('POST /posts/get', { body: {} })).body.total_count).toBe(2)
    expect((await page(site, `/posts/${post.slug}`)).text).not.toContain('Waits for a look')
    expect((await site.http('GET /boards')).body.boards).toMatchObject([{ post_count: '2' }])
    expect(await create('Third watches')).not.toHaveProperty('is_held')
    expect((await comment('Me too')).comment).not.toHaveProperty('is_held')
    expect((await decide(second.postId, 'spam')).body.decided).toMatchObject({ is_spam: true })
    expect((await waiting()).filter((item: { is_held?: boolean }) => item.is_held)).toEqual([])
    expect(await miscounts(site.db)).toEqual([])
  })

  it('stays held whatever its author does with it', async () => {
    const { site, author, other, create, comment } = await makeHolding(engine)
    const post = await create('Cheap watches')
    for (const change of [{ title: 'Cheaper watches' }, { boardId: null }, { boardId: 'ideas' }]) {
      const changed = await site.http('PATCH /posts', { token: author, body: { id: post.postId, partial: true, ...change } }) // prettier-ignore
      expect(changed.body.post).toMatchObject({ is_held: true })
      expect((await site.http('POST /posts/slug', { token: other, body: { id: post.postId } })).status).toBe(404)
    }
    const activity = await comment('Buy watches')
    expect(activity.comment).toMatchObject({ is_held: true, is_spam: false })
    const [shown] = (await site.http('POST /posts/get', { body: {} })).body.posts
    const at = `/posts/${shown.postId}/comments/${activity.id}`
    const edited = await site.http(`PUT ${at}`, { token: author, body: { body: 'Buy them', is_spam: false } })
    expect(edited.body.comment).toMatchObject({ body: 'Buy them', is_held: true })
    expect(await miscounts(site.db)).toEqual([])
  })

  it('is undone with a decision about many', async () => {
    const { site, team, create, comment, waiting } = await makeHolding(engine)
    const [post, activity] = [await create('Cheap watches'), await comment('Buy')]
    for (const decision of ['keep', 'spam']) {
      const { body } = await site.http('POST /moderation', { token: team, body: { decision, ids: [post.postId, activity.id] } }) // prettier-ignore
      expect((await waiting()).filter((item: { is_held?: boolean }) => item.is_held)).toEqual([])
      expect((await site.http(`POST /undo/${body.undo.undo_id}`, { token: team })).status).toBe(200)
      expect((await waiting()).map((item: { is_held?: boolean }) => item.is_held)).toEqual([true, true])
      expect((await site.http('POST /posts/get', { body: {} })).body.total_count).toBe(1)
    }
    await site.http(`POST /moderation/${post.postId}`, { token: team, body: { decision: 'keep' } })
    await site.http(`POST /moderation/${post.postId}`, { token: team, body: { decision: 'reopen', is_held: true } })
    expect(await waiting()).toHaveLength(2)
    expect(await miscounts(site.db)).toEqual([])
  })

  it('is a comment too, which only its author and the team see', async () => {
    const { site, author, other, team, shown, comment, decide } = await makeHolding(engine)
    const activity = await comment('Buy watches here')
    const listed = async (token?: string) => (await site.http(`GET /posts/${shown.postId}/activity`, { token })).body.activity // prettier-ignore
    for (const token of [undefined, other]) {
      expect(await listed(token)).toEqual([])
      expect((await site.http(`GET /comments/${activity.id}`, { token })).status).toBe(404)
      for (const path of [`/posts/${shown.slug}`, `/posts/${shown.slug}/feed.atom`])
        expect((await page(site, path, token)).text).not.toContain('Buy watches here')
    }
    expect(await listed(author)).toMatchObject([{ comment: { is_held: true } }])
    expect(await listed(team)).toMatchObject([{ comment: { is_held: true } }])
    expect((await site.http('POST /posts/slug', { body: { id: shown.postId } })).body.post.commentsCount).toBe(0)
    expect((await page(site, `/posts/${shown.slug}`, author)).text).toContain('Waits for a look')
    expect((await decide(activity.id, 'keep')).status).toBe(200)
    expect(await listed()).toMatchObject([{ id: activity.id }])
    expect(await miscounts(site.db)).toEqual([])
  })

  it('is not held where the team writes it', async () => {
    const { owner, team, create, comment } = await makeHolding(engine)
    for (const token of [owner, team]) {
      expect(await create('News', token)).not.toHaveProperty('is_held')
      expect((await comment('News', token)).comment).not.toHaveProperty('is_held')
    }
  })

  it('says on the page that it waits', async () => {
    const { site, author, shown } = await makeHolding(engine)
    const send = (path: string, form: Record<string, string>) =>
      site.http(`POST /${path}`, {
        headers: { accept: 'text/html', cookie: `feedbackctl=${author}`, origin: SITE, 'content-type': 'application/x-www-form-urlencoded' }, // prettier-ignore
        body: new URLSearchParams(form).toString(),
      })
    const posted = await send('/posts/new', { title: 'Cheap watches', checked: 'yes' })
    expect(posted.headers.location).toMatch(/^\/posts\/cheap-watches-\w+\?done=postedHeld$/)
    expect((await page(site, String(posted.headers.location), author)).text).toContain('Your post waits for a look by the team.') // prettier-ignore
    const commented = await send(`/posts/${shown.slug}/comments`, { body: 'Buy' })
    expect(commented.headers.location).toContain('done=commentedHeld')
  })
})
