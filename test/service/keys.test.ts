import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as keys from '../../src/service/keys.js'
import { operator } from '../../src/service/lib/access.js'
import * as users from '../../src/service/users.js'
import { engines, failure, makeSite, type TestSite } from '../support/site.js'

const HOUR_MS = 60 * 60 * 1000
const later = (site: TestSite, hours: number) => (site.clock.now = new Date(site.clock.now.getTime() + hours * HOUR_MS))

/** A key that its person creates over HTTP. */
async function created(site: TestSite, token: string, body: object = {}) {
  const answer = await site.http('POST /keys', { token, body: { name: 'ci', ...body } })
  expect(answer.text).toContain('fbk_')
  return answer.body as { key: keys.Key; token: string }
}

const codeOf = async (site: TestSite, request: string, token: string, body?: object) => {
  const answer = await site.http(request, { token, ...(body && { body }) })
  return answer.status < 300 ? answer.status : answer.body.code
}

describe.each(engines)('an API key on %s', (engine) => {
  it('works as its person, is shown once, and is stored as a hash', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const { key, token } = await created(site, ada)
    expect(token).toMatch(/^fbk_[\w-]{43}$/)
    expect(key).toMatchObject({
      name: 'ci',
      permissions: null,
      lastUsedAt: null,
      expiresAt: '2026-05-31T10:00:00.000Z',
    })
    expect(await codeOf(site, 'GET /users', token)).toBe(200)
    expect(await codeOf(site, 'POST /boards', token, { name: 'x' })).toBe(201)
    const listed = await site.http('GET /keys', { token: ada })
    expect(listed.text).not.toContain(token.slice(4, 12))
    expect(listed.body.keys).toEqual([{ ...key, lastUsedAt: '2026-03-02T10:00:00.000Z' }])
    const stored = await site.db.selectFrom('api_keys').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(token.slice(4))
    expect(JSON.stringify(site.logs)).not.toContain(token.slice(4))
    expect((await site.events()).map(([action]) => action)).toContain('key.created')
  })

  it('is refused at once when it is revoked, and when it has expired', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const one = await created(site, ada, { days: 1 })
    const other = await created(site, ada)
    const get = () => Promise.all([one, other].map(({ token }) => codeOf(site, 'GET /users/profile', token)))
    expect([await get(), await get()]).toEqual([
      [200, 200],
      [200, 200],
    ])
    expect(await codeOf(site, `DELETE /keys/${other.key.keyId}`, ada)).toBe(204)
    expect(await get()).toEqual([200, 'INVALID_TOKEN'])
    expect(await codeOf(site, `DELETE /keys/${other.key.keyId}`, ada)).toBe('KEY_NOT_FOUND')
    later(site, 23.99)
    expect(await get()).toEqual([200, 'INVALID_TOKEN'])
    later(site, 0.01)
    expect(await get()).toEqual(['INVALID_TOKEN', 'INVALID_TOKEN'])
    expect(await codeOf(site, 'GET /users/profile', `fbk_${'x'.repeat(43)}`)).toBe('INVALID_TOKEN')
    expect(await codeOf(site, 'GET /boards', `fbk_${'x'.repeat(43)}`)).toBe(200)
  })

  it('shows the hour of its last use, also where responses are cached', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const { token } = await created(site, ada)
    const used = async () => (await site.http('GET /keys', { token: ada })).body.keys[0].lastUsedAt
    for (const [hours, hour] of [
      [0.5, '10'],
      [0.4, '10'],
      [0.2, '11'],
      [3, '14'],
    ] as const) {
      later(site, hours)
      for (let turn = 0; turn < 3; turn++) expect(await codeOf(site, 'GET /users/profile', token)).toBe(200)
      expect(await used()).toBe(`2026-03-02T${hour}:00:00.000Z`)
    }
  })

  it('never does more than its permissions, nor than its person may now', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const member = await site.member(['board:create', 'board:read'])
    const limited = (await created(site, member.token, { permissions: ['board:create', 'board:read'] })).token
    const full = (await created(site, member.token)).token
    const ownerLimited = (await created(site, ada, { permissions: ['board:create'] })).token
    const permissions = async (token: string) =>
      (await site.http('GET /users/permissions', { token })).body.permissions?.toSorted()
    expect(await permissions(limited)).toEqual(['board:create', 'board:read'])
    expect(await permissions(full)).toContain('post:create')
    expect(await codeOf(site, 'POST /posts', limited, { title: 'x' })).toBe('NOT_ENOUGH_PERMISSION')
    expect(await codeOf(site, 'POST /boards', limited, { name: 'x' })).toBe(201)
    expect(await codeOf(site, 'POST /boards', ownerLimited, { name: 'x' })).toBe(201)
    expect(await codeOf(site, 'GET /users', ownerLimited)).toBe('NOT_ENOUGH_PERMISSION')
    expect(await codeOf(site, 'GET /events', ownerLimited)).toBe('NOT_ENOUGH_PERMISSION')
    await site.db.deleteFrom('role_permissions').where('permission', '=', 'board:create').execute()
    expect(await codeOf(site, 'POST /boards', limited, { name: 'x' })).toBe('NOT_ENOUGH_PERMISSION')
    expect(await permissions(limited)).toEqual(['board:read'])
    await site.db.deleteFrom('role_permissions').where('permission', '=', 'board:read').execute()
    expect(await codeOf(site, 'GET /users/profile', limited)).toBe('ACCESS_DENIED')
    await site.call(users.block, { user: member.userId })
    expect(await codeOf(site, 'GET /users/profile', full)).toBe('USER_BLOCK')
    await site.call(users.remove, { user: member.userId })
    expect(await codeOf(site, 'GET /users/profile', full)).toBe('INVALID_TOKEN')
  })

  it('changes no post of its person without a permission', async () => {
    const site = await makeSite(engine)
    const member = await site.member(['board:read'])
    const { body } = await site.http('POST /posts', { token: member.token, body: { title: 'Mine' } })
    const change = { id: body.post.postId, title: 'Changed', partial: true }
    const { token } = await created(site, member.token, { permissions: ['board:read'] })
    expect(await codeOf(site, 'PATCH /posts', token, change)).toBe('NOT_ENOUGH_PERMISSION')
    const writing = (await created(site, member.token, { permissions: ['post:create'] })).token
    expect(await codeOf(site, 'PATCH /posts', writing, change)).toBe(200)
  })

  it('makes, lists and revokes no keys, and changes nothing of the account', async () => {
    const site = await makeSite(engine)
    const { key, token } = await created(site, await site.owner())
    for (const [request, body] of [
      ['POST /keys', { name: 'more' }],
      ['GET /keys', undefined],
      [`DELETE /keys/${key.keyId}`, {}],
      ['PATCH /users/profile', { name: 'Eve' }],
      ['POST /auth/email/verify', {}],
    ] as const)
      expect([request, await codeOf(site, request, token, body)]).toEqual([request, 'NOT_ENOUGH_PERMISSION'])
  })

  it('belongs to one person: only the owner sees and revokes those of others', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const [one, other] = [await site.member(), await site.member()]
    const { key, token } = await created(site, one.token)
    expect((await site.http('GET /keys', { token: other.token })).body.keys).toEqual([])
    expect(await codeOf(site, 'GET /keys?all=true', other.token)).toBe('NOT_ENOUGH_PERMISSION')
    expect(await codeOf(site, `DELETE /keys/${key.keyId}`, other.token)).toBe('KEY_NOT_FOUND')
    expect((await site.http('GET /keys', { token: ada })).body.keys).toEqual([])
    expect((await site.http('GET /keys?all=true', { token: ada })).body.keys).toEqual([key])
    expect(await codeOf(site, `DELETE /keys/${key.keyId}`, ada)).toBe(204)
    expect(await codeOf(site, 'GET /users/profile', token)).toBe('INVALID_TOKEN')
    const event = await site.db.selectFrom('events').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
    expect(event).toMatchObject({ action: 'key.revoked', subject_id: key.keyId, person_id: one.userId })
  })

  it('ends when the account is taken back with a new password', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const eve = await site.member([], { email: 'eve@example.org' })
    const keyed = async () => (await created(site, eve.token)).token
    const first = await keyed()
    await site.http('POST /auth/password/reset', { body: { email: 'eve@example.org' } })
    const mailed = await site.mailedToken('eve@example.org')
    await site.http('POST /auth/password/set', { body: { token: mailed, password: 'a new password' } })
    expect(await codeOf(site, 'GET /users/profile', first)).toBe('INVALID_TOKEN')
    const member = await site.member()
    const second = (await created(site, member.token)).token
    await site.call(users.update, { user: member.userId, password: 'another password' })
    expect(await codeOf(site, 'GET /users/profile', second)).toBe('INVALID_TOKEN')
  })

  it('is one of at most 100 of a person, cannot be given what one lacks, and a dry run makes none', async () => {
    const site = await makeSite(engine)
    const member = await site.member()
    expect(await codeOf(site, 'POST /keys', member.token, { name: 'x', permissions: ['board:create'] })).toBe(
      'NOT_ENOUGH_PERMISSION',
    )
    for (const body of [
      {},
      { name: '' },
      { name: 'x', days: 0 },
      { name: 'x', permissions: [] },
      { name: 'x', permissions: ['all'] },
    ])
      expect(await codeOf(site, 'POST /keys', member.token, body)).toBe('VALIDATION_ERROR')
    const dry = await site.http('POST /keys', {
      token: member.token,
      body: { name: 'x' },
      headers: { 'feedbackctl-dry-run': '1' },
    })
    expect([dry.status, dry.body.token]).toEqual([201, ''])
    const call = site.callAs({ ...operator, userId: member.userId })
    await call(keys.create, { name: 'x' })
    const [row] = await site.db.selectFrom('api_keys').selectAll().execute()
    const more = Array.from({ length: 98 }, (_, index) => ({ ...row!, keyId: `${index}`, keyHash: `${index}` }))
    await site.db.insertInto('api_keys').values(more).execute()
    const attempts = await Promise.all([1, 2, 3].map(() => codeOf(site, 'POST /keys', member.token, { name: 'x' })))
    expect(attempts.map(String).toSorted()).toEqual(['201', 'KEY_LIMIT', 'KEY_LIMIT'])
    expect((await failure(call(keys.create, { name: 'x' }))).exit).toBe(5)
    expect((await site.call(boards.list, {})).boards).toEqual([])
  })
})

describe.each(engines)('an API key that leaks on %s', (engine) => {
  it('of the owner sets no password and no address, as those would outlive it', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const { token } = await created(site, ada)
    const eve = await site.member()
    const refused = 'NOT_ENOUGH_PERMISSION'
    expect(await codeOf(site, 'PATCH /users/ada@example.org', token, { password: 'another password' })).toBe(refused)
    expect(await codeOf(site, 'PATCH /users/ada@example.org', token, { email: 'evil@example.org' })).toBe(refused)
    expect(await codeOf(site, `PATCH /users/${eve.userId}`, token, { password: 'another password' })).toBe(refused)
    expect(await codeOf(site, `POST /users/${eve.userId}/reset-totp`, token)).toBe(refused)
    expect(await codeOf(site, 'POST /users', token, { email: 'x@example.org', password: 'a password' })).toBe(refused)
    expect(await codeOf(site, `PATCH /users/${eve.userId}`, token, { name: 'Eve' })).toBe(200)
    expect(await codeOf(site, 'POST /users', token, { email: 'x@example.org' })).toBe(201)
  })

  it('is not created by a request whose session ends, or whose person is blocked, before it is stored', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { userId } = await site.member([], { email: 'eve@example.org' })
    await site.signIn(userId)
    const { sessionId } = await site.db.selectFrom('sessions').select('sessionId').where('userId', '=', userId).executeTakeFirstOrThrow() // prettier-ignore
    // As a request is after its session was looked up
    const actor = { ...operator, isOwner: false, userId }
    const create = (of: object) => site.callAs({ ...actor, ...of })(keys.create, { name: 'theft' })
    expect((await create({ sessionId })).token).toMatch(/^fbk_/)
    expect((await create({ generation: 0 })).token).toMatch(/^fbk_/)
    await site.call(users.signOut, { user: userId })
    for (const of of [{ sessionId }, { generation: 0 }]) expect((await failure(create(of))).code).toBe('INVALID_TOKEN')
    await site.call(users.block, { user: userId })
    expect((await failure(create({}))).code).toBe('INVALID_TOKEN')
  })
})
