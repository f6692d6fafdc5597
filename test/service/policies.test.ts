import { describe, expect, it } from 'vitest'
import { DRY_RUN_HEADER } from '../../src/core/wire.js'
import { EVERYONE, PERMISSIONS, type Permission } from '../../src/core/permissions.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

/** Codes that `may` heeds. */
const BY_RIGHTS = ['NOT_ENOUGH_PERMISSION', 'UNAUTHORIZED_NOT_AUTHOR', 'CANNOT_UPDATE_SYSTEM_ROLE', 'CANNOT_CHANGE_OWNER', 'COMMENT_NOT_FOUND', 'INVALID_AUTH_HEADER', 'ACCESS_DENIED', 'COMMENT_CANNOT_ANSWER', 'EMAIL_NOT_VERIFIED', 'MERGE_REFUSED'] // prettier-ignore

/** Whether the operation refuses the caller. Nothing is changed. */
async function isRefused(site: TestSite, token: string | undefined, [request, body]: [string, object]) {
  const { status, body: answer } = await site.http(request, { token, body, headers: { [DRY_RUN_HEADER]: '1' } })
  const error = status < 300 ? answer?.outcomes?.[0]?.error : answer // of a change of many, that of the first
  if (error === undefined || error.code === 'ROLE_USER_CONFLICT') return false
  expect([request, error.code]).toEqual([request, expect.toBeOneOf(BY_RIGHTS)])
  return true
}

/** The verbs that are not refused, of those that some row of its kind has. */
async function tried(site: TestSite, token: string | undefined, verbs: Record<string, [string, object]>) {
  const done: string[] = []
  for (const [verb, request] of Object.entries(verbs)) if (!(await isRefused(site, token, request))) done.push(verb)
  return done
}

describe.each(engines)('what an answer says that one may do on %s', (engine) => {
  it('with posts and comments is what the operations allow, whoever asks', async () => {
    const site = await makeSite(engine)
    const [ada, bea] = [await site.owner(), (await site.member()).token]
    const write = async (token: string) => {
      const { post } = (await site.http('POST /posts', { token, body: { title: 'A wish' } })).body
      const { activity } = (await site.http(`POST /posts/${post.postId}/comments`, { token, body: { body: 'A word' } })).body // prettier-ignore
      return { post, comment: activity.comment }
    }
    const rows = [await write(ada), await write(bea), await write(bea), await write(bea), await write(bea)]
    const [voted, answered] = [rows[3]!, rows[4]!]
    await site.http('POST /votes', { token: ada, body: { postId: voted.post.postId } })
    const reply = { body: 'Another word', parent_id: answered.comment.id }
    await site.http(`POST /posts/${answered.post.postId}/comments`, { token: ada, body: reply })
    const hidden = rows[2]?.comment.id
    await site.http(`POST /posts/${rows[1]?.post.postId}/report`, { token: ada, body: {} })
    const { post: stays } = (await site.http('POST /posts', { token: ada, body: { title: 'It stays' } })).body
    await site.http(`POST /moderation/${hidden}`, { token: ada, body: { decision: 'spam' } })
    const asking = [undefined, ada, bea]
    for (const permissions of [
      [],
      ['post:update'],
      ['post:destroy'],
      ['comment:update:any'],
      ['comment:delete:any'],
    ] as Permission[][])
      // prettier-ignore
      asking.push((await site.member(permissions)).token)
    asking.push((await site.member([], { everyone: false })).token)
    let seen = 0
    for (const token of asking)
      for (const { post, comment } of rows) {
        const id = post.postId
        const { body: one } = await site.http('POST /posts/slug', { token, body: { id } })
        const { body: list } = await site.http('POST /posts/get', { token, body: { limit: 100 } })
        const allowed = await tried(site, token, {
          update: ['PATCH /posts', { id, title: 'Another', partial: true }],
          delete: ['DELETE /posts', { id }],
          spam: [`POST /moderation/${id}`, { decision: 'spam' }],
          merge: ['POST /posts/merge', { ids: [id], into: stays.postId }],
        })
        expect(one.post.may).toEqual(allowed)
        const listed = list.posts.find(({ postId }: { postId: string }) => postId === id)
        expect(listed.may).toEqual(allowed)
        const isTaken = token === bea && [voted, answered].some(({ post: each }) => each.postId === id)
        expect([one.post.others_took_part, listed.others_took_part]).toEqual(isTaken ? [true, true] : [undefined, undefined]) // prettier-ignore
        const { activity } = (await site.http(`GET /posts/${id}/activity`, { token })).body
        const shown = activity.find((each: { id: string }) => each.id === comment.id)?.comment
        if (!shown) continue // hidden as spam
        seen++
        const at = `/posts/${id}/comments/${comment.id}`
        expect(shown.others_took_part).toBe(token === bea && comment.id === answered.comment.id ? true : undefined)
        expect(shown.may).toEqual(
          await tried(site, token, {
            update: [`PUT ${at}`, { body: 'Another' }],
            delete: [`DELETE ${at}`, {}],
            spam: [`POST /moderation/${comment.id}`, { decision: 'spam' }],
            answer: [`PUT ${at}/answer`, {}],
          }),
        )
      }
    expect(seen).toBe(4 * asking.length + 3) // its author, the owner and who may change any comment see the hidden one
  })

  it('with what waits for a decision is what the operations allow', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const authors = [ada, (await site.member()).token, (await site.member(['post:destroy', 'user:block'])).token]
    for (const token of authors) {
      const { post } = (await site.http('POST /posts', { token, body: { title: 'A wish' } })).body
      const { activity } = (await site.http(`POST /posts/${post.postId}/comments`, { token, body: { body: 'A word' } })).body // prettier-ignore
      for (const at of [`/posts/${post.postId}`, `/posts/${post.postId}/comments/${activity.id}`])
        await site.http(`POST ${at}/report`, { token: ada, body: {} })
    }
    const some = [['post:destroy'], ['comment:update:any', 'user:block'], ['post:destroy', 'user:block']] as Permission[][] // prettier-ignore
    const asking = [ada, authors[2], ...(await Promise.all(some.map(async (each) => (await site.member(each)).token)))]
    let seen = 0
    for (const token of asking) {
      const { items } = (await site.http('GET /moderation?limit=100', { token })).body
      for (const { id, kind, post, may } of items) {
        seen += may.length
        expect(may).toEqual(
          await tried(site, token, {
            spam: [`POST /moderation/${id}`, { decision: 'spam' }],
            delete: kind === 'post' ? ['DELETE /posts', { id }] : [`DELETE /posts/${post.postId}/comments/${id}`, {}],
            block: [`POST /moderation/${id}`, { decision: 'spam', block: true }],
          }),
        )
      }
    }
    expect(seen).toBe(6 + 6 + 4 + (3 + 3 + 1) + (3 + 3) + (3 + 1) + (3 + 3 + 2))
  })

  it('is nothing that waits until an address is confirmed', async () => {
    const site = await makeSite(engine, { unverified: 'read' })
    const owner = await site.owner()
    const { token, userId } = await site.member(PERMISSIONS.filter((each) => !EVERYONE.includes(each)))
    const as = site.callAs({ ...operator, userId })
    const { post } = await as(posts.create, { title: 'A wish' })
    const { activity } = await as(comments.create, { post_id: post.postId, body: 'A word' })
    await site.http(`POST /posts/${post.postId}/report`, { token: owner, body: {} })
    const { post: stays } = await as(posts.create, { title: 'It stays' })
    const answers = async () => {
      const [one, list] = [await site.http('POST /posts/slug', { token, body: { id: post.postId } }), await site.http('POST /posts/get', { token, body: {} })] // prettier-ignore
      const [thread, queue] = [await site.http(`GET /posts/${post.postId}/activity`, { token }), await site.http('GET /moderation', { token })] // prettier-ignore
      return [
        one.body.post.may,
        list.body.posts.find(({ postId }: { postId: string }) => postId === post.postId).may,
        thread.body.activity[0].comment.may,
        queue.body.items[0].may,
      ]
    }
    const at = `/posts/${post.postId}/comments/${activity.id}`
    const ofPost = { update: ['PATCH /posts', { id: post.postId, title: 'Another', partial: true }], delete: ['DELETE /posts', { id: post.postId }], spam: [`POST /moderation/${post.postId}`, { decision: 'spam' }], merge: ['POST /posts/merge', { ids: [post.postId], into: stays.postId }] } as Record<string, [string, object]> // prettier-ignore
    const ofComment = { update: [`PUT ${at}`, { body: 'Another' }], delete: [`DELETE ${at}`, {}], spam: [`POST /moderation/${activity.id}`, { decision: 'spam' }], answer: [`PUT ${at}/answer`, {}] } as Record<string, [string, object]> // prettier-ignore
    for (const isConfirmed of [false, true]) {
      await site.call(users.update, { user: userId, isVerified: isConfirmed })
      const [one, list, comment, item] = await answers()
      expect([one, list]).toEqual(Array(2).fill(await tried(site, token, ofPost)))
      expect(comment).toEqual(await tried(site, token, ofComment))
      expect([isConfirmed, one.length, comment.length, item]).toEqual(isConfirmed ? [true, 3, 4, ['spam', 'delete']] : [false, 0, 0, []]) // prettier-ignore
    }
  })

  it('with boards, roadmaps, tags, roles and users is what the operations allow', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const makeTag = async (name: string) => (await site.http('POST /tags', { token: ada, body: { name } })).body.tag
    const { board } = (await site.http('POST /boards', { token: ada, body: { name: 'Ideas' } })).body
    const { roadmap } = (await site.http('POST /roadmaps', { token: ada, body: { name: 'Next', display: true } })).body
    const [tag, other] = [await makeTag('Mobile'), await makeTag('Phone')]
    const { role: strong } = (await site.http('POST /roles', { token: ada, body: { name: 'strong', permissions: ['settings:update'] } })).body // prettier-ignore
    const { role: weak } = (await site.http('POST /roles', { token: ada, body: { name: 'weak', permissions: [] } }))
      .body
    const places: Permission[] = ['board:update', 'board:destroy', 'roadmap:update', 'roadmap:destroy', 'post:update']
    const team: Permission[] = ['role:read', 'role:update', 'role:destroy']
    const givers: Permission[] = ['role:read', 'role:assign', 'role:unassign']
    const somebody = (await site.member()).userId
    const asking = [undefined, ada]
    for (const permissions of [[], ...places.map((each) => [each]), team, [...team, 'settings:update'], givers, [...givers, 'settings:update'], [...givers, ...EVERYONE]] as Permission[][]) asking.push((await site.member(permissions)).token) // prettier-ignore
    for (const token of asking) {
      const { body: shown } = await site.http(`GET /boards/${board.url}`, { token })
      expect(shown.board.may).toEqual(await tried(site, token, {
        update: ['PATCH /boards', { boardId: board.boardId, name: 'Other', partial: true }],
        delete: ['DELETE /boards', { boardId: board.boardId }],
      })) // prettier-ignore
      expect((await site.http('GET /boards', { token })).body.boards[0].may).toEqual(shown.board.may)
      const { body: stage } = await site.http(`GET /roadmaps/${roadmap.url}`, { token })
      expect(stage.roadmap.may).toEqual(await tried(site, token, {
        update: ['PATCH /roadmaps', { id: roadmap.id, name: 'Other', partial: true }],
        delete: ['DELETE /roadmaps', { id: roadmap.id }],
      })) // prettier-ignore
      const { body: label } = await site.http(`GET /tags/${tag.url}`, { token })
      expect(label.tag.may).toEqual(await tried(site, token, {
        update: ['PATCH /tags', { tagId: tag.tagId, name: 'Other', partial: true }],
        delete: ['DELETE /tags', { tagId: tag.tagId }],
        merge: ['POST /tags/merge', { ids: [tag.tagId], into: other.tagId }],
      })) // prettier-ignore
      expect((await site.http('GET /tags', { token })).body.tags[0].may).toEqual(label.tag.may)
      const { body: listed } = await site.http('GET /roles?limit=100', { token })
      for (const { id, may } of listed.roles ?? []) {
        const { body: one } = await site.http(`GET /roles/${id}`, { token })
        expect(one.role.may).toEqual(may)
        expect(may).toEqual(await tried(site, token, {
          update: ['PATCH /roles', { id, partial: true }],
          delete: ['DELETE /roles', { id }],
          assign: [`PUT /roles/${id}/users/${somebody}`, {}],
          unassign: [`DELETE /roles/${id}/users/${somebody}`, {}],
        })) // prettier-ignore
      }
      expect(listed.roles === undefined || listed.roles.some(({ id }: { id: string }) => [strong.id, weak.id].includes(id))).toBe(true) // prettier-ignore
    }
    const { userId: blocked } = await site.member([], { blocked: true })
    const ofPeople = [['user:read'], ['user:read', 'user:block'], ['user:read', 'user:block', ...places], PERMISSIONS]
    const readers = await Promise.all(
      (ofPeople as Permission[][]).map(async (each) => (await site.member([...each])).token),
    )
    let refused = 0
    for (const token of [ada, ...readers]) {
      const { users } = (await site.http('GET /users?limit=100', { token })).body
      expect(users.some(({ userId }: { userId: string }) => userId === blocked)).toBe(true)
      for (const { userId, may } of users) {
        expect(may).toEqual(
          await tried(site, token, {
            block: [`POST /users/${userId}/block`, {}],
            unblock: [`POST /users/${userId}/unblock`, {}],
            signOut: [`POST /users/${userId}/sign-out`, {}],
            delete: [`DELETE /users/${userId}`, {}],
          }),
        )
        refused += may.includes('signOut') ? 0 : 1
        expect((await site.http(`GET /users/${userId}`, { token })).body.user.may).toEqual(may)
      }
    }
    expect(refused).toBeGreaterThan(5)
    for (const token of [ada, (await site.member()).token]) {
      const { user } = (await site.http('GET /users/profile', { token })).body
      expect(user.may).toEqual(token === ada ? [] : ['delete'])
    }
    const { token } = await site.member()
    const key = (await site.http('POST /keys', { token, body: { name: 'x' } })).body
    expect((await site.http('GET /users/profile', { token: key.token })).body.user.may).toEqual([])
  })
})
