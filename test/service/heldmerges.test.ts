import { describe, expect, it } from 'vitest'
import { DRY_RUN_HEADER } from '../../src/core/wire.js'
import type { Permission } from '../../src/core/permissions.js'
import { HELD } from '../../src/core/hidden.js'
import { newId } from '../../src/core/ids.js'
import { insertComment } from '../../src/db/comments.js'
import { connect } from '../../src/db/connect.js'
import { keepPost } from '../../src/db/posts/row.js'
import { miscounts } from '../../src/db/recount.js'
import { notifications as job } from '../../src/jobs/notifications.js'
import * as boards from '../../src/service/boards.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as settings from '../../src/service/settings.js'
import { cleanup } from '../support/cleanup.js'
import { storeImage } from '../support/images.js'
import { untilLocked } from '../support/locks.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const TEAM: Permission[] = [
  'dashboard:read',
  'post:update',
  'post:destroy',
  'comment:update:any',
  'comment:create_internal',
  'comment:view_internal',
  'board:read',
]
const [TITLE, TEXT] = ['Nocturnal wardrobe theme', 'Zebracake for tired eyes']
const SECRET = /nocturnal|wardrobe|zebracake/i

/** A site that holds first posts, with a shown post of the owner. */
async function makeHolding(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: 'http://localhost', rates: {} })
  const owner = await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  await site.call(settings.update, { holdFirstPosts: true })
  const { post: shown } = await site.call(posts.create, { title: 'Dark mode', boardId: 'ideas' })
  const [author, other, team] = [await site.member([]), await site.member([]), await site.member(TEAM)]
  const create = async (title = TITLE, token = author.token, boardId = 'ideas', contentMarkdown = TEXT) => {
    site.clock.now = new Date(site.clock.now.getTime() + 1000)
    return (await site.http('POST /posts', { token, body: { title, contentMarkdown, boardId } })).body.post
  }
  const merge = async (post: { postId: string }, into: { postId: string } = shown, token = team.token) =>
    (await site.http('POST /posts/merge', { token, body: { ids: [post.postId], into: into.postId } })).body
  const unmerge = async (post: { postId: string }, token = team.token) =>
    (await site.http('POST /posts/unmerge', { token, body: { ids: [post.postId] } })).body
  const items = async () => (await site.http('GET /moderation', { token: team.token })).body.items
  const keep = (post: { postId: string }) => site.http(`POST /moderation/${post.postId}`, { token: team.token, body: { decision: 'keep' } }) // prettier-ignore
  const votes = async () => (await site.http('POST /posts/slug', { body: { id: shown.postId } })).body.post.voters.votesCount // prettier-ignore
  const { run } = job({ mail: null })
  const log = { info() {}, warn() {}, error() {} }
  const told = async ({ token }: { token: string }) => {
    await run({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })
    return (await site.http('GET /notifications', { token })).body.notifications
  }
  return { site, owner, shown, author, other, team, create, merge, unmerge, items, keep, votes, told }
}
type World = Awaited<ReturnType<typeof makeHolding>>
interface Named {
  postId: string
  slug: string
  number: number
}

/** What a person may ask for about two posts, each answer a text. */
async function everything({ site, shown }: World, held: Named, token: string | undefined) {
  const found: string[] = []
  const json = async (request: string, body?: unknown) => {
    const { status, text, headers } = await site.http(request, { token, body })
    found.push(`${status} ${text} ${String(headers.location)}`)
  }
  const html = async (path: string) => {
    const { status, text } = await site.http(`GET /${path}`, { headers: { accept: 'text/html', ...(token && { cookie: `feedbackctl=${token}` }) } }) // prettier-ignore
    return `${status} ${text}`
  }
  await json('POST /posts/get', {})
  await json('GET /export/posts')
  await json('GET /comments')
  for (const word of ['zebracake', 'wardrobe']) {
    await json('POST /posts/get', { query: word })
    expect((await site.http('POST /posts/get', { token, body: { query: word } })).body.total_count).toBe(0)
    expect(await html(`/search?q=${word}`)).not.toContain(shown.slug)
    const { posts: alike } = (await site.http(`GET /posts/similar?title=${word}`, { token })).body
    expect(alike).toEqual([])
  }
  for (const { postId, number } of [shown, held])
    for (const id of [postId, String(number)]) {
      await json('POST /posts/slug', { id })
      for (const part of ['merged', 'history', 'activity', 'votes', 'follow']) await json(`GET /posts/${id}/${part}`)
    }
  for (const path of [
    '/',
    '/feed.atom',
    '/sitemap.xml',
    '/boards/ideas',
    '/boards/ideas/feed.atom',
    `/posts/${shown.slug}`,
    `/posts/${shown.slug}/feed.atom`,
    `/posts/${held.number}`,
  ])
    // prettier-ignore
    found.push(await html(path))
  found.push((await html(`/posts/${held.slug}`)).replaceAll(held.slug, '')) // which the address has
  return found
}

describe.each(engines)('a held post that is merged on %s', (engine) => {
  it('leaves the inbox in one step, its vote counts, and its author is told once', async () => {
    const world = await makeHolding(engine)
    const { site, shown, author, create, merge, items, votes, told } = world
    const held = await create()
    await told(author)
    const before = await votes()
    const { outcomes, changed } = await merge(held)
    expect([changed, outcomes[0].error]).toEqual([1, undefined])
    expect(await items()).toEqual([])
    expect(await votes()).toBe(before + 1)
    expect(await told(author)).toMatchObject([{ kind: 'merged', post: { number: shown.number }, merged: { number: held.number, title: TITLE } }]) // prettier-ignore
    expect((await site.http('POST /posts/slug', { body: { id: held.postId } })).body.post.postId).toBe(shown.postId)
    expect((await create('Another wish')).is_held, 'nothing of theirs is published yet').toBe(true)
    expect(await miscounts(site.db)).toEqual([])
  })

  it('shows its title and text to the team alone, merged or taken back', async () => {
    const world = await makeHolding(engine)
    const { site, other, team, shown, create, merge, unmerge } = world
    const held = await create()
    const check = async (when: string) => {
      for (const token of [undefined, other.token]) {
        const shows = (await everything(world, held, token)).filter((text) => SECRET.test(text))
        expect({ when, shows }).toEqual({ when, shows: [] })
      }
    }
    await check('held')
    await merge(held)
    await check('merged')
    const listed = async (token?: string) => (await site.http(`GET /posts/${shown.postId}/merged`, { token })).body
    expect(await listed()).toMatchObject({ merged: [] })
    expect(await listed(team.token)).toMatchObject({ merged: [{ title: TITLE, contentMarkdown: TEXT }] })
    const writer = await site.member(['post:update'])
    expect((await unmerge(held, writer.token)).outcomes).toMatchObject([{ error: { code: 'POST_NOT_FOUND' } }])
    expect((await merge(held, shown, writer.token)).outcomes).toMatchObject([{ title: null, error: { code: 'POST_NOT_FOUND' } }]) // prettier-ignore
    await unmerge(held)
    await check('taken back')
  })

  it('shows the images of its text to its author and the team alone', async () => {
    const { site, shown, author, other, team, create, merge, unmerge } = await makeHolding(engine)
    const { path, markdown } = await storeImage(site.db, { userId: author.userId })
    const held = await create(TITLE, author.token, 'ideas', `${TEXT} ${markdown}`)
    const looks = async () => Promise.all([undefined, other.token, (await site.member(['post:update'])).token, author.token, team.token].map(async (token) => (await site.http(`GET /${path}`, { token })).status)) // prettier-ignore
    expect(await looks()).toEqual([404, 404, 404, 200, 200])
    await merge(held)
    expect(await looks()).toEqual([404, 404, 404, 200, 200])
    const { post: root } = await site.call(posts.create, { title: 'Night colours', boardId: 'ideas' })
    await site.call(merges.merge, { ids: [shown.postId], into: root.postId })
    expect(await looks(), 'merged on').toEqual([404, 404, 404, 200, 200])
    await unmerge(held)
    expect(await looks()).toEqual([404, 404, 404, 200, 200])
  })

  it('is held again once the merge is taken back, whatever was merged or decided since', async () => {
    const { site, other, team, shown, create, merge, unmerge, items, keep, votes } = await makeHolding(engine)
    const held = await create()
    const before = await votes()
    const status = async () => (await site.http('POST /posts/slug', { token: other.token, body: { id: held.postId } })).status // prettier-ignore
    const { undo } = await merge(held)
    expect((await site.http(`POST /undo/${undo.undo_id}`, { token: team.token, body: {} })).body.changed).toBe(1)
    expect([await status(), await votes()]).toEqual([404, before])
    expect(await items()).toMatchObject([{ id: held.postId, is_held: true, reasons: ['new'] }])
    const { post: root } = await site.call(posts.create, { title: 'Night colours', boardId: 'ideas' })
    await merge(held)
    await site.call(merges.merge, { ids: [shown.postId], into: root.postId })
    expect((await site.http(`GET /posts/${root.postId}/merged`)).body.merged).toMatchObject([{ postId: shown.postId }])
    await site.call(settings.update, { holdFirstPosts: false })
    await unmerge(held)
    expect(await status()).toBe(404)
    expect((await items()).map(({ id }: { id: string }) => id)).toEqual([held.postId])
    await keep(held)
    expect(await status()).toBe(200)
    await merge(held, root)
    expect((await site.http(`GET /posts/${root.postId}/merged`)).body.merged, 'it was published').toMatchObject([{ title: TITLE }, {}]) // prettier-ignore
    expect(await miscounts(site.db)).toEqual([])
  })

  it('is refused where others would see more by it, and for those who may not decide', async () => {
    const { site, shown, team, create, merge } = await makeHolding(engine)
    await site.call(boards.create, { name: 'Vault', display: false })
    const [held, spam] = [await create(), await create('Cheap watches')]
    await site.http(`POST /moderation/${spam.postId}`, { token: team.token, body: { decision: 'spam' } })
    const why = async (...given: Parameters<typeof merge>) => (await merge(...given)).outcomes[0].error
    expect(await why(spam)).toMatchObject({ code: 'MERGE_REFUSED', message: expect.stringContaining('is hidden') })
    expect(await why(shown, held)).toMatchObject({ code: 'MERGE_REFUSED', message: expect.stringContaining(`#${held.number} is hidden or waits for a look. Publish it first.`) }) // prettier-ignore
    const second = await create('Other words')
    expect(await why(second, held)).toMatchObject({ code: 'MERGE_REFUSED', message: expect.stringContaining(`#${held.number} is hidden or waits for a look. Publish it first.`) }) // prettier-ignore
    const reader = await site.member(['post:update', 'board:read'])
    expect(await why(held, shown, reader.token)).toMatchObject({ code: 'MERGE_REFUSED' })
    await site.call(posts.update, { id: second.postId, boardId: 'vault', partial: true })
    expect(await why(second)).toMatchObject({ code: 'MERGE_REFUSED', message: expect.stringContaining('private board') }) // prettier-ignore
  })

  it.each([
    ['its author alone, whoever of the team followed it or voted for it', 1, () => undefined],
    ['nobody where its author chose not to follow it', 0, ({ site, author }: World, { postId }: Named) => site.http(`DELETE /posts/${postId}/follow`, { token: author.token })], // prettier-ignore
    ['nobody where its author follows nothing that they write or vote for', 0, ({ site, author }: World) => site.http('PATCH /notifications/settings', { token: author.token, body: { followsAuthored: false, followsVoted: false } })], // prettier-ignore
  ] as const)('tells %s, as the question before says', async (_whom, count, before) => {
    const world = await makeHolding(engine)
    const { site, shown, author, other, team, create, merge, told } = world
    const held = await create()
    const reader = await site.member(TEAM)
    for (const token of [reader.token, team.token]) {
      await site.http('POST /votes', { token, body: { postId: held.postId } })
      await site.http(`PUT /posts/${held.postId}/follow`, { token, body: {} })
    }
    await site.http(`PUT /posts/${shown.postId}/follow`, { token: other.token, body: {} })
    await before(world, held)
    await told(author)
    const { audience } = (await site.http(`GET /posts/${held.postId}/audience?into=${shown.postId}`, { token: team.token })).body // prettier-ignore
    expect((await merge(held)).changed).toBe(1)
    const found = []
    for (const person of [author, reader, other, team]) {
      const news: { kind: string }[] = await told(person)
      found.push(news.filter(({ kind }) => kind === 'merged').length)
    }
    expect([audience.people, found]).toEqual([count, [count, 0, 0, 0]])
    const { id } = await site.db.selectFrom('events').select('id').where('action', '=', 'post.merged').executeTakeFirstOrThrow() // prettier-ignore
    const people = async (isTold: boolean) => (await site.http(`GET /events/${id}/people?told=${isTold}`, { token: team.token })).body.people // prettier-ignore
    expect((await people(true)).map(({ userId }: { userId: string }) => userId)).toEqual(count === 1 ? [author.userId] : []) // prettier-ignore
    expect((await people(false)).some(({ userId }: { userId: string }) => userId === reader.userId)).toBe(false)
  })

  it.each([
    ['a comment', { body: 'About zebracake' }],
    ['an internal note', { body: 'About zebracake', is_internal: true }],
    ['a comment that is held too', { body: 'About zebracake' }, 'author'],
  ] as const)('is published first where it has %s', async (_what, body, by: 'team' | 'author' = 'team') => {
    const world = await makeHolding(engine)
    const { site, shown, team, author, create, merge, items } = world
    const { post: older } = await site.call(posts.create, { title: TITLE, boardId: 'ideas' })
    const held = await create()
    const [mergeable, repeats] = [
      { number: older.number },
      async () => (await items()).find(({ id }: { id: string }) => id === held.postId).repeats,
    ]
    expect(await repeats()).toMatchObject({ ...mergeable, is_mergeable: true })
    const { status } = await site.http(`POST /posts/${held.postId}/comments`, { token: world[by].token, body })
    expect(status).toBe(201)
    const { outcomes } = await merge(held)
    expect(outcomes[0].error).toEqual({ code: 'MERGE_REFUSED', message: expect.stringMatching(/has comments or internal notes.* Publish it first\.$/), reason: 'merge-commented' }) // prettier-ignore
    expect(await repeats()).toMatchObject({ ...mergeable, is_mergeable: false })
    expect((await site.http(`GET /posts/${shown.postId}/activity`, { token: team.token })).text).not.toMatch(SECRET)
    expect((await site.http(`GET /posts/${held.postId}/activity`, { token: author.token })).status).toBe(200)
  })

  it('is offered for a merge only where that is not refused, as everything that waits', async () => {
    const { site, shown, team, author, create, items } = await makeHolding(engine)
    const [plain, noted, reported, spam] = [await create('One'), await create('Two'), await create('Three'), await create('Four')] // prettier-ignore
    await site.http(`POST /posts/${noted.postId}/comments`, { token: team.token, body: { body: 'Hm', is_internal: true } }) // prettier-ignore
    await site.http(`POST /moderation/${reported.postId}`, { token: team.token, body: { decision: 'keep' } })
    await site.http(`POST /posts/${reported.postId}/report`, { token: author.token, body: {} })
    await site.http(`POST /moderation/${spam.postId}`, { token: team.token, body: { decision: 'spam' } })
    const judge = await site.member(TEAM.filter((each) => each !== 'post:update'))
    const offered: (string | undefined)[] = []
    for (const { token } of [team, judge])
      for (const { id, may, post } of (
        await site.http('GET /moderation?reasons=new&reasons=reported&reasons=spam', { token })
      ).body.items) {
        const { body } = await site.http('POST /posts/merge', { token, body: { ids: [id], into: shown.postId }, headers: { [DRY_RUN_HEADER]: '1' } }) // prettier-ignore
        expect([post.title, may.includes('merge')]).toEqual([post.title, body.changed === 1])
        if (may.includes('merge')) offered.push(post.title)
      }
    expect(offered).toEqual(['One'])
    expect((await items()).length).toBe(3)
    const editor = await site.member(['post:update', 'board:read'])
    const told = async ({ postId }: Named, { token }: { token: string }) => {
      const { post } = (await site.http('POST /posts/slug', { token, body: { id: postId } })).body
      return [post.may.includes('merge'), post.merge_refused]
    }
    for (const [post, forTeam, forEditor] of [
      [plain, [true, undefined], [false, 'merge-hidden']],
      [noted, [false, 'merge-commented'], [false, 'merge-hidden']],
      [reported, [false, 'merge-reported'], [false, 'merge-reported']],
      [spam, [false, 'merge-hidden'], [false, 'merge-hidden']],
      [shown, [true, undefined], [true, undefined]],
    ] as const)
      expect([post.title, await told(post, team), await told(post, editor), await told(post, judge)]).toEqual([post.title, forTeam, forEditor, [false, undefined]]) // prettier-ignore
    const see = async (path: string) => (await site.http(`GET /${path}`, { headers: { accept: 'text/html', cookie: `feedbackctl=${team.token}` } })).text // prettier-ignore
    const inbox = await see('/dashboard')
    for (const { slug } of [plain, noted, reported, spam]) {
      const is = slug === plain.slug
      expect([slug, inbox.includes(`/posts/${slug}/merge`)]).toEqual([slug, is])
      for (const page of [`/dashboard/posts/${slug}`, `/posts/${slug}`])
        expect([page, (await see(page)).includes(`href="/posts/${slug}/merge`)]).toEqual([page, is])
    }
    for (const [{ slug }, reason] of [
      [noted, 'has comments or internal notes. Publish it first.'],
      [reported, 'has open reports. Decide on them first.'],
    ] as const)
      for (const page of [`/dashboard/posts/${slug}`, `/posts/${slug}`, `/posts/${slug}/merge`])
        expect([page, (await see(page)).includes(reason)]).toEqual([page, true])
    for (const page of [`/dashboard/posts/${plain.slug}`, `/posts/${plain.slug}`]) {
      await site.http(`POST /posts/${plain.postId}/comments`, { token: team.token, body: { body: 'Hm', is_internal: true } }) // prettier-ignore
      expect([page, (await see(page)).includes('has comments or internal notes')]).toEqual([page, true])
    }
  })

  it('can be merged until it is reported, and again once that is decided, as every answer about it says', async () => {
    const { site, shown, author, team } = await makeHolding(engine)
    const may = async () => {
      const { post } = (await site.http('POST /posts/slug', { token: team.token, body: { id: shown.postId } })).body
      const { posts } = (await site.http('POST /posts/get', { token: team.token, body: {} })).body
      const page = (await site.http(`GET //posts/${shown.slug}`, { headers: { accept: 'text/html', cookie: `feedbackctl=${team.token}` } })).text // prettier-ignore
      return [post.may, posts[0].may].map((each) => each.includes('merge')).concat(page.includes(`/posts/${shown.slug}/merge`)) // prettier-ignore
    }
    expect(await may()).toEqual([true, true, true])
    await site.http(`POST /posts/${shown.postId}/report`, { token: author.token, body: {} })
    expect(await may()).toEqual([false, false, false])
    await site.http(`POST /moderation/${shown.postId}`, { token: team.token, body: { decision: 'keep' } })
    expect(await may()).toEqual([true, true, true])
  })

  it('is published first where somebody comments on it as it is merged', async () => {
    const { site, shown, author, team, create, merge } = await makeHolding(engine)
    const held = await create()
    const beside = await connect(site.databaseUrl)
    cleanup(() => beside.destroy())
    let answering: ReturnType<typeof merge> | undefined
    await beside.transaction().execute(async (db) => {
      await keepPost(db, held.postId)
      const at = site.clock.now.toISOString()
      await insertComment(db, { id: newId(), parent_id: null, body: 'About zebracake', post_id: held.postId, author_id: author.userId, is_internal: 0, is_spam: HELD, official: null, roadmap_id: null, created_at: at, updated_at: at }, []) // prettier-ignore
      await untilLocked(engine, site.db, () => (answering = merge(held)))
    })
    expect((await answering)?.outcomes).toMatchObject([{ error: { code: 'MERGE_REFUSED' } }])
    expect((await site.http(`GET /posts/${shown.postId}/activity`, { token: team.token })).text).not.toMatch(SECRET)
  })

  it('is named as a repeat of an older one, which is offered once that is published', async () => {
    const { site, other, team, create, merge, items, keep } = await makeHolding(engine)
    const [older, newer, newest] = [await create(), await create(TITLE, other.token), await create(TITLE, (await site.member([])).token)] // prettier-ignore
    const repeatsOf = async ({ postId }: Named) => (await items()).find(({ id }: { id: string }) => id === postId)?.repeats // prettier-ignore
    expect(await repeatsOf(older)).toBeUndefined()
    for (const post of [newer, newest])
      expect(await repeatsOf(post)).toMatchObject({ number: older.number, is_held: true, is_private: false, is_mergeable: false }) // prettier-ignore
    const page = async () => (await site.http('GET //dashboard', { headers: { accept: 'text/html', cookie: `feedbackctl=${team.token}` } })).text // prettier-ignore
    const first = await page()
    expect(first.split(`May repeat #${older.number}`).length).toBe(3)
    expect(first).not.toMatch(/<button[^>]*data-key="i"/)
    expect(first).toContain(`href="/posts/${newer.slug}/merge?to=`)
    await keep(older)
    expect(await repeatsOf(newer)).toMatchObject({ number: older.number, is_mergeable: true })
    expect((await repeatsOf(newer)).is_held).toBeUndefined()
    const offered = /formaction="([^"]+)" name="into" value="(\d+)"/.exec((await page()).replaceAll('&amp;', '&'))
    const [, path = '', into = ''] = offered ?? []
    const headers = { accept: 'text/html', cookie: `feedbackctl=${team.token}`, origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' } // prettier-ignore
    const done = await site.http(`POST /${path}`, { headers, body: `into=${into}` })
    expect([done.status, done.headers.location]).toEqual([303, expect.stringMatching(/^\/dashboard\?done=merged/)])
    await merge(newer, older)
    await merge(newest, older)
    expect((await items()).some(({ is_held: isHeld }: { is_held?: boolean }) => isHeld)).toBe(false)
  })

  it('is known to the team by its words once it is merged, and so is a post that a remembered one was merged into', async () => {
    const { site, shown, other, create, merge, items } = await makeHolding(engine)
    const merged = await create('Glaze the zebracake')
    await merge(merged, shown)
    const next = await create('Glaze the zebracake', other.token)
    const repeatsOf = async ({ postId }: Named) => (await items()).find(({ id }: { id: string }) => id === postId)?.repeats // prettier-ignore
    expect(await repeatsOf(next)).toMatchObject({ number: shown.number, is_mergeable: true })
    const { post: published } = await site.call(posts.create, { title: TITLE, boardId: 'ideas' })
    const latest = await create(TITLE, (await site.member([])).token)
    expect(await repeatsOf(latest)).toMatchObject({ number: published.number })
    await merge(published, shown)
    expect(await repeatsOf(latest)).toMatchObject({ number: shown.number })
  })
})
