import { describe, expect, it } from 'vitest'
import { coerce } from '../../src/core/fields.js'
import * as auth from '../../src/service/auth.js'
import * as settings from '../../src/service/settings.js'
import { countHashes } from '../support/argon2.js'
import { engines, failure, makeSite, OWNER, type TestSite } from '../support/site.js'

const EVE = { email: 'eve@example.org', password: 'secret of eve' }
const UNKNOWN = Buffer.alloc(32, 'no token').toString('base64url')
const TWO_HOURS = 2 * 60 * 60 * 1000

const wait = (site: TestSite, milliseconds: number) =>
  void (site.clock.now = new Date(site.clock.now.getTime() + milliseconds))
const answer = async (site: TestSite, request: string, body: unknown, token?: string) => {
  const { status, body: answered } = await site.http(request, { body, token })
  return [status, answered.code]
}
const signUp = async (site: TestSite, body: object = EVE) => (await site.http('POST /auth/signup', { body })).body.user
const resetToken = async (site: TestSite, email = EVE.email) => {
  await site.http('POST /auth/password/reset', { body: { email } })
  return site.mailedToken(email)
}
const block = (site: TestSite, ...list: string[]) => site.call(settings.setBlockedDomains, { domains: list })
const rows = async (site: TestSite) =>
  JSON.stringify([
    await site.db.selectFrom('users').selectAll().execute(),
    await site.db.selectFrom('deliveries').selectAll().execute(),
  ])

describe.each(engines)('signing up on %s', (engine) => {
  it('creates an account with the role @everyone, signs it in, and returns the six user fields', async () => {
    const site = await makeSite(engine)
    const { status, body, text } = await site.http('POST /auth/signup', {
      body: { ...EVE, email: ' Eve@Example.org', name: ' Zoë 李 ' },
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      user: {
        authToken: expect.any(String),
        userId: expect.any(String),
        name: 'Zoë 李',
        username: expect.stringMatching(/^zo_[0-9a-z]{8}$/),
        email: 'eve@example.org',
        avatar: expect.stringMatching(
          /^https:\/\/feedback\.example\.org\/board\/api\/v1\/avatars\/[0-9a-f-]{36}\.svg$/,
        ),
      },
    })
    expect(text).not.toContain(EVE.password)
    const { userId, authToken } = body.user
    expect((await site.http('GET /users/permissions', { token: authToken })).body.permissions).toContain('post:create')
    expect(await site.events()).toEqual([['user.signed_up', userId]])
    expect((await site.http('POST /auth/login', { body: EVE })).status).toBe(200)
  })

  it('treats no name as an empty one, and greets a person without a name', async () => {
    const site = await makeSite(engine)
    for (const [number, name] of [undefined, null, '', '  '].entries()) {
      expect((await signUp(site, { ...EVE, email: `${number}@example.org`, name })).name).toBe('')
    }
    const { text, html } = await site.db.selectFrom('deliveries').selectAll().executeTakeFirstOrThrow()
    expect(text).toMatch(/^Hello,\n/)
    expect(html).toContain('<p>Hello,</p>')
  })

  it('greets nobody by a name that could write a mail of its own to others', async () => {
    const site = await makeSite(engine)
    await signUp(site, { ...EVE, name: 'Eve,\n\nyou <b>have won</b>' })
    const { text, html } = await site.db.selectFrom('deliveries').selectAll().executeTakeFirstOrThrow()
    expect(text).toMatch(/^Hello,\n/)
    expect(text + html).not.toContain('have won')
  })

  it('queues a verification mail whose link keeps the path of site.url, and whose token is nowhere else', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await signUp(site)
    const token = await site.mailedToken(EVE.email)
    const mail = await site.db
      .selectFrom('deliveries')
      .selectAll()
      .where('recipient', '=', EVE.email)
      .executeTakeFirstOrThrow()
    expect(mail.subject).toBe('Moonbase – please confirm your e-mail address')
    expect(mail.text).toContain(`https://feedback.example.org/board/email-verify/?token=${token}\n`)
    expect(JSON.stringify(await site.db.selectFrom('one_time_tokens').selectAll().execute())).not.toContain(token)
    expect(JSON.stringify(await site.db.selectFrom('events').selectAll().execute())).not.toContain(token)
    expect(site.logs.join('')).not.toContain(token)
    expect(site.logs.join('')).not.toContain(EVE.password)
  })

  it('answers errors in the order of the contract, and changes nothing', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await signUp(site)
    await block(site, 'spam.example')
    await site.db.updateTable('settings').set({ allowSignup: 0 }).execute()
    const before = await rows(site)
    for (const [body, status, code] of [
      [{}, 400, 'EMAIL_INVALID'],
      [{ email: 'nobody' }, 400, 'EMAIL_INVALID'],
      [{ email: 'eve@-example.org' }, 400, 'INVALID_EMAIL_DOMAIN'],
      [{ email: 'eve@a_b.example' }, 400, 'INVALID_EMAIL_DOMAIN'],
      [{ email: 'eve@mail.SPAM.example' }, 403, 'EMAIL_DOMAIN_BLACKLISTED'],
      [{ email: 'eve@example.org' }, 400, 'PASSWORD_MISSING'],
      [{ email: 'eve@example.org', password: '1234567' }, 400, 'VALIDATION_ERROR'],
      [{ email: 'eve@example.org', password: 'x'.repeat(257) }, 400, 'VALIDATION_ERROR'],
      [EVE, 400, 'SIGNUP_NOT_ALLOWED'],
      [{ ...EVE, name: 'x'.repeat(101) }, 400, 'VALIDATION_ERROR'],
      [{ ...EVE, isOwner: true }, 400, 'VALIDATION_ERROR'],
    ] as const) {
      expect(await answer(site, 'POST /auth/signup', body)).toEqual([status, code])
    }
    await site.db.updateTable('settings').set({ allowSignup: 1 }).execute()
    expect(await answer(site, 'POST /auth/signup', { ...EVE, email: 'EVE@example.org' })).toEqual([409, 'USER_EXISTS'])
    expect(await rows(site)).toBe(before)
  })

  it('creates one account for many concurrent sign-ups with one address', async () => {
    const site = await makeSite(engine)
    const answers = await Promise.all(Array.from({ length: 8 }, () => answer(site, 'POST /auth/signup', EVE)))
    expect(answers.filter(([status]) => status === 201)).toHaveLength(1)
    expect(answers.filter(([, code]) => code === 'USER_EXISTS')).toHaveLength(7)
    expect(await site.db.selectFrom('users').select('email').execute()).toEqual([{ email: EVE.email }])
    expect(await site.db.selectFrom('deliveries').select('recipient').execute()).toEqual([{ recipient: EVE.email }])
    expect(await site.events()).toHaveLength(1)
  })
})

describe.each(engines)('without mail on %s', (engine) => {
  it('answers 501 MAIL_CONFIG_MISSING before any other check', async () => {
    const site = await makeSite(engine, { mail: false })
    for (const request of ['/auth/signup', '/auth/email/verify', '/auth/password/reset']) {
      for (const body of [{}, { email: 5, nonsense: true }, EVE]) {
        expect(await answer(site, `POST ${request}`, body, 'nonsense')).toEqual([501, 'MAIL_CONFIG_MISSING'])
      }
    }
  })
})

describe.each(engines)('confirming an address on %s', (engine) => {
  it('accepts the mailed token once', async () => {
    const site = await makeSite(engine)
    const { userId, authToken } = await signUp(site)
    const token = await site.mailedToken(EVE.email)
    const { status, body } = await site.http('POST /auth/email/validate', { body: { token } })
    expect([status, body]).toEqual([200, { verify: { success: true } }])
    expect((await site.http('GET /users/profile', { token: authToken })).body.user.isVerified).toBe(true)
    expect(await answer(site, 'POST /auth/email/validate', { token })).toEqual([404, 'INVALID_TOKEN'])
    expect(await site.events()).toEqual([
      ['user.signed_up', userId],
      ['user.verified', userId],
    ])
  })

  it('sends another mail to the signed-in person, whose token replaces the first', async () => {
    const site = await makeSite(engine)
    const { authToken, userId } = await signUp(site)
    const first = await site.mailedToken(EVE.email)
    // Published clients send the address too
    const { status, body } = await site.http('POST /auth/email/verify', {
      token: authToken,
      body: { email: 'eve@example.org' },
    })
    expect([status, body]).toEqual([200, { verify: { success: true } }])
    const second = await site.mailedToken(EVE.email)
    expect(second).not.toBe(first)
    expect(await answer(site, 'POST /auth/email/validate', { token: first })).toEqual([404, 'INVALID_TOKEN'])
    expect(await site.events()).toContainEqual(['user.verification_requested', userId])
    expect((await site.http('POST /auth/email/validate', { body: { token: second } })).status).toBe(200)
    expect(await answer(site, 'POST /auth/email/verify', {}, authToken)).toEqual([409, 'EMAIL_VERIFIED'])
  })

  it('is requested only by a signed-in person, and by the operator for the owner', async () => {
    const site = await makeSite(engine)
    expect((await failure(site.call(auth.verify, {}))).code).toBe('USER_NOT_FOUND')
    await site.owner()
    expect(await answer(site, 'POST /auth/email/verify', {})).toEqual([400, 'INVALID_AUTH_HEADER'])
    const blocked = await site.member([], { blocked: true })
    expect(await answer(site, 'POST /auth/email/verify', {}, blocked.token)).toEqual([403, 'USER_BLOCK'])
    expect(await site.call(auth.verify, {})).toEqual({ verify: { success: true } })
    expect(await site.db.selectFrom('deliveries').select('recipient').execute()).toEqual([
      { recipient: OWNER.email },
      { recipient: OWNER.email },
    ])
  })

  it('is refused where the address is already confirmed or its domain is blocked', async () => {
    const site = await makeSite(engine)
    const { authToken } = await signUp(site)
    const token = await site.mailedToken(EVE.email)
    await block(site, 'example.org')
    expect(await answer(site, 'POST /auth/email/validate', { token })).toEqual([403, 'EMAIL_DOMAIN_BLACKLISTED'])
    expect(await answer(site, 'POST /auth/email/verify', {}, authToken)).toEqual([403, 'EMAIL_DOMAIN_BLACKLISTED'])
    await block(site)
    await site.db.updateTable('users').set({ isVerified: 1 }).execute()
    expect(await answer(site, 'POST /auth/email/validate', { token })).toEqual([409, 'EMAIL_VERIFIED'])
  })

  it('succeeds exactly once for many requests with one token', async () => {
    const site = await makeSite(engine)
    await signUp(site)
    const token = await site.mailedToken(EVE.email)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => answer(site, 'POST /auth/email/validate', { token })),
    )
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1)
    expect(answers.filter(([, code]) => ['INVALID_TOKEN', 'EMAIL_VERIFIED'].includes(code))).toHaveLength(7)
    expect((await site.events()).filter(([action]) => action === 'user.verified')).toHaveLength(1)
  })
})

describe.each(engines)('one-time tokens on %s', (engine) => {
  const PURPOSES = [
    ['/auth/email/validate', {}],
    ['/auth/password/validateToken', {}],
    ['/auth/password/set', { password: 'new secret of eve' }],
  ] as const

  it('that are missing, malformed or unknown get the codes of the contract', async () => {
    const site = await makeSite(engine)
    for (const [request, rest] of PURPOSES) {
      for (const body of [{}, { token: null }, { token: '' }]) {
        const { status, body: answered } = await site.http(`POST ${request}`, { body: { ...rest, ...body } })
        expect(status).toBe(400)
        expect(answered).toEqual({
          code: 'MISSING_TOKEN',
          message: expect.any(String),
          errors: [{ code: 'MISSING_TOKEN', message: expect.any(String), field: 'token', rule: expect.any(String) }],
        })
      }
      for (const token of ['x', 'eyJhbGciOiJIUzI1NiJ9.e30.x', `${UNKNOWN}x`, ` ${UNKNOWN}`]) {
        expect(await answer(site, `POST ${request}`, { ...rest, token })).toEqual([401, 'INVALID_TOKEN'])
      }
      expect(await answer(site, `POST ${request}`, { ...rest, token: UNKNOWN })).toEqual([404, 'INVALID_TOKEN'])
      expect(await answer(site, `POST ${request}`, { ...rest, token: 5 })).toEqual([400, 'VALIDATION_ERROR'])
    }
  })

  it('work only for the purpose they were mailed for', async () => {
    const site = await makeSite(engine)
    const { authToken } = await signUp(site)
    const verification = await site.mailedToken(EVE.email)
    const reset = await resetToken(site)
    expect(await answer(site, 'POST /auth/email/validate', { token: reset })).toEqual([400, 'INVALID_TOKEN'])
    expect(await answer(site, 'POST /auth/password/validateToken', { token: verification })).toEqual([
      400,
      'INVALID_TOKEN',
    ])
    expect(
      await answer(site, 'POST /auth/password/set', { token: verification, password: 'new secret of eve' }),
    ).toEqual([400, 'INVALID_TOKEN'])
    expect((await site.http('GET /users/profile', { token: authToken })).body.user.isVerified).toBe(false)
    for (const token of [verification, reset])
      expect(await answer(site, 'GET /users/profile', undefined, token)).toEqual([401, 'INVALID_TOKEN'])
    expect((await site.http('POST /auth/login', { body: EVE })).status).toBe(200)
  })

  it('expire after two hours', async () => {
    const site = await makeSite(engine)
    await signUp(site)
    const verification = await site.mailedToken(EVE.email)
    const reset = await resetToken(site)
    wait(site, TWO_HOURS - 1)
    expect((await site.http('POST /auth/password/validateToken', { body: { token: reset } })).status).toBe(200)
    wait(site, 1)
    expect(await answer(site, 'POST /auth/email/validate', { token: verification })).toEqual([401, 'INVALID_TOKEN'])
    expect(await answer(site, 'POST /auth/email/validate', { token: reset })).toEqual([401, 'INVALID_TOKEN'])
    expect(await answer(site, 'POST /auth/password/validateToken', { token: reset })).toEqual([401, 'INVALID_TOKEN'])
    expect(await answer(site, 'POST /auth/password/set', { token: reset, password: 'new secret of eve' })).toEqual([
      401,
      'INVALID_TOKEN',
    ])
  })
})

describe.each(engines)('resetting a password on %s', (engine) => {
  it('mails a link to the address in any letter case, which keeps the path of site.url', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { userId } = await signUp(site, { ...EVE, name: 'Eve' })
    const { status, body, text } = await site.http('POST /auth/password/reset', { body: { email: 'EVE@Example.org' } })
    expect([status, body]).toEqual([200, { reset: { success: true } }])
    const token = await site.mailedToken(EVE.email)
    expect(text).not.toContain(token)
    const mail = await site.db
      .selectFrom('deliveries')
      .selectAll()
      .orderBy('deliveryId', 'desc')
      .executeTakeFirstOrThrow()
    expect(mail).toMatchObject({
      recipient: EVE.email,
      subject: 'Moonbase – reset your password',
      text: expect.stringMatching(/^Hello Eve,\n/),
    })
    expect(mail.text).toContain(`https://feedback.example.org/board/password-reset/confirm/?token=${token}\n`)
    expect(JSON.stringify(await site.db.selectFrom('one_time_tokens').selectAll().execute())).not.toContain(token)
    expect(site.logs.join('')).not.toContain(token)
    expect(await site.events()).toContainEqual(['user.reset_requested', userId])
  })

  it('is refused to unknown, invalid and blocked addresses, and nothing is mailed', async () => {
    const site = await makeSite(engine)
    await block(site, 'spam.example')
    expect(await answer(site, 'POST /auth/password/reset', {})).toEqual([400, 'EMAIL_INVALID'])
    expect(await answer(site, 'POST /auth/password/reset', { email: 'eve@-x.org' })).toEqual([
      400,
      'INVALID_EMAIL_DOMAIN',
    ])
    expect(await answer(site, 'POST /auth/password/reset', { email: 'eve@spam.example' })).toEqual([
      403,
      'EMAIL_DOMAIN_BLACKLISTED',
    ])
    expect(await answer(site, 'POST /auth/password/reset', { email: EVE.email })).toEqual([404, 'USER_NOT_FOUND'])
    expect(await site.db.selectFrom('deliveries').selectAll().execute()).toEqual([])
  })

  it('sets the password, ignores every other field, and ends all sessions of the person', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const { authToken, userId } = await signUp(site)
    const token = await resetToken(site)
    const valid = await site.http('POST /auth/password/validateToken', { body: { token } })
    expect([valid.status, valid.body]).toEqual([200, { reset: { valid: true } }])
    const body = { token, password: 'new secret of eve', email: OWNER.email, nonsense: 1 }
    const { status, body: answered } = await site.http('POST /auth/password/set', { body })
    expect([status, answered]).toEqual([200, { reset: { success: true } }])
    expect(await answer(site, 'GET /users/profile', undefined, authToken)).toEqual([401, 'INVALID_TOKEN'])
    expect((await site.http('GET /users/profile', { token: owner })).status).toBe(200)
    expect(await answer(site, 'POST /auth/login', EVE)).toEqual([403, 'INCORRECT_PASSWORD'])
    const again = await site.http('POST /auth/login', { body: { ...EVE, password: 'new secret of eve' } })
    expect((await site.http('GET /users/profile', { token: again.body.user.authToken })).body.user.isVerified).toBe(
      false,
    )
    for (const request of ['/auth/password/set', '/auth/password/validateToken']) {
      expect(await answer(site, `POST ${request}`, body)).toEqual(
        request.endsWith('set') ? [404, 'INVALID_TOKEN'] : [400, 'VALIDATION_ERROR'],
      )
    }
    expect((await site.events()).filter(([action]) => action === 'user.password_set')).toEqual([
      ['user.password_set', userId],
    ])
    expect(site.logs.join('')).not.toContain('new secret of eve')
  })

  it('refuses a missing or bad password, and the token still works', async () => {
    const site = await makeSite(engine)
    await signUp(site)
    const token = await resetToken(site)
    for (const password of [undefined, null, '']) {
      const { status, body } = await site.http('POST /auth/password/set', { body: { token, password } })
      expect(status).toBe(400)
      expect(body).toEqual({
        code: 'PASSWORD_MISSING',
        message: expect.any(String),
        errors: [
          { code: 'PASSWORD_MISSING', message: expect.any(String), field: 'password', rule: expect.any(String) },
        ],
      })
    }
    expect(await answer(site, 'POST /auth/password/set', { token, password: '1234567' })).toEqual([
      400,
      'VALIDATION_ERROR',
    ])
    await block(site, 'example.org')
    expect(await answer(site, 'POST /auth/password/set', { token, password: 'new secret of eve' })).toEqual([
      403,
      'EMAIL_DOMAIN_BLACKLISTED',
    ])
    await block(site)
    expect(
      (await site.http('POST /auth/password/set', { body: { token, password: 'new secret of eve' } })).status,
    ).toBe(200)
  })

  it('costs no hash with a wrong token', async () => {
    const site = await makeSite(engine)
    const hashed = countHashes()
    for (const token of [undefined, 'x', UNKNOWN])
      await failure(site.call(auth.setPassword, { token, password: 'new secret of eve' }))
    expect(hashed.hash).toBe(0)
  })

  it('succeeds exactly once for many requests with one token, and the password is that of the winner', async () => {
    const site = await makeSite(engine)
    await signUp(site)
    const token = await resetToken(site)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, number) =>
        answer(site, 'POST /auth/password/set', { token, password: `new secret ${number}` }),
      ),
    )
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1)
    expect(answers.filter(([status, code]) => status === 404 && code === 'INVALID_TOKEN')).toHaveLength(5)
    const winner = answers.findIndex(([status]) => status === 200)
    expect((await site.http('POST /auth/login', { body: { ...EVE, password: `new secret ${winner}` } })).status).toBe(
      200,
    )
    expect(await site.db.selectFrom('users').select('sessions').execute()).toEqual([{ sessions: 1 }])
  })
})

describe.each(engines)('signing in on %s', (engine) => {
  it('is never possible without a stored hash', async () => {
    const site = await makeSite(engine)
    await site.member([], EVE)
    for (const stored of [null, '!', '', 'no hash', '$2b$10$abcdefghijklmnopqrstuv']) {
      await site.db.updateTable('users').set({ password: stored }).execute()
      for (const password of ['!', 'no hash', stored || 'x'])
        expect((await failure(site.call(auth.login, { ...EVE, password }))).code).toBe('INCORRECT_PASSWORD')
    }
  })

  it('and setting up are refused at a blocked domain, right after the syntax of the address', async () => {
    const site = await makeSite(engine)
    await block(site, 'spam.example')
    for (const request of ['/auth/login', '/auth/setup']) {
      expect(await answer(site, `POST ${request}`, { email: 'eve@-x.org' })).toEqual([400, 'INVALID_EMAIL_DOMAIN'])
      expect(await answer(site, `POST ${request}`, { email: 'eve@spam.example' })).toEqual([
        403,
        'EMAIL_DOMAIN_BLACKLISTED',
      ])
      expect(await answer(site, `POST ${request}`, { email: 'eve@notspam.example', password: '' })).not.toEqual([
        403,
        'EMAIL_DOMAIN_BLACKLISTED',
      ])
    }
  })
})

describe.each(engines)('blocked domains on %s', (engine) => {
  it('are replaced as a whole, in one form, each once', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    expect((await site.http('GET /settings/blocked-domains', { token })).body).toEqual({ domains: [] })
    const { status, body } = await site.http('PUT /settings/blocked-domains', {
      token,
      body: { domains: [' Spam.Example', 'münchen.example', 'spam.example'] },
    })
    expect([status, body]).toEqual([200, { domains: ['spam.example', 'münchen.example'] }])
    expect((await site.http('GET /settings/blocked-domains', { token })).body).toEqual(body)
    expect(await answer(site, 'POST /auth/signup', { ...EVE, email: 'eve@xn--mnchen-3ya.example' })).toEqual([
      403,
      'EMAIL_DOMAIN_BLACKLISTED',
    ])
    expect((await site.http('PUT /settings/blocked-domains', { token, body: { domains: [] } })).body).toEqual({
      domains: [],
    })
    expect((await site.events()).filter(([action]) => action === 'site.updated')).toHaveLength(2)
    expect((await site.http('GET /settings/site')).text).not.toContain('blockedDomains')
  })

  it.each([
    [undefined, 'FIELD_MISSING'],
    ['spam.example', 'ARRAY_EXPECTED'],
    [[5], 'ARRAY_EXPECTED'],
    [['spam'], 'DOMAIN_INVALID'],
    [[''], 'DOMAIN_INVALID'],
    [['a@spam.example'], 'DOMAIN_INVALID'],
    [['*.spam.example'], 'DOMAIN_INVALID'],
    [['spam.example', 'example.org'], 'OWNER_BLOCKED'],
    [['example.ORG'], 'OWNER_BLOCKED'],
  ])('refuse %j', async (list, code) => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { status, body } = await site.http('PUT /settings/blocked-domains', { token, body: { domains: list } })
    expect([status, body.code, body.errors[0].field, body.errors[0].code]).toEqual([
      400,
      'VALIDATION_ERROR',
      'domains',
      code,
    ])
    expect((await site.http('GET /settings/blocked-domains', { token })).body).toEqual({ domains: [] })
    expect((await site.events()).map(([action]) => action)).toEqual(['site.set_up'])
  })

  it('are comma-separated in text, and none in empty text', () => {
    const typed = (text: string) => coerce(settings.setBlockedDomains.input, { domains: text })
    expect(typed('spam.example, junk.example')).toEqual({ domains: ['spam.example', 'junk.example'] })
    expect([typed(''), typed(' ')]).toEqual([{ domains: [] }, { domains: [] }])
  })

  it('are at most 1000', async () => {
    const site = await makeSite(engine)
    const list = (length: number) => ({ domains: Array.from({ length }, (_, number) => `d${number}.example`) })
    expect((await site.call(settings.setBlockedDomains, list(1000))).domains).toHaveLength(1000)
    expect((await failure(site.call(settings.setBlockedDomains, list(1001)))).errors?.[0]).toMatchObject({
      code: 'TOO_MANY',
      field: 'domains',
      value: 'a list',
    })
  })

  it('need the permission', async () => {
    const site = await makeSite(engine)
    const reader = await site.member(['settings:read'])
    const writer = await site.member(['settings:update'])
    const blocked = await site.member(['settings:read', 'settings:update'], { blocked: true })
    const get = (token?: string) => answer(site, 'GET /settings/blocked-domains', undefined, token)
    const put = (token?: string) => answer(site, 'PUT /settings/blocked-domains', { domains: ['spam.example'] }, token)
    expect([await get(), await put()]).toEqual([
      [400, 'INVALID_AUTH_HEADER'],
      [400, 'INVALID_AUTH_HEADER'],
    ])
    expect([await get(reader.token), await put(reader.token)]).toEqual([
      [200, undefined],
      [403, 'NOT_ENOUGH_PERMISSION'],
    ])
    expect([await get(writer.token), await put(writer.token)]).toEqual([
      [403, 'NOT_ENOUGH_PERMISSION'],
      [200, undefined],
    ])
    expect([await get(blocked.token), await put(blocked.token)]).toEqual([
      [403, 'USER_BLOCK'],
      [403, 'USER_BLOCK'],
    ])
  })
})

describe.each(engines)('an e-mail address on %s', (engine) => {
  it('has no character that nobody sees, which would make a twin of another', async () => {
    const site = await makeSite(engine)
    await site.owner()
    for (const email of ['ann@corp-example.org\u200b', 'a@x.org\u202e', 'a\u202eb@x.org', 'a\u00adb@x.org']) {
      const { status, body } = await site.http('POST /auth/signup', { body: { email, password: 'a long password' } })
      expect([email, status, body.code]).toEqual([email, 400, expect.stringMatching(/^(EMAIL_INVALID|INVALID_EMAIL_DOMAIN)$/)]) // prettier-ignore
    }
  })
})
