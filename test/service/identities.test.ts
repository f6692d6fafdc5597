import * as Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { generate } from 'otplib'
import { assignEveryone } from '../../src/db/users.js'
import { change } from '../../src/service/lib/change.js'
import { linkIdentity, personOfIdentity } from '../../src/service/lib/identities.js'
import { operation, type AnyOperation } from '../../src/service/lib/operation.js'
import { AuthUser, insertPerson, newUser, ownUser } from '../../src/service/lib/people.js'
import { fields } from '../../src/service/lib/schemas.js'
import { signIn } from '../../src/service/lib/signin.js'
import { createLink } from '../../src/service/owner.js'
import * as users from '../../src/service/users.js'
import { operator } from '../../src/service/lib/access.js'
import { countHashes } from '../support/argon2.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const EVE = { email: 'eve@example.org', password: 'secret of eve' }
const GIVEN = { provider: 'acme', subject: 'e-1', email: 'eve@acme.example' }

const said = fields({ provider: Type.String(), subject: Type.String(), email: Type.Optional(Type.String()) })

/** As the page would that a provider sends people back to: signs in whom it vouches for. */
const enter = operation({
  id: 'test.enter',
  summary: 'Sign in with a provider',
  http: 'POST /test/enter 200',
  access: 'public',
  errors: ['IDENTITY_NOT_FOUND', 'USER_BLOCKED', 'INCORRECT_PASSWORD', 'TOTP_REQUIRED'],
  input: said,
  output: Type.Object({ user: AuthUser }),
  async run(ctx, input) {
    return { user: await signIn(ctx, { way: 'identity', ...(await personOfIdentity(ctx, input)), code: undefined }) }
  },
})

const join = operation({
  id: 'test.join',
  summary: 'Create the account that a provider vouches for',
  http: 'POST /test/join 201',
  access: 'public',
  errors: ['IDENTITY_EXISTS', 'USER_EXISTS', 'USERNAME_EXISTS'],
  input: said,
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email = '', ...recognised }) {
    const person = newUser(ctx.now(), { email, name: 'Eve', password: null })
    return {
      user: await signIn(ctx, {
        way: 'account',
        async create(tx) {
          const user = await insertPerson(tx.db, person)
          await assignEveryone(tx.db, user.userId)
          await linkIdentity(tx, user, { ...recognised, email })
          tx.record('user.signed_up', user.userId)
          return user
        },
      }),
    }
  },
})

const link = operation({
  id: 'test.link',
  summary: 'Link what a provider vouches for to the own account',
  http: 'POST /test/link 204',
  access: 'session',
  changesOwnRights: true,
  errors: ['IDENTITY_EXISTS', 'USER_NOT_FOUND'],
  input: said,
  output: Type.Undefined(),
  async run(ctx, { email = null, ...recognised }) {
    const user = await ownUser(ctx)
    await change(ctx, (tx) => linkIdentity(tx, user, { ...recognised, email }))
    return undefined
  },
})

const extra = [enter, join, link] as unknown as readonly AnyOperation[]
const open = (engine: Engine, options = {}) => makeSite(engine, { extra, ...options })

const post = async (site: TestSite, path: string, body: object, token?: string) => {
  const answer = await site.http(`POST ${path}`, { body, ...(token !== undefined && { token }) })
  return answer.status < 300 ? answer.body : [answer.status, answer.body.code]
}
const remove = async (site: TestSite, token: string, id: string) => {
  const { status, body } = await site.http(`DELETE /identities/${id}`, { token })
  return status === 204 ? 204 : [status, body.code]
}
const listed = async (site: TestSite, token: string) => (await site.http('GET /identities', { token })).body.identities
const ways = async (site: TestSite, token: string): Promise<string[]> =>
  (await listed(site, token)).map(({ provider }: { provider: string }) => provider)
const joined = async (site: TestSite, given = GIVEN): Promise<string> =>
  (await post(site, '/test/join', given)).user.authToken

describe.each(engines)('a way to sign in on %s', (engine) => {
  it('is a provider that vouches for a person who never had a password', async () => {
    const site = await open(engine)
    await site.owner()
    expect(await post(site, '/test/enter', GIVEN)).toEqual([404, 'IDENTITY_NOT_FOUND'])
    const token = await joined(site)
    site.clock.now = new Date('2026-03-02T11:00:00.000Z')
    const { user } = await post(site, '/test/enter', GIVEN)
    expect(user).toMatchObject({ email: GIVEN.email, authToken: expect.stringMatching(/./) })
    expect(await listed(site, user.authToken)).toEqual([
      {
        identityId: expect.stringMatching(/^[\da-f-]{36}$/),
        ...GIVEN,
        createdAt: '2026-03-02T10:00:00.000Z',
        lastUsedAt: '2026-03-02T11:00:00.000Z',
        may: [],
      },
    ])
    expect((await site.http('GET /users/profile', { token })).body.user.hasPassword).toBe(false)
    expect((await site.events()).map(([action]) => action)).toEqual(['site.set_up', 'identity.linked', 'user.signed_up', 'user.signed_in']) // prettier-ignore
    const events = await site.db.selectFrom('events').select(['details', 'person_id']).execute()
    expect(events.at(-1)?.details).toContain('acme')
    expect(JSON.stringify(events)).not.toContain(GIVEN.subject)
    expect(events[1]?.person_id).toBe(user.userId)
  })

  it('belongs to one account', async () => {
    const site = await open(engine)
    await joined(site)
    const bob = await site.member()
    expect(await post(site, '/test/link', GIVEN, bob.token)).toEqual([409, 'IDENTITY_EXISTS'])
    expect(await post(site, '/test/join', { ...GIVEN, email: 'other@example.org' })).toEqual([409, 'IDENTITY_EXISTS'])
    expect(await site.db.selectFrom('users').select('email').where('email', '=', 'other@example.org').execute()).toEqual([]) // prettier-ignore
    for (const provider of ['password', 'link']) {
      expect(await post(site, '/test/link', { provider, subject: 'x' }, bob.token)).toEqual([409, 'IDENTITY_EXISTS'])
      expect(await post(site, '/test/enter', { provider, subject: bob.userId })).toEqual([404, 'IDENTITY_NOT_FOUND'])
    }
    expect(await ways(site, bob.token)).toEqual([])
  })

  it('is refused to blocked people, and asks for the second factor, whose answer goes on with it', async () => {
    const site = await open(engine)
    const owner = await site.owner()
    const token = await joined(site)
    const { secret } = await post(site, '/totp', {}, token)
    const code = async () => generate({ secret, epoch: Math.floor(site.clock.now.getTime() / 1000) })
    await post(site, '/totp/enable', { code: await code() }, token)
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    const asked = await site.http('POST /test/enter', { body: GIVEN })
    expect([asked.status, asked.body.code]).toEqual([403, 'TOTP_REQUIRED'])
    const { passwordToken } = asked.body
    const [until, identityId, signature] = passwordToken.split('.')
    const login = async (rest: object) => post(site, '/auth/login', { email: GIVEN.email, ...rest })
    for (const forged of [`${until}.${signature}`, `${until}.${identityId.replace(/^./, 'f')}x.${signature}`])
      expect(await login({ passwordToken: forged, code: await code() })).toEqual([401, 'INVALID_TOKEN'])
    const { user } = await login({ passwordToken, code: await code() })
    expect(await listed(site, user.authToken)).toEqual([
      expect.objectContaining({ provider: 'acme', lastUsedAt: site.clock.now.toISOString() }),
    ])
    expect((await site.db.selectFrom('events').select('details').orderBy('id').execute()).at(-1)?.details).toContain('acme') // prettier-ignore
    await site.http(`POST /users/${user.userId}/block`, { token: owner })
    expect(await post(site, '/test/enter', GIVEN)).toEqual([403, 'USER_BLOCKED'])
  })

  it('is the password too, and the link of the operator, each with its last use', async () => {
    const site = await open(engine)
    const token = await site.owner()
    const { userId, email } = (await site.http('GET /users/profile', { token })).body.user
    expect(await listed(site, token)).toEqual([
      { identityId: 'password', provider: 'password', subject: null, email: null, createdAt: null, lastUsedAt: null, may: [] },
    ]) // prettier-ignore
    const { url } = await createLink({ ...site.base, actor: operator, origin: 'cli:tester', dryRun: false }) // prettier-ignore
    await post(site, '/auth/link', { token: /token=(.*)$/.exec(url ?? '')?.[1] })
    site.clock.now = new Date('2026-03-02T12:00:00.000Z')
    for (let time = 0; time < 2; time++) await post(site, '/auth/login', { email, password: 'correct horse battery' })
    const shown = await listed(site, token)
    expect(shown.map(({ provider, lastUsedAt }: { provider: string; lastUsedAt: string }) => [provider, lastUsedAt])).toEqual([
      ['password', '2026-03-02T12:00:00.000Z'],
      ['link', '2026-03-02T10:00:00.000Z'],
    ]) // prettier-ignore
    expect((await site.http(`GET /users/${userId}`, { token })).body.user.identities.map(({ provider }: { provider: string }) => provider)).toEqual(['password', 'link']) // prettier-ignore
    await post(site, '/test/link', { ...GIVEN, subject: 'a-1' }, token)
    expect((await site.http(`GET /users/${userId}`, { token })).body.user.identities).toHaveLength(3)
    expect(await remove(site, token, 'link')).toEqual([404, 'IDENTITY_NOT_FOUND'])
  })

  it('is shown to its person and to the owner, not to a team that sees people', async () => {
    const site = await open(engine)
    const owner = await site.owner()
    const token = await joined(site)
    const { userId } = (await site.http('GET /users/profile', { token })).body.user
    const team = await site.member(['user:read', 'user:invite'])
    const seen = async (as: string) => (await site.http(`GET /users/${userId}`, { token: as })).body.user.identities
    expect(await seen(owner)).toEqual([expect.objectContaining(GIVEN)])
    expect(await seen(team.token)).toBeUndefined()
    expect(await post(site, '/users', { email: EVE.email, invite: false }, team.token)).toEqual([403, 'NOT_ENOUGH_PERMISSION']) // prettier-ignore
    expect((await post(site, '/users', { email: EVE.email }, team.token)).user.email).toBe(EVE.email)
  })

  it('can be removed where it is not the last: its sessions end, and the one of the request goes on', async () => {
    const site = await open(engine)
    const token = await joined(site)
    const [{ identityId }] = await listed(site, token)
    expect(await remove(site, token, identityId)).toEqual([409, 'LAST_IDENTITY'])
    await post(site, '/test/link', { ...GIVEN, subject: 'e-2' }, token)
    const other = (await post(site, '/test/enter', GIVEN)).user.authToken
    const bob = await site.member()
    expect(await remove(site, bob.token, identityId)).toEqual([404, 'IDENTITY_NOT_FOUND'])
    expect(await remove(site, token, identityId)).toBe(204)
    expect(await post(site, '/test/enter', GIVEN)).toEqual([404, 'IDENTITY_NOT_FOUND'])
    expect((await site.http('GET /identities', { token: other })).body.code).toBe('INVALID_TOKEN')
    expect(await listed(site, token)).toEqual([expect.objectContaining({ subject: 'e-2', may: [] })])
    expect((await site.events()).at(-1)).toEqual(['identity.unlinked', identityId])
    await post(site, '/test/join', { ...GIVEN, email: 'other@example.org' }) // free for another account
  })

  it('is not removed by two requests at once, where one of the two ways has to stay', async () => {
    const site = await open(engine)
    const token = await joined(site)
    await post(site, '/test/link', { ...GIVEN, subject: 'e-2' }, token)
    const ids = (await listed(site, token)).map(({ identityId }: { identityId: string }) => identityId)
    const answers = await Promise.all(ids.map(async (id: string) => remove(site, token, id)))
    expect(answers).toContainEqual(204)
    expect(answers).toContainEqual([409, 'LAST_IDENTITY'])
    expect(await ways(site, token)).toEqual(['acme'])
  })

  it('is a password that a person removes, and may set again by mail', async () => {
    const site = await open(engine)
    const eve = await site.member([], EVE)
    expect(await remove(site, eve.token, 'password')).toEqual([409, 'LAST_IDENTITY'])
    await post(site, '/test/link', GIVEN, eve.token)
    expect(await remove(site, eve.token, 'password')).toBe(204)
    expect(await remove(site, eve.token, 'password')).toEqual([404, 'IDENTITY_NOT_FOUND'])
    expect(await ways(site, eve.token)).toEqual(['acme'])
    expect(await post(site, '/auth/login', EVE)).toEqual([403, 'INCORRECT_PASSWORD'])
    expect((await site.events()).at(-2)).toEqual(['user.password_removed', eve.userId])
    await post(site, '/auth/password/reset', { email: EVE.email })
    await post(site, '/auth/password/set', { token: await site.mailedToken(EVE.email), password: 'another of eve' })
    const { user } = await post(site, '/auth/login', { ...EVE, password: 'another of eve' })
    expect(await ways(site, user.authToken)).toEqual(['password', 'acme'])
  })

  it('goes with the account, and is in what the person downloads', async () => {
    const site = await open(engine)
    const token = await joined(site)
    const { profile: _, identities } = (await site.http('GET /users/profile/data', { token })).body
    expect(identities).toEqual([expect.objectContaining(GIVEN)])
    expect(identities[0]).not.toHaveProperty('may')
    await post(site, '/users/profile/deletion', {}, token)
    await site.http('DELETE /users/profile', { token, body: { deletionToken: await site.mailedToken(GIVEN.email) } })
    expect(await site.db.selectFrom('identities').selectAll().execute()).toEqual([])
    expect(await post(site, '/test/enter', GIVEN)).toEqual([404, 'IDENTITY_NOT_FOUND'])
  })
})

describe.each(engines)('a person without a password on %s', (engine) => {
  it('is who was created without one, or by a server of the version before', async () => {
    const site = await open(engine, { mail: false })
    const { user } = await site.call(users.create, { email: EVE.email, invite: false })
    const stored = site.db.selectFrom('users').select('password').where('userId', '=', user.userId)
    expect(await stored.execute()).toEqual([{ password: null }])
    expect((await site.call(users.show, { user: EVE.email })).user.identities).toEqual([])
    expect(await site.db.selectFrom('deliveries').selectAll().execute()).toEqual([])
    for (const password of [null, '!']) {
      await site.db.updateTable('users').set({ password }).where('userId', '=', user.userId).execute()
      for (const typed of ['!', 'null', 'secret of eve'])
        expect(await post(site, '/auth/login', { email: EVE.email, password: typed })).toEqual([403, 'INCORRECT_PASSWORD']) // prettier-ignore
      const eve = await site.signIn(user.userId)
      expect((await site.http('GET /users/profile', { token: eve })).body.user.hasPassword).toBe(false)
      expect(await ways(site, eve)).toEqual([])
    }
    for (const rest of [{}, { password: null }, { invite: true }])
      await expect(site.call(users.create, { email: 'bob@example.org', ...rest })).rejects.toMatchObject({ code: 'MAIL_CONFIG_MISSING' }) // prettier-ignore
  })

  it.each(['hide', undefined] as const)(
    'signs in with none as with a wrong one, where unknown accounts are: %s',
    async (unknownAccounts) => {
      const site = await open(engine, { unknownAccounts })
      const { userId } = await site.member([], { email: EVE.email })
      await site.db.updateTable('users').set({ password: null }).where('userId', '=', userId).execute()
      await site.member([], { email: 'bob@example.org', password: 'secret of bob' })
      const counted = countHashes()
      const tried = async (email: string) => {
        const { status, text } = await site.http('POST /auth/login', { body: { email, password: 'not the password' } })
        return [status, text]
      }
      expect(await tried(EVE.email)).toEqual(await tried('bob@example.org'))
      expect(counted.verify).toHaveLength(2)
      expect(counted.verify.every((stored) => stored.startsWith('$argon2id$v=19$m=19456,t=2,p=1$'))).toBe(true)
      expect((await site.events()).filter(([action]) => action === 'user.sign_in_failed')).toHaveLength(2)
    },
  )

  it('cannot set one with an open session alone', async () => {
    const site = await open(engine)
    const token = await joined(site)
    for (const currentPassword of [undefined, null, '', '!', 'null']) {
      const { status, body } = await site.http('POST /users/password', {
        token,
        body: { ...(currentPassword !== undefined && { currentPassword }), password: 'a password of eve' },
      })
      expect([status, body.code]).toEqual([403, 'INCORRECT_PASSWORD'])
      expect(body.message).toContain('no password')
    }
    expect((await site.http('GET /users/profile', { token })).body.user.hasPassword).toBe(false)
  })

  it('deletes the account with a link by mail, which works once and for nobody else', async () => {
    const site = await open(engine)
    const owner = await site.owner()
    const token = await joined(site)
    const bob = await site.member([], { email: 'bob@example.org', password: 'secret of bob' })
    const away = async (body: object, as = token) => {
      const answer = await site.http('DELETE /users/profile', { token: as, body })
      return answer.status === 204 ? 204 : [answer.status, answer.body.code]
    }
    for (const body of [{}, { password: '' }, { password: 'secret of eve' }, { password: null }])
      expect(await away(body)).toEqual([403, 'INCORRECT_PASSWORD'])
    expect(await post(site, '/users/profile/deletion', {}, owner)).toEqual([403, 'CANNOT_CHANGE_OWNER'])
    await post(site, '/users/profile/deletion', {}, token)
    const mailed = await site.mailedToken(GIVEN.email)
    const { subject, text } = await site.db.selectFrom('deliveries').selectAll().where('recipient', '=', GIVEN.email).executeTakeFirstOrThrow() // prettier-ignore
    expect([subject, text]).toEqual(['Moonbase – delete your account', expect.stringContaining('/board/settings/delete/?token=')]) // prettier-ignore
    expect(await away({ deletionToken: mailed }, bob.token)).toEqual([400, 'INVALID_TOKEN'])
    expect(await away({ deletionToken: 'x' })).toEqual([401, 'INVALID_TOKEN'])
    expect(await post(site, '/auth/password/set', { token: mailed, password: 'a password of eve' })).toEqual([400, 'INVALID_TOKEN']) // prettier-ignore
    site.clock.now = new Date(site.clock.now.getTime() + 60 * 60 * 1000)
    expect(await away({ deletionToken: mailed })).toEqual([401, 'INVALID_TOKEN'])
    await post(site, '/users/profile/deletion', {}, token)
    expect(await away({ deletionToken: mailed })).toEqual([404, 'INVALID_TOKEN'])
    expect(await away({ deletionToken: await site.mailedToken(GIVEN.email) })).toBe(204)
    expect((await site.events()).filter(([action]) => action.startsWith('user.del')).map(([action]) => action)).toEqual(['user.deletion_requested', 'user.deletion_requested', 'user.deleted']) // prettier-ignore
  })
})
