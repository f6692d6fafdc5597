import * as argon2 from '@node-rs/argon2'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import * as auth from '../../src/service/auth.js'
import * as users from '../../src/service/users.js'
import { engines, failure, makeSite, OWNER } from '../support/site.js'

// The real argon2 with a spy: the tests count hashes in place of measuring time.
vi.mock('@node-rs/argon2', { spy: true })

const checked = vi.mocked(argon2.verify)
const cost = (hash: unknown) => String(hash).split('$').slice(0, 4)

describe.each(engines)('the time of a login on %s', (engine) => {
  beforeEach(() => void checked.mockClear())

  it('reveals nothing: existing, blocked and unknown addresses cost one hash each', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.member([], { blocked: true, email: 'eve@example.org', password: 'secret of eve' })
    for (const [email, code] of [
      [OWNER.email, 'INCORRECT_PASSWORD'],
      ['eve@example.org', 'USER_BLOCKED'],
      ['nobody@example.org', 'USER_NOT_FOUND'],
    ] as const) {
      expect((await failure(site.call(auth.login, { email, password: 'wrong password' }))).code).toBe(code)
    }
    const hashes = checked.mock.calls.map(([hash]) => cost(hash))
    expect(hashes).toHaveLength(3)
    expect(new Set(hashes.map(String)).size).toBe(1)
  })

  it('costs no hash without a password', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await failure(site.call(auth.login, { email: OWNER.email }))
    await failure(site.call(auth.login, { email: 'nobody@example.org' }))
    expect(checked).not.toHaveBeenCalled()
  })
})

describe.each(engines)('a sign-in on %s', (engine) => {
  it('that began before its sessions were ended begins none', async () => {
    const site = await makeSite(engine)
    const EVE = { email: 'eve@example.org', password: 'secret of eve' }
    const { userId } = await site.member([], EVE)
    const { verify } = await vi.importActual<typeof argon2>('@node-rs/argon2')
    checked.mockImplementationOnce(async (...given) => {
      await site.call(users.signOut, { user: userId })
      return verify(...given)
    })
    const before = await site.db.selectFrom('sessions').select('sessionId').execute()
    expect(before).toHaveLength(1)
    expect((await failure(site.call(auth.login, EVE))).code).toBe('INCORRECT_PASSWORD')
    expect(await site.db.selectFrom('sessions').select('sessionId').execute()).toEqual([])
    expect((await site.call(auth.login, EVE)).user.authToken).toMatch(/^ey/)
  })
})
