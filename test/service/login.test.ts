import { describe, expect, it } from 'vitest'
import * as auth from '../../src/service/auth.js'
import { operator } from '../../src/service/lib/access.js'
import { createLink } from '../../src/service/owner.js'
import * as users from '../../src/service/users.js'
import { countHashes, whileChecking } from '../support/argon2.js'
import { engines, failure, makeSite, OWNER } from '../support/site.js'

// The tests count hashes in place of measuring time.
const cost = (hash: string) => hash.split('$').slice(0, 4)

describe.each(engines)('the time of a login on %s', (engine) => {
  it('reveals nothing: existing, blocked and unknown addresses cost one hash each', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.member([], { blocked: true, email: 'eve@example.org', password: 'secret of eve' })
    const checked = countHashes()
    for (const [email, code] of [
      [OWNER.email, 'INCORRECT_PASSWORD'],
      ['eve@example.org', 'USER_BLOCKED'],
      ['nobody@example.org', 'USER_NOT_FOUND'],
    ] as const) {
      expect((await failure(site.call(auth.login, { email, password: 'wrong password' }))).code).toBe(code)
    }
    const hashes = checked.verify.map(cost)
    expect(hashes).toHaveLength(3)
    expect(new Set(hashes.map(String)).size).toBe(1)
  })

  it('takes the password as it was set, with characters that other texts lose', async () => {
    const site = await makeSite(engine)
    await site.member([], { email: 'eve@example.org', password: 'secret\u0007 of eve' })
    const login = (password: string) => site.call(auth.login, { email: 'eve@example.org', password })
    expect((await login('secret\u0007 of eve')).user.email).toBe('eve@example.org')
    expect((await failure(login('secret of eve'))).code).toBe('INCORRECT_PASSWORD')
  })

  it('costs no hash without a password', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const checked = countHashes()
    await failure(site.call(auth.login, { email: OWNER.email }))
    await failure(site.call(auth.login, { email: 'nobody@example.org' }))
    expect(checked.verify).toEqual([])
  })
})

describe.each(engines)('accounts.unknown = hide on %s', (engine) => {
  it('gives unknown addresses the answers of known ones, at sign-in and reset', async () => {
    const site = await makeSite(engine, { unknownAccounts: 'hide' })
    await site.owner()
    await site.member([], { blocked: true, email: 'eve@example.org', password: 'secret of eve' })
    const addresses = [OWNER.email, 'eve@example.org', 'nobody@example.org']
    const answers = async (request: string, more: object = {}, headers: Record<string, string> = {}) => {
      const all = addresses.map((email) => site.http(request, { body: { email, ...more }, headers }))
      const texts = (await Promise.all(all)).map(({ status, text }) => `${status} ${text}`)
      expect(new Set(texts).size).toBe(1)
      return texts[0]
    }
    const checked = countHashes()
    expect(await answers('POST /auth/login', { password: 'wrong password' })).toMatch(/^403 .*INCORRECT_PASSWORD/)
    expect(checked.verify).toHaveLength(3)
    expect(await answers('POST /auth/login')).toMatch(/^400 .*PASSWORD_MISSING/)
    expect(await answers('POST /auth/password/reset')).toBe('200 {"reset":{"success":true}}')
    expect(await answers('POST /auth/password/reset', {}, { 'feedbackctl-dry-run': '1' })).toMatch(
      /^400 .*INVALID_AUTH/,
    )
    const recipients = (await site.db.selectFrom('deliveries').select('recipient').execute()).map(
      (mail) => mail.recipient,
    )
    expect(recipients.toSorted()).toEqual([OWNER.email, ...addresses.slice(0, 2)].toSorted())
    const right = await site.http('POST /auth/login', { body: { email: 'eve@example.org', password: 'secret of eve' } })
    expect(right.body.code).toBe('USER_BLOCKED')
  })
})

describe.each(engines)('a sign-in on %s', (engine) => {
  it('that began before its sessions were ended begins none', async () => {
    const site = await makeSite(engine)
    const EVE = { email: 'eve@example.org', password: 'secret of eve' }
    const { userId } = await site.member([], EVE)
    whileChecking(() => site.call(users.signOut, { user: userId }))
    const before = await site.db.selectFrom('sessions').select('sessionId').execute()
    expect(before).toHaveLength(1)
    expect((await failure(site.call(auth.login, EVE))).code).toBe('INCORRECT_PASSWORD')
    expect(await site.db.selectFrom('sessions').select('sessionId').execute()).toEqual([])
    expect((await site.call(auth.login, EVE)).user.authToken).toMatch(/^ey/)
  })
})

it.each(engines)(
  'a sign-in on %s is an event that says the way, and a failed one only that it failed',
  async (engine) => {
    const site = await makeSite(engine)
    await site.owner()
    await site.call(auth.login, { email: OWNER.email, password: OWNER.password })
    await failure(site.call(auth.login, { email: OWNER.email, password: 'wrong password' }))
    const { url } = await createLink({ ...site.base, actor: operator, origin: 'cli:tester', dryRun: false })
    const { status } = await site.http('POST /auth/link', { body: { token: new URL(url!).searchParams.get('token') } })
    expect(status).toBe(200)
    const events = await site.db.selectFrom('events').select(['action', 'details']).where('id', '>', 1).orderBy('id').execute() // prettier-ignore
    const by = (way: string) => JSON.stringify([{ field: 'way', before: null, after: way }])
    expect(events.map(({ action, details }) => [action, details])).toEqual([
      ['user.signed_in', by('password')],
      ['user.sign_in_failed', null],
      ['user.link_created', null],
      ['user.link_used', null],
      ['user.signed_in', by('link')],
    ])
  },
)
