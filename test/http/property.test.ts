import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONTRACT_PERMISSIONS, PERMISSIONS } from '../../src/core/permissions.js'
import { codesOf } from '../../src/http/api/openapi.js'
import { operations } from '../../src/service/index.js'
import * as boards from '../../src/service/boards.js'
import { amount } from '../faults/amount.js'
import { assertProperty } from '../support/properties.js'
import { engines, makeSite } from '../support/site.js'

const anything = fc.oneof(
  fc.constantFrom(
    0,
    -1,
    1,
    1e21,
    2 ** 53,
    2 ** 63,
    0.5,
    null,
    true,
    '',
    ' ',
    '\u0000',
    '\ud800',
    'ideas',
    'ad%',
    "' or 1=1 --",
    '💥'.repeat(60),
    '9'.repeat(400),
    '__proto__',
    'constructor',
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
)

/** Known and unknown fields, with values of every kind. */
const inputFor = (names: string[]) =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.dictionary(fc.constantFrom(...names, 'unknown', '__proto__', 'toString'), anything, { maxKeys: 6 }),
    },
    { weight: 1, arbitrary: fc.jsonValue() },
  )

describe.each(engines)('any request on %s', (engine) => {
  it('gets a status below 500 and an error code that the operation declares, for any input', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { userId } = await site.db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
    await site.call(boards.create, { name: 'Ideas' })
    for (const op of operations) {
      const owner = await site.signIn(userId) // which an operation before may have ended
      const [method, url] = op.http.split(' ') as [string, string]
      const names = Object.keys(op.input.properties)
      await assertProperty(
        fc.asyncProperty(
          inputFor(names),
          fc.constantFrom(owner, undefined, 'nonsense'),
          fc.constantFrom(...(op.upload?.accepts ?? ['application/json']), 'text/plain', 'application/json; charset=latin1', 'x'), // prettier-ignore
          async (input, token, type) => {
            const text = (value: unknown) =>
              encodeURIComponent((typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed())
            const values =
              typeof input === 'object' && input !== null && !Array.isArray(input)
                ? (input as Record<string, unknown>)
                : {}
            const path = url.replaceAll(/:(\w+)/g, (_, name: string) => text(values[name] ?? 'ideas') || 'x')
            const query =
              method === 'GET' || op.upload
                ? `?${Object.entries(values)
                    .map(([name, value]) => `${name}=${text(value)}`)
                    .join('&')}`
                : ''
            const response = await site.http(`${method} ${path}${query}`, {
              token,
              headers: { 'content-type': type },
              ...(method !== 'GET' && { body: JSON.stringify(input) }),
            })
            expect(response.status).toBeLessThan(500)
            expect(
              response.status < 400 || [...codesOf(op), 'NOT_FOUND', 'INVALID_CURSOR'].includes(response.body.code),
            ).toBe(true)
          },
        ),
        { numRuns: amount(40, 1000) },
      )
    }
  })

  it('gets a status below 500, for any path and headers', async () => {
    const site = await makeSite(engine)
    const weird = fc.string({ unit: fc.constantFrom(...'/%2?&#:.abAB09-_~\\"\' '), maxLength: 40 })
    await assertProperty(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD'),
        weird,
        weird,
        async (method, path, header) => {
          const response = await site.http(`${method} /boards/${path.replaceAll(/[\s#?]/g, '')}`, {
            headers: { authorization: header, 'if-none-match': header, 'x-request-id': header },
          })
          expect(response.status).toBeLessThan(500)
        },
      ),
      { numRuns: amount(300, 10_000) },
    )
  })
})

it('there are the 36 permissions of the contract, and four of ours', () => {
  expect(new Set(CONTRACT_PERMISSIONS).size).toBe(36)
  expect(PERMISSIONS.slice(36)).toEqual(['user:read', 'user:invite', 'user:block', 'event:read'])
  expect(PERMISSIONS.slice(0, 36)).toEqual(CONTRACT_PERMISSIONS)
})
