import { describe, expect, it } from 'vitest'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const EVE = { email: 'eve@example.org', password: 'secret of eve' }

const signIn = async (site: TestSite, password = EVE.password) =>
  site.http('POST /auth/login', { body: { email: EVE.email, password } })

const outcome = async (site: TestSite, request: string, token: string | undefined, body?: object) => {
  const answer = await site.http(request, { token, ...(body && { body }) })
  return answer.status < 300 ? answer.status : answer.body.code
}

describe.each(engines)('your own password on %s', (engine) => {
  it('is changed with the present one, which ends all other sessions, mailed links and API keys', async () => {
    const site = await makeSite(engine)
    const { userId } = await site.member([], EVE)
    const [token, other] = [(await signIn(site)).body.user.authToken, (await signIn(site)).body.user.authToken]
    const key = (await site.http('POST /keys', { token, body: { name: 'ci' } })).body.token
    await site.http('POST /auth/password/reset', { body: { email: EVE.email } })
    const mailed = await site.mailedToken(EVE.email)
    const profiles = () => Promise.all([token, other, key].map((each) => outcome(site, 'GET /users/profile', each)))
    expect(await profiles()).toEqual([200, 200, 200])
    const change = (body: object, by = token) => outcome(site, 'POST /users/password', by, body)
    const password = 'another secret'
    for (const [body, code] of [
      [{ currentPassword: 'wrong password', password }, 'INCORRECT_PASSWORD'],
      [{ password }, 'PASSWORD_MISSING'],
      [{ currentPassword: EVE.password }, 'PASSWORD_MISSING'],
      [{ currentPassword: EVE.password, password: 'short' }, 'VALIDATION_ERROR'],
    ] as const)
      expect(await change(body)).toBe(code)
    expect(await change({ currentPassword: EVE.password, password }, key)).toBe('NOT_ENOUGH_PERMISSION')
    expect([await profiles(), (await signIn(site)).status]).toEqual([[200, 200, 200], 200])
    expect(await change({ currentPassword: EVE.password, password })).toBe(204)
    expect(await profiles()).toEqual([200, 'INVALID_TOKEN', 'INVALID_TOKEN'])
    expect([(await signIn(site)).body.code, (await signIn(site, password)).status]).toEqual(['INCORRECT_PASSWORD', 200])
    expect(await outcome(site, 'POST /auth/password/set', undefined, { token: mailed, password })).toBe('INVALID_TOKEN')
    expect(await site.events()).toContainEqual(['user.password_set', userId])
  })

  it('is not guessed: failures are limited as those of sign-ins', async () => {
    const site = await makeSite(engine, { rates: { 'sign-in': { points: 1, seconds: 60 } } })
    const { token } = await site.member([], EVE)
    const guess = () =>
      outcome(site, 'POST /users/password', token, { currentPassword: 'wrong password', password: 'another secret' })
    const guesses = []
    for (let turn = 0; turn < 11; turn++) guesses.push(await guess())
    expect(guesses).toEqual([...Array.from({ length: 10 }, () => 'INCORRECT_PASSWORD'), 'RATE_LIMITED'])
  })

  it('may be a common one, unless the site refuses these', async () => {
    const lenient = await makeSite(engine)
    const body = { email: 'bob@example.org', password: 'Password1' }
    expect(await outcome(lenient, 'POST /auth/signup', undefined, body)).toBe(201)
    const site = await makeSite(engine, { commonPasswords: 'refuse' })
    for (const password of ['12345678', 'Password1']) {
      expect(await outcome(site, 'POST /auth/setup', undefined, { ...OWNER, password })).toBe('PASSWORD_COMMON')
      expect(await outcome(site, 'POST /auth/signup', undefined, { ...body, password })).toBe('PASSWORD_COMMON')
    }
    const ada = await site.owner()
    const { userId } = await site.member([], EVE)
    const token = (await signIn(site)).body.user.authToken
    const common = { password: 'iloveyou' }
    expect(await outcome(site, 'POST /users', ada, { ...body, ...common })).toBe('PASSWORD_COMMON')
    expect(await outcome(site, `PATCH /users/${userId}`, ada, common)).toBe('PASSWORD_COMMON')
    expect(await outcome(site, 'POST /users/password', token, { currentPassword: EVE.password, ...common })).toBe(
      'PASSWORD_COMMON',
    )
    await site.http('POST /auth/password/reset', { body: { email: EVE.email } })
    const mailed = { token: await site.mailedToken(EVE.email) }
    expect(await outcome(site, 'POST /auth/password/set', undefined, { ...mailed, ...common })).toBe('PASSWORD_COMMON')
    expect(await outcome(site, 'POST /auth/password/set', undefined, { ...mailed, password: EVE.password })).toBe(200)
  })
})
