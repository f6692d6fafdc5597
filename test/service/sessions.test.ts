import jwt from 'jsonwebtoken'
import { describe, expect, it } from 'vitest'
import { sessions as job } from '../../src/jobs/sessions.js'
import { operator } from '../../src/service/lib/access.js'
import type { Session } from '../../src/service/sessions.js'
import * as sessions from '../../src/service/sessions.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
const later = (site: TestSite, milliseconds: number) =>
  void (site.clock.now = new Date(site.clock.now.getTime() + milliseconds))

const EVE = { email: 'eve@example.org', password: 'secret of eve' }

async function signIn(site: TestSite, person = EVE, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await site.http('POST /auth/login', { body: { email: person.email, password: person.password }, headers }) // prettier-ignore
  return body.user.authToken
}

/** The status of a request that is answered from the cache where that is possible, or the code of its refusal. */
const tried = async (site: TestSite, token: string) => {
  const { status, body } = await site.http('GET /users/profile', { token })
  return status < 300 ? status : body.code
}

const listed = async (site: TestSite, token: string): Promise<Session[]> =>
  (await site.http('GET /sessions', { token })).body.sessions

/** A token without a session, as earlier versions made them. */
const oldToken = (site: TestSite, userId: string, { days = 2, claims = {} } = {}) => {
  const iat = Math.floor(site.clock.now.getTime() / 1000)
  return jwt.sign({ userId, iat, exp: iat + (days * DAY_MS) / 1000, ...claims }, site.base.secret())
}

describe.each(engines)('a session on %s', (engine) => {
  it('begins with setup, sign-up and sign-in, and is listed with the program and the address', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const headers = { 'user-agent': 'Firefox' }
    await site.http('POST /auth/signup', { body: EVE, headers })
    later(site, HOUR_MS)
    const token = await signIn(site, EVE, { 'user-agent': 'curl' })
    expect(await listed(site, token)).toEqual([
      {
        sessionId: expect.any(String),
        isCurrent: true,
        userAgent: 'curl',
        address: '127.0.0.1',
        createdAt: '2026-03-02T11:00:00.000Z',
        expiresAt: '2026-03-04T11:00:00.000Z',
        lastUsedAt: '2026-03-02T11:00:00.000Z',
      },
      expect.objectContaining({ isCurrent: false, userAgent: 'Firefox', lastUsedAt: null }),
    ])
    expect(await listed(site, ada)).toEqual([
      expect.objectContaining({ isCurrent: true, userAgent: '', address: null }),
    ])
    const dry = await site.http('POST /auth/login', { body: EVE, headers: { 'feedbackctl-dry-run': '1' } })
    expect([dry.status, dry.body.user.authToken, (await listed(site, token)).length]).toEqual([200, '', 2])
  })

  it('ends at once, cached responses too, while the others go on', async () => {
    const site = await makeSite(engine)
    await site.member([], EVE)
    const [one, other] = [await signIn(site), await signIn(site)]
    const both = () => Promise.all([one, other].map((token) => tried(site, token)))
    expect([await both(), await both()]).toEqual([
      [200, 200],
      [200, 200],
    ])
    const { sessionId } = (await listed(site, one)).find(({ isCurrent }) => isCurrent)!
    const end = (id: string, token: string) => site.http(`DELETE /sessions/${id}`, { token, body: {} })
    expect((await end(sessionId.toUpperCase(), other)).status).toBe(204)
    expect(await both()).toEqual(['INVALID_TOKEN', 200])
    expect((await end(sessionId, other)).body.code).toBe('SESSION_NOT_FOUND')
    expect((await end('none', other)).body.code).toBe('SESSION_NOT_FOUND')
    expect((await end('current', other)).status).toBe(204)
    expect(await both()).toEqual(['INVALID_TOKEN', 'INVALID_TOKEN'])
    expect((await site.http('GET /boards', { token: other })).status).toBe(200)
    expect((await site.events()).filter(([action]) => action === 'session.ended')).toHaveLength(2)
  })

  it('ends with all others of its person, or is kept', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const { userId } = await site.member([], EVE)
    const [one, other, old] = [await signIn(site), await signIn(site), oldToken(site, userId)]
    const all = () => Promise.all([one, other, old, ada].map((token) => tried(site, token)))
    expect(await all()).toEqual([200, 200, 200, 200])
    expect((await site.http('DELETE /sessions', { token: one, body: {} })).status).toBe(204)
    expect(await all()).toEqual([200, 'INVALID_TOKEN', 'INVALID_TOKEN', 200])
    expect((await site.http('DELETE /sessions', { token: one, body: { current: true } })).status).toBe(204)
    expect(await all()).toEqual(['INVALID_TOKEN', 'INVALID_TOKEN', 'INVALID_TOKEN', 200])
    expect((await site.events()).slice(-2)).toEqual([
      ['user.signed_out', userId],
      ['user.signed_out', userId],
    ])
    expect(await tried(site, await signIn(site))).toBe(200)
  })

  it('ends with a new password, a block, a sign-out by the owner and the account', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const reset = async (email: string) => {
      await site.http('POST /auth/password/reset', { body: { email } })
      const token = await site.mailedToken(email)
      return site.http('POST /auth/password/set', { body: { token, password: 'a new password' } })
    }
    const by = (request: string, body: object = {}) => site.http(request, { token: ada, body })
    const ends: [code: string, end: (userId: string, email: string) => Promise<{ status: number }>][] = [
      ['INVALID_TOKEN', (_, email) => reset(email)],
      ['INVALID_TOKEN', (userId) => by(`PATCH /users/${userId}`, { password: 'a new password' })],
      ['INVALID_TOKEN', (userId) => by(`POST /users/${userId}/sign-out`)],
      ['USER_BLOCK', (userId) => by(`POST /users/${userId}/block`)],
      ['USER_NOT_FOUND', (userId) => by(`DELETE /users/${userId}`)],
    ]
    for (const [code, end] of ends) {
      const email = `${code.toLowerCase()}${ends.findIndex((each) => each[1] === end)}@example.org`
      const { userId, token } = await site.member([], { email })
      const old = oldToken(site, userId)
      expect([await tried(site, token), await tried(site, old)]).toEqual([200, 200])
      expect((await end(userId, email)).status).toBeLessThan(300)
      expect([await tried(site, token), await tried(site, old)]).toEqual([code, code])
      const left = await site.db.selectFrom('sessions').select('sessionId').where('userId', '=', userId).execute()
      expect(left).toEqual([])
    }
  })

  it('belongs to one person, and an API key neither lists nor ends any', async () => {
    const site = await makeSite(engine)
    const ada = await site.owner()
    const eve = await site.member([], EVE)
    const [{ sessionId } = { sessionId: '' }] = await listed(site, ada)
    const { body } = await site.http('POST /keys', { token: ada, body: { name: 'ci' } })
    for (const [token, request, code] of [
      [eve.token, `DELETE /sessions/${sessionId}`, 'SESSION_NOT_FOUND'],
      [body.token, `DELETE /sessions/${sessionId}`, 'NOT_ENOUGH_PERMISSION'],
      [body.token, 'DELETE /sessions', 'NOT_ENOUGH_PERMISSION'],
      [body.token, 'GET /sessions', 'NOT_ENOUGH_PERMISSION'],
      [undefined, 'GET /sessions', 'INVALID_AUTH_HEADER'],
    ] as const)
      expect((await site.http(request, { token, ...(!request.startsWith('GET') && { body: {} }) })).body.code).toBe(
        code,
      )
    expect(await tried(site, ada)).toBe(200)
    const { userId } = await site.db.selectFrom('sessions').select('userId').where('sessionId', '=', sessionId).executeTakeFirstOrThrow() // prettier-ignore
    const forged = jwt.sign({ userId: eve.userId, sessionId, iat: site.clock.now.getTime() / 1000 }, site.base.secret(), { expiresIn: 60 }) // prettier-ignore
    expect([userId === eve.userId, await tried(site, forged)]).toEqual([false, 'INVALID_TOKEN'])
  })

  it('shows the hour of its last use, with one write in an hour, also where responses are cached', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member()
    for (const [minutes, hour] of [
      [30, '10'],
      [20, '10'],
      [10, '11'],
      [180, '14'],
    ] as const) {
      later(site, minutes * 60_000)
      for (let turn = 0; turn < 3; turn++) expect(await tried(site, token)).toBe(200)
      const { usedAt } = await site.db.selectFrom('session_uses').selectAll().executeTakeFirstOrThrow()
      expect(usedAt).toBe(`2026-03-02T${hour}:00:00.000Z`)
    }
  })

  it('lasts two days, whatever its token says', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { userId, token } = await site.member()
    const { sessionId } = jwt.decode(token) as { sessionId: string }
    const years = { days: 30 * 365 }
    const long = [oldToken(site, userId, years), oldToken(site, userId, { ...years, claims: { sessionId } })]
    const both = () => Promise.all(long.map((each) => tried(site, each)))
    expect(await both()).toEqual([200, 200])
    const future = Math.floor(site.clock.now.getTime() / 1000) + 100 * DAY_MS
    expect(await tried(site, oldToken(site, userId, { ...years, claims: { iat: future } }))).toBe('INVALID_TOKEN')
    const ageless = jwt.sign({ userId, exp: future }, site.base.secret(), { noTimestamp: true })
    expect(await tried(site, ageless)).toBe('INVALID_TOKEN')
    later(site, 2 * DAY_MS - 1000)
    expect(await both()).toEqual([200, 200])
    later(site, 1000)
    expect(await both()).toEqual(['INVALID_TOKEN', 'INVALID_TOKEN'])
    const late = oldToken(site, userId, { ...years, claims: { sessionId } })
    expect(await tried(site, late)).toBe('INVALID_TOKEN')
  })

  it('is removed by a job after it has expired; the 1001st ends the oldest', async () => {
    const site = await makeSite(engine)
    const { userId, token } = await site.member()
    later(site, 2 * DAY_MS)
    const context = { db: site.db, now: () => site.clock.now, log: undefined as never, signal: undefined as never }
    expect(await job.isDue?.(context)).toBe(true)
    const fresh = await site.signIn(userId)
    expect(await listed(site, fresh)).toHaveLength(1)
    await job.run(context)
    expect(await site.db.selectFrom('sessions').select('sessionId').execute()).toHaveLength(1)
    expect([await job.isDue?.(context), await tried(site, token), await tried(site, fresh)]).toEqual([false, 'INVALID_TOKEN', 200]) // prettier-ignore
    later(site, 1000)
    const [row] = await site.db.selectFrom('sessions').selectAll().execute()
    const createdAt = site.clock.now.toISOString()
    const more = Array.from({ length: 999 }, (_, number) => ({ ...row!, createdAt, sessionId: `${number}` }))
    await site.db.insertInto('sessions').values(more).execute()
    expect(await tried(site, fresh)).toBe(200)
    later(site, 1000)
    const newest = await site.signIn(userId)
    expect([await tried(site, fresh), await tried(site, newest)]).toEqual(['INVALID_TOKEN', 200])
    expect(await listed(site, newest)).toHaveLength(1000)
  })

  it('is listed and ended by the operator for an account', async () => {
    const site = await makeSite(engine)
    const { userId, token } = await site.member()
    const call = site.callAs({ ...operator, userId })
    const { sessions: found } = await call(sessions.list, {})
    expect(found).toMatchObject([{ isCurrent: false }])
    await call(sessions.revokeAll, {})
    expect(await tried(site, token)).toBe('INVALID_TOKEN')
  })
})
