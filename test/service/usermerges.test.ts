import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { miscounts } from '../../src/db/recount.js'
import * as boards from '../../src/service/boards.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const AT = (day: number) => `2021-02-0${day}T00:00:00Z`

const RECORDS = [
  { type: 'person', sourceId: 'u1', name: 'Ann' },
  { type: 'person', sourceId: 'u2', name: 'Bob' },
  { type: 'post', sourceId: 'p1', title: 'Dark mode', author: 'u1', createdAt: AT(1) },
  { type: 'post', sourceId: 'p2', title: 'Export', author: 'u2', createdAt: AT(1) },
  { type: 'post', sourceId: 'p3', title: 'Night mode', author: 'u2', createdAt: AT(1) },
  { type: 'vote', post: 'p1', person: 'u1', createdAt: AT(2) },
  { type: 'vote', post: 'p2', person: 'u1', createdAt: AT(2) },
  { type: 'vote', post: 'p3', person: 'u1', createdAt: AT(2) },
  { type: 'vote', post: 'p2', person: 'u2', createdAt: AT(2) },
  { type: 'comment', sourceId: 'c1', post: 'p2', author: 'u1', text: 'Me too', createdAt: AT(3) },
]

async function open(engine: Engine) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  const send = async (records: readonly object[], query = 'source=github') => {
    const body = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    return site.http(`POST /import/records?${query}`, { token: owner, body, headers: { 'content-type': 'application/x-ndjson' } }) // prettier-ignore
  }
  await send(RECORDS)
  const named = async (name: string) =>
    (await site.db.selectFrom('users').select(['userId', 'username', 'email']).where('name', '=', name).executeTakeFirstOrThrow()) // prettier-ignore
  const eve = await site.member([], { email: 'eve@example.org' })
  const merge = (
    user: string,
    into: string,
    { token, headers = {} }: { token?: string | null; headers?: Record<string, string> } = {},
  ) =>
    site.http(`POST /users/${user}/merge`, {
      token: token === undefined ? owner : (token ?? undefined),
      body: { into },
      headers,
    })
  const votes = () => site.db.selectFrom('votes').select(['postId', 'userId', 'fromPostId']).orderBy('postId').orderBy('userId').execute() // prettier-ignore
  const idOf = async (n: number) => (await site.call(posts.show, { id: String(n) })).post.postId
  const counted = async () => expect(await miscounts(site.db)).toEqual([])
  return { site, owner, send, named, eve, merge, votes, idOf, counted }
}

describe.each(engines)('a person whom an import brought without an address, on %s', (engine) => {
  it('is merged into the account that they have here, with one vote for each post', async () => {
    const { site, send, named, eve, merge, votes, idOf, counted } = await open(engine)
    const ann = await named('Ann')
    const [first, second, third] = [await idOf(1), await idOf(2), await idOf(3)]
    await site.http('POST /votes', { token: eve.token, body: { postId: second } })
    await site.call(users.update, { user: ann.userId, notes: 'Wrote often' })
    const dry = await merge(ann.userId, 'eve@example.org', { headers: { 'feedbackctl-dry-run': '1' } })
    const merged = { posts: 1, comments: 1, votes: 3, repeated: 1 }
    expect([dry.status, dry.body.merged]).toEqual([200, merged])
    expect((await site.call(users.show, { user: ann.userId })).user.may).toContain('merge')
    const done = await merge(ann.userId, 'eve@example.org')
    expect(done.body).toMatchObject({ merged, user: { userId: eve.userId, posts: '1', votes: '3', name: 'Member', notes: 'Wrote often', roles: [{ name: '@everyone' }] } }) // prettier-ignore
    expect((await votes()).filter(({ userId }) => userId === eve.userId).map(({ postId }) => postId)).toEqual([first, second, third].toSorted()) // prettier-ignore
    expect((await site.call(posts.show, { id: '2' })).post.voters.votesCount).toBe(2)
    expect((await site.call(posts.show, { id: '1' })).post.author.userId).toBe(eve.userId)
    const comment = await site.db.selectFrom('comments').select('author_id').executeTakeFirstOrThrow()
    expect(comment.author_id).toBe(eve.userId)
    expect((await site.http(`GET /users/${ann.userId}`, { token: await site.signIn(eve.userId) })).status).not.toBe(200)
    expect((await site.events()).at(-1)).toEqual(['user.merged', eve.userId])
    await counted()
    // What a later import brings of them is theirs
    await send([...RECORDS, { type: 'post', sourceId: 'p4', title: 'Later', author: 'u1' }, { type: 'vote', post: 'p4', person: 'u1' }]) // prettier-ignore
    expect((await site.call(posts.show, { id: '4' })).post).toMatchObject({ author: { userId: eve.userId }, voters: { votesCount: 1 } }) // prettier-ignore
    await counted()
    await site.call(users.remove, { user: eve.userId })
    await counted()
  })

  it('is merged with the votes of posts that were merged, which go back with them', async () => {
    const { site, named, eve, merge, votes, idOf, counted } = await open(engine)
    const ann = await named('Ann')
    const [second, third] = [await idOf(2), await idOf(3)]
    await site.http('POST /votes', { token: eve.token, body: { postId: third } })
    await site.call(merges.merge, { ids: ['3'], into: '2', quiet: true })
    expect((await merge(ann.userId, eve.userId)).body.merged).toMatchObject({ votes: 2, repeated: 1 })
    const own = async () => (await votes()).filter(({ userId, postId }) => userId === eve.userId && [second, third].includes(postId)) // prettier-ignore
    expect(await own()).toEqual([{ postId: second, userId: eve.userId, fromPostId: null }])
    await counted()
    await site.call(merges.unmerge, { ids: ['3'] })
    expect((await own()).map(({ postId }) => postId)).toEqual([second, third].toSorted())
    expect(await site.db.selectFrom('merged_votes').selectAll().execute()).toEqual([])
    await counted()
  })

  it('is found by the user name that they had, which nobody else gets', async () => {
    const { site, owner, send, named, eve, merge } = await open(engine)
    await site.http('PATCH /users/profile', { token: eve.token, body: { name: 'Eve' } })
    const [ann, bob] = [await named('Ann'), await named('Bob')]
    const id = (await site.call(posts.show, { id: '2' })).post.postId
    await site.http(`POST /posts/${id}/comments`, { token: eve.token, body: { body: `Thanks @${ann.username}` } })
    const profileOf = async (username: string) => (await site.http(`GET /users/${username}/profile`)).body.profile?.user.userId // prettier-ignore
    const byAuthor = async (username: string) => (await site.http('POST /posts/get', { body: { query: `author:${username}` } })).body.posts?.length // prettier-ignore
    expect([await profileOf(ann.username), await byAuthor(ann.username)]).toEqual([ann.userId, 1])
    await merge(bob.userId, ann.userId)
    await merge(ann.userId, eve.userId)
    for (const { username } of [ann, bob])
      expect([await profileOf(username), await byAuthor(username)]).toEqual([eve.userId, 3])
    const page = await site.http(`GET //users/${ann.username}`, { headers: { accept: 'text/html' } })
    const { username } = (await site.http('GET /users/profile', { token: eve.token })).body.user
    expect([page.status, page.headers.location]).toEqual([301, expect.stringMatching(new RegExp(`/users/${username}$`))]) // prettier-ignore
    const { token } = await site.member([], { email: 'late@example.org' })
    const { body } = await site.http('GET /users/profile', { token })
    const taken = await site.http(`PATCH /users/${body.user.userId}`, { token: owner, body: { username: ann.username } }) // prettier-ignore
    expect(taken.body.code).toBe('USERNAME_EXISTS')
    await send([{ type: 'person', sourceId: 'u1', name: 'Ann' }])
    expect(await profileOf(ann.username)).toBe(eve.userId)
  })

  it('is merged without the tags beyond the most that a person can have', async () => {
    const { site, owner, named, eve, merge } = await open(engine)
    const [ann, bob] = [await named('Ann'), await named('Bob')]
    const tag = (user: string, add: string[]) => site.http(`POST /users/${user}/tag`, { token: owner, body: { add } })
    const words = (start: string, count: number) => Array.from({ length: count }, (_, at) => `${start}${10 + at}`)
    await tag(eve.userId, words('own', 18))
    await tag(ann.userId, ['OWN10', ...words('ann', 5)])
    await tag(bob.userId, words('bob', 20))
    const dry = await merge(ann.userId, eve.userId, { headers: { 'feedbackctl-dry-run': '1' } })
    const { tags } = (await merge(ann.userId, eve.userId)).body.user
    expect(dry.body.user.tags).toEqual(tags)
    expect(tags).toEqual([...words('ann', 2), ...words('own', 18)])
    expect((await merge(bob.userId, eve.userId)).body.user.tags).toEqual(tags)
    expect(await site.db.selectFrom('user_tags').select('tag').execute()).toHaveLength(20)
  })

  it('is merged with the boards that they follow and with their reports, one each', async () => {
    const { site, named, eve, merge, idOf, counted } = await open(engine)
    const ann = await named('Ann')
    const two = await Promise.all(
      ['One', 'Two'].map(async (name) => (await site.call(boards.create, { name })).board.boardId),
    )
    const posts = [await idOf(1), await idOf(2), await idOf(3)]
    const { id: commentId } = await site.db.selectFrom('comments').select('id').executeTakeFirstOrThrow()
    const follows = [ann, ann, eve].map(({ userId }, at) => ({ userId, boardId: two[at % 2] ?? '', createdAt: AT(4) })) // prettier-ignore
    await site.db.insertInto('board_follows').values(follows).execute()
    const report = (userId: string, about: { postId?: string; commentId?: string }) => ({ reportId: newId(), userId, postId: null, commentId: null, reason: 'Spam', createdAt: AT(4), ...about }) // prettier-ignore
    const reports = [
      report(ann.userId, { postId: posts[1] ?? '' }),
      report(ann.userId, { postId: posts[2] ?? '' }),
      report(ann.userId, { commentId }),
      report(eve.userId, { postId: posts[2] ?? '' }),
      report(eve.userId, { commentId }),
    ]
    await site.db.insertInto('reports').values(reports).execute()
    await merge(ann.userId, eve.userId)
    const followed = await site.db.selectFrom('board_follows').select(['userId', 'boardId']).execute()
    expect(followed.map(({ userId }) => userId)).toEqual([eve.userId, eve.userId])
    expect(new Set(followed.map(({ boardId }) => boardId))).toEqual(new Set(two))
    const about = await site.db.selectFrom('reports').select(['userId', 'postId', 'commentId']).execute()
    expect(about.map(({ userId }) => userId)).toEqual([eve.userId, eve.userId, eve.userId])
    expect(new Set(about.map((each) => each.postId ?? each.commentId))).toEqual(
      new Set([posts[1], posts[2], commentId]),
    )
    await counted()
  })

  it('is nobody whom another service signs in', async () => {
    const { site, owner, named, eve, merge } = await open(engine)
    const ann = await named('Ann')
    const may = async () => {
      const { body } = await site.http('GET /users?query=imported.invalid', { token: owner })
      const listed = (body.users as { userId: string; may: string[] }[]).map(({ userId, may: rights }) => [userId, rights.includes('merge')]) // prettier-ignore
      return { ann: (await site.call(users.show, { user: ann.userId })).user.may.includes('merge'), ...(Object.fromEntries(listed) as object) } // prettier-ignore
    }
    const bob = await named('Bob')
    expect(await may()).toEqual({ ann: true, [ann.userId]: true, [bob.userId]: true })
    await site.db.insertInto('identities').values({ identityId: newId(), userId: ann.userId, provider: 'x', subject: 'the-subject', email: null, createdAt: AT(4), usedAt: null }).execute() // prettier-ignore
    expect(await may()).toEqual({ ann: false, [ann.userId]: false, [bob.userId]: true })
    expect((await merge(ann.userId, eve.userId)).body.code).toBe('MERGE_REFUSED')
    expect((await merge(bob.userId, ann.userId)).status).toBe(200)
  })

  it('has the address of nobody else', async () => {
    const { site, owner, send, named, eve } = await open(engine)
    const email = 'somebody@Imported.invalid'
    const refused = [400, 'INVALID_EMAIL_DOMAIN']
    const signUp = await site.http('POST /auth/signup', { body: { email, password: 'a long password' } })
    expect([signUp.status, signUp.body.code]).toEqual(refused)
    const change = (user: string, body: object) => site.http(`PATCH /users/${user}`, { token: owner, body })
    const moved = await change(eve.userId, { email })
    expect([moved.status, moved.body.code]).toEqual(refused)
    const ann = await named('Ann')
    expect((await change(ann.userId, { email: ann.email, name: 'Ann B.' })).status).toBe(200)
    expect((await site.call(users.create, { email, invite: false })).user.may).toContain('merge')
    expect((await send([{ type: 'person', sourceId: 'u9', name: 'Late' }])).status).toBe(200)
    expect((await named('Late')).email).toMatch(/@imported\.invalid$/)
  })

  it('is merged by the owner alone, and nobody is who can sign in', async () => {
    const { site, named, eve, merge } = await open(engine)
    const [ann, bob] = [await named('Ann'), await named('Bob')]
    const team = await site.member(['user:read', 'user:block', 'user:invite', 'dashboard:read'])
    const codeOf = async (...given: Parameters<typeof merge>) => (await merge(...given)).body.code
    expect(await codeOf(ann.userId, eve.userId, { token: team.token })).toBe('NOT_ENOUGH_PERMISSION')
    expect(await codeOf(ann.userId, eve.userId, { token: eve.token })).toBe('NOT_ENOUGH_PERMISSION')
    expect(await codeOf(ann.userId, eve.userId, { token: null })).toBe('INVALID_AUTH_HEADER')
    expect(await codeOf(eve.userId, team.userId)).toBe('MERGE_REFUSED')
    expect(await codeOf(ann.userId, ann.username)).toBe('MERGE_REFUSED')
    expect(await codeOf(ann.userId, 'nobody@example.org')).toBe('USER_NOT_FOUND')
    expect((await site.call(users.show, { user: eve.userId })).user.may).not.toContain('merge')
    // The same name is no proof of anything
    const signUp = await site.http('POST /auth/signup', { body: { email: 'other@example.org', password: 'a long password' } }) // prettier-ignore
    await site.http('PATCH /users/profile', { token: signUp.body.user.authToken, body: { name: 'Ann' } })
    expect((await site.call(posts.show, { id: '1' })).post.author.userId).toBe(ann.userId)
    // Two products, one person
    expect((await merge(bob.userId, ann.userId)).body.merged).toEqual({ posts: 2, comments: 0, votes: 0, repeated: 1 })
    const at = await site.call(users.update, { user: ann.userId, email: 'ann@example.org' })
    expect(at.user.may).not.toContain('merge')
    expect(await codeOf(ann.userId, eve.userId)).toBe('MERGE_REFUSED')
  })

  it('gets an address, and whoever reads its mail is the author of what they wrote', async () => {
    const { site, named } = await open(engine)
    const ann = await named('Ann')
    await site.call(users.update, { user: ann.username, email: 'ann@example.org' })
    const before = await site.db.selectFrom('users').select('isVerified').where('userId', '=', ann.userId).executeTakeFirstOrThrow() // prettier-ignore
    expect(before.isVerified).toBe(0)
    const signUp = await site.http('POST /auth/signup', { body: { email: 'ann@example.org', password: 'a long password' } }) // prettier-ignore
    expect([signUp.status, signUp.body.code]).toEqual([409, 'USER_EXISTS'])
    await site.http('POST /auth/password/reset', { body: { email: 'ann@example.org' } })
    const token = await site.mailedToken('ann@example.org')
    expect((await site.http('POST /auth/password/set', { body: { token, password: 'a long password' } })).status).toBe(200) // prettier-ignore
    const { body } = await site.http('POST /auth/login', { body: { email: 'ann@example.org', password: 'a long password' } }) // prettier-ignore
    expect(body.user.userId).toBe(ann.userId)
    expect((await site.call(posts.show, { id: '1' })).post.author.userId).toBe(body.user.userId)
  })
})
