import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PERMISSIONS } from '../../src/core/permissions.js'
import { operations } from '../../src/service/index.js'
import { assertProperty } from '../support/properties.js'
import { engines } from '../support/site.js'
import { table } from './scenarios.table.js'
import { makeWorld, type World } from './scenarios.world.js'

/** Everything that a role can permit, but to read addresses. */
const TEAM = PERMISSIONS.filter((each) => each !== 'user:read')
const ADDRESS = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g

/** The addresses in an answer that are neither in the request nor the caller's own. */
async function told({ site }: World, token: string, own: string, [request, body]: [string, object | undefined]) {
  const { status, text } = await site.http(request, { token, ...(body && { body }) })
  const known = `${own} ${decodeURIComponent(request)} ${JSON.stringify(body ?? {})}`.toLowerCase()
  const addresses = (text.match(ADDRESS) ?? []).filter((each) => !known.includes(each.toLowerCase()))
  return { status, addresses: addresses.map((each) => `${request} tells ${each}`) }
}

function requestOf(http: string, input: object): [string, object | undefined] {
  const [method, path = ''] = http.split(' ')
  const rest = new Map(Object.entries(input))
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = String(rest.get(name))
    rest.delete(name)
    return encodeURIComponent(value)
  })
  if (method !== 'GET') return [`${method} ${url}`, Object.fromEntries(rest)]
  const query = [...rest].map(([name, value]): [string, string] => [name, [value].flat().join(',')])
  return [`GET ${url}?${new URLSearchParams(query).toString()}`, undefined]
}

describe.each(engines)('an account with every permission but user:read on %s', (engine) => {
  it('gets no address of another person in any answer', async () => {
    const world = await makeWorld(engine)
    const { site } = world
    const email = 'team@example.net'
    const { userId } = await site.member(TEAM, { email })
    const succeeded = new Set<string>()
    for (const op of operations) {
      if ('token' in op.input.properties) continue // proves that the caller is the other person
      const input = (await table[op.id]?.input?.(world, userId)) ?? {}
      const { status, addresses } = await told(world, await site.signIn(userId), email, requestOf(op.http, input))
      if (status < 300) succeeded.add(op.id)
      expect(addresses).toEqual([])
    }
    for (const id of [
      'users.block',
      'users.unblock',
      'users.signOut',
      'users.create',
      'events.list',
      'moderation.list',
    ])
      expect([id, succeeded.has(id)]).toEqual([id, true])
    for (const id of ['users.list', 'users.show', 'users.update']) expect([id, succeeded.has(id)]).toEqual([id, false])
    const ownAddress = await told(world, await site.signIn(userId), '', ['GET /users/profile', undefined])
    expect(ownAddress.addresses).toHaveLength(1) // the check sees them
  })

  it('gets none by names and starts of ids, and finds nobody by parts of an address', async () => {
    const world = await makeWorld(engine)
    const { site, authorEmail, authorId } = world
    const { token } = await site.member(TEAM, { email: 'team@example.net' })
    await site.http(`POST /users/${authorId}/block`, { token })
    const text = fc.oneof(
      fc.constantFrom(
        authorId,
        authorId.slice(0, 8),
        authorId.slice(0, 4),
        '0',
        'a',
        'user',
        authorEmail,
        'author',
        '@',
      ),
      fc.stringMatching(/^[\da-f]{1,6}$/),
    )
    const request = fc.oneof(
      fc.tuple(fc.constantFrom('user', 'subject', 'role', 'key', 'item'), text).map(([noun, name]) => `GET /names/${noun}/${encodeURIComponent(name)}`), // prettier-ignore
      fc.tuple(fc.constantFrom('query', 'person', 'subject'), text).map(([field, value]) => `GET /events?limit=100&${field}=${encodeURIComponent(value)}`), // prettier-ignore
      text.map((value) => `GET /users/${encodeURIComponent(value)}`),
      text.map((value) => `GET /users?query=${encodeURIComponent(value)}`),
    )
    await assertProperty(
      fc.asyncProperty(request, async (line) => {
        expect((await told(world, token, 'team@example.net', [line, undefined])).addresses).toEqual([])
      }),
      { numRuns: 100 },
    )
    for (const part of [authorEmail, 'author@', '@example'])
      expect((await site.http(`GET /events?query=${encodeURIComponent(part)}`, { token })).body.events).toEqual([])
    const events = (await site.http('GET /events?limit=100&created=desc', { token })).body.events
    expect(events.find(({ action }: { action: string }) => action === 'user.blocked').address).toBeNull()
    const reader = (await site.member(['event:read', 'user:read'])).token
    const seen = (await site.http('GET /events?limit=100&created=desc', { token: reader })).body.events
    expect(seen.find(({ action }: { action: string }) => action === 'user.blocked').address).toBe('127.0.0.1')
  })
})
