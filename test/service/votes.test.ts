import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const OWNER_LOGIN = { email: OWNER.email, password: OWNER.password }

/** A site with one post of the owner, who has voted for it. */
async function withPost(engine: (typeof engines)[number], { board }: { board?: string } = {}) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  if (board) await site.call(boards.create, { name: board })
  const { post } = await site.call(posts.create, { title: 'Dark mode', ...(board && { boardId: board.toLowerCase() }) })
  return { site, owner, post, path: `/posts/${post.postId}/votes` }
}

const events = async (site: TestSite) =>
  (await site.db.selectFrom('events').selectAll().orderBy('id').execute()).map(
    ({ action, subject_id: id, actor_id: actor, origin }) => [action, id, actor, origin],
  )
const labs = (site: TestSite, on: boolean) =>
  site.db
    .updateTable('settings')
    .set({ labs: JSON.stringify({ voteOnBehalf: on }) })
    .execute()

describe.each(engines)('votes on %s', (engine) => {
  describe('POST and DELETE /votes', () => {
    it('cast one vote and withdraw it, each with an event', async () => {
      const { site, post } = await withPost(engine)
      const { token, userId } = await site.member()
      const before = (await events(site)).length
      const cast = await site.http('POST /votes', { token, body: { postId: post.postId, userId: 'ignored' } })
      expect(cast.status).toBe(201)
      expect(cast.body).toEqual({
        voters: {
          votes: [
            expect.objectContaining({ userId, postId: post.postId, name: 'Member' }),
            expect.objectContaining({ name: 'Ada' }),
          ],
          votesCount: 2,
          viewerVote: { voteId: expect.any(String), userId, postId: post.postId, createdAt: expect.any(String) },
        },
      })
      const again = await site.http('POST /votes', { token, body: { postId: post.slug } })
      expect([again.status, again.body.code, again.headers['x-should-retry']]).toEqual([409, 'VOTE_EXISTS', 'false'])
      const back = await site.http('DELETE /votes', { token, body: { postId: post.postId } })
      expect(back.status).toBe(200)
      expect(back.body).toEqual({ voters: { votes: [expect.objectContaining({ name: 'Ada' })], votesCount: 1 } })
      const gone = await site.http('DELETE /votes', { token, body: { postId: post.postId } })
      expect([gone.status, gone.body.code]).toEqual([404, 'VOTE_NOT_FOUND'])
      expect((await events(site)).slice(before)).toEqual([
        ['post.voted', post.postId, userId, 'http'],
        ['post.unvoted', post.postId, userId, 'http'],
      ])
    })

    it.each([
      ['POST /votes', 'vote:create', 201],
      ['DELETE /votes', 'vote:destroy', 404],
    ] as const)(
      '%s is refused to visitors, blocked members and members without %s; 404 comes first',
      async (request, permission, done) => {
        const { site, post } = await withPost(engine)
        const outcome = async (token: string | undefined, postId: unknown = post.postId) =>
          (await site.http(request, { token, body: { postId } })).body.code ?? done
        const others = permission === 'vote:create' ? (['vote:destroy'] as const) : (['vote:create'] as const)
        const without = await site.member([...others], { everyone: false })
        const allowed = await site.member([permission], { everyone: false })
        const blocked = await site.member([], { blocked: true })
        expect(await outcome(undefined)).toBe('INVALID_AUTH_HEADER')
        expect(await outcome(blocked.token)).toBe('USER_BLOCK')
        expect(await outcome(without.token)).toBe('NOT_ENOUGH_PERMISSION')
        for (const id of [newId(), 'nonsense', null, 5, ''])
          expect(await outcome(without.token, id)).toBe('POST_NOT_FOUND')
        expect(await outcome(allowed.token)).toBe(done === 201 ? 201 : 'VOTE_NOT_FOUND')
      },
    )
  })

  describe('GET /posts/:post_id/votes', () => {
    it('lists voters newest first, by cursor and by number', async () => {
      const { site, path } = await withPost(engine)
      const people: string[] = []
      for (let number = 0; number < 4; number++) {
        site.clock.now = new Date(site.clock.now.getTime() + 1000)
        const { token, userId } = await site.member()
        people.unshift(userId)
        await site.http('POST /votes', { token, body: { postId: path.split('/')[2] } })
      }
      const { body } = await site.http(`GET ${path}`)
      expect(body.votes.results.map((vote: { user: { userId: string } }) => vote.user.userId).slice(0, 4)).toEqual(
        people,
      )
      expect(Object.keys(body.votes.results[0])).toEqual(['voteId', 'user', 'createdAt'])
      expect(Object.keys(body.votes.results[0].user)).toEqual(['userId', 'name', 'username', 'avatar'])
      expect(body.votes).toMatchObject({
        total_count: 5,
        total_pages: 1,
        page_info: { count: 5, current_page: null, has_next_page: false },
      })
      expect(body.votes).not.toHaveProperty('viewerVote')
      const seen: string[] = []
      let after = ''
      for (let page = 1; page <= 3; page++) {
        const { votes } = (await site.http(`GET ${path}?first=2${after}`)).body
        expect(votes.page_info).toMatchObject({ current_page: page === 1 ? null : page, has_next_page: page < 3 })
        seen.push(...votes.results.map((vote: { voteId: string }) => vote.voteId))
        after = `&after=${votes.page_info.end_cursor}`
      }
      expect(seen).toEqual(body.votes.results.map((vote: { voteId: string }) => vote.voteId))
      expect((await site.http(`GET ${path}?page=3&limit=2`)).body.votes.results).toHaveLength(1)
    })

    it('shows the viewer their own vote', async () => {
      const { site, path, owner } = await withPost(engine)
      expect((await site.http(`GET ${path}`, { token: owner })).body.votes.viewerVote).toMatchObject({
        user: { name: 'Ada' },
      })
    })

    it.each(['first=0', 'after=', 'after=nonsense', `after=${newId()}`, 'limit=101'])('refuses %s', async (query) => {
      const { site, path } = await withPost(engine)
      expect((await site.http(`GET ${path}?${query}`)).body.code).toBe('VALIDATION_ERROR')
    })

    it('refuses the cursor of another post', async () => {
      const { site, path, owner } = await withPost(engine)
      const { post: other } = (await site.http('POST /posts', { token: owner, body: { title: 'Other' } })).body
      const { votes } = (await site.http(`GET /posts/${other.postId}/votes`)).body
      expect((await site.http(`GET ${path}?after=${votes.page_info.end_cursor}`)).body.code).toBe('VALIDATION_ERROR')
    })

    it('answers 404 for an unknown post', async () => {
      const { site } = await withPost(engine)
      for (const id of [newId(), 'nonsense'])
        expect((await site.http(`GET /posts/${id}/votes`)).body.code).toBe('POST_NOT_FOUND')
    })

    it('lists no voters where the board hides them, except to the team; the count stays', async () => {
      const { site, path, post, owner } = await withPost(engine, { board: 'Ideas' })
      await site.call(boards.update, { boardId: 'ideas', view_voters: false, partial: true })
      const { token, userId } = await site.member()
      await site.http('POST /votes', { token, body: { postId: post.postId } })
      for (const viewer of [undefined, token]) {
        const { body, text } = await site.http(`GET ${path}`, { token: viewer })
        expect(body.votes).toMatchObject({ results: [], total_count: 2, page_info: { count: 0, has_next_page: false } })
        expect(text).not.toContain('Ada')
        const [listed] = (await site.http('POST /posts/get', { token: viewer })).body.posts
        expect([listed.voters.votes, listed.voters.votesCount]).toEqual([[], 2])
      }
      expect((await site.http(`GET ${path}`, { token })).body.votes.viewerVote.user.userId).toBe(userId)
      await site.call(boards.remove, { boardId: 'ideas' }) // the post outlives it, and its voters stay hidden
      expect((await site.http(`GET ${path}`)).body.votes).toMatchObject({ results: [], total_count: 2 })
      const team = await site.member(['dashboard:read'])
      for (const viewer of [owner, team.token])
        expect((await site.http(`GET ${path}`, { token: viewer })).body.votes.results).toHaveLength(2)
    })
  })

  describe('on behalf of a person', () => {
    it('casts and withdraws the vote of a person, by id, e-mail address or user name', async () => {
      const { site, path, post } = await withPost(engine)
      await labs(site, true)
      const eve = await site.member([], { email: 'eve@example.org' })
      const { token } = await site.member(['vote:assign', 'vote:unassign'])
      const owner = (await site.http('POST /auth/login', { body: OWNER_LOGIN })).body.user.authToken
      const cast = await site.http(`POST ${path}/${eve.userId}`, { token })
      expect([cast.status, cast.body]).toEqual([
        200,
        {
          vote: {
            voteId: expect.any(String),
            user: { userId: eve.userId, name: 'Member', username: expect.any(String), avatar: expect.any(String) },
          },
        },
      ])
      expect((await site.http(`POST ${path}/eve@example.org`, { token: owner })).body.code).toBe('VOTE_EXISTS')
      // Only the owner finds people by address
      expect((await site.http(`POST ${path}/eve@example.org`, { token })).body.code).toBe('USER_NOT_FOUND')
      expect((await site.http(`DELETE ${path}/${cast.body.vote.user.username}`, { token })).status).toBe(202)
      expect((await site.http(`DELETE ${path}/${eve.userId}`, { token })).body.code).toBe('VOTE_NOT_FOUND')
      expect((await site.http(`POST ${path}/${newId()}`, { token })).body.code).toBe('USER_NOT_FOUND')
      expect((await events(site)).slice(-2).map(([action, id]) => [action, id])).toEqual([
        ['post.voted', post.postId],
        ['post.unvoted', post.postId],
      ])
    })

    it.each(['POST', 'DELETE'] as const)('%s: no post, then the labs, then the permission', async (method) => {
      const { site, path } = await withPost(engine)
      const plain = await site.member()
      const blocked = await site.member(['vote:assign', 'vote:unassign'], { blocked: true })
      const code = async (token?: string, to = path) =>
        (await site.http(`${method} ${to}/${plain.userId}`, { token })).body.code
      expect(await code()).toBe('INVALID_AUTH_HEADER')
      expect(await code(blocked.token)).toBe('USER_BLOCK')
      expect(await code(plain.token, `/posts/${newId()}/votes`)).toBe('POST_NOT_FOUND')
      expect(await code(plain.token)).toBe('LABS_DISABLED')
      await labs(site, true)
      expect(await code(plain.token)).toBe('NOT_ENOUGH_PERMISSION')
    })
  })
})
