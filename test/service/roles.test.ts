import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { EVERYONE, PERMISSIONS, type Permission } from '../../src/core/permissions.js'
import * as roles from '../../src/service/roles.js'
import * as users from '../../src/service/users.js'
import { engines, failure, makeSite, OWNER, type TestSite } from '../support/site.js'

const events = (site: TestSite) =>
  site.db.selectFrom('events').select(['action', 'subject_id', 'subject']).orderBy('id').execute()
const make = async (site: TestSite, name: string, permissions: Permission[] = []) =>
  (await site.call(roles.create, { name, permissions })).role
const permissionsOf = async (site: TestSite, id: string) => (await site.call(roles.show, { id })).role.permissions
const allowed = async (site: TestSite, token: string) =>
  (await site.http('GET /roles/permissions', { token })).status === 200

describe.each(engines)('roles on %s', (engine) => {
  describe('GET /roles', () => {
    it('answers roles by age with exactly the fields of the contract', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member()
      await site.db
        .updateTable('roles')
        .set({ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' })
        .execute()
      const made = await make(site, 'Moderators')
      const owner = await site.owner()
      const { status, body } = await site.http('GET /roles', { token: owner })
      expect(status).toBe(200)
      expect(body.roles).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          name: '@everyone',
          description: 'Every signed-in person',
          isSystem: true,
          require_totp: false,
          created_at: '2026-01-01T00:00:00.000Z',
          updated_at: '2026-01-01T00:00:00.000Z',
          may: ['assign', 'unassign'],
          user_count: 2,
        },
        {
          id: made.id,
          name: 'Moderators',
          description: null,
          isSystem: false,
          require_totp: false,
          created_at: '2026-03-02T10:00:00.000Z',
          updated_at: '2026-03-02T10:00:00.000Z',
          may: ['update', 'delete', 'assign', 'unassign'],
          user_count: 0,
        },
      ])
      expect(body.results).toEqual(body.roles)
      expect(body).toMatchObject({ total_count: 2, total_pages: 1, page_info: { count: 2, has_next_page: false } })
      const first = await site.http('GET /roles?first=1', { token: owner })
      const second = await site.http(`GET /roles?first=1&after=${first.body.page_info.end_cursor}`, { token: owner })
      expect(second.body.roles).toEqual([body.roles[1]])
      expect(second.body.page_info).toMatchObject({ current_page: 2, has_next_page: false })
      expect((await site.http('GET /roles?limit=1&page=2', { token: owner })).body).not.toHaveProperty('results')
      for (const after of ['', 'Moderators', newId()]) {
        expect((await site.http(`GET /roles?after=${after}`, { token: owner })).body.errors[0].code).toBe(
          'INVALID_CURSOR',
        )
      }
      expect((await site.http('GET /roles')).body.code).toBe('INVALID_AUTH_HEADER')
      expect((await site.http('GET /roles', { token })).body.code).toBe('NOT_ENOUGH_PERMISSION')
    })
  })

  it('say how many people have each, in the list and one by one', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const [some, none] = [await make(site, 'Some'), await make(site, 'None')]
    const people = [await site.member(), await site.member()]
    const counts = async () => {
      const { roles: listed } = (await site.http('GET /roles', { token })).body
      const shown = await Promise.all(
        listed.map(async ({ id }: { id: string }) => (await site.http(`GET /roles/${id}`, { token })).body.role.user_count),
      ) // prettier-ignore
      const found = Object.fromEntries(listed.map(({ name, user_count: count }: { name: string; user_count: number }) => [name, count])) // prettier-ignore
      expect(shown).toEqual(Object.values(found))
      return found
    }
    expect(await counts()).toEqual({ '@everyone': 3, Some: 0, None: 0 })
    for (const { userId } of people) await site.call(roles.assign, { role_id: some.id, user_id: userId })
    await site.call(roles.assign, { role_id: none.id, user_id: people[0]!.userId })
    expect(await counts()).toEqual({ '@everyone': 3, Some: 2, None: 1 })
    await site.call(roles.unassign, { role_id: none.id, user_id: people[0]!.userId })
    await site.call(users.remove, { user: people[1]!.userId })
    expect(await counts()).toEqual({ '@everyone': 2, Some: 1, None: 0 })
    const { users: found, total_count: total } = (await site.http('GET /users?role=Some', { token })).body
    expect([total, found[0].userId]).toEqual([1, people[0]!.userId])
  })

  describe('GET /roles/:id', () => {
    it('shows a role with its permissions, by id or by a name that no other has', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Moderators', ['post:update', 'post:destroy', 'post:update'])
      const { token } = await site.member(['role:read'])
      for (const key of [role.id, 'Moderators'])
        expect((await site.http(`GET /roles/${key}`, { token })).body).toEqual({
          role: { ...role, may: [], user_count: 0, permissions: ['post:update', 'post:destroy'] },
          version: expect.any(String),
        })
      expect((await site.http('GET /roles/@everyone', { token })).body.role.permissions.toSorted()).toEqual(
        EVERYONE.toSorted(),
      )
      await make(site, 'Moderators')
      const twice = await site.http('GET /roles/Moderators', { token })
      expect([twice.status, twice.body.code]).toEqual([404, 'ROLE_NOT_FOUND'])
      expect(twice.body.message).toContain('More than one')
    })

    it('answers 404 before 403', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Moderators')
      const { token } = await site.member()
      const answer = async (key: string, who?: string) => {
        const { status, body } = await site.http(`GET /roles/${key}`, { token: who })
        return [status, body.code]
      }
      expect(await answer(role.id)).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await answer(newId(), token)).toEqual([404, 'ROLE_NOT_FOUND'])
      expect(await answer('nothing', token)).toEqual([404, 'ROLE_NOT_FOUND'])
      expect(await answer(role.id, token)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    })
  })

  it('GET /roles/permissions names all 36, for role:read', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member(['role:read'])
    expect((await site.http('GET /roles/permissions', { token })).body).toEqual({ permissions: [...PERMISSIONS] })
    expect((await site.http('GET /roles/permissions')).body.code).toBe('INVALID_AUTH_HEADER')
    expect((await site.http('GET /roles/permissions', { token: (await site.member()).token })).body.code).toBe(
      'NOT_ENOUGH_PERMISSION',
    )
  })

  describe('POST /roles', () => {
    it('makes a role with defaults, or as it is told', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member(['role:create', 'post:update'])
      const { status, body } = await site.http('POST /roles', { token })
      expect(status).toBe(201)
      expect(body).toEqual({
        role: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          name: 'new role',
          description: null,
          isSystem: false,
          require_totp: false,
          created_at: '2026-03-02T10:00:00.000Z',
          updated_at: '2026-03-02T10:00:00.000Z',
          may: [],
        },
      })
      const named = (
        await site.http('POST /roles', {
          token,
          body: { name: ' Füchse ', description: 'All', permissions: ['post:update'] },
        })
      ).body.role
      expect(named).toMatchObject({ name: 'Füchse', description: 'All' })
      expect(await permissionsOf(site, named.id)).toEqual(['post:update'])
      expect((await events(site)).at(-1)).toEqual({ action: 'role.created', subject_id: named.id, subject: 'Füchse' })
    })

    it.each([
      [{ name: '' }, 'name', 'TOO_SHORT'],
      [{ name: 'x'.repeat(31) }, 'name', 'TOO_LONG'],
      [{ description: 'x'.repeat(51) }, 'description', 'TOO_LONG'],
      [{ permissions: ['post:fly'] }, 'permissions', 'UNKNOWN_CHOICE'],
      [{ permissions: 'post:read' }, 'permissions', 'ARRAY_EXPECTED'],
      [{ permissions: [5] }, 'permissions', expect.any(String)],
      [{ isSystem: true }, 'isSystem', 'UNKNOWN_FIELD'],
    ])('refuses %j and makes nothing', async (body, field, code) => {
      const site = await makeSite(engine)
      const refused = await site.http('POST /roles', { token: await site.owner(), body })
      expect([refused.status, refused.body.code]).toEqual([400, 'VALIDATION_ERROR'])
      expect(refused.body.errors[0]).toMatchObject({ field, code })
      expect((await site.call(roles.list, {})).total_count).toBe(1)
      expect((await events(site)).map((event) => event.action)).toEqual(['site.set_up'])
    })

    it('needs role:create, and gives away nothing that its maker does not have', async () => {
      const site = await makeSite(engine)
      const code = async (token: string | undefined, body: unknown = {}) =>
        (await site.http('POST /roles', { token, body })).body.code
      expect(await code(undefined)).toBe('INVALID_AUTH_HEADER')
      expect(await code((await site.member(['role:read'])).token)).toBe('NOT_ENOUGH_PERMISSION')
      expect(await code((await site.member(['role:create'], { blocked: true })).token)).toBe('USER_BLOCK')
      const { token } = await site.member(['role:create'])
      const refused = await site.http('POST /roles', {
        token,
        body: { permissions: ['role:create', 'settings:update'] },
      })
      expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(refused.body.message).toContain('settings:update')
      expect(await events(site)).toEqual([])
      expect(
        (await site.http('POST /roles', { token: await site.owner(), body: { permissions: [...PERMISSIONS] } })).status,
      ).toBe(201)
    })
  })

  describe('PATCH /roles', () => {
    it('changes name and description, and replaces the permissions; absent means none', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Moderators', ['post:update'])
      site.clock.now = new Date('2026-04-01T00:00:00.000Z')
      const token = await site.owner()
      const changed = await site.http('PATCH /roles', {
        token,
        body: { ...role, name: 'Mods', description: 'Keep order', permissions: ['post:destroy', 'post:read'] },
      })
      expect(changed.status).toBe(200)
      expect(changed.body).toEqual({
        role: { ...role, name: 'Mods', description: 'Keep order', updated_at: '2026-04-01T00:00:00.000Z' },
        permissions: ['post:read', 'post:destroy'],
      })
      expect((await events(site)).at(-1)).toEqual({ action: 'role.updated', subject_id: role.id, subject: 'Mods' })
      expect((await site.http('PATCH /roles', { token, body: { id: role.id, description: null } })).body).toMatchObject(
        {
          role: { name: 'Mods', description: null },
          permissions: [],
        },
      )
      expect(await permissionsOf(site, role.id)).toEqual([])
    })

    it('changes only what is named when it is partial', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Moderators', ['post:update'])
      expect(await site.call(roles.update, { id: 'Moderators', name: 'Mods', partial: true })).toMatchObject({
        role: { name: 'Mods' },
        permissions: ['post:update'],
      })
      expect(await site.call(roles.update, { id: role.id, permissions: [], partial: true })).toMatchObject({
        role: { name: 'Mods' },
        permissions: [],
      })
    })

    it('answers 404 before 403 before 400, and leaves system roles as they are', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Moderators', ['post:update'])
      const { token } = await site.member()
      const updater = await site.member(['role:update'])
      const answer = async (body: unknown, who?: string) => {
        const { status, body: answered } = await site.http('PATCH /roles', { token: who, body })
        return [status, answered.code]
      }
      expect(await answer({ id: role.id })).toEqual([400, 'INVALID_AUTH_HEADER'])
      for (const id of [undefined, 5, '', newId(), 'nothing'])
        expect(await answer({ id }, token)).toEqual([404, 'ROLE_NOT_FOUND'])
      expect(await answer({ id: role.id, name: '' }, token)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(await answer({ id: role.id, name: '' }, updater.token)).toEqual([400, 'VALIDATION_ERROR'])
      for (const who of [updater.token, await site.owner()])
        expect(await answer({ id: '@everyone', name: 'all', partial: true }, who)).toEqual([
          403,
          'CANNOT_UPDATE_SYSTEM_ROLE',
        ])
      expect(await permissionsOf(site, '@everyone')).toHaveLength(EVERYONE.length)
      expect((await events(site)).map((event) => event.action)).toEqual(['role.created', 'site.set_up'])
    })

    it('adds only permissions of the caller, and may keep or remove the present ones', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Moderators', ['post:update', 'post:destroy'])
      const { token } = await site.member(['role:update', 'board:read', 'post:update', 'post:destroy'])
      const refused = await site.http('PATCH /roles', {
        token,
        body: { id: role.id, name: 'Mine', permissions: ['post:update', 'settings:update'] },
      })
      expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(refused.body.message).toContain('settings:update')
      expect((await site.call(roles.show, { id: role.id })).role).toMatchObject({
        name: 'Moderators',
        permissions: ['post:update', 'post:destroy'],
      })
      expect(
        (await site.http('PATCH /roles', { token, body: { id: role.id, permissions: ['post:update', 'board:read'] } }))
          .body.permissions,
      ).toEqual(['post:update', 'board:read'])
    })

    it('leaves the permissions of one of many changes at once, never a mixture', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Moderators')
      const sets: Permission[][] = [
        ['post:read', 'post:update'],
        ['board:read', 'board:update'],
        ['roadmap:read', 'roadmap:update'],
        [],
      ]
      await Promise.all(
        Array.from({ length: 12 }, (_, turn) => site.call(roles.update, { id: role.id, permissions: sets[turn % 4] })),
      )
      expect(sets).toContainEqual(await permissionsOf(site, role.id))
    })
  })

  describe('DELETE /roles', () => {
    it('deletes a role, and its holders lose its permissions at once', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Readers', ['role:read'])
      const { userId, token } = await site.member()
      await site.call(roles.assign, { role_id: role.id, user_id: userId })
      expect(await allowed(site, token)).toBe(true)
      const destroyer = await site.member(['role:destroy', 'role:read'])
      const remove = async (who: string | undefined, id: unknown) => {
        const { status, body } = await site.http('DELETE /roles', { token: who, body: { id } })
        return [status, body?.code]
      }
      expect(await remove(undefined, role.id)).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await remove(token, newId())).toEqual([404, 'ROLE_NOT_FOUND'])
      expect(await remove(token, role.id)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(await remove(destroyer.token, '@everyone')).toEqual([403, 'CANNOT_UPDATE_SYSTEM_ROLE'])
      expect(await allowed(site, token)).toBe(true)
      expect(await remove(destroyer.token, role.id)).toEqual([204, undefined])
      expect(await remove(destroyer.token, role.id)).toEqual([404, 'ROLE_NOT_FOUND'])
      expect(await allowed(site, token)).toBe(false)
      expect(await site.db.selectFrom('role_permissions').selectAll().where('role_id', '=', role.id).execute()).toEqual(
        [],
      )
      expect((await events(site)).at(-1)).toEqual({ action: 'role.deleted', subject_id: role.id, subject: 'Readers' })
    })
  })

  describe('PUT and DELETE /roles/:role_id/users/:user_id', () => {
    it('gives and takes a role, by ids or by names, and it counts at the next request', async () => {
      const site = await makeSite(engine)
      const owner = await site.owner()
      const role = await make(site, 'Readers', ['role:read'])
      const { userId, token } = await site.member([], { email: 'grace@example.org' })
      const { username } = await site.db
        .selectFrom('users')
        .select('username')
        .where('userId', '=', userId)
        .executeTakeFirstOrThrow()
      expect(await allowed(site, token)).toBe(false)
      for (const [who, which] of [
        [userId, role.id],
        ['Grace@Example.org', 'Readers'],
        [username, role.id],
      ]) {
        const given = await site.http(`PUT /roles/${which}/users/${who}`, { token: owner })
        expect([given.status, given.body]).toEqual([
          200,
          { success: 1, id: role.id, name: 'Readers', isSystem: false, user_role_id: role.id },
        ])
        expect(await allowed(site, token)).toBe(true)
        const taken = await site.http(`DELETE /roles/${which}/users/${who}`, { token: owner })
        expect([taken.status, taken.text]).toEqual([204, ''])
        expect(await allowed(site, token)).toBe(false)
      }
      const seen = await events(site)
      expect(seen.slice(-2)).toEqual([
        { action: 'role.assigned', subject_id: role.id, subject: 'Readers' },
        { action: 'role.unassigned', subject_id: role.id, subject: 'Readers' },
      ])
      expect((await site.http(`DELETE /roles/${role.id}/users/${userId}`, { token: owner })).status).toBe(204)
      expect(await events(site)).toHaveLength(seen.length)
      expect(JSON.stringify(seen)).not.toContain('grace')
    })

    it('has a role once: a second time, and all but one of many at once, are a conflict with success 0', async () => {
      const site = await makeSite(engine)
      const owner = await site.owner()
      const role = await make(site, 'Readers')
      const { userId } = await site.member()
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => site.http(`PUT /roles/${role.id}/users/${userId}`, { token: owner })),
      )
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        200,
        ...Array.from({ length: 7 }, () => 409),
      ])
      expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({
        code: 'ROLE_USER_CONFLICT',
        success: 0,
      })
      expect((await events(site)).filter((event) => event.action === 'role.assigned')).toHaveLength(1)
    })

    it('walks the ladder of the contract: role, person, permission', async () => {
      const site = await makeSite(engine)
      const role = await make(site, 'Readers')
      await make(site, 'Twins')
      await make(site, 'Twins')
      const { userId, token } = await site.member()
      for (const method of ['PUT', 'DELETE']) {
        const answer = async (which: string, who: string, as: string | undefined = token) => {
          const { status, body } = await site.http(`${method} /roles/${which}/users/${who}`, { token: as })
          return [status, body.code]
        }
        expect((await site.http(`${method} /roles/${role.id}/users/${userId}`)).body.code).toBe('INVALID_AUTH_HEADER')
        expect(await answer('nothing', 'nobody')).toEqual([400, 'INVALID_ROLE_ID'])
        expect(await answer('Twins', userId)).toEqual([400, 'INVALID_ROLE_ID'])
        expect(await answer(newId(), 'nobody')).toEqual([404, 'ROLE_NOT_FOUND'])
        expect(await answer(role.id, 'nobody')).toEqual([400, 'INVALID_USER_ID'])
        expect(await answer(role.id, 'nobody@example.org')).toEqual([400, 'INVALID_USER_ID'])
        expect(await answer(role.id, newId())).toEqual([404, 'USER_NOT_FOUND'])
        expect(await answer(role.id, userId)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
        const blocked = await site.member(['role:assign', 'role:unassign'], { blocked: true })
        expect(await answer(role.id, userId, blocked.token)).toEqual([403, 'USER_BLOCK'])
      }
      expect(await site.db.selectFrom('roles_users').selectAll().where('role_id', '=', role.id).execute()).toEqual([])
    })

    it('gives no permission that the caller lacks', async () => {
      const site = await makeSite(engine)
      const strong = await make(site, 'Strong', ['settings:update', 'board:read'])
      const weak = await make(site, 'Weak', ['board:read'])
      const { userId, token } = await site.member(['role:assign', 'board:read'])
      const refused = await site.http(`PUT /roles/${strong.id}/users/${userId}`, { token })
      expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(refused.body.message).toContain('settings:update')
      expect((await site.http(`PUT /roles/${weak.id}/users/${userId}`, { token })).status).toBe(200)
      expect((await site.http(`PUT /roles/${weak.id}/users/${userId}`, { token })).status).toBe(409)
      await site.owner()
      expect((await site.call(roles.assign, { role_id: 'Strong', user_id: OWNER.email })).success).toBe(1)
    })

    it('stays consistent when roles and people are deleted concurrently', async () => {
      const site = await makeSite(engine)
      const made = await Promise.all(Array.from({ length: 6 }, (_, at) => make(site, `R${at}`)))
      const people = await Promise.all(Array.from({ length: 6 }, () => site.member()))
      const pairs = made.flatMap(({ id }) => people.map(({ userId }) => ({ role_id: id, user_id: userId })))
      const outcomes = await Promise.allSettled([
        ...pairs.map((pair) => site.call(roles.assign, pair)),
        ...made.slice(0, 3).map(({ id }) => site.call(roles.remove, { id })),
        ...people.slice(0, 3).map(({ userId }) => site.db.deleteFrom('users').where('userId', '=', userId).execute()),
      ])
      const codes = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
      expect(codes.filter((code) => !['ROLE_NOT_FOUND', 'USER_NOT_FOUND'].includes(code))).toEqual([])
      expect(await site.db.selectFrom('roles_users').selectAll().where('role_id', 'in', made.map(({ id }) => id)).execute()).toHaveLength(9) // prettier-ignore
    })
  })

  it('leaves nothing behind in a dry run', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const role = await make(site, 'Readers', ['role:read'])
    const { userId } = await site.member()
    const before = await events(site)
    const headers = { 'feedbackctl-dry-run': '1' }
    expect((await site.http(`PUT /roles/${role.id}/users/${userId}`, { token, headers })).status).toBe(200)
    expect((await site.http('PATCH /roles', { token, headers, body: { id: role.id } })).body.permissions).toEqual([])
    expect((await site.http('DELETE /roles', { token, headers, body: { id: role.id } })).status).toBe(204)
    expect(await permissionsOf(site, role.id)).toEqual(['role:read'])
    expect(await events(site)).toEqual(before)
    expect((await failure(site.call(roles.show, { id: newId() }))).code).toBe('ROLE_NOT_FOUND')
  })
})
