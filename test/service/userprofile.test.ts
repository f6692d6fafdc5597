import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import * as boards from '../../src/service/boards.js'
import * as moderation from '../../src/service/moderation.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, type Engine } from '../support/site.js'

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine, { rates: {} })
  const owner = await site.owner()
  const eve = await site.member([], { email: 'eve@example.org' })
  const bob = await site.member([], { email: 'bob@example.org' })
  const team = await site.member(['dashboard:read'])
  for (const [name, display, voters] of [
    ['Open', true, true],
    ['Quiet', true, false],
    ['Secret', false, true],
  ] as const)
    await site.call(boards.create, { name, url: name.toLowerCase(), display, view_voters: voters })
  const post = async (title: string, board: string | null, token = eve.token) => {
    const { body } = await site.http('POST /posts', { token, body: { title, ...(board && { boardId: board }) } })
    return body.post as { postId: string; slug: string }
  }
  const read = async (path: string, token?: string) => {
    const { status, body } = await site.http(`GET /users/${eve.userId}/${path}`, {
      ...(token !== undefined && { token }),
    })
    return { status, body }
  }
  const titles = async (token?: string) =>
    ((await read('votes', token)).body.posts as { title: string }[]).map(({ title }) => title)
  const said = async (token?: string) =>
    ((await read('comments', token)).body.activity as { comment: { body: string } }[]).map(
      ({ comment }) => comment.body,
    )
  const say = (on: string | undefined, body: string) =>
    site.http(`POST /posts/${on}/comments`, { token: eve.token, body: { body } })
  const profile = async (token?: string) => (await read('profile', token)).body.profile
  const choose = (body: object) => site.http('PATCH /users/profile', { token: eve.token, body })
  return { site, owner, eve, bob, team, post, read, titles, said, say, profile, choose }
}

describe.each(engines)('the profile of a person on %s', (engine) => {
  it('has what everybody can see of their posts, votes and comments, and no more', async () => {
    const { site, owner, eve, bob, team, post, titles, said, say, profile } = await makeWorld(engine)
    await post('Mine', 'open')
    const voted: Record<string, string> = {}
    for (const board of ['open', 'quiet', 'secret']) {
      const { postId } = await post(`Of ${board}`, board, owner)
      voted[board] = postId
      await site.db.insertInto('votes').values({ voteId: newId(), userId: eve.userId, postId, createdAt: '2026-01-01T00:00:00.000Z' }).execute() // prettier-ignore
    }
    await say(voted.open, 'aloud')
    const { id } = (await say(voted.open, 'spam here')).body.activity
    await site.call(moderation.decide, { id, decision: 'spam' })
    await site.db.insertInto('comments').values({ id: '01a00000-0000-7000-8000-0000000000aa', post_id: voted.open ?? '', author_id: eve.userId, body: 'internal', is_internal: 1, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }).execute() // prettier-ignore
    await site.db.insertInto('comments').values({ id: '01a00000-0000-7000-8000-0000000000ab', post_id: voted.secret ?? '', author_id: eve.userId, body: 'secret', is_internal: 0, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }).execute() // prettier-ignore

    expect(await titles()).toEqual(['Of open', 'Mine'])
    expect(await titles(bob.token)).toEqual(['Of open', 'Mine'])
    expect(await titles(team.token), 'as on the pages of posts').toEqual(['Of quiet', 'Of open', 'Mine'])
    expect(await titles(eve.token), 'people know their own').toEqual(['Of quiet', 'Of open', 'Mine'])
    expect(await titles(owner)).toEqual(['Of secret', 'Of quiet', 'Of open', 'Mine'])
    expect(await said()).toEqual(['aloud'])
    expect(await said(eve.token)).toEqual(['aloud'])
    expect(await said(owner)).toEqual(['aloud', 'secret'])
    expect(await profile()).toMatchObject({ isHidden: false, posts: 1, votes: 2, comments: 1, shows: { profile: true, votes: true, comments: true } }) // prettier-ignore
    expect(await profile(owner)).toMatchObject({ posts: 1, votes: 4, comments: 2 })
    expect(JSON.stringify(await profile())).not.toContain('@example.org')
  })

  it('counts comments that everybody sees, however many came after that few see', async () => {
    const { site, eve, post, said, say, profile } = await makeWorld(engine)
    const { postId } = await post('Mine', 'open')
    await say(postId, 'aloud')
    const later = '2099-01-01T00:00:00.000Z'
    const rows = Array.from({ length: 1100 }, (_, at) => ({ id: `7fffffff-0000-7000-8000-${String(at).padStart(12, '0')}`, post_id: postId, author_id: eve.userId, body: 'x', is_internal: at % 3 === 0 ? 1 : 0, is_spam: at % 3, created_at: later, updated_at: later })) // prettier-ignore
    await site.db.insertInto('comments').values(rows).execute()
    expect(await said()).toEqual(['aloud'])
    expect(await profile()).toMatchObject({ comments: 1 })
  })

  it('shows others what the person chose', async () => {
    const { eve, team, bob, post, titles, said, say, profile, choose } = await makeWorld(engine)
    const { postId } = await post('Mine', 'open')
    await say(postId, 'aloud')
    expect((await choose({ showVotes: false })).body.user).toMatchObject({ showProfile: true, showVotes: false, showComments: true }) // prettier-ignore
    expect([await titles(bob.token), await said(bob.token)]).toEqual([[], ['aloud']])
    expect(await profile()).not.toHaveProperty('votes')
    expect(await profile()).toMatchObject({ posts: 1, comments: 1, shows: { votes: false } })
    await choose({ showComments: false, showVotes: true })
    expect([await titles(), await said()]).toEqual([['Mine'], []])
    await choose({ showProfile: false, showComments: true })
    const hidden = await profile()
    expect(hidden).toEqual({ user: expect.objectContaining({ userId: eve.userId }), isHidden: true, shows: { profile: false, votes: true, comments: true } }) // prettier-ignore
    expect([await titles(), await said()]).toEqual([[], []])
    for (const token of [eve.token, team.token])
      expect([await titles(token), await said(token)]).toEqual([['Mine'], ['aloud']])
    expect(await profile(team.token)).toMatchObject({ isHidden: false, posts: 1, votes: 1, comments: 1 })
  })

  it('of who is blocked shows the name alone, and of who is gone or never came nothing', async () => {
    const { site, owner, eve, team, profile, post, read } = await makeWorld(engine)
    await post('Mine', 'open')
    await site.call(users.block, { user: eve.userId })
    expect(await profile()).toMatchObject({ isHidden: true, shows: { profile: false } })
    expect(await profile()).not.toHaveProperty('isBlocked')
    expect(await profile(team.token)).toMatchObject({ isHidden: false, isBlocked: true, posts: 1 })
    await site.call(users.remove, { user: eve.userId })
    for (const path of ['profile', 'votes', 'comments'])
      expect([path, await read(path)]).toEqual([path, expect.objectContaining({ status: 404 })])
    expect((await site.http('GET /users/deleted/profile')).status).toBe(404)

    const { user } = await site.call(users.create, { email: 'late@example.org', name: 'Late', invite: false })
    const of = async (token?: string) => (await site.http(`GET /users/${user.username}/profile`, { ...(token && { token }) })).status // prettier-ignore
    expect([await of(), await of(team.token)]).toEqual([404, 200])
    await site.db.insertInto('votes').values({ voteId: newId(), userId: user.userId, postId: (await post('Other', 'open', owner)).postId, createdAt: '2026-01-01T00:00:00.000Z' }).execute() // prettier-ignore
    expect(await of()).toBe(200)
    expect((await site.http('GET /users/late@example.org/profile')).status).toBe(404)
  })

  it('is read page by page', async () => {
    const { site, post, eve, owner } = await makeWorld(engine)
    for (let number = 1; number <= 5; number++) await post(`Post ${number}`, 'open')
    const page = async (query: string) => {
      const { body } = await site.http(`GET /users/${eve.userId}/votes?limit=2&${query}`, { token: owner })
      return { titles: body.posts.map(({ title }: { title: string }) => title), ...body }
    }
    expect(await page('page=2')).toMatchObject({ titles: ['Post 3', 'Post 2'], total_count: 5, total_pages: 3 })
    const { page_info } = await page('')
    expect((await page(`after=${page_info.end_cursor}`)).titles).toEqual(['Post 3', 'Post 2'])
    expect((await page('page=9')).titles).toEqual([])
  })

  it('keeps the choices in the export of the account', async () => {
    const { site, eve, choose } = await makeWorld(engine)
    await choose({ showVotes: false })
    const { body } = await site.http('GET /users/profile/data', { token: eve.token })
    expect(body.profile).toMatchObject({ showProfile: true, showVotes: false, showComments: true })
  })
})
