import { generate } from 'otplib'
import { describe, expect, it } from 'vitest'
import * as roles from '../../src/service/roles.js'
import { bindSecret } from '../../src/service/lib/tokens.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const EVE = { email: 'eve@example.org', password: 'secret of eve' }
const later = (site: TestSite, seconds: number) =>
  void (site.clock.now = new Date(site.clock.now.getTime() + seconds * 1000))

const codeAt = (site: TestSite, secret: string, seconds = 0) =>
  generate({ secret, epoch: site.clock.now.getTime() / 1000 + seconds })

const login = async (site: TestSite, more: object = {}) => {
  const { status, body } = await site.http('POST /auth/login', { body: { ...EVE, ...more } })
  return status === 200 ? 'ok' : body.code
}

/** A person with a second factor, on a site with an owner. */
async function makeEve(site: TestSite, { mail = true } = {}) {
  const ada = await site.owner()
  if (!mail) site.base.mail = null // setup needs it
  const { userId, token } = await site.member([], EVE)
  const post = (path: string, body: object = {}) => site.http(`POST ${path}`, { token, body })
  const begun = await post('/totp')
  const secret = begun.body.secret as string
  const enabled = await post('/totp/enable', { code: await codeAt(site, secret) })
  return { ada, userId, token, post, begun, enabled, secret, codes: enabled.body.recoveryCodes as string[] }
}

describe.each(engines)('a second factor on %s', (engine) => {
  it('is begun, proven with a code, and then needed to sign in; each code works once', async () => {
    const site = await makeSite(engine)
    const { begun, enabled, secret, codes, post, userId } = await makeEve(site)
    expect(begun.headers['cache-control']).toBe('no-store')
    expect(begun.body.uri).toBe(`otpauth://totp/Moonbase:eve%40example.org?secret=${secret}&issuer=Moonbase`)
    expect([begun.status, enabled.status, new Set(codes).size]).toEqual([201, 200, 10])
    expect([await login(site), await login(site, { password: 'wrong one' })]).toEqual(['TOTP_REQUIRED', 'INCORRECT_PASSWORD']) // prettier-ignore
    const used = await codeAt(site, secret)
    for (const code of [used, '000000', 'abc', '', codes[0]?.slice(1)])
      expect(await login(site, { code })).toBe(code === '' ? 'TOTP_REQUIRED' : 'TOTP_WRONG')
    later(site, 30)
    const code = await codeAt(site, secret)
    const answers = await Promise.all([1, 2, 3].map(() => login(site, { code })))
    expect(answers.filter((each) => each === 'ok')).toHaveLength(1)
    expect([await login(site, { code: codes[0]?.toUpperCase() }), await login(site, { code: codes[0] })]).toEqual(['ok', 'TOTP_WRONG']) // prettier-ignore
    expect((await site.http('GET /totp', { token: await site.signIn(userId) })).body).toMatchObject({
      isEnabled: true,
      recoveryCodesLeft: 9,
    })
    later(site, 120)
    expect(await login(site, { code: await codeAt(site, secret, -60) })).toBe('TOTP_WRONG')
    expect(await login(site, { code: await codeAt(site, secret, -30) })).toBe('ok')
    expect((await post('/totp')).body.code).toBe('TOTP_ENABLED')
    const stored = JSON.stringify([
      await site.db.selectFrom('totp').selectAll().execute(),
      await site.db.selectFrom('recovery_codes').selectAll().execute(),
      site.logs,
    ])
    for (const text of [secret, codes[1]!, code]) expect(stored).not.toContain(text)
    expect(await site.events()).toContainEqual(['user.totp_enabled', userId])
    expect(await site.events()).toContainEqual(['user.sign_in_failed', userId])
  })

  it('needs the password once: a token stands for it for ten minutes, for this account and this password', async () => {
    const site = await makeSite(engine)
    const { secret, codes, post } = await makeEve(site)
    const ask = async () => (await site.http('POST /auth/login', { body: EVE })).body.passwordToken as string
    const passwordToken = await ask()
    const { email } = EVE
    const use = (more: object) => login(site, { password: undefined, email, passwordToken, ...more })
    expect(await login(site, { password: 'wrong one' })).toBe('INCORRECT_PASSWORD')
    expect([await use({}), await use({ code: '000000' }), await use({ code: codes[0] })]).toEqual(['TOTP_REQUIRED', 'TOTP_WRONG', 'ok']) // prettier-ignore
    for (const wrong of [
      { email: OWNER.email },
      { email: 'nobody@example.org' },
      { passwordToken: `9${passwordToken}` },
      { passwordToken: 'x' },
      { passwordToken: `${passwordToken.slice(0, -1)}_` },
    ])
      expect([wrong, await use({ code: codes[1], ...wrong })]).toEqual([wrong, 'INVALID_TOKEN'])
    expect((await site.http('GET /users/profile', { token: passwordToken })).status).toBe(401)
    later(site, 599)
    expect(await use({ code: codes[2] })).toBe('ok')
    later(site, 1)
    expect(await use({ code: codes[3] })).toBe('INVALID_TOKEN')
    const before = await ask()
    await post('/users/password', { currentPassword: EVE.password, password: 'another secret' })
    expect(await use({ passwordToken: before, code: codes[4] })).toBe('INVALID_TOKEN')
    expect(site.logs.join('')).not.toContain(passwordToken.slice(-43))
    expect(await login(site, { password: 'another secret', code: await codeAt(site, secret) })).toBe('ok')
  })

  it('is not guessed: wrong codes count as failed sign-ins', async () => {
    const site = await makeSite(engine, { rates: { 'sign-in': { points: 1, seconds: 60 } } })
    await makeEve(site)
    const outcomes = []
    for (let turn = 0; turn < 11; turn++) outcomes.push(await login(site, { code: '000000' }))
    expect(outcomes).toEqual([...Array.from({ length: 10 }, () => 'TOTP_WRONG'), 'RATE_LIMITED'])
  })

  it('slows an account down that many addresses guess at for days, and warns its owner once', async () => {
    const site = await makeSite(engine, { rates: {} })
    const { post, secret, codes, userId } = await makeEve(site)
    const guess = () => login(site, { code: '000000' })
    const letters = async () =>
      (await site.db.selectFrom('deliveries').select(['subject', 'text']).execute()).filter(({ subject }) => subject.includes('guessing')) // prettier-ignore
    for (let turn = 0; turn < 19; turn++) {
      expect(await guess()).toBe('TOTP_WRONG')
      later(site, 7200)
    }
    expect(await login(site, { code: await codeAt(site, secret) }), 'resets nothing').toBe('ok')
    expect(await letters()).toEqual([])
    expect((await post('/totp/disable', { code: '000000' })).body.code, 'guesses anywhere count').toBe('TOTP_WRONG')
    const [letter, ...others] = await letters()
    expect([letter?.text.includes('/board/password-reset\n'), others]).toEqual([true, []])
    expect((await site.events()).filter(([action]) => action === 'user.totp_guessed')).toEqual([['user.totp_guessed', userId]]) // prettier-ignore
    for (const seconds of [60, 120, 240, 480]) {
      later(site, seconds - 1)
      const refused = await site.http('POST /auth/login', { body: { ...EVE, code: await codeAt(site, secret) } })
      expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([429, 'TOTP_LIMITED', '1'])
      expect(refused.body.message).toBe('Too many wrong codes for this account. Try again in 1 second, or give a recovery code.') // prettier-ignore
      expect((await post('/totp/recovery', { code: '000000' })).body.code).toBe('TOTP_LIMITED')
      later(site, 1)
      expect(await guess()).toBe('TOTP_WRONG')
    }
    expect(await login(site, { code: codes[0] }), 'a recovery code always works').toBe('ok')
    expect(await login(site, { code: 'no-recovery-code' })).toBe('TOTP_WRONG')
    for (let turn = 0; turn < 3; turn++) {
      later(site, 86_399)
      expect(await guess()).toMatch(turn === 0 ? /TOTP_WRONG/ : /TOTP_(WRONG|LIMITED)/)
    }
    expect(await letters()).toHaveLength(1)
    later(site, 7 * 86_400)
    expect([await guess(), await guess()], 'a week later').toEqual(['TOTP_WRONG', 'TOTP_WRONG'])
  })

  it('is guessed by many requests at once no faster, and a new password by mail ends the wait', async () => {
    const site = await makeSite(engine, { rates: {} })
    const { secret } = await makeEve(site)
    later(site, 30)
    const tries = await Promise.all(Array.from({ length: 30 }, () => login(site, { code: '000000' })))
    expect(tries.filter((each) => each === 'TOTP_WRONG')).toHaveLength(20)
    expect(tries.filter((each) => each === 'TOTP_LIMITED')).toHaveLength(10)
    await site.http('POST /auth/password/reset', { body: { email: EVE.email } })
    const body = { token: await site.mailedToken(EVE.email), password: EVE.password }
    expect(await login(site, { code: await codeAt(site, secret) })).toBe('TOTP_LIMITED')
    expect((await site.http('POST /auth/password/set', { body })).status).toBe(200)
    expect(await login(site, { code: await codeAt(site, secret) })).toBe('ok')
  })

  it('is slowed down without a mail where none is configured', async () => {
    const site = await makeSite(engine, { rates: {} })
    await makeEve(site, { mail: false })
    for (let turn = 0; turn < 20; turn++) expect(await login(site, { code: '000000' })).toBe('TOTP_WRONG')
    expect(await login(site, { code: '000000' })).toBe('TOTP_LIMITED')
    expect(
      await site.db.selectFrom('deliveries').select('deliveryId').where('recipient', '=', EVE.email).execute(),
    ).toEqual([])
  })

  it('is removed, and its recovery codes replaced, with a code only', async () => {
    const site = await makeSite(engine)
    const { post, secret, codes } = await makeEve(site)
    for (const path of ['/totp/disable', '/totp/recovery'])
      for (const [body, code] of [
        [{}, 'TOTP_REQUIRED'],
        [{ password: EVE.password }, 'TOTP_REQUIRED'],
        [{ code: '000000' }, 'TOTP_WRONG'],
      ] as const)
        expect((await post(path, body)).body.code).toBe(code)
    later(site, 30)
    const replaced = await post('/totp/recovery', { code: await codeAt(site, secret) })
    expect(replaced.body.recoveryCodes).toHaveLength(10)
    expect(await login(site, { code: codes[0] })).toBe('TOTP_WRONG')
    expect(await login(site, { code: replaced.body.recoveryCodes[0] })).toBe('ok')
    expect((await post('/totp/disable', { code: replaced.body.recoveryCodes[1] })).status).toBe(204)
    expect([await login(site), (await post('/totp/disable', EVE)).body.code]).toEqual(['ok', 'VALIDATION_ERROR'])
    expect((await post('/totp/enable', { code: '000000' })).body.code).toBe('TOTP_NOT_ENABLED')
    expect(await site.db.selectFrom('recovery_codes').selectAll().execute()).toEqual([])
  })

  it('is still needed after a new password, by mail or by the owner, who alone can remove it', async () => {
    const site = await makeSite(engine)
    const { ada, userId, token } = await makeEve(site)
    await site.http('POST /auth/password/reset', { body: { email: EVE.email } })
    const body = { token: await site.mailedToken(EVE.email), password: EVE.password }
    expect((await site.http('POST /auth/password/set', { body })).status).toBe(200)
    expect(await login(site)).toBe('TOTP_REQUIRED')
    await site.http(`PATCH /users/${userId}`, { token: ada, body: { password: EVE.password } })
    expect(await login(site)).toBe('TOTP_REQUIRED')
    const other = await site.member()
    const reset = (by: string) => site.http(`POST /users/${userId}/reset-totp`, { token: by, body: {} })
    expect([(await reset(other.token)).body.code, (await reset(token)).body.code]).toEqual(['NOT_ENOUGH_PERMISSION', 'INVALID_TOKEN']) // prettier-ignore
    expect([(await reset(ada)).status, await login(site), (await reset(ada)).body.code]).toEqual([200, 'ok', 'TOTP_NOT_ENABLED']) // prettier-ignore
  })

  it('is what a role may need: until then it gives no permission, and the sign-in says so', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { userId, token } = await site.member([], EVE)
    const { role } = await site.call(roles.create, { name: 'Team', permissions: ['board:create'], require_totp: true })
    await site.call(roles.assign, { role_id: role.id, user_id: userId })
    const tries = async () => (await site.http('POST /boards', { token, body: { name: 'x' } })).body.code ?? 'ok'
    const signIn = async (more = {}) =>
      (await site.http('POST /auth/login', { body: { ...EVE, ...more } })).body.user.totpNeeded
    expect([await tries(), await signIn()]).toEqual(['NOT_ENOUGH_PERMISSION', true])
    const { secret } = (await site.http('POST /totp', { token, body: {} })).body
    expect(await tries()).toBe('NOT_ENOUGH_PERMISSION')
    await site.http('POST /totp/enable', { token, body: { code: await codeAt(site, secret) } })
    expect(await tries()).toBe('ok')
    later(site, 30)
    expect(await signIn({ code: await codeAt(site, secret) })).toBeUndefined()
    later(site, 30)
    await site.http('POST /totp/disable', { token, body: { code: await codeAt(site, secret) } })
    expect(await tries()).toBe('NOT_ENOUGH_PERMISSION')
    await site.call(roles.update, { id: role.id, require_totp: false, partial: true })
    expect(await tries()).toBe('ok')
  })

  it('goes on working when the secret of the site is rotated', async () => {
    const site = await makeSite(engine)
    const { secret } = await makeEve(site)
    const [old, next] = [site.base.secret(), 'another secret of the tests, long enough']
    const before = await site.db.selectFrom('totp').select('secret').executeTakeFirstOrThrow()
    await bindSecret({ db: site.db, secret: () => next }, old)
    const after = await site.db.selectFrom('totp').select('secret').executeTakeFirstOrThrow()
    expect(after.secret).not.toBe(before.secret)
    later(site, 30)
    expect(await login(site, { code: await codeAt(site, secret) })).toBe('TOTP_WRONG') // as this server has the old one
    await bindSecret({ db: site.db, secret: () => old }, next)
    expect(await login(site, { code: await codeAt(site, secret) })).toBe('ok')
  })
})
