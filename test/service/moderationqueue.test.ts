import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

async function makeQueue(engine: Engine) {
  const site = await makeSite(engine)
  site.clock.now = new Date('2026-03-02T09:30:00.000Z')
  const [owner, author] = [await site.owner(), await site.member([])]
  for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name })
  const as = site.callAs({ ...operator, userId: author.userId })
  const later = (ms: number) => (site.clock.now = new Date(site.clock.now.getTime() + ms)).toISOString()
  const items = async (query = '', token = owner) =>
    (await site.http(`GET /moderation${query}`, { token })).body.items as moderation.Item[]
  const count = async (token = owner, query = '') => (await site.http(`GET /moderation/count${query}`, { token })).body
  return { site, owner, author, as, later, items, count }
}

describe.each(engines)('what waits on %s', (engine) => {
  it('waits since its first open report, else since it was edited or written', async () => {
    const { site, owner, author, as, later, items } = await makeQueue(engine)
    const written = site.clock.now.toISOString()
    const { post } = await as(posts.create, { title: 'Dark mode', boardId: 'ideas' })
    const waits = async () => (await items()).map(({ waiting_since: since }) => since)
    expect(await waits()).toEqual([written])
    const reported = later(HOUR_MS)
    const [one, other] = [await site.member([]), await site.member([])]
    await site.http(`POST /posts/${post.number}/report`, { token: one.token, body: {} })
    later(HOUR_MS)
    await site.http(`POST /posts/${post.number}/report`, { token: other.token, body: {} })
    expect(await waits()).toEqual([reported])
    await site.http(`POST /moderation/${post.number}`, { token: owner, body: { decision: 'keep' } })
    const edited = later(HOUR_MS)
    await site.http('PATCH /posts', { token: author.token, body: { id: post.postId, title: 'Darker', partial: true } })
    expect(await waits()).toEqual([edited])
  })

  it('counts what was decided in the last seven days, of each kind for those who decide about it', async () => {
    const { site, owner, as, later, count } = await makeQueue(engine)
    const { post } = await as(posts.create, { title: 'Dark mode', boardId: 'ideas' })
    const { activity } = await as(comments.create, { post_id: post.postId, body: 'A word' })
    const ofComments = await site.member(['comment:update:any'])
    const decided = async (token = owner) => (await count(token)).decided
    const decide = (id: string, decision: string) =>
      site.http(`POST /moderation/${id}`, { token: owner, body: { decision } })
    expect(await decided()).toBe(0)
    await decide(post.postId, 'keep')
    await decide(activity.id, 'spam')
    expect([await decided(), await decided(ofComments.token)]).toEqual([2, 1])
    await decide(post.postId, 'reopen')
    expect(await decided()).toBe(1)
    later(8 * 24 * HOUR_MS)
    expect((await site.call(moderation.count, { days: 7 })).decided).toBe(0)
    await site.call(moderation.decide, { id: post.postId, decision: 'keep' })
    expect((await site.call(moderation.count, { days: 7 })).decided).toBe(1)
  })

  it('is shown one by one, with its author, and after a decision without a reason', async () => {
    const { site, owner, author, as, later } = await makeQueue(engine)
    const joined = site.clock.now.toISOString()
    later(HOUR_MS)
    const { post } = await as(posts.create, { title: 'Dark mode', boardId: 'ideas' })
    const { activity } = await as(comments.create, { post_id: post.postId, body: 'A word' })
    const show = async (id: string | number, token = owner) =>
      (await site.http(`GET /moderation/${id}`, { token })).body
    expect((await show(post.number)).item).toMatchObject({
      id: post.postId,
      kind: 'post',
      reasons: ['new'],
      author_account: { created_at: joined, posts: 1, is_verified: expect.any(Boolean) },
      reports: [],
    })
    expect((await show(activity.id)).item).toMatchObject({ id: activity.id, kind: 'comment', reasons: ['new'] })
    const reader = await site.member([])
    await site.http(`POST /posts/${post.number}/report`, { token: reader.token, body: { reason: 'x' } })
    expect((await show(post.slug)).item.reasons.toSorted()).toEqual(['new', 'reported'])
    await site.http(`POST /moderation/${post.number}`, { token: owner, body: { decision: 'keep' } })
    const { item } = await show(post.number)
    expect([item.reasons, item.reports, item.waiting_since]).toEqual([[], [], item.created_at])
    const weak = await site.member(['comment:update:any'])
    expect([(await show(post.number, weak.token)).code, (await show(post.number, author.token)).code]).toEqual(['NOT_ENOUGH_PERMISSION', 'NOT_ENOUGH_PERMISSION']) // prettier-ignore
    expect([(await show(activity.id, weak.token)).item.id, (await show('nothing')).code]).toEqual([activity.id, 'POST_NOT_FOUND']) // prettier-ignore
  })

  it('is listed for some boards, and for posts without one', async () => {
    const { as, items, site, owner } = await makeQueue(engine)
    for (const boardId of ['ideas', 'bugs', null]) await as(posts.create, { title: `On ${boardId}`, boardId })
    const [post] = (await site.call(posts.list, { boardId: ['bugs'] })).posts
    await as(comments.create, { post_id: post?.postId, body: 'A word' })
    const on = async (query: string) => (await items(query)).map(({ kind, post: { title } }) => `${kind} ${title}`).toSorted() // prettier-ignore
    expect(await on('?boardId=ideas')).toEqual(['post On ideas'])
    expect(await on('?boardId=bugs,none')).toEqual(['comment On bugs', 'post On bugs', 'post On null'])
    expect((await site.http('GET /moderation?boardId=nowhere', { token: owner })).status).toBe(400)
  })

  it('is counted for whoever asks, and counted anew once a row or the hour changes', async () => {
    const { site, owner, as, later, count } = await makeQueue(engine)
    const moderator = await site.member(['comment:update:any'])
    const none = { total: 0, reasons: { new: 0, edited: 0, reported: 0, spam: 0, blocked: 0 }, decided: 0 }
    expect(await count()).toEqual(none)
    const { post } = await as(posts.create, { title: 'Dark mode' })
    later(MINUTE_MS)
    const { activity } = await as(comments.create, { post_id: post.postId, body: 'A word' })
    const one = { ...none, total: 1, reasons: { ...none.reasons, new: 1 } }
    expect([await count(), await count(moderator.token)]).toEqual([
      { ...one, total: 2, reasons: { ...one.reasons, new: 2 } },
      one,
    ])
    await site.http(`POST /moderation/${activity.id}`, { token: moderator.token, body: { decision: 'keep' } })
    const decided = 1
    expect([await count(), await count(moderator.token)]).toEqual([
      { ...one, decided },
      { ...none, decided },
    ])
    await site.call(boards.create, { name: 'Secret', display: false })
    await site.http('PATCH /posts', { token: owner, body: { id: post.postId, boardId: 'secret', partial: true } })
    expect(await count(), 'the owner sees private boards').toEqual({ ...one, decided })
    later(24 * HOUR_MS)
    expect(await count(owner, '?days=1'), 'until the hour ends').toEqual({ ...one, decided })
    later(HOUR_MS)
    expect([await count(owner, '?days=1'), await count()]).toEqual([
      { ...none, decided },
      { ...one, decided },
    ])
  })
})
