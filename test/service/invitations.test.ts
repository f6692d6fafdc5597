import { describe, expect, it } from 'vitest'
import { DRY_RUN_HEADER } from '../../src/core/wire.js'
import * as auth from '../../src/service/auth.js'
import * as invitations from '../../src/service/invitations.js'
import * as roles from '../../src/service/roles.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import { engines, failure, makeSite, type TestSite } from '../support/site.js'

const DAY = 24 * 3600 * 1000
const EVE = 'eve@example.org'

const later = (site: TestSite, days: number) => void (site.clock.now = new Date(site.clock.now.getTime() + days * DAY))
const mailsTo = async (site: TestSite, recipient: string) =>
  (await site.db.selectFrom('deliveries').select('deliveryId').where('recipient', '=', recipient).execute()).length
const states = async (site: TestSite, input: object = {}) =>
  Object.fromEntries(
    (await site.call(invitations.list, input)).invitations.map(({ email, state, may }) => [email, [state, ...may]]),
  )

describe.each(engines)('invitations on %s', (engine) => {
  it('are listed with who sent them, when, until when their links work, and what became of them', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const owner = (await site.http('GET /users/profile', { token })).body.user
    const { status, body } = await site.http('POST /invitations', { token, body: { emails: [EVE] } })
    expect([status, body]).toEqual([
      200,
      {
        outcomes: [{ given: EVE, outcome: 'invited', userId: expect.any(String), username: expect.any(String) }],
        invited: 1,
        failed: 0,
      },
    ])
    const [{ userId, username }] = body.outcomes
    expect((await site.http('GET /invitations', { token })).body).toEqual({
      invitations: [
        {
          userId,
          name: '',
          username,
          email: EVE,
          state: 'waiting',
          invitedBy: expect.objectContaining({ userId: owner.userId, name: 'Ada' }),
          createdAt: '2026-03-02T10:00:00.000Z',
          sentAt: '2026-03-02T10:00:00.000Z',
          expiresAt: '2026-03-09T10:00:00.000Z',
          acceptedAt: null,
          may: ['resend', 'revoke'],
        },
      ],
      page_info: expect.objectContaining({ count: 1, has_next_page: false }),
    })
    later(site, 7)
    expect(await states(site)).toEqual({ [EVE]: ['expired', 'resend', 'revoke'] })
    await site.call(invitations.resend, { user: EVE })
    expect(await mailsTo(site, EVE)).toBe(2)
    expect(await states(site)).toEqual({ [EVE]: ['waiting', 'resend', 'revoke'] })
    await site.call(auth.setPassword, { token: await site.mailedToken(EVE), password: 'a long password' })
    expect(await states(site)).toEqual({ [EVE]: ['accepted'] })
    for (const op of [invitations.resend, invitations.revoke])
      expect((await failure(site.call(op, { user: EVE }))).code).toBe('INVITATION_NOT_FOUND')
    expect((await site.events()).map(([action]) => action)).toEqual([
      'site.set_up',
      'user.created',
      'user.invitation_resent',
      'user.password_set',
    ])
  })

  it('of one address each come from users create too; a password of the owner ends them', async () => {
    const site = await makeSite(engine)
    await site.owner()
    for (const [email, more] of [[EVE, {}], ['bob@example.org', { invite: false }], ['li@example.org', { password: 'a long password' }]] as const) await site.call(users.create, { email, ...more }) // prettier-ignore
    expect(await states(site)).toEqual({ [EVE]: ['waiting', 'resend', 'revoke'] })
    const [invitation] = (await site.call(invitations.list, {})).invitations
    expect(invitation?.invitedBy).toBeNull() // of the command line
    await site.call(users.update, { user: EVE, password: 'a long password' })
    expect(await states(site)).toEqual({ [EVE]: ['accepted'] })
  })

  it('are found by state, in pages, oldest or newest first', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const emails = Array.from({ length: 5 }, (_, number) => `p${number}@example.org`)
    for (const email of emails) {
      await site.call(invitations.create, { emails: [email] })
      later(site, 2)
    }
    await site.call(users.update, { user: 'p4@example.org', password: 'a long password' })
    const found = async (input: object) =>
      (await site.call(invitations.list, input)).invitations.map(({ email }) => email)
    expect(await found({ state: ['expired'] })).toEqual(['p1@example.org', 'p0@example.org'])
    expect(await found({ state: ['waiting'] })).toEqual(['p3@example.org', 'p2@example.org'])
    expect(await found({ state: ['accepted', 'expired'], created: 'asc' })).toEqual([emails[0], emails[1], emails[4]])
    const first = await site.call(invitations.list, { limit: 2, created: 'asc' })
    expect(first.page_info.has_next_page).toBe(true)
    const after = first.page_info.end_cursor ?? ''
    expect(await found({ limit: 2, created: 'asc', after })).toEqual([emails[2], emails[3]])
    expect((await failure(site.call(invitations.list, { after: 'nobody' }))).code).toBe('VALIDATION_ERROR')
  })

  it('of up to 50 addresses at once have an outcome each, in one transaction', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.call(settings.blockDomains, { domains: ['spam.example'] })
    await site.member([], { email: 'member@example.org' })
    await site.call(invitations.create, { emails: ['waiting@example.org'] })
    const good = Array.from({ length: 45 }, (_, number) => `new${number}@example.org`)
    const emails = [...good, ' NEW0@example.org ', 'nonsense', 'x@mail.spam.example', 'Member@example.org', 'waiting@example.org'] // prettier-ignore
    const { outcomes, invited, failed } = await site.call(invitations.create, { emails, language: 'de' })
    expect([outcomes.length, invited, failed]).toEqual([49, 45, 4])
    expect(outcomes.slice(0, 45).map(({ given, outcome }) => [given, outcome])).toEqual(good.map((each) => [each, 'invited'])) // prettier-ignore
    expect(outcomes.slice(45).map(({ given, error }) => [given, error?.code, error?.message])).toEqual([
      ['nonsense', 'EMAIL_INVALID', expect.stringContaining('nonsense')],
      ['x@mail.spam.example', 'EMAIL_DOMAIN_BLACKLISTED', 'Addresses at mail.spam.example are not accepted here. Use another.'], // prettier-ignore
      ['Member@example.org', 'USER_EXISTS', 'member@example.org has an account already. Use another address.'],
      ['waiting@example.org', 'USER_EXISTS', 'waiting@example.org was invited already. Send that invitation again instead.'], // prettier-ignore
    ])
    expect(await mailsTo(site, 'new0@example.org')).toBe(1)
    expect((await site.call(users.show, { user: 'new7@example.org' })).user).toMatchObject({ state: 'invited', language: 'de', roles: [{ name: '@everyone' }] }) // prettier-ignore
    for (const wrong of [[], Array.from({ length: 51 }, (_, number) => `m${number}@example.org`)])
      expect((await failure(site.call(invitations.create, { emails: wrong }))).code).toBe('VALIDATION_ERROR')
    const { token } = await site.member(['user:invite'])
    const dry = await site.http('POST /invitations', { token, body: { emails: ['dry@example.org'] }, headers: { [DRY_RUN_HEADER]: '1' } }) // prettier-ignore
    expect(dry.body.invited).toBe(1)
    expect(await mailsTo(site, 'dry@example.org')).toBe(0)
  })

  it('are accepted with the mailed token: the person has a name, a confirmed address and a session', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.call(invitations.create, { emails: [EVE] })
    const token = await site.mailedToken(EVE)
    const check = await site.http('POST /auth/password/validateToken', { body: { token } })
    expect(check.body).toEqual({ reset: { valid: true, invitation: true } })
    const accept = (body: object) => site.http('POST /invitations/accept', { body: { token, ...body } })
    expect((await accept({ password: 'short' })).status).toBe(400)
    expect((await accept({})).body.code).toBe('PASSWORD_MISSING')
    const { status, body } = await accept({ password: 'a long password', name: 'Eve' })
    expect([status, body.user.name]).toEqual([200, 'Eve'])
    const profile = await site.http('GET /users/profile', { token: body.user.authToken })
    expect(profile.body.user).toMatchObject({ name: 'Eve', email: EVE, isVerified: true })
    expect(await states(site)).toEqual({ [EVE]: ['accepted'] })
    expect((await site.events()).map(([action]) => action).slice(-2)).toEqual(['user.password_set', 'user.verified'])
    expect((await accept({ password: 'a long password' })).status, 'a link works once').toBe(404)
  })

  it('are accepted by nobody who has an account already, is blocked, or has a link to a former address', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const accept = async (token: string) =>
      (await site.http('POST /invitations/accept', { body: { token, password: 'a long password' } })).body.code
    await site.member([], { email: 'member@example.org' })
    await site.call(auth.resetPassword, { email: 'member@example.org' })
    const reset = await site.mailedToken('member@example.org')
    expect(await accept(reset)).toBe('INVITATION_NOT_FOUND')
    expect((await site.http('POST /auth/password/validateToken', { body: { token: reset } })).body).toEqual({ reset: { valid: true } }) // prettier-ignore
    await site.call(invitations.create, { emails: [EVE, 'bob@example.org'] })
    await site.call(users.block, { user: EVE })
    expect(await accept(await site.mailedToken(EVE))).toBe('USER_BLOCKED')
    await site.call(users.update, { user: 'bob@example.org', email: 'robert@example.org' })
    expect(await accept(await site.mailedToken('bob@example.org'))).toBe('INVALID_TOKEN')
    expect((await site.call(users.show, { user: 'robert@example.org' })).user.isVerified).toBe(false)
  })

  it('give a role, if the inviter may give it', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const { role } = await site.call(roles.create, { name: 'Helpers', permissions: ['post:update'] })
    const invite = (token: string, email: string, given: string) =>
      site.http('POST /invitations', { token, body: { emails: [email], role: given } })
    const rolesOf = async (user: string) => (await site.call(users.show, { user })).user.roles.map(({ name }) => name)
    expect((await invite(owner, EVE, role.id)).body.invited).toBe(1)
    expect(await rolesOf(EVE)).toEqual(expect.arrayContaining(['@everyone', 'Helpers']))
    expect((await site.events()).map(([action]) => action).slice(-2)).toEqual(['user.created', 'role.assigned'])
    const helper = (await site.member(['user:invite', 'role:assign', 'post:update'])).token
    expect((await invite(helper, 'bob@example.org', 'Helpers')).body.invited).toBe(1)
    const weaker = [['user:invite'], ['user:invite', 'post:update'], ['user:invite', 'role:assign']] as const
    for (const permissions of weaker) {
      const { token } = await site.member([...permissions])
      expect((await invite(token, 'li@example.org', role.id)).body.code).toBe('NOT_ENOUGH_PERMISSION')
    }
    expect((await invite(owner, 'li@example.org', 'Nobodies')).body.code).toBe('ROLE_NOT_FOUND')
    expect((await failure(site.call(users.show, { user: 'li@example.org' }))).code).toBe('USER_NOT_FOUND')
  })

  it('cannot be sent where no mail is configured', async () => {
    const site = await makeSite(engine, { mail: false })
    expect((await failure(site.call(invitations.create, { emails: [EVE] }))).code).toBe('MAIL_CONFIG_MISSING')
  })

  it('tell no address to who lacks user:read, and are found by user name', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { token } = await site.member(['user:invite'])
    await site.call(invitations.create, { emails: [EVE] })
    const listed = await site.http('GET /invitations', { token })
    expect(listed.text).not.toContain('@')
    const { username } = listed.body.invitations[0]
    const again = await site.http(`POST /invitations/${username}/resend`, { token })
    expect([again.status, again.text.includes('@')]).toEqual([200, false])
    expect((await site.http(`POST /invitations/${EVE}/resend`, { token })).body.code).toBe('INVITATION_NOT_FOUND')
    const reader = (await site.member(['user:invite', 'user:read'])).token
    expect((await site.http('GET /invitations', { token: reader })).body.invitations[0].email).toBe(EVE)
    expect((await site.http(`POST /invitations/${EVE}/resend`, { token: reader })).status).toBe(200)
  })

  it('that are revoked leave neither the account, nor its link, nor its waiting mail', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    await site.call(invitations.create, { emails: [EVE] })
    const link = await site.mailedToken(EVE)
    expect((await site.http(`DELETE /invitations/${EVE}`, { token })).status).toBe(204)
    expect((await failure(site.call(auth.setPassword, { token: link, password: 'a long password' }))).code).toBe('INVALID_TOKEN') // prettier-ignore
    expect((await failure(site.call(users.show, { user: EVE }))).code).toBe('USER_NOT_FOUND')
    expect(await mailsTo(site, EVE)).toBe(0)
    expect((await site.events()).slice(-2).map(([action]) => action)).toEqual(['user.invitation_revoked', 'user.deleted']) // prettier-ignore
    expect((await site.call(invitations.create, { emails: [EVE] })).invited).toBe(1)
  })

  it('may be revoked by who sent them, and others by who may block people, but not above their own rights', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const [one, other, guard] = [
      await site.member(['user:invite']),
      await site.member(['user:invite']),
      await site.member(['user:invite', 'user:block']),
    ]
    const invited = async (email: string, token: string) =>
      (await site.http('POST /invitations', { token, body: { emails: [email] } })).body.outcomes[0].userId as string
    const revoke = async (user: string, { token }: { token: string }) => {
      const shown = (await site.http('GET /invitations', { token })).body.invitations
      const may = shown.find(({ userId }: { userId: string }) => userId === user).may.includes('revoke')
      const { status } = await site.http(`DELETE /invitations/${user}`, { token, headers: { [DRY_RUN_HEADER]: '1' } })
      expect(may).toBe(status === 204)
      return may
    }
    const plain = await invited('plain@example.org', one.token)
    const strong = await invited('strong@example.org', one.token)
    const { role } = await site.call(roles.create, { name: 'strong', permissions: ['settings:update'] })
    await site.call(roles.assign, { role_id: role.id, user_id: strong })
    const who = [one, other, guard, { token: owner }]
    expect(await Promise.all(who.map((each) => revoke(plain, each)))).toEqual([true, false, true, true])
    expect(await Promise.all(who.map((each) => revoke(strong, each)))).toEqual([false, false, false, true])
  })

  it('are limited for everybody but the owner, by the number of addresses', async () => {
    const site = await makeSite(engine, { rates: { invitations: { points: 10, seconds: 3600 } } })
    const owner = await site.owner()
    const [{ token }, other] = [await site.member(['user:invite']), await site.member(['user:invite'])]
    let number = 0
    const invite = async (count: number, by = token) => {
      const emails = Array.from({ length: count }, () => `n${number++}@example.org`)
      const { status, body, headers } = await site.http('POST /invitations', { token: by, body: { emails } })
      return status === 200 ? body.invited : [status, body.message, headers['retry-after']]
    }
    const full = (left: string) => [
      429,
      `You have reached the limit of invitations. Try again in 60 minutes${left}.`,
      '3600',
    ]
    expect(await invite(11)).toEqual(full(', or give fewer: 10 are left'))
    expect(await invite(8)).toBe(8)
    expect(await invite(3)).toEqual(full(', or give fewer: 2 are left'))
    expect(await invite(1)).toBe(1)
    const [{ username }] = (await site.http('GET /invitations', { token })).body.invitations
    expect((await site.http(`POST /invitations/${username}/resend`, { token })).status).toBe(200)
    expect(await invite(1)).toEqual(full(''))
    expect((await site.http(`POST /invitations/${username}/resend`, { token })).status).toBe(429)
    expect((await site.http('POST /users', { token, body: { email: 'one@example.org' } })).status).toBe(429)
    expect([await invite(10, other.token), await invite(50, owner)]).toEqual([10, 50])
    const racing = await site.member(['user:invite'])
    const both = await Promise.all([invite(6, racing.token), invite(6, racing.token)])
    expect(both.filter((each) => each === 6)).toHaveLength(1)
    later(site, 1)
    expect(await invite(10)).toBe(10)
  })
})
