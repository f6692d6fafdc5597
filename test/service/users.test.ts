import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { CONTRACT_PERMISSIONS, PERMISSIONS } from '../../src/core/permissions.js'
import * as settings from '../../src/service/settings.js'
import * as profile from '../../src/service/profile.js'
import * as users from '../../src/service/users.js'
import { engines, failure, makeSite, OWNER, type TestSite } from '../support/site.js'

const EVE = { email: 'eve@example.org', password: 'secret of eve' }

const answer = async (site: TestSite, request: string, body?: unknown, token?: string) => {
  const { status, body: answered } = await site.http(request, { body, token })
  return [status, answered?.code]
}
const later = (site: TestSite) => void (site.clock.now = new Date(site.clock.now.getTime() + 60_000))
const row = (site: TestSite, userId: string) =>
  site.db.selectFrom('users').selectAll().where('userId', '=', userId).executeTakeFirst()
const everything = async (site: TestSite) =>
  JSON.stringify(
    await Promise.all(
      (['users', 'deliveries', 'one_time_tokens', 'events'] as const).map((table) =>
        site.db.selectFrom(table).selectAll().execute(),
      ),
    ),
  )

/** A post of a person, with a vote and a comment of each reader. */
async function writePost(site: TestSite, userId: string, readers: string[]): Promise<string> {
  const [postId, now] = [newId(), site.clock.now.toISOString()]
  await site.db.insertInto('posts').values({ postId, title: 'Dark mode', slug: postId, slugId: postId, contentMarkdown: null, userId, boardId: null, roadmap_id: null, createdAt: now, updatedAt: now }).execute() // prettier-ignore
  for (const reader of readers) {
    await site.db.insertInto('votes').values({ voteId: newId(), userId: reader, postId, createdAt: now }).execute()
    await site.db.insertInto('comments').values({ id: newId(), post_id: postId, parent_id: null, author_id: reader, body: 'Yes', is_internal: 0, created_at: now, updated_at: now }).execute() // prettier-ignore
  }
  return postId
}

/** What a new person's profile shows. */
const SHOWN = { showProfile: true, showVotes: true, showComments: true }

describe.each(engines)('the own account on %s', (engine) => {
  it('is shown to its person; the operator sees that of the owner', async () => {
    const site = await makeSite(engine)
    const { token, userId } = await site.member([], EVE)
    const { status, body } = await site.http('GET /users/profile', { token })
    expect(status).toBe(200)
    expect(body).toEqual({
      user: {
        userId,
        name: 'Member',
        username: expect.stringMatching(/^member_/),
        email: EVE.email,
        isVerified: false,
        hasPassword: true,
        may: ['delete'],
        ...SHOWN,
      },
    })
    expect((await failure(site.call(profile.profile, {}))).code).toBe('USER_NOT_FOUND')
    await site.owner()
    expect((await site.call(profile.profile, {})).user.email).toBe(OWNER.email)
  })

  it('takes a name of 1 to 100 characters in any script, and is unchanged without one', async () => {
    const site = await makeSite(engine)
    const { token, userId } = await site.member([], EVE)
    for (const name of [' Zoë 李 ', '💡'.repeat(100), 'x']) {
      const { status, body } = await site.http('PATCH /users/profile', { token, body: { name } })
      expect(status).toBe(200)
      expect(body).toEqual({ user: { userId, name: name.trim(), username: expect.any(String), email: EVE.email, ...SHOWN } }) // prettier-ignore
    }
    expect(await site.events()).toHaveLength(3)
    expect((await site.http('PATCH /users/profile', { token, body: {} })).body.user.name).toBe('x')
    expect(await site.events()).toEqual(Array.from({ length: 3 }, () => ['user.updated', userId]))
  })

  it('refuses an empty or longer name with the text also under name', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member([], EVE)
    for (const name of ['', '  ', 'x'.repeat(101)]) {
      const { status, body } = await site.http('PATCH /users/profile', { token, body: { name } })
      expect(status).toBe(400)
      expect(body).toEqual({ code: 'NAME_LENGTH', message: expect.stringContaining('1 to 100'), name: body.message })
    }
    for (const body of [{ name: 5 }, { name: null }, { email: 'a@example.org' }]) {
      expect(await answer(site, 'PATCH /users/profile', body, token)).toEqual([400, 'VALIDATION_ERROR'])
    }
    expect(await site.events()).toEqual([])
  })

  it('has each permission once, in the order of the contract; the owner has all', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const { token } = await site.member(['settings:read', 'vote:create', 'board:read'])
    const { body } = await site.http('GET /users/permissions', { token })
    expect(body).toEqual({
      permissions: [
        'post:create',
        'board:read',
        'vote:create',
        'vote:destroy',
        'comment:create',
        'comment:update:own',
        'comment:delete:own',
        'settings:read',
      ],
    })
    expect((await site.http('GET /users/permissions', { token: owner })).body).toEqual({
      permissions: [...PERMISSIONS],
    })
    expect(await site.call(profile.permissions, {})).toEqual({ permissions: [...PERMISSIONS] })
  })

  it('is refused to visitors, blocked people and people without permissions', async () => {
    const site = await makeSite(engine)
    const blocked = await site.member([], { blocked: true })
    const powerless = await site.member([], { everyone: false })
    const plain = await site.member()
    for (const request of [
      'GET /users/profile',
      'PATCH /users/profile',
      'GET /users/permissions',
      'GET /users/dashboard',
    ]) {
      const body = request.startsWith('GET') ? undefined : { name: 'Eve' }
      expect(await answer(site, request, body)).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await answer(site, request, body, 'nonsense')).toEqual([401, 'INVALID_TOKEN'])
      expect(await answer(site, request, body, blocked.token)).toEqual([403, 'USER_BLOCK'])
      expect(await answer(site, request, body, powerless.token)).toEqual([403, 'ACCESS_DENIED'])
      expect(await answer(site, request, body, plain.token)).toEqual(
        request.endsWith('dashboard') ? [403, 'NOT_ENOUGH_PERMISSION'] : [200, undefined],
      )
    }
  })

  it('opens the dashboard with dashboard:read, and to the owner', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member(['dashboard:read'])
    for (const each of [token, await site.owner()])
      expect((await site.http('GET /users/dashboard', { token: each })).body).toEqual({ access: true })
  })
})

describe.each(engines)('the list of people on %s', (engine) => {
  it('has exactly the fields of the contract, and no secret', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    later(site)
    const eve = await site.member(['board:read'], EVE)
    await writePost(site, eve.userId, [eve.userId])
    const { status, body, text } = await site.http('GET /users', { token: owner })
    expect(status).toBe(200)
    expect(Object.keys(body).toSorted()).toEqual([
      'page_info',
      'results',
      'status',
      'total_count',
      'total_pages',
      'users',
    ])
    expect(body).toMatchObject({ status: { code: 200, type: 'success' }, total_count: 2, total_pages: 1 })
    expect(body.results).toEqual(body.users)
    expect(body.users.map((user: { email: string }) => user.email)).toEqual([OWNER.email, EVE.email])
    const role = (name: string, isSystem: boolean) => ({
      id: expect.any(String),
      name,
      isSystem,
      user_role_id: expect.any(String),
    })
    expect(body.users[1]).toEqual({
      userId: eve.userId,
      name: 'Member',
      email: EVE.email,
      username: expect.stringMatching(/^member_/),
      avatar: `https://feedback.example.org/board/api/v1/avatars/${eve.userId}.svg`,
      isVerified: false,
      isBlocked: false,
      isOwner: false,
      state: 'unverified',
      lastSeenAt: '2026-03-02T10:01:00.000Z',
      notes: null,
      tags: [],
      createdAt: '2026-03-02T10:01:00.000Z',
      votes: '1',
      posts: '1',
      roles: [role('@everyone', true), role('tested', false)],
      may: ['block', 'unblock', 'signOut', 'delete'],
    })
    for (const { id, user_role_id: again } of body.users[1].roles) expect(again).toBe(id)
    expect(body.users[0].isOwner).toBe(true)
    for (const secret of ['password', 'argon2', 'sessions', 'nameFolded', 'searchText'])
      expect(text).not.toContain(secret)
  })

  it('is paged by cursor and by number in both directions, each person once, also those of the same instant', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    for (let number = 1; number <= 6; number++) {
      if (number % 2) later(site)
      await site.member([], { email: `m${number}@example.org` })
    }
    const all = (await site.http('GET /users', { token })).body.users.map((user: { userId: string }) => user.userId)
    expect(all).toHaveLength(7)
    for (const created of ['asc', 'DESC']) {
      const seen: string[] = []
      const paged: string[] = []
      let after = ''
      for (let page = 1; page <= 3; page++) {
        const { body } = await site.http(`GET /users?first=3&created=${created}${after}`, { token })
        expect(body.page_info).toMatchObject({ current_page: page, has_next_page: page < 3 })
        seen.push(...body.users.map((user: { userId: string }) => user.userId))
        after = `&after=${body.page_info.end_cursor}`
        const numbered = await site.http(`GET /users?limit=3&created=${created}&page=${page}`, { token })
        expect(numbered.body).not.toHaveProperty('results')
        paged.push(...numbered.body.users.map((user: { userId: string }) => user.userId))
      }
      expect(seen).toEqual(created === 'asc' ? all : all.toReversed())
      expect(paged).toEqual(seen)
    }
  })

  it('has those whose name, user name or address contains a text, in any letter case, page by page', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    for (const name of ['Иван', 'eve', 'Steve'])
      await site.call(users.create, {
        name,
        email: `${name === 'Иван' ? 'Ivan' : name}@example.org`,
        password: 'correct horse',
      })
    const list = async (query: string) => (await site.http(`GET /users?${query}`, { token })).body
    const names = async (query: string): Promise<string[]> =>
      (await list(query)).users.map(({ name }: { name: string }) => name)
    expect(await names('query=ИВАН')).toEqual(['Иван'])
    expect(await names('query=ivan%40')).toEqual(['Иван'])
    expect(await names('query=EVE')).toEqual(['eve', 'Steve'])
    expect(await names('query=eve&created=desc')).toEqual(['Steve', 'eve'])
    expect(await names('query=eve&until=2000-01-01')).toEqual([])
    expect(await names('query=%25')).toEqual([])
    const { users: first, page_info, total_count } = await list('query=eve&limit=1')
    expect([first.length, page_info.has_next_page, page_info.current_page, total_count]).toEqual([1, true, 1, 2])
    expect(await names(`query=eve&limit=1&after=${page_info.end_cursor}`)).toEqual(['Steve'])
    expect(await names('query=eve&limit=1&page=2')).toEqual(['Steve'])
    expect((await list('query=ivan')).total_count).toBe(1)
    expect((await list(`query=ivan&after=${page_info.end_cursor}`)).errors[0].code).toBe('INVALID_CURSOR')
  })

  it('refuses invalid input first, and then whoever lacks user:read', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const member = await site.member(PERMISSIONS.filter((each) => each !== 'user:read'))
    for (const query of [
      'created=sideways',
      'limit=0',
      'limit=101',
      'page=0',
      'after=',
      `after=${newId()}`,
      'after=ada@example.org',
    ]) {
      expect(await answer(site, `GET /users?${query}`, undefined, token)).toEqual([400, 'VALIDATION_ERROR'])
    }
    expect(await answer(site, 'GET /users?created=sideways', undefined, member.token)).toEqual([
      400,
      'VALIDATION_ERROR',
    ])
    expect(await answer(site, 'GET /users', undefined, member.token)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    expect(await answer(site, 'GET /users')).toEqual([400, 'INVALID_AUTH_HEADER'])
  })
})

describe.each(engines)('the owner on %s', (engine) => {
  it('finds a person by id, by address in any letter case, and by user name', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { userId } = await site.member([], EVE)
    const { body } = await site.http(`GET /users/${userId}`, { token })
    expect(body).toEqual({
      user: expect.objectContaining({ userId, email: EVE.email }),
      version: expect.any(String),
    })
    for (const who of ['EVE@example.org', body.user.username])
      expect((await site.http(`GET /users/${who}`, { token })).body).toEqual(body)
    expect(await answer(site, 'GET /users/nobody', undefined, token)).toEqual([404, 'USER_NOT_FOUND'])
  })

  it('alone may change and delete people, and each other operation needs its permission', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { userId } = await site.member([], EVE)
    const all = await site.member([...PERMISSIONS])
    const member = await site.member([...CONTRACT_PERMISSIONS])
    const blocked = await site.member([], { blocked: true })
    const before = await everything(site)
    for (const [request, body] of [
      [`GET /users/${userId}`],
      ['POST /users', { email: 'new@example.org', password: '12345678' }],
      [`PATCH /users/${userId}`, { name: 'x' }],
      [`POST /users/${userId}/block`, {}],
      [`POST /users/${userId}/unblock`, {}],
      [`POST /users/${userId}/sign-out`, {}],
      [`DELETE /users/${userId}`, {}],
    ] as const) {
      expect(await answer(site, request, body)).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await answer(site, request, body, blocked.token)).toEqual([403, 'USER_BLOCK'])
      for (const { token } of /^(PATCH|DELETE)/.test(request) ? [member, all] : [member])
        expect(await answer(site, request, body, token)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    }
    expect(await everything(site)).toBe(before)
  })

  it('gets 404 for unknown people', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    for (const request of [
      'PATCH /users/x',
      'POST /users/x/block',
      'POST /users/x/unblock',
      'POST /users/x/sign-out',
      'DELETE /users/x',
    ]) {
      expect(await answer(site, request, { nonsense: 1 }, token)).toEqual([404, 'USER_NOT_FOUND'])
    }
  })
})

describe.each(engines)('creating a person on %s', (engine) => {
  it('with a password makes an account that works at once, and mails nothing', async () => {
    const site = await makeSite(engine, { mail: false })
    const { user } = await site.call(users.create, { ...EVE, name: 'Eve' })
    expect(user).toMatchObject({
      name: 'Eve',
      email: EVE.email,
      isVerified: false,
      isOwner: false,
      roles: [{ name: '@everyone' }],
    })
    expect((await site.http('POST /auth/login', { body: EVE })).status).toBe(200)
    expect(await site.db.selectFrom('deliveries').selectAll().execute()).toEqual([])
    expect(await site.events()).toEqual([
      ['user.created', user.userId],
      ['user.signed_in', user.userId],
    ])
  })

  it('without one mails an invitation, whose link keeps the path of site.url and lets the person choose a password', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { status, body, text } = await site.http('POST /users', { token, body: { email: 'Eve@Example.org' } })
    expect(status).toBe(201)
    expect(body.user).toMatchObject({ name: '', email: EVE.email, isVerified: false })
    expect((await row(site, body.user.userId))?.password).toBeNull()
    expect(await answer(site, 'POST /auth/login', { email: EVE.email, password: '!' })).toEqual([
      403,
      'INCORRECT_PASSWORD',
    ])
    const mailed = await site.mailedToken(EVE.email)
    expect(text).not.toContain(mailed)
    const mail = await site.db
      .selectFrom('deliveries')
      .selectAll()
      .where('recipient', '=', EVE.email)
      .executeTakeFirstOrThrow()
    expect(mail).toMatchObject({ subject: 'Moonbase – you are invited', text: expect.stringMatching(/^Hello,\n/) })
    expect(mail.text).toContain(`https://feedback.example.org/board/password-reset/confirm/?token=${mailed}\n`)
    expect(mail.text).toContain('expires in 7 days')
    site.clock.now = new Date(site.clock.now.getTime() + 7 * 24 * 3_600_000 - 1)
    expect(
      (await site.http('POST /auth/password/set', { body: { token: mailed, password: EVE.password } })).status,
    ).toBe(200)
    expect((await site.http('POST /auth/login', { body: EVE })).status).toBe(200)
    expect((await row(site, body.user.userId))?.isVerified).toBe(0)
  })

  it('refuses in this order, and changes nothing', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    await site.call(settings.setBlockedDomains, { domains: ['spam.example'] })
    const before = await everything(site)
    for (const [body, status, code] of [
      [{}, 400, 'EMAIL_INVALID'],
      [{ email: 'eve@-x.org' }, 400, 'INVALID_EMAIL_DOMAIN'],
      [{ email: 'eve@spam.example', password: '' }, 403, 'EMAIL_DOMAIN_BLACKLISTED'],
      [{ ...EVE, password: '' }, 400, 'PASSWORD_MISSING'],
      [{ ...EVE, password: '1234567' }, 400, 'VALIDATION_ERROR'],
      [{ ...EVE, isOwner: true }, 400, 'VALIDATION_ERROR'],
      [{ ...EVE, email: 'ADA@example.org' }, 409, 'USER_EXISTS'],
      [{ email: 'ADA@example.org' }, 409, 'USER_EXISTS'],
    ] as const) {
      expect(await answer(site, 'POST /users', body, token)).toEqual([status, code])
    }
    expect(await everything(site)).toBe(before)
  })

  it('needs mail only for an invitation', async () => {
    const site = await makeSite(engine, { mail: false })
    const error = await failure(site.call(users.create, { email: EVE.email }))
    expect([error.code, error.status]).toEqual(['MAIL_CONFIG_MISSING', 501])
    expect(await site.db.selectFrom('users').selectAll().execute()).toEqual([])
  })
})

describe.each(engines)('changing a person on %s', (engine) => {
  it('changes the given fields and leaves the rest', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { userId } = await site.member([], EVE)
    const before = await row(site, userId)
    later(site)
    const change = { name: 'Zoë', username: 'zoe.L-1_', notes: 'met in Rome', isVerified: true }
    const { status, body } = await site.http(`PATCH /users/${userId}`, { token, body: change })
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ ...change, userId, email: EVE.email })
    expect(await row(site, userId)).toEqual({
      ...before,
      ...change,
      isVerified: 1,
      searchText: `zoë\nzoe.l-1_\n${EVE.email}`,
      updatedAt: '2026-03-02T10:01:00.000Z',
    })
    expect(
      (await site.http('PATCH /users/zoe.L-1_', { token, body: { notes: '', isVerified: false } })).body.user,
    ).toMatchObject({
      notes: null,
      isVerified: false,
    })
    expect((await site.events()).filter(([action]) => action.startsWith('user'))).toEqual(
      Array.from({ length: 2 }, () => ['user.updated', userId]),
    )
  })

  it('a new address is unconfirmed, and ends the links mailed to the old one', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { user } = (await site.http('POST /auth/signup', { body: EVE })).body
    const verification = await site.mailedToken(EVE.email)
    await site.http('POST /auth/password/reset', { body: { email: EVE.email } })
    const reset = await site.mailedToken(EVE.email)
    await site.call(users.update, { user: user.userId, isVerified: true })
    const { body } = await site.http(`PATCH /users/${user.userId}`, { token, body: { email: 'Eva@Example.org' } })
    expect(body.user).toMatchObject({ email: 'eva@example.org', isVerified: false })
    expect(await answer(site, 'POST /auth/email/validate', { token: verification })).toEqual([404, 'INVALID_TOKEN'])
    expect(await answer(site, 'POST /auth/password/set', { token: reset, password: '12345678' })).toEqual([
      404,
      'INVALID_TOKEN',
    ])
    expect((await site.http('GET /users/profile', { token: user.authToken })).body.user.email).toBe('eva@example.org')
    const same = await site.call(users.update, { user: user.userId, email: 'EVA@example.org', isVerified: true })
    expect(same.user.isVerified).toBe(true)
    expect((await site.call(users.update, { user: user.userId, email: 'eva@example.org' })).user.isVerified).toBe(true)
  })

  it('a new password ends the sessions of the person and the link for another one', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { user } = (await site.http('POST /auth/signup', { body: EVE })).body
    await site.http('POST /auth/password/reset', { body: { email: EVE.email } })
    const reset = await site.mailedToken(EVE.email)
    await site.call(users.update, { user: EVE.email, password: 'new secret of eve' })
    expect(await answer(site, 'GET /users/profile', undefined, user.authToken)).toEqual([401, 'INVALID_TOKEN'])
    expect(await answer(site, 'POST /auth/password/set', { token: reset, password: '12345678' })).toEqual([
      404,
      'INVALID_TOKEN',
    ])
    expect((await site.http('POST /auth/login', { body: { ...EVE, password: 'new secret of eve' } })).status).toBe(200)
    expect(await site.events()).toContainEqual(['user.password_set', user.userId])
    expect(JSON.stringify(await site.db.selectFrom('events').selectAll().execute())).not.toContain('secret of eve')
  })

  it('refuses invalid and taken values, and changes nothing', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { userId } = await site.member([], EVE)
    const other = await row(site, (await site.member()).userId)
    await site.call(settings.setBlockedDomains, { domains: ['spam.example'] })
    const before = await everything(site)
    for (const [body, status, code] of [
      [{ username: '' }, 400, 'VALIDATION_ERROR'],
      [{ username: '.' }, 400, 'VALIDATION_ERROR'],
      [{ username: '..' }, 400, 'VALIDATION_ERROR'],
      [{ username: 'zoë' }, 400, 'VALIDATION_ERROR'],
      [{ username: 'a@b' }, 400, 'VALIDATION_ERROR'],
      [{ username: 'x'.repeat(31) }, 400, 'VALIDATION_ERROR'],
      [{ username: 'Profile' }, 409, 'USERNAME_EXISTS'],
      [{ username: other?.username }, 409, 'USERNAME_EXISTS'],
      [{ username: other?.username, email: 'free@example.org' }, 409, 'USERNAME_EXISTS'],
      [{ email: other?.email }, 409, 'USER_EXISTS'],
      [{ email: other?.email, username: 'free' }, 409, 'USER_EXISTS'],
      [{ email: 'nobody' }, 400, 'EMAIL_INVALID'],
      [{ email: 'eve@-x.org' }, 400, 'INVALID_EMAIL_DOMAIN'],
      [{ email: 'eve@spam.example' }, 403, 'EMAIL_DOMAIN_BLACKLISTED'],
      [{ name: 'x'.repeat(101) }, 400, 'VALIDATION_ERROR'],
      [{ notes: 'x'.repeat(5001) }, 400, 'VALIDATION_ERROR'],
      [{ password: '' }, 400, 'PASSWORD_MISSING'],
      [{ password: '1234567' }, 400, 'VALIDATION_ERROR'],
      [{ isOwner: true }, 400, 'VALIDATION_ERROR'],
      [{ isBlocked: true }, 400, 'VALIDATION_ERROR'],
    ] as const) {
      expect(await answer(site, `PATCH /users/${userId}`, body, token)).toEqual([status, code])
    }
    expect(await everything(site)).toBe(before)
  })

  it('gives a user name to one of many people at once', async () => {
    const site = await makeSite(engine)
    const people = await Promise.all(Array.from({ length: 5 }, () => site.member()))
    const answers = await Promise.allSettled(
      people.map(({ userId }) => site.call(users.update, { user: userId, username: 'eve' })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await site.events()).toHaveLength(1)
  })
})

describe.each(engines)('blocking and signing out on %s', (engine) => {
  it('acts at once, and changes nothing the second time', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const eve = await site.member([], EVE)
    for (let time = 1; time <= 2; time++) {
      const { status, body } = await site.http(`POST /users/${EVE.email}/block`, { token })
      expect([status, body.user.isBlocked]).toEqual([200, true])
    }
    expect(await answer(site, 'GET /users/profile', undefined, eve.token)).toEqual([403, 'USER_BLOCK'])
    expect(await answer(site, 'POST /auth/login', EVE)).toEqual([403, 'USER_BLOCKED'])
    for (let time = 1; time <= 2; time++) {
      const { status, body } = await site.http(`POST /users/${eve.userId}/unblock`, { token })
      expect([status, body.user.isBlocked]).toEqual([200, false])
    }
    expect(await answer(site, 'GET /users/profile', undefined, eve.token)).toEqual([401, 'INVALID_TOKEN'])
    expect((await site.events()).slice(1)).toEqual([
      ['user.blocked', eve.userId],
      ['user.sign_in_failed', eve.userId],
      ['user.unblocked', eve.userId],
    ])
  })

  it('writes one event for many concurrent blocks', async () => {
    const site = await makeSite(engine)
    const { userId } = await site.member()
    await Promise.all(Array.from({ length: 6 }, () => site.call(users.block, { user: userId })))
    expect(await site.events()).toEqual([['user.blocked', userId]])
  })

  it('ends present sessions, and not later ones', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const eve = await site.member([], EVE)
    expect((await site.http(`POST /users/${EVE.email}/sign-out`, { token: owner })).body.user.userId).toBe(eve.userId)
    expect(await answer(site, 'GET /users/profile', undefined, eve.token)).toEqual([401, 'INVALID_TOKEN'])
    const again = (await site.http('POST /auth/login', { body: EVE })).body.user.authToken
    expect(await answer(site, 'GET /users/profile', undefined, again)).toEqual([200, undefined])
    expect(await answer(site, 'GET /users/profile', undefined, owner)).toEqual([200, undefined])
    expect(await site.events()).toContainEqual(['user.signed_out', eve.userId])
  })

  it('never blocks or deletes the owner', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    expect(await answer(site, `POST /users/${OWNER.email}/block`, {}, token)).toEqual([403, 'CANNOT_CHANGE_OWNER'])
    expect(await answer(site, `DELETE /users/${OWNER.email}`, {}, token)).toEqual([403, 'CANNOT_CHANGE_OWNER'])
    expect((await site.http('GET /users/profile', { token })).status).toBe(200)
    expect(await site.events()).toHaveLength(1)
  })
})

describe.each(engines)('deleting a person on %s', (engine) => {
  const counts = async (site: TestSite) => {
    const of = async (table: 'posts' | 'votes' | 'comments') =>
      (await site.db.selectFrom(table).selectAll().execute()).length
    return { posts: await of('posts'), votes: await of('votes'), comments: await of('comments') }
  }

  it('keeps posts and comments without an author, and deletes votes, mails and sessions', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { user: eve } = (await site.http('POST /auth/signup', { body: EVE })).body
    const bob = await site.member()
    const postId = await writePost(site, eve.userId, [eve.userId, bob.userId])
    const { status, text } = await site.http(`DELETE /users/${eve.userId}`, { token })
    expect([status, text]).toEqual([204, ''])
    expect(await row(site, eve.userId)).toBeUndefined()
    expect(await counts(site)).toEqual({ posts: 1, votes: 1, comments: 2 })
    expect(await site.db.selectFrom('posts').select(['postId', 'userId', 'votesCount']).execute()).toEqual([
      { postId, userId: null, votesCount: 1 },
    ])
    const authors = await site.db.selectFrom('comments').select('author_id').execute()
    expect(authors.map((comment) => comment.author_id)).toEqual(expect.arrayContaining([null, bob.userId]))
    expect(await site.db.selectFrom('deliveries').select('recipient').execute()).toEqual([{ recipient: OWNER.email }])
    expect(await answer(site, 'GET /users/profile', undefined, eve.authToken)).toEqual([404, 'USER_NOT_FOUND'])
    expect((await site.http('GET /users', { token })).body.total_count).toBe(2)
    expect((await site.events()).at(-1)).toEqual(['user.deleted', eve.userId])
    expect(await answer(site, `DELETE /users/${eve.userId}`, {}, token)).toEqual([404, 'USER_NOT_FOUND'])
  })

  it('deletes posts and comments on request, and the counts of others stay right', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const [eve, bob] = [await site.member([], EVE), await site.member()]
    const gone = await writePost(site, eve.userId, [eve.userId, bob.userId])
    await writePost(site, bob.userId, [eve.userId, bob.userId])
    const { status } = await site.http(`DELETE /users/${EVE.email}`, { token, body: { posts: 'delete' } })
    expect(status).toBe(204)
    expect(await counts(site)).toEqual({ posts: 1, votes: 1, comments: 1 })
    expect((await site.http(`GET /users/${bob.userId}`, { token })).body.user).toMatchObject({ posts: '1', votes: '1' })
    expect(await site.db.selectFrom('posts').select('votesCount').execute()).toEqual([{ votesCount: 1 }])
    const events = (await site.events()).slice(1)
    expect(events.map(([action]) => action)).toEqual([
      'comment.deleted',
      'comment.deleted',
      'post.deleted',
      'user.deleted',
    ])
    expect(events.slice(2)).toEqual([
      ['post.deleted', gone],
      ['user.deleted', eve.userId],
    ])
  })

  it('works for more posts than one statement can hold', async () => {
    const site = await makeSite(engine)
    const { userId } = await site.member()
    const postId = await writePost(site, userId, [])
    const comment = {
      post_id: postId,
      parent_id: null,
      author_id: userId,
      body: 'Yes',
      is_internal: 0,
      created_at: '',
      updated_at: '',
    }
    for (let batch = 0; batch < 12; batch++) {
      await site.db.insertInto('comments').values(Array.from({ length: 1000 }, () => ({ id: newId(), ...comment }))).execute() // prettier-ignore
    }
    await site.call(users.remove, { user: userId, posts: 'delete' })
    expect(await counts(site)).toEqual({ posts: 0, votes: 0, comments: 0 })
    expect(await site.events()).toHaveLength(12_002)
  })

  it('works beside concurrent changes of the person', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    for (let time = 1; time <= 5; time++) {
      const eve = await site.member([], EVE)
      const reset = () => answer(site, 'POST /auth/password/reset', { email: EVE.email })
      const verify = () => answer(site, 'POST /auth/email/verify', {}, eve.token)
      const answers = await Promise.all([
        reset(),
        answer(site, `DELETE /users/${eve.userId}`, {}, token),
        verify(),
        reset(),
        verify(),
      ])
      expect(answers[1]).toEqual([204, undefined])
      for (const [status] of answers) expect([200, 204, 401, 404]).toContain(status) // 401: the session of the person is gone
    }
  })

  it('refuses an unknown value of posts, and succeeds once for concurrent requests', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { userId } = await site.member()
    expect(await answer(site, `DELETE /users/${userId}`, { posts: 'some' }, token)).toEqual([400, 'VALIDATION_ERROR'])
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => answer(site, `DELETE /users/${userId}`, {}, token)),
    )
    expect(answers.filter(([status]) => status !== 204)).toEqual([1, 2, 3].map(() => [404, 'USER_NOT_FOUND']))
    expect((await site.events()).filter(([action]) => action === 'user.deleted')).toHaveLength(1)
  })

  it('tell only the owner whether there is an account', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const plain = await site.member()
    for (const address of [OWNER.email, 'nobody@example.org', newId()])
      expect((await site.http(`GET /users/${address}`, { token: plain.token })).body.code).toBe('NOT_ENOUGH_PERMISSION')
    expect((await site.http('GET /users/nobody@example.org', { token: owner })).body.code).toBe('USER_NOT_FOUND')
    for (const name of ['@everyone', 'nothing']) {
      expect((await site.http(`GET /roles/${name}`, { token: plain.token })).body.code).toBe('ROLE_NOT_FOUND')
      expect((await site.http(`PUT /roles/${name}/users/${OWNER.email}`, { token: plain.token })).body.code).toBe(
        'INVALID_ROLE_ID',
      )
    }
  })

  it('remove titles from the log when the posts are deleted too', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const eve = await site.member()
    const { post } = (await site.http('POST /posts', { token: eve.token, body: { title: 'My secret illness' } })).body
    await site.http(`POST /posts/${post.postId}/comments`, { token: owner, body: { body: 'Get well' } })
    expect((await site.http('GET /events?limit=100', { token: owner })).text).toContain('secret illness')
    expect((await site.http(`DELETE /users/${eve.userId}?posts=delete`, { token: owner })).status).toBe(204)
    const { body, text } = await site.http('GET /events?limit=100', { token: owner })
    expect(text).not.toContain('secret illness')
    expect(body.events.map((event: { action: string }) => event.action).slice(-2)).toEqual([
      'post.deleted',
      'user.deleted',
    ])
  })

  it('remove titles that posts had which were deleted before, also from events of comments, and no others', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const [eve, bob] = [await site.member(), await site.member()]
    const write = async (token: string, title: string) => {
      const { post } = (await site.http('POST /posts', { token, body: { title } })).body
      await site.http(`POST /posts/${post.postId}/comments`, { token: owner, body: { body: 'Get well' } })
      return { postId: post.postId, slugId: post.slugId }
    }
    const gone = await write(eve.token, 'My secret illness')
    const renamed = await site.http('PATCH /posts', { token: eve.token, body: { ...gone, title: 'My hidden fever' } })
    expect(renamed.status).toBe(200)
    const others = await write(bob.token, 'Dark mode')
    await write(bob.token, 'Light mode')
    for (const postId of [gone.postId, others.postId])
      expect((await site.http('DELETE /posts', { token: owner, body: { postId } })).status).toBe(204)
    const before = (await site.http('GET /events?limit=100', { token: owner })).text
    expect(before).toMatch(/secret illness[^]*hidden fever/)
    expect((await site.http(`DELETE /users/${eve.userId}?posts=delete`, { token: owner })).status).toBe(204)
    const after = (await site.http('GET /events?limit=100', { token: owner })).text
    expect(after).not.toMatch(/secret illness|hidden fever/)
    const count = (text: string, title: string) => text.split(title).length
    for (const title of ['Dark mode', 'Light mode']) expect(count(after, title)).toBe(count(before, title))
  })
})

describe.each(engines)('people who are blocked together on %s', (engine) => {
  it('have an outcome each, in one transaction, and those who may not be blocked stay as they are', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const [guard, eve, bob] = [await site.member(['user:block']), await site.member([], EVE), await site.member()]
    const strong = await site.member(['settings:update'])
    const owner = (await site.call(users.list, {})).users.find(({ isOwner }) => isOwner)?.userId ?? ''
    const block = async (body: object) => (await site.http('POST /users/block', { token: guard.token, body })).body
    await site.call(users.block, { user: bob.userId })
    const given = [eve.userId, bob.userId, strong.userId, owner, guard.userId, EVE.email, 'nobody', eve.userId]
    const answer = await block({ users: given })
    expect(answer).toMatchObject({ changed: 1, failed: 5 })
    expect(answer.outcomes.map(({ outcome, error }: { outcome: string; error?: { code: string } }) => error?.code ?? outcome)).toEqual([
      'changed',
      'unchanged',
      'NOT_ENOUGH_PERMISSION',
      'CANNOT_CHANGE_OWNER',
      'NOT_ENOUGH_PERMISSION',
      'USER_NOT_FOUND',
      'USER_NOT_FOUND',
    ]) // prettier-ignore
    expect(answer.outcomes[0]).toEqual({ given: eve.userId, outcome: 'changed', userId: eve.userId, username: expect.any(String) }) // prettier-ignore
    expect((await site.http('GET /users/profile', { token: eve.token })).body.code).toBe('USER_BLOCK')
    expect((await site.events()).filter(([action]) => action === 'user.blocked')).toHaveLength(2)
    expect(await block({ users: [eve.userId, bob.userId], block: false })).toMatchObject({ changed: 2, failed: 0 })
    expect((await site.call(users.list, { state: ['blocked'] })).users).toEqual([])
  })

  it('are at most a hundred', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const ids = await Promise.all(Array.from({ length: 100 }, async () => (await site.member()).userId))
    expect((await site.http('POST /users/block', { token, body: { users: ids } })).body.changed).toBe(100)
    const some = ids.slice(0, 20)
    const bothWays = [some, some.toReversed(), some, some.toReversed()]
    const answers = await Promise.all(
      bothWays.map((users, at) => site.http('POST /users/block', { token, body: { users, block: at > 1 } })),
    )
    expect(
      answers.map(({ status }) => status),
      'none waits for another for ever',
    ).toEqual([200, 200, 200, 200])
    expect((await site.http('POST /users/block', { token, body: { users: [...ids, 'x'] } })).body.code).toBe('VALIDATION_ERROR') // prettier-ignore
  })
})
