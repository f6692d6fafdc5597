import { hash } from '@node-rs/bcrypt'
import { describe, expect, it } from 'vitest'
import { countHashes } from '../support/argon2.js'
import { countBcrypt } from '../support/bcrypt.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const PASSWORD = 'as it was there'
const ADDRESS = 'ann@example.org'

const send = async (site: TestSite, people: readonly Record<string, unknown>[], owner = site.owner()) => {
  const records = people.map((person, at) => ({ type: 'person', sourceId: `u${at}`, name: 'Ann', ...person }))
  const { status, text } = await site.http('POST /import/records?source=logchimp', {
    token: await owner,
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  expect(status).toBe(200)
  return { text, last: JSON.parse(text.trim().split('\n').at(-1) ?? '') as { passwords: unknown } }
}

const login = async (site: TestSite, password: string, email = ADDRESS) => {
  const { status, text } = await site.http('POST /auth/login', { body: { email, password } })
  return [status, (JSON.parse(text) as { code?: string }).code]
}

const stored = async (site: TestSite, email = ADDRESS) =>
  (await site.db.selectFrom('users').select('password').where('email', '=', email).executeTakeFirstOrThrow()).password

describe.each(engines)('a password of another product on %s', (engine) => {
  it.each(['2a', '2b', '2y'] as const)(
    '$%s$: opens the account, and the first sign-in makes its hash anew',
    async (version) => {
      const site = await makeSite(engine)
      const { text, last } = await send(site, [
        { email: ADDRESS, passwordHash: (await hash(PASSWORD, 4)).replace('2y', version) },
      ])
      expect(last.passwords).toEqual({ kept: 1, leftOut: 0 })
      expect(text).not.toContain(`$${version}$`)
      expect(await login(site, 'not this one')).toEqual([403, 'INCORRECT_PASSWORD'])
      expect(await stored(site)).toMatch(`$${version}$04$`)
      expect(await login(site, PASSWORD)).toEqual([200, undefined])
      expect(await stored(site)).toMatch(/^\$argon2id\$/)
      expect(await login(site, 'not this one')).toEqual([403, 'INCORRECT_PASSWORD'])
      expect(await login(site, PASSWORD)).toEqual([200, undefined])
    },
  )

  it('is left out where its hash has another form or cost, and said', async () => {
    const site = await makeSite(engine)
    const good = await hash(PASSWORD, 4)
    const bad = ['x', `${good}x`, good.slice(0, -1), good.replace('$04$', '$15$'), good.replace('$04$', '$31$'), good.replace('$04$', '$03$'), good.replace('2y', '2x'), good.replace('2y', '1'), `${good}\n`, `$argon2id$v=19$m=4000000,t=900,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA`, '💡'.repeat(20_000)] // prettier-ignore
    const { last } = await send(site, [
      ...bad.map((passwordHash, at) => ({ email: `p${at}@example.org`, passwordHash })),
      { email: 'none@example.org', passwordHash: null },
    ])
    expect(last).toMatchObject({ passwords: { kept: 0, leftOut: bad.length }, isBalanced: true })
    for (const at of bad.keys()) expect(await stored(site, `p${at}@example.org`)).toBeNull()
  })

  it('never replaces that of an account here', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const before = await stored(site, OWNER.email)
    const twice = { email: OWNER.email, passwordHash: await hash(PASSWORD, 4) }
    const { last } = await send(site, [twice], Promise.resolve(token))
    expect(last.passwords).toEqual({ kept: 0, leftOut: 0 })
    expect(await stored(site, OWNER.email)).toBe(before)
    expect(await login(site, PASSWORD, OWNER.email)).toEqual([403, 'INCORRECT_PASSWORD'])
  })

  it('counts to its 72nd byte, and its hash stays where it is longer', async () => {
    const site = await makeSite(engine)
    const long = `${'é'.repeat(36)} and more`
    const passwordHash = await hash(long, 4)
    await send(site, [{ email: ADDRESS, passwordHash }])
    expect(await login(site, `${'é'.repeat(36)} and else`)).toEqual([200, undefined])
    expect(await login(site, 'é'.repeat(35))).toEqual([403, 'INCORRECT_PASSWORD'])
    expect(await stored(site)).toBe(passwordHash)
    expect(await login(site, 'é'.repeat(36))).toEqual([200, undefined])
    expect(await stored(site)).toMatch(/^\$argon2id\$/)
    expect(await login(site, long)).toEqual([403, 'INCORRECT_PASSWORD'])
  })

  it('with a NUL is refused as everywhere, and opens nothing', async () => {
    const site = await makeSite(engine)
    await send(site, [{ email: ADDRESS, passwordHash: await hash(PASSWORD, 4) }])
    expect(await login(site, `${PASSWORD}\0more`)).toEqual([400, 'VALIDATION_ERROR'])
  })

  it('is checked at the work of the highest cost here for every address that is refused', async () => {
    const site = await makeSite(engine)
    await send(site, [
      { email: ADDRESS, passwordHash: await hash(PASSWORD, 4) },
      { email: 'slow@example.org', passwordHash: await hash(PASSWORD, 6) },
      { email: 'none@example.org' },
    ])
    for (const email of [ADDRESS, 'slow@example.org', 'none@example.org', OWNER.email, 'nobody@example.org']) {
      const counted = countHashes()
      const checked = countBcrypt()
      await login(site, 'not this one', email)
      expect([email, counted.verify.length, checked.reduce((sum, cost) => sum + 2 ** cost, 0)]).toEqual([email, 1, 64])
    }
  })

  it('is the same for a second sign-in at the same time', async () => {
    const site = await makeSite(engine)
    await send(site, [{ email: ADDRESS, passwordHash: await hash(PASSWORD, 4) }])
    const both = await Promise.all([login(site, PASSWORD), login(site, PASSWORD)])
    expect(both).toEqual([[200, undefined], [200, undefined]]) // prettier-ignore
    expect(await stored(site)).toMatch(/^\$argon2id\$/)
  })
})
