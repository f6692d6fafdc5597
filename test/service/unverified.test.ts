import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import { EVERYONE, isForContent, PERMISSIONS, type Permission } from '../../src/core/permissions.js'
import { operations } from '../../src/service/index.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite } from '../support/site.js'

it('every operation that members may write content with declares it', () => {
  const open: readonly unknown[] = [...EVERYONE, 'signed-in']
  const undeclared = operations.filter(
    (op) => open.includes(op.access) && !op.http.startsWith('GET') && !/^(users|sessions|notifications)\./.test(op.id),
  )
  expect(undeclared.length).toBeGreaterThan(5)
  for (const op of undeclared) expect([op.id, op.writes]).toEqual([op.id, 'content'])
})

it('every permission to write content is left out where an address is not confirmed, and no other', () => {
  const permissionsOf = (some: readonly { access: unknown }[]) =>
    some.flatMap(({ access }) => access).filter((each) => PERMISSIONS.some((known) => known === each)) as Permission[]
  const forContent = new Set(permissionsOf(operations.filter(({ writes }) => writes)))
  expect(forContent.size).toBeGreaterThan(5)
  // Changing and deleting comments is open to everyone signed in, and `run` asks for these
  const inRun: readonly Permission[] = ['comment:update:any', 'comment:delete:any']
  for (const permission of permissionsOf(operations))
    expect([permission, isForContent(permission)]).toEqual([permission, forContent.has(permission) || inRun.includes(permission)]) // prettier-ignore
})

describe.each(engines)('accounts.unverified on %s', (engine) => {
  it('is all that people may by default, or only to read until they confirm their address', async () => {
    for (const unverified of [undefined, 'read'] as const) {
      const site = await makeSite(engine, { ...(unverified && { unverified }) })
      await site.owner()
      const { body } = await site.http('POST /auth/signup', { body: { email: 'eve@example.org', password: 'a long password' } }) // prettier-ignore
      const { status } = await site.http('POST /posts', { token: body.user.authToken, body: { title: 'New' } })
      expect([unverified, status]).toEqual([unverified, unverified ? 403 : 201])
    }
    const site = await makeSite(engine, { unverified: 'read' })
    const owner = await site.owner()
    await site.call(boards.create, { name: 'Ideas' })
    const { body } = await site.http('POST /auth/signup', { body: { email: 'eve@example.org', password: 'a long password' } }) // prettier-ignore
    const { authToken: token, userId } = body.user
    const post = async (as: string) => {
      const answer = await site.http('POST /posts', { token: as, body: { title: 'New' } })
      return answer.status === 201 ? answer.body.post.postId : answer.body.code
    }
    const own = (await site.callAs({ ...operator, userId })(posts.create, { title: 'Own' })).post.postId
    expect(await post(token)).toBe('EMAIL_NOT_VERIFIED')
    for (const [request, given] of [
      ['PATCH /posts', { id: own, title: 'Changed' }],
      ['POST /votes', { postId: own }],
      ['DELETE /votes', { postId: own }],
      [`POST /posts/${own}/comments`, { body: 'Yes' }],
      [`POST /posts/${own}/report`, {}],
    ] as const)
      expect([request, await site.http(request, { token, body: given })]).toMatchObject([
        request,
        { status: 403, body: { code: 'EMAIL_NOT_VERIFIED' } },
      ])
    const permissions = async () => (await site.http('GET /users/permissions', { token })).body.permissions
    expect(await permissions()).toEqual([])
    expect((await site.http('GET /users/profile', { token })).status).toBe(200)
    expect((await site.http('POST /posts/get', { token, body: {} })).status).toBe(200)
    expect((await site.http('PATCH /users/profile', { token, body: { name: 'Eve' } })).status).toBe(200)
    expect(await post(owner)).toMatch(/^[\da-f-]{36}$/)
    await site.call(users.update, { user: userId, isVerified: true })
    expect(await post(token)).toMatch(/^[\da-f-]{36}$/)
    expect(await permissions()).toEqual(PERMISSIONS.filter((each) => EVERYONE.includes(each)))
  })
})
