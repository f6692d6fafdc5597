import { describe, expect, it } from 'vitest'
import { operations } from '../../src/service/index.js'
import { engines, makeSite, OWNER } from '../support/site.js'

/** Names of fields that hold a secret, or an address of a person. */
const SENSITIVE = /token|password|e-?mail|address|secret|recovery|(?<!require_t)otp/i

interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

const namesIn = ({ properties = {}, items, anyOf = [] }: Schema): string[] => [
  ...Object.entries(properties).flatMap(([name, schema]) => [name, ...namesIn(schema)]),
  ...(items ? namesIn(items) : []),
  ...anyOf.flatMap(namesIn),
]

describe('operations that answer with secrets or addresses', () => {
  const sensitive = operations
    .map((op) => [op.id, namesIn(op.output as Schema).filter((name) => SENSITIVE.test(name)), op] as const)
    .filter(([, names]) => names.length > 0)

  it.each(sensitive)('%s declares that it answers with %j', (_, _names, op) => expect(op.sensitive).toBe(true))
})

describe.each(engines)('responses on %s', (engine) => {
  it('are stored nowhere where they have secrets or addresses, cached and failed ones too', async () => {
    const site = await makeSite(engine)
    const stored = async (request: string, options?: Parameters<typeof site.http>[1]) =>
      (await site.http(request, options)).headers['cache-control']
    expect(await stored('POST /auth/setup', { body: OWNER })).toBe('no-store')
    expect(await stored('POST /auth/setup', { body: OWNER })).toBe('no-store') // 403
    const signIn = await site.http('POST /auth/login', { body: OWNER_SIGN_IN })
    expect(signIn.headers['cache-control']).toBe('no-store')
    const token = signIn.body.user.authToken as string
    expect(await stored('POST /auth/login', { body: { ...OWNER_SIGN_IN, password: 'a wrong one' } })).toBe('no-store')
    for (const request of ['GET /users', 'GET /users/profile', 'GET /events'])
      for (const time of ['first', 'cached'])
        expect([request, time, await stored(request, { token })]).toEqual([request, time, 'no-store'])
    expect(await stored('GET /users')).toBe('no-store') // 400: no token
    for (const request of ['GET /boards', 'GET /settings/site', 'POST /posts/get'])
      expect([request, await stored(request)]).toEqual([request, undefined])
  })
})

const OWNER_SIGN_IN = { email: OWNER.email, password: OWNER.password }
