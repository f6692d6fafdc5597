import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import * as boards from '../../src/service/boards.js'
import type { Post } from '../../src/service/lib/postshapes.js'
import { engines, makeSite, OWNER } from '../support/site.js'

/** In any order, each once. */
function same(found: string[], expected: string[]): void {
  expect(found).toHaveLength(expected.length)
  expect(new Set(found)).toEqual(new Set(expected))
}

const PASSWORD = 'my own password'

async function withPerson(engine: (typeof engines)[number]) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  const email = 'eve@example.org'
  const { token, userId } = await site.member([], { email, password: PASSWORD })
  const send = async (request: string, body?: object, as = token) => site.http(request, { token: as, body })
  await site.call(boards.create, { name: 'Ideas' })
  const { post } = (await send('POST /posts', { title: 'Mine', contentMarkdown: 'Text', boardId: 'ideas' })).body
  const { post: other } = (await send('POST /posts', { title: 'Other' }, owner)).body
  const { activity } = (await send(`POST /posts/${other.postId}/comments`, { body: 'Me too' })).body
  const { activity: below } = (await send(`POST /posts/${post.postId}/comments`, { body: 'Hello' }, owner)).body
  await send('POST /votes', { postId: other.postId })
  return { site, owner, token, userId, email, post, other, comment: activity, below, send }
}

describe.each(engines)('the data of an account on %s', (engine) => {
  it('are what the person has, and nothing of others or secret', async () => {
    const { site, userId, email, post, other, comment, send } = await withPerson(engine)
    const key = (await send('POST /keys', { name: 'ci' })).body
    const { status, body, headers, text } = await send('GET /users/profile/data')
    expect([status, headers['cache-control'], headers['content-disposition']]).toEqual([200, 'no-store', expect.stringMatching(/^attachment; filename="[\w.-]+\.json"$/)]) // prettier-ignore
    expect(body.profile).toMatchObject({ userId, email, name: 'Member', isOwner: false, posts: '1', votes: '2', hasTotp: false, formerUsernames: [] }) // prettier-ignore
    expect(body.profile).not.toHaveProperty('notes')
    expect(body.posts).toEqual([expect.objectContaining({ postId: post.postId, title: 'Mine', contentMarkdown: 'Text', number: 1, votesCount: 1 })]) // prettier-ignore
    expect(body.comments).toEqual([expect.objectContaining({ id: comment.id, post_id: other.postId, body: 'Me too', is_internal: false })]) // prettier-ignore
    same(
      body.votes.map((vote: { postId: string }) => vote.postId),
      [post.postId, other.postId],
    )
    expect(body.sessions).toEqual([expect.objectContaining({ isCurrent: true })])
    expect(body.keys).toEqual([expect.objectContaining({ keyId: key.key.keyId, name: 'ci' })])
    expect(body.next).toBeNull()
    const { password } = await site.db.selectFrom('users').select('password').where('userId', '=', userId).executeTakeFirstOrThrow() // prettier-ignore
    for (const secret of [password, key.token, 'keyHash', 'Hello', OWNER.email]) expect(text).not.toContain(secret)
    expect((await site.http('GET /users/profile/data')).status).toBe(400)
    const byKey = await site.http('GET /users/profile/data', { token: key.token })
    expect([byKey.status, byKey.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
  })

  it('come whole where they are many, each row once, and no part is asked for', async () => {
    const { site, userId, post, comment, send } = await withPerson(engine)
    const createdAt = site.clock.now.toISOString()
    const others = Array.from({ length: 250 }, (_, index) => ({ postId: newId(), title: `t${index}`, slug: `s${index}`, slugId: `s${index}`, contentMarkdown: null, userId, boardId: null, roadmap_id: null, createdAt, updatedAt: createdAt })) // prettier-ignore
    await site.db.insertInto('posts').values(others).execute()
    const comments = Array.from({ length: 1500 }, () => ({ id: newId(), post_id: post.postId, parent_id: null, author_id: userId, body: 'x', is_internal: 0, created_at: createdAt, updated_at: createdAt })) // prettier-ignore
    await site.db.insertInto('comments').values(comments).execute()
    const { body } = await send('GET /users/profile/data')
    const idsOf = (list: string, id: string) => body[list].map((row: Record<string, string>) => row[id])
    expect([body.profile.userId, body.next]).toEqual([userId, null])
    same(idsOf('posts', 'postId'), [post.postId, ...others.map(({ postId }) => postId)])
    same(idsOf('comments', 'id'), [comment.id, ...comments.map(({ id }) => id)])
    expect([body.votes.length, body.sessions.length]).toEqual([2, 1])
    expect((await send('GET /users/profile/data?after=posts')).body.errors).toMatchObject([
      { code: 'UNKNOWN_FIELD', field: 'after' },
    ])
  })
})

describe.each(engines)('deleting your own account on %s', (engine) => {
  it('needs the password, ends every token, and keeps posts and comments without a name', async () => {
    const { site, token, userId, email, post, other, send } = await withPerson(engine)
    const key = (await send('POST /keys', { name: 'ci' })).body.token
    const second = await site.signIn(userId)
    const refusals = [
      [{}, 400, 'PASSWORD_MISSING'],
      [{ password: 'wrong password' }, 403, 'INCORRECT_PASSWORD'],
      [{ password: PASSWORD, posts: 'some' }, 400, 'VALIDATION_ERROR'],
    ] as const
    for (const [body, status, code] of refusals) {
      const refused = await send('DELETE /users/profile', body)
      expect([refused.status, refused.body.code]).toEqual([status, code])
    }
    const byKey = await site.http('DELETE /users/profile', { token: key, body: { password: PASSWORD } })
    expect([byKey.status, byKey.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    const dry = await site.http('DELETE /users/profile', { token, body: { password: PASSWORD }, headers: { 'feedbackctl-dry-run': '1' } }) // prettier-ignore
    expect([dry.status, (await send('GET /users/profile')).status]).toEqual([204, 200])
    const before = (await site.events()).length
    expect((await send('DELETE /users/profile', { password: PASSWORD })).status).toBe(204)
    for (const gone of [token, second, key])
      expect((await site.http('GET /users/profile', { token: gone })).status).toBeGreaterThanOrEqual(400)
    const { body } = await site.http('POST /posts/get', { body: {} })
    expect(body.posts.map(({ title, author, voters }: Post) => [title, author.name, voters.votesCount])).toEqual([
      ['Other', 'Ada', 1],
      ['Mine', expect.any(String), 0],
    ])
    expect(body.posts[1].author.userId).not.toBe(userId)
    const { activity } = (await site.http(`GET /posts/${other.postId}/activity`)).body
    expect(activity.map(({ comment, author }: { comment: { body: string }; author: { userId: string } }) => [comment.body, author.userId === userId])).toEqual([['Me too', false]]) // prettier-ignore
    expect((await site.http('POST /posts/slug', { body: { id: post.postId } })).status).toBe(200)
    expect((await site.events()).slice(before)).toEqual([['user.deleted', userId]])
    expect(JSON.stringify(await site.db.selectFrom('events').selectAll().execute())).not.toContain(email)
    expect((await site.http('POST /auth/login', { body: { email, password: PASSWORD } })).status).toBe(404)
  })

  it('deletes posts and comments too where that is wanted', async () => {
    const { site, userId, post, other, comment, below, send } = await withPerson(engine)
    const before = (await site.events()).length
    expect((await send('DELETE /users/profile', { password: PASSWORD, posts: 'delete' })).status).toBe(204)
    const { body } = await site.http('POST /posts/get', { body: {} })
    expect(body.posts.map(({ postId, commentsCount }: Post) => [postId, commentsCount])).toEqual([[other.postId, 0]]) // prettier-ignore
    expect((await site.events()).slice(before)).toEqual([
      ['comment.deleted', comment.id],
      ['post.deleted', post.postId],
      ['user.deleted', userId],
    ])
    expect(await site.db.selectFrom('comments').select('id').where('id', '=', below.id).execute()).toEqual([])
  })

  it('is not for the owner', async () => {
    const { site, owner } = await withPerson(engine)
    const refused = await site.http('DELETE /users/profile', { token: owner, body: { password: OWNER.password } })
    expect([refused.status, refused.body.code]).toEqual([403, 'CANNOT_CHANGE_OWNER'])
    expect((await site.http('GET /users/profile', { token: owner })).status).toBe(200)
  })
})
