import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const outcome = async (site: TestSite, request: string, token: string, body: object = {}) => {
  const { status, body: answer } = await site.http(request, { token, body })
  return status < 300 ? [status] : [status, answer.code]
}
const REFUSED = [403, 'NOT_ENOUGH_PERMISSION']

describe.each(engines)('private places on %s', (engine) => {
  it('are changed and deleted only by those who may read them, as are public ones by all others', async () => {
    const site = await makeSite(engine)
    const secret = (await site.call(boards.create, { name: 'Secret', display: false })).board
    const open = (await site.call(boards.create, { name: 'Open' })).board
    const blind = (await site.member(['board:update', 'board:destroy'])).token
    const seeing = (await site.member(['board:update', 'board:destroy', 'board:read'])).token
    const before = await site.events()
    for (const boardId of [secret.boardId, secret.url]) {
      expect(await outcome(site, 'PATCH /boards', blind, { boardId, display: true, partial: true })).toEqual(REFUSED)
      expect(await outcome(site, 'DELETE /boards', blind, { boardId })).toEqual(REFUSED)
      expect((await site.http(`GET /boards/${boardId}`, { token: blind })).status).toBe(403)
    }
    expect(await site.events()).toEqual(before)
    const change = { boardId: secret.boardId, name: 'Still secret', partial: true }
    expect(await outcome(site, 'PATCH /boards', seeing, change)).toEqual([200])
    expect(await outcome(site, 'PATCH /boards', blind, { ...change, boardId: open.boardId })).toEqual([200])
    expect(await outcome(site, 'DELETE /boards', seeing, { boardId: secret.boardId })).toEqual([204])
    expect(await outcome(site, 'DELETE /boards', seeing, { boardId: secret.boardId })).toEqual([404, 'BOARD_NOT_FOUND'])
  })

  it('are the same with roadmaps, whose order they keep too', async () => {
    const site = await makeSite(engine)
    const open = (await site.call(roadmaps.create, { name: 'Open', display: true })).roadmap
    const secret = (await site.call(roadmaps.create, { name: 'Secret', display: false })).roadmap
    const blind = (await site.member(['roadmap:update', 'roadmap:destroy'])).token
    const order = { from: { id: open.id, index: 2 }, to: { id: secret.id, index: 1 } }
    for (const [request, body] of [
      ['PATCH /roadmaps', { id: secret.id, display: true, partial: true }],
      ['DELETE /roadmaps', { id: secret.id }],
      [`PUT /roadmaps/${secret.id}/position`, { position: 1 }],
      ['PATCH /roadmaps/sort', order],
    ] as const)
      expect([request, ...(await outcome(site, request, blind, body))]).toEqual([request, ...REFUSED])
    expect((await site.call(roadmaps.show, { url: 'secret' })).roadmap).toEqual(secret)
    const seeing = (await site.member(['roadmap:update', 'roadmap:read'])).token
    expect(await outcome(site, 'PATCH /roadmaps/sort', seeing, order)).toEqual([200])
  })
})

describe.each(engines)('a role with more permissions than one has on %s', (engine) => {
  it('is neither changed, deleted, given nor taken', async () => {
    const site = await makeSite(engine)
    const strong = (await site.call(roles.create, { name: 'strong', permissions: ['settings:update', 'post:read'] }))
      .role
    const weak = (await site.call(roles.create, { name: 'weak', permissions: ['post:read'] })).role
    const holder = await site.member()
    await site.call(roles.assign, { role_id: strong.id, user_id: holder.userId })
    const { token } = await site.member(['role:update', 'role:destroy', 'role:assign', 'role:unassign', 'post:read'])
    const before = await site.events()
    const { userId } = await site.member()
    for (const [request, body] of [
      ['PATCH /roles', { id: strong.id, name: 'renamed', partial: true }],
      ['PATCH /roles', { id: strong.id, permissions: [] }],
      ['PATCH /roles', { id: weak.id, permissions: ['post:read', 'settings:update'] }],
      ['DELETE /roles', { id: strong.id }],
      [`PUT /roles/${strong.id}/users/${userId}`, {}],
      [`DELETE /roles/${strong.id}/users/${holder.userId}`, {}],
    ] as const)
      expect([request, ...(await outcome(site, request, token, body))]).toEqual([request, ...REFUSED])
    expect(await site.events()).toEqual(before)
    expect((await site.call(roles.show, { id: strong.id })).role).toMatchObject({
      name: 'strong',
      permissions: ['post:read', 'settings:update'],
    })
    expect(await outcome(site, 'PATCH /roles', token, { id: weak.id, name: 'renamed', partial: true })).toEqual([200])
    expect(await outcome(site, `PUT /roles/${weak.id}/users/${userId}`, token)).toEqual([200])
    expect(await outcome(site, `DELETE /roles/${weak.id}/users/${userId}`, token)).toEqual([204])
    expect(await outcome(site, 'DELETE /roles', token, { id: weak.id })).toEqual([204])
  })
})
