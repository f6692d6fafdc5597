import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

/** Twelve posts on three boards, one of them private, half of them on a roadmap; and three people. */
async function filled(engine: Engine) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  for (const name of ['Ideas', 'Bugs', 'Plans']) await site.call(boards.create, { name, display: name !== 'Plans' })
  await site.call(roadmaps.create, { name: 'Soon', display: true })
  for (const name of ['Web', 'Mobile', 'Unused']) await site.call(tags.create, { name })
  for (let number = 0; number < 12; number++) {
    site.clock.now = new Date(Date.UTC(2026, 2, 3, 10, number))
    const boardId = ['ideas', 'bugs', 'plans'][number % 3]!
    const { post } = await site.call(posts.create, {
      title: `${number % 4 === 0 ? 'Dark' : 'Light'} ${number}`,
      boardId,
    })
    await site.call(posttags.tag, { ids: [post.postId], add: ['web'] })
    if (number % 2 === 0) await site.call(posts.update, { id: post.postId, roadmapId: 'soon', partial: true })
  }
  return {
    site,
    owner,
    team: await site.member(['dashboard:read', 'board:read', 'roadmap:read']),
    other: await site.member(['dashboard:read']),
    guest: await site.member([]),
  }
}

const titles = (body: { posts: { title: string }[] }) => body.posts.map(({ title }) => title)

const listed = async (site: TestSite, token: string | undefined, body: object) =>
  (await site.http('POST /posts/get', { token, body: { limit: 100, ...body } })).body

const save = async (site: TestSite, token: string, body: object) => site.http('POST /views', { token, body })

describe.each(engines)('saved views on %s', (engine) => {
  it('keep the days without a status as they are given, and show nothing to those who may not know', async () => {
    const { site, team, other } = await filled(engine)
    const { body } = await save(site, team.token, { name: 'Late', shared: true, waiting: 1, sort: 'oldest' })
    expect(body.view.filter).toEqual({ waiting: 1, sort: 'oldest' })
    const late = async (token = team.token, given = {}) => listed(site, token, { view: 'late', ...given })
    expect((await late()).posts).toEqual([])
    site.clock.now = new Date(Date.UTC(2026, 2, 4, 11, 30))
    expect(titles(await late())).toEqual(['Light 1', 'Light 3', 'Light 5', 'Light 7', 'Light 9', 'Light 11'])
    expect(titles(await late(team.token, { waiting: 2 }))).toEqual([])
    const refused = await late(other.token)
    expect([refused.posts, refused.view.missing]).toEqual([[], [{ field: 'roadmapIds', value: 'none' }]])
    expect((await save(site, other.token, { name: 'Late too', waiting: 3 })).body.code).toBe('NOT_ENOUGH_PERMISSION')
  })

  it('keep that only spam is shown, and have nothing for those who see none', async () => {
    const { site, team, other } = await filled(engine)
    await site.db.updateTable('posts').set({ is_spam: 1, display: 0 }).where('title', 'like', '%1').execute()
    const { body } = await save(site, team.token, { name: 'Spam', shared: true, spam: true, sort: 'oldest' })
    expect(body.view.filter).toEqual({ spam: true, sort: 'oldest' })
    const spam = async (token: string) => titles(await listed(site, token, { view: 'spam' }))
    expect([(await spam(team.token)).length, await spam(other.token)]).toEqual([expect.toSatisfy((count) => count > 0), []]) // prettier-ignore
  })

  it('keep that only pinned posts are shown', async () => {
    const { site, team } = await filled(engine)
    const { body } = await save(site, team.token, { name: 'Pins', pinned: true })
    expect(body.view.filter).toEqual({ pinned: true })
    expect(titles(await listed(site, team.token, { view: 'pins' }))).toEqual([])
  })

  it('keep how long ago as it is given: it is counted anew each hour', async () => {
    const { site, team } = await filled(engine)
    const { body } = await save(site, team.token, { name: 'Recent', since: '1d', sort: 'oldest' })
    expect(body.view.filter).toEqual({ since: '1d', sort: 'oldest' })
    await save(site, team.token, { name: 'Older', until: '24h', since: '2026-01-01' })
    const [recent, older] = [async () => listed(site, team.token, { view: 'recent' }), async () => listed(site, team.token, { view: 'older' })] // prettier-ignore
    const all = (await recent()).posts.length
    expect([all, (await older()).posts.length]).toEqual([expect.toSatisfy((count) => count > 5), 0])
    site.clock.now = new Date(Date.UTC(2026, 2, 4, 11, 30))
    expect([(await recent()).posts.length, (await older()).posts.length]).toEqual([0, all])
    expect((await listed(site, team.token, { since: '2d' })).posts.length).toBe(all)
    for (const since of ['0d', '3 days', '7x', '7m', '99999999d', 'today'])
      expect((await save(site, team.token, { name: since, since })).body).toMatchObject({ code: 'VALIDATION_ERROR', errors: [{ field: 'since', code: 'INVALID_TIME' }] }) // prettier-ignore
    expect((await listed(site, team.token, { since: '99999y' })).posts.length).toBe(all)
  })

  it('stand for a filter and an order, with the same posts in lists, counts and downloads', async () => {
    const { site, team } = await filled(engine)
    const filter = {
      boardId: ['ideas', 'plans'],
      roadmapIds: ['none'],
      statusKind: ['open'],
      tags: ['web', 'mobile'],
      allTags: ['web'],
      withoutTags: ['unused'],
      query: 'light',
      since: '2026-03-03T10:02:00Z',
    }
    const { status, body } = await save(site, team.token, { name: ' Triage ', sort: 'oldest', ...filter })
    expect([status, body.view]).toMatchObject([201, { name: 'Triage', shared: false, missing: [], may: ['update', 'delete'], filter: { ...filter, sort: 'oldest', since: '2026-03-03T10:02:00.000Z' } }]) // prettier-ignore
    const plain = await listed(site, team.token, { ...filter, sort: 'oldest' })
    expect(plain.total_count).toBeGreaterThan(1)
    for (const view of ['triage', 'TRIAGE', body.view.viewId]) {
      const found = await listed(site, team.token, { view })
      expect(found.view).toEqual({ viewId: body.view.viewId, name: 'Triage', missing: [] })
      expect([titles(found), found.total_count]).toEqual([titles(plain), plain.total_count])
    }
    const facets = async (query: string) => (await site.http(`GET /posts/facets?${query}`, { token: team.token })).body
    const asked = new URLSearchParams({
      ...filter,
      boardId: 'ideas,plans',
      roadmapIds: 'none',
      statusKind: 'open',
      tags: 'web,mobile',
      allTags: 'web',
      withoutTags: 'unused',
    }).toString()
    expect(await facets('view=triage')).toEqual(await facets(asked))
    const { text } = await site.http('GET /export/posts?view=triage&sort=oldest&format=jsonl', { token: team.token })
    expect(text.trim().split('\n').map((line) => JSON.parse(line).title)).toEqual(titles(plain)) // prettier-ignore
    // What is given beside it wins
    const other = await listed(site, team.token, { view: 'triage', sort: 'newest', query: 'dark' })
    expect(titles(other)).toEqual(titles(await listed(site, team.token, { ...filter, query: 'dark' })))
    expect((await listed(site, team.token, { view: 'triage', boardId: [] })).total_count).toBeGreaterThan(
      plain.total_count,
    )
  })

  it('are private, or shared with those who have dashboard:read', async () => {
    const { site, owner, team, other, guest } = await filled(engine)
    const { body } = await save(site, team.token, { name: 'Mine', boardId: ['ideas'] })
    await save(site, team.token, { name: 'Ours', boardId: ['plans', 'ideas'], roadmapIds: ['none'], shared: true })
    const names = async (token: string) =>
      (await site.http('GET /views', { token })).body.views.map((view: { name: string }) => view.name)
    expect([await names(team.token), await names(other.token), await names(owner)]).toEqual([['Mine', 'Ours'], ['Ours'], ['Ours']]) // prettier-ignore
    for (const view of ['mine', body.view.viewId])
      for (const token of [undefined, guest.token, other.token, owner]) {
        const { status, body: answer } = await site.http('POST /posts/get', { token, body: { view } })
        expect([status, answer.code]).toEqual([404, 'VIEW_NOT_FOUND'])
      }
    expect((await site.http('GET /views', { token: guest.token })).status).toBe(403)
    // A private board, and posts without a roadmap, are for those who may see them
    const shown = await listed(site, other.token, { view: 'ours' })
    expect(shown.view.missing.map(({ field }: { field: string }) => field)).toEqual(['boardId', 'roadmapIds'])
    expect([shown.total_count, JSON.stringify(await site.http('GET /views', { token: other.token })).includes('plans')]).toEqual([0, false]) // prettier-ignore
    const mayOf = async (token: string) => (await site.http('GET /views/ours', { token })).body.view.may
    expect([await mayOf(team.token), await mayOf(other.token), await mayOf(owner)]).toEqual([['update', 'delete'], [], ['update', 'delete']]) // prettier-ignore
    for (const request of ['PATCH /views/ours', 'DELETE /views/ours']) {
      const { status, body: refusal } = await site.http(request, { token: other.token, body: {} })
      expect([request, status, refusal.code]).toEqual([request, 403, 'NOT_ENOUGH_PERMISSION'])
    }
    expect((await site.http('DELETE /views/ours', { token: owner })).status).toBe(204)
    const { text } = await site.http('GET /events?created=desc&limit=100', { token: owner })
    expect([text.includes('Ours'), text.includes('Mine')]).toEqual([true, false])
  })

  it('open without what was deleted, and say so; where nothing is left of a choice, no post is shown', async () => {
    const { site, owner, team } = await filled(engine)
    await save(site, team.token, { name: 'Two', boardId: ['ideas', 'bugs'] })
    await save(site, team.token, { name: 'One', boardId: ['ideas'], query: 'light' })
    await save(site, team.token, { name: 'Stage', roadmapIds: ['soon'] })
    const bugs = await listed(site, team.token, { boardId: ['bugs'] })
    const { boardId } = await site.db.selectFrom('boards').select('boardId').where('url', '=', 'ideas').executeTakeFirstOrThrow() // prettier-ignore
    await site.http('PATCH /boards', { token: owner, body: { boardId, name: 'Wishes', url: 'wishes', partial: true } })
    expect((await listed(site, team.token, { view: 'two' })).view.missing).toEqual([])
    await site.http('DELETE /boards', { token: owner, body: { boardId } })
    await site.http('DELETE /roadmaps', { token: owner, body: { id: 'soon' } })
    const missing = [{ field: 'boardId', value: boardId }]
    const two = await listed(site, team.token, { view: 'two' })
    expect([titles(two), two.view.missing]).toEqual([titles(bugs), missing])
    const one = await listed(site, team.token, { view: 'one' })
    expect([one.total_count, one.view.missing]).toEqual([0, missing])
    expect((await listed(site, team.token, { view: 'one', boardId: ['bugs'] })).total_count).toBeGreaterThan(0)
    const stage = await listed(site, team.token, { view: 'stage' })
    expect([stage.total_count, stage.view.missing.length]).toEqual([0, 1])
    const { body } = await site.http('GET /views/two', { token: team.token })
    expect([body.view.filter, body.view.missing]).toEqual([{ boardId: ['bugs'] }, missing])
  })

  it('change: a name, who sees them, single fields, or the whole filter', async () => {
    const { site, team, other } = await filled(engine)
    await save(site, team.token, { name: 'A', boardId: ['ideas'], query: 'dark', voted: true })
    const change = async (body: object, name = 'a') => {
      const { status, body: answer } = await site.http(`PATCH /views/${name}`, { token: team.token, body })
      return status === 200 ? answer.view.filter : answer.code
    }
    expect(await change({ sort: 'votes', query: '' })).toEqual({ boardId: ['ideas'], voted: true, sort: 'votes' })
    expect(await change({ boardId: [], voted: false })).toEqual({ sort: 'votes' })
    expect(await change({ roadmapIds: ['soon'], replace: true })).toEqual({ roadmapIds: ['soon'] })
    expect(await change({ boardId: ['nowhere'] })).toBe('VALIDATION_ERROR')
    await save(site, team.token, { name: 'B' })
    await save(site, other.token, { name: 'C', shared: true })
    expect(await change({ name: 'b' })).toBe('VIEW_EXISTS')
    expect(await change({ name: 'c' })).toEqual({ roadmapIds: ['soon'] })
    expect(await change({ shared: true }, 'c')).toBe('VIEW_EXISTS')
    expect((await save(site, team.token, { name: 'B' })).body.code).toBe('VIEW_EXISTS')
    expect((await save(site, team.token, { name: 'x'.repeat(51) })).status).toBe(400)
  })

  it('are fifty for each person, and shared ones stay when the account is deleted', async () => {
    const { site, team, other } = await filled(engine)
    for (let number = 0; number < 50; number++)
      expect((await save(site, team.token, { name: `View ${number}`, shared: number === 0 })).status).toBe(201)
    const { status, body } = await save(site, team.token, { name: 'One more' })
    expect([status, body.code]).toEqual([409, 'VIEW_LIMIT'])
    await site.call(users.remove, { user: team.userId })
    const { views } = (await site.http('GET /views', { token: other.token })).body
    expect(views).toMatchObject([{ name: 'View 0', user: null, may: [] }])
    expect(await site.db.selectFrom('views').select('name').execute()).toEqual([{ name: 'View 0' }])
  })
})
