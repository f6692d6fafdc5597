import { describe, expect, it } from 'vitest'
import * as users from '../../src/service/users.js'
import * as usertags from '../../src/service/usertags.js'
import { engines, makeSite, type Engine } from '../support/site.js'

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine, { rates: {} })
  const owner = await site.owner()
  const eve = await site.member([])
  const team = await site.member(['user:read', 'user:block'])
  const tag = (change: { add?: string[]; remove?: string[] }, token = team.token) =>
    site.http(`POST /users/${eve.userId}/tag`, { token, body: change })
  const tagsOf = async (token = team.token) => (await site.http(`GET /users/${eve.userId}`, { token })).body.user.tags
  return { site, owner, eve, team, tag, tagsOf }
}

describe.each(engines)('tags of people on %s', (engine) => {
  it('are given and taken away, by name, and are the same in any letters', async () => {
    const { site, tag, tagsOf, eve } = await makeWorld(engine)
    const { status, body } = await tag({ add: ['VIP', '  beta   tester ', 'vip', 'Ärzte'] })
    expect([status, body.user.tags]).toEqual([200, ['beta tester', 'VIP', 'Ärzte']])
    expect((await tag({ add: ['vIp', 'trial'], remove: ['BETA TESTER', 'nothing'] })).body.user.tags).toEqual(['trial', 'VIP', 'Ärzte']) // prettier-ignore
    expect((await tag({ add: ['new'], remove: ['NEW'] })).body.user.tags).toEqual(['trial', 'VIP', 'Ärzte'])
    expect(await tagsOf()).toEqual(['trial', 'VIP', 'Ärzte'])
    const events = await site.db.selectFrom('events').selectAll().where('action', '=', 'user.tagged').execute()
    expect(events.map(({ subject_id: id }) => id)).toEqual([eve.userId, eve.userId])
    expect(JSON.stringify(events), 'what a person is called goes with the account').not.toContain('VIP')
  })

  it('are for the team alone', async () => {
    const { site, eve, tag, owner } = await makeWorld(engine)
    await tag({ add: ['difficult'] })
    for (const path of ['/users/profile', '/export/account', '/users/permissions'])
      expect([path, (await site.http(`GET ${path}`, { token: eve.token })).text.includes('difficult')]).toEqual([path, false]) // prettier-ignore
    expect((await site.http(`GET /users/${eve.userId}`, { token: eve.token })).status).toBe(403)
    expect((await tag({ add: ['x'] }, eve.token)).status).toBe(403)
    const reader = await site.member(['user:read'])
    expect((await tag({ add: ['x'] }, reader.token)).status).toBe(403)
    const listed = (await site.http('GET /users', { token: reader.token })).body.users
    expect(listed.find(({ userId }: { userId: string }) => userId === eve.userId).tags).toEqual(['difficult'])
    const blocker = await site.member(['user:block'])
    expect((await tag({ add: ['late'] }, blocker.token)).body.user).toMatchObject({ email: '', tags: ['difficult', 'late'] }) // prettier-ignore
    const file = await site.http('GET /export/users', { token: owner })
    expect(file.text).toMatch(/^name,.*tags.*\n[^]*"difficult, late"/)
  })

  it.each([
    [{}, 'TAGS_MISSING'],
    [{ add: [''] }, 'INVALID_VALUE'],
    [{ add: ['\u202e\u200b'] }, 'INVALID_VALUE'],
    [{ add: ['x'.repeat(51)] }, 'INVALID_VALUE'],
    [{ add: ['one, two'] }, 'INVALID_VALUE'],
    [{ add: Array.from({ length: 21 }, (_, at) => `t${at}`) }, 'TOO_MANY'],
  ])('are not changed by %o', async (change, code) => {
    const { tag, tagsOf } = await makeWorld(engine)
    const { status, text } = await tag(change)
    expect([status, text]).toEqual([400, expect.stringContaining(code)])
    expect(await tagsOf()).toEqual([])
  })

  it('are twenty at most, also where two requests come at once', async () => {
    const { tag, tagsOf } = await makeWorld(engine)
    await tag({ add: Array.from({ length: 19 }, (_, at) => `t${at}`) })
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => tag({ add: [name] })))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 400, 400])
    expect((await tagsOf()).length).toBe(20)
    expect((await tag({ add: ['d'], remove: ['t0'] })).status).toBe(200)
  })

  it('go with the account', async () => {
    const { site, eve, tag } = await makeWorld(engine)
    await tag({ add: ['VIP'] })
    await site.call(users.remove, { user: eve.userId })
    expect(await site.db.selectFrom('user_tags').selectAll().execute()).toEqual([])
    await expect(site.call(usertags.tag, { user: eve.userId, add: ['VIP'] })).rejects.toMatchObject({ code: 'USER_NOT_FOUND' }) // prettier-ignore
  })
})
