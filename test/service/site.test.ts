import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import jwt from 'jsonwebtoken'
import { describe, expect, it } from 'vitest'
import * as setup from '../../src/service/site.js'
import { engines, failure, makeSite, OWNER } from '../support/site.js'

describe.each(engines)('setup on %s', (engine) => {
  it('creates the owner, sets the title, and returns exactly the six user fields', async () => {
    const site = await makeSite(engine)
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: false })
    const { status, body, text } = await site.http('POST /auth/setup', { body: OWNER })
    expect(status).toBe(201)
    expect(body).toEqual({
      user: {
        authToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        userId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
        name: 'Ada',
        username: expect.stringMatching(/^ada_[0-9a-z]{8}$/),
        email: 'ada@example.org',
        avatar: `https://feedback.example.org/board/api/v1/avatars/${body.user.userId}.svg`,
      },
    })
    expect(text).not.toContain(OWNER.password)
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: true })
    expect((await site.http('GET /settings/site')).body.settings.title).toBe('Moonbase')
  })

  it('answers a token that signs in at once: HS256, two days, the claims of the contract and the session', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { header, payload } = jwt.decode(token, { complete: true })!
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' })
    const iat = site.clock.now.getTime() / 1000
    expect(payload).toEqual({ userId: expect.any(String), sessionId: expect.any(String), iat, exp: iat + 172_800 })
    expect((await site.http('POST /boards', { token })).status).toBe(201)
    site.clock.now = new Date(site.clock.now.getTime() + 172_801_000)
    expect((await site.http('POST /boards', { token })).body.code).toBe('INVALID_TOKEN')
  })

  it('takes name and title from their defaults, and keeps every letter of every script', async () => {
    const site = await makeSite(engine)
    const { body } = await site.http('POST /auth/setup', {
      body: { email: 'Ada.L@Example.org', password: '12345678', name: ' ', siteTitle: null },
    })
    expect(body.user).toMatchObject({ name: 'Owner', email: 'ada.l@example.org' })
    expect((await site.http('GET /settings/site')).body.settings.title).toBe('Feedback')
    const other = await makeSite(engine)
    expect((await other.http('POST /auth/setup', { body: { ...OWNER, name: 'Zoë 李' } })).body.user.name).toBe('Zoë 李')
  })

  it('creates the usual roadmaps with the owner where it is asked to, and only then', async () => {
    for (const statuses of [undefined, false, true]) {
      const site = await makeSite(engine)
      expect((await site.http('POST /auth/setup', { body: { ...OWNER, statuses } })).status).toBe(201)
      const { body } = await site.http('GET /roadmaps')
      expect(body.roadmaps.map(({ name }: { name: string }) => name)).toEqual(
        statuses ? ['Under review', 'Planned', 'In progress', 'Complete'] : [],
      )
    }
  })

  it('creates a first board with the owner, and neither of them where its name is refused', async () => {
    const site = await makeSite(engine)
    for (const board of ['', ' ', 'x'.repeat(101), 5])
      expect((await site.http('POST /auth/setup', { body: { ...OWNER, board } })).status).toBe(400)
    expect((await site.http('GET /auth/setup')).body.is_setup).toBe(false)
    expect((await site.http('POST /auth/setup', { body: { ...OWNER, board: ' 💡 Ideas ' } })).status).toBe(201)
    const { body } = await site.http('GET /boards')
    expect(body.boards).toMatchObject([{ name: '💡 Ideas', url: 'ideas', display: true, view_voters: true }])
    expect((await site.events()).map(([action]) => action)).toContain('board.created')
  })

  it.each([
    [undefined, 400, 'EMAIL_INVALID'],
    ['', 400, 'EMAIL_INVALID'],
    [{}, 400, 'EMAIL_INVALID'],
    [{ email: 'nobody' }, 400, 'EMAIL_INVALID'],
    [{ email: 'a@b' }, 400, 'EMAIL_INVALID'],
    [{ email: 'ada@example.org' }, 400, 'PASSWORD_MISSING'],
    [{ email: 'ada@example.org', password: '' }, 400, 'PASSWORD_MISSING'],
    [{ email: 'ada@example.org', password: '1234567' }, 400, 'VALIDATION_ERROR'],
    [{ email: 'ada@example.org', password: 'x'.repeat(257) }, 400, 'VALIDATION_ERROR'],
    [{ email: 5, password: '12345678' }, 400, 'VALIDATION_ERROR'],
    [{ email: 'ada@example.org', password: ['12345678'] }, 400, 'VALIDATION_ERROR'],
    [{ email: 'ada@example.org', password: '12345678', name: 'x'.repeat(101) }, 400, 'VALIDATION_ERROR'],
    [{ email: 'ada@example.org', password: '12345678', isOwner: true }, 400, 'VALIDATION_ERROR'],
    [[], 400, 'VALIDATION_ERROR'],
  ])('refuses %j and changes nothing', async (body, status, code) => {
    const site = await makeSite(engine)
    const refused = await site.http('POST /auth/setup', { body, headers: { 'content-type': 'application/json' } })
    expect([refused.status, refused.body.code, refused.headers['x-should-retry']]).toEqual([status, code, 'false'])
    expect(refused.text).not.toMatch(/1234567|xxxx{200}/)
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: false })
    expect(await site.db.selectFrom('deliveries').selectAll().execute()).toEqual([])
  })

  it('accepts passwords of exactly 8 and 256 characters', async () => {
    for (const password of ['12345678', '🔑'.repeat(256)]) {
      const site = await makeSite(engine)
      expect((await site.http('POST /auth/setup', { body: { ...OWNER, password } })).status).toBe(201)
      expect((await site.http('POST /auth/login', { body: { email: OWNER.email, password } })).status).toBe(200)
    }
  })

  it('answers 501 MAIL_CONFIG_MISSING before any other check where mail is not configured', async () => {
    const site = await makeSite(engine, { mail: false })
    for (const body of [undefined, {}, { email: 5, nonsense: true }, OWNER]) {
      const refused = await site.http('POST /auth/setup', { body })
      expect([refused.status, refused.body.code]).toEqual([501, 'MAIL_CONFIG_MISSING'])
    }
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: false })
  })

  it('answers 403 SETUP_COMPLETED the second time, after the checks of the input', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const again = await site.http('POST /auth/setup', {
      body: { ...OWNER, email: 'eve@example.org', siteTitle: 'Eve' },
    })
    expect([again.status, again.body.code]).toEqual([403, 'SETUP_COMPLETED'])
    expect((await site.http('POST /auth/setup', { body: {} })).body.code).toBe('EMAIL_INVALID')
    expect((await site.http('GET /settings/site')).body.settings.title).toBe('Moonbase')
  })

  it('creates one owner for concurrent setups, with one mail and the title of the winner', async () => {
    const site = await makeSite(engine)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        site.http('POST /auth/setup', { body: { ...OWNER, email: `o${number}@example.org`, siteTitle: `T${number}` } }),
      ),
    )
    const winners = answers.filter((answer) => answer.status === 201)
    expect(winners).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 403 && answer.body.code === 'SETUP_COMPLETED')).toHaveLength(19)
    const users = await site.db.selectFrom('users').select(['email', 'isOwner']).execute()
    expect(users).toEqual([{ email: winners[0]?.body.user.email, isOwner: 1 }])
    expect((await site.http('GET /settings/site')).body.settings.title).toBe(
      users[0]?.email.replace(/^o(\d+)@.*/, 'T$1'),
    )
    expect(await site.db.selectFrom('deliveries').select('recipient').execute()).toEqual([
      { recipient: users[0]?.email },
    ])
  })

  it('refuses an address that has an account already', async () => {
    const site = await makeSite(engine)
    await site.member([], { email: 'ada@example.org' })
    const refused = await site.http('POST /auth/setup', { body: OWNER })
    expect([refused.status, refused.body.code]).toEqual([409, 'USER_EXISTS'])
  })

  it('queues a verification mail whose link keeps the path of site.url, and keeps only a hash of its token', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const [mail] = await site.db.selectFrom('deliveries').selectAll().execute()
    expect(mail).toMatchObject({
      recipient: OWNER.email,
      attempts: 0,
      sentAt: null,
      subject: 'Moonbase – please confirm your e-mail address',
    })
    const token =
      /https:\/\/feedback\.example\.org\/board\/email-verify\/\?token=([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? ''
    expect(token).not.toBe('')
    expect(mail?.html).toContain(token)
    expect(JSON.stringify(await site.db.selectFrom('one_time_tokens').selectAll().execute())).not.toContain(token)
    expect((await site.http('POST /boards', { token })).body.code).toBe('INVALID_TOKEN')
  })

  it('refuses a dry run of visitors, who could hold the lock with it', async () => {
    const site = await makeSite(engine)
    const { status, body } = await site.http('POST /auth/setup', {
      body: OWNER,
      headers: { 'feedbackctl-dry-run': '1' },
    })
    expect([status, body.code]).toEqual([400, 'INVALID_AUTH_HEADER'])
    expect((await site.http('GET /auth/setup')).body).toEqual({ is_setup: false })
    expect((await site.http('GET /boards', { headers: { 'feedbackctl-dry-run': '1' } })).status).toBe(200)
  })

  it('refuses to issue tokens with another secret than the one the database was set up with', async () => {
    const site = await makeSite(engine)
    await site.db.updateTable('settings').set({ secretFingerprint: 'of another secret' }).execute()
    expect((await failure(site.call(setup.setup, OWNER))).code).toBe('SECRET_MISMATCH')
  })
})

describe.each(engines)('login on %s', (engine) => {
  it('signs in with the address in any letter case, and answers the six user fields', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { status, body } = await site.http('POST /auth/login', {
      body: { email: 'ADA@example.org', password: OWNER.password },
    })
    expect(status).toBe(200)
    expect(Object.keys(body.user).toSorted()).toEqual(['authToken', 'avatar', 'email', 'name', 'userId', 'username'])
    expect((await site.http('POST /boards', { token: body.user.authToken })).status).toBe(201)
  })

  it('answers in the order of the contract', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.member([], { blocked: true, email: 'eve@example.org', password: 'secret of eve' })
    const answer = async (body: unknown) => {
      const { status, body: answered } = await site.http('POST /auth/login', { body })
      return [status, answered.code]
    }
    expect(await answer({})).toEqual([400, 'EMAIL_INVALID'])
    expect(await answer({ email: 'nobody@example.org' })).toEqual([404, 'USER_NOT_FOUND'])
    expect(await answer({ email: 'nobody@example.org', password: 'x' })).toEqual([404, 'USER_NOT_FOUND'])
    expect(await answer({ email: 'eve@example.org', password: 'wrong' })).toEqual([403, 'USER_BLOCKED'])
    expect(await answer({ email: OWNER.email })).toEqual([400, 'PASSWORD_MISSING'])
    expect(await answer({ email: OWNER.email, password: 'wrong' })).toEqual([403, 'INCORRECT_PASSWORD'])
    expect(await answer({ email: 5 })).toEqual([400, 'VALIDATION_ERROR'])
  })

  it('stores passwords as argon2id, and never the password', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const [user] = await site.db.selectFrom('users').selectAll().execute()
    expect(user?.password).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(
      JSON.stringify(
        await Promise.all(
          (['users', 'settings', 'deliveries'] as const).map((table) =>
            site.db.selectFrom(table).selectAll().execute(),
          ),
        ),
      ),
    ).not.toContain(OWNER.password)
  })
})

describe.each(engines)('the site settings on %s', (engine) => {
  it('are shown to everybody, with the fields of the contract, and a version', async () => {
    const site = await makeSite(engine)
    const { status, body, text } = await site.http('GET /settings/site')
    expect(status).toBe(200)
    expect(body).toEqual({
      settings: {
        title: 'Feedback',
        description: expect.any(String),
        logo: null,
        icon: null,
        accentColor: expect.stringMatching(/^[0-9a-f]{6}$/),
        googleAnalyticsId: null,
        isPoweredBy: true,
        allowSignup: true,
        holdFirstPosts: false,
        developer_mode: false,
        labs: { comments: false },
        announcement: null,
        announcementUntil: null,
        signupNote: null,
        headerLinks: [],
        footerLinks: [],
        logoDark: null,
        customCss: null,
        newFor: null,
        limitPosts: null,
        limitComments: null,
        limitEdits: null,
        limitReports: null,
      },
      version: expect.any(String),
    })
    expect(text).not.toContain('secretFingerprint')
  })
})

it('no secret of a site reaches its log', async () => {
  const site = await makeSite('sqlite')
  const token = await site.owner()
  await site.http('POST /auth/login', { body: { email: OWNER.email, password: OWNER.password } })
  await site.http('POST /boards', { token, body: { name: 5 } })
  const [mail] = await site.db.selectFrom('deliveries').selectAll().execute()
  const mailed = /token=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? 'missing'
  const log = site.logs.join('')
  expect(log).toContain('"op":"auth.login"')
  for (const secret of [OWNER.password, token, mailed, 'a secret of the tests', '$argon2id'])
    expect(log).not.toContain(secret)
  expect(
    readdirSync(site.folder).map((name) => readFileSync(path.join(site.folder, name)).includes(OWNER.password)),
  ).not.toContain(true)
})
