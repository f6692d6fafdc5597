import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { insertUser } from '../../src/db/users.js'
import * as posts from '../../src/service/posts.js'
import { operator } from '../../src/service/lib/access.js'
import * as roles from '../../src/service/roles.js'
import * as users from '../../src/service/users.js'
import { newUser } from '../../src/service/lib/people.js'
import { untilEndOfFile } from '../support/cleanup.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

type Listed = Awaited<ReturnType<typeof read>>['users'][number]

const NAMES = ['Ada', 'eve', 'Zoë', '李娜', 'Иван', 'Bob', '', '🦊 Fox']
/** More than a list sorts by itself, so that filters of many of them are checked on a walk. */
const MANY = 1100

/** People in every state, with roles, posts and times. */
async function makePeople(engine: Engine) {
  const site = await makeSite(engine)
  await site.owner()
  const role = async (name: string) => (await site.call(roles.create, { name, permissions: [] })).role.id
  const [support, editors] = [await role('support'), await role('editors')]
  for (let n = 0; n < MANY + 60; n++) {
    const at = new Date(Date.parse('2026-01-01T00:00:00Z') + ((n * 7919) % 1160) * 60_000)
    const person = newUser(at, { email: `p${n}@${n % 3 ? 'example.org' : 'mail.example'}`, name: `${NAMES[n % 8]}`, password: n % 50 === 7 ? null : 'no hash' }) // prettier-ignore
    const isOdd = n >= MANY
    await insertUser(site.db, { ...person, username: `user_${n}`, isVerified: isOdd && n % 3 ? 0 : 1, isBlocked: n % 97 === 5 ? 1 : 0 }) // prettier-ignore
    if (n % 40 === 0) await site.db.insertInto('roles_users').values({ role_id: support, user_id: person.userId }).execute() // prettier-ignore
    if (n % 60 === 0) await site.db.insertInto('roles_users').values({ role_id: editors, user_id: person.userId }).execute() // prettier-ignore
    const tags = [...(n % 30 === 0 ? ['VIP'] : []), ...(n % 50 === 0 ? ['Beta tester'] : [])]
    for (const tag of tags) await site.db.insertInto('user_tags').values({ userId: person.userId, tag, tagFolded: tag.toLowerCase(), createdAt: person.createdAt }).execute() // prettier-ignore
    if (n % 100 === 0) await site.callAs({ ...operator, userId: person.userId })(posts.create, { title: `Post ${n}` })
    if (n % 20 === 3) await site.signIn(person.userId)
  }
  return { site, support, editors, token: (await site.member(['user:read'])).token }
}

async function read(site: TestSite, token: string, query: string) {
  const { status, body } = await site.http(`GET /users?${query}`, { token })
  expect([query, status]).toEqual([query, 200])
  return body as Awaited<ReturnType<typeof answerOf>>
}
const answerOf = (site: TestSite) => site.call(users.list, {})

const shownName = ({ name, username }: Listed) => name || username
const folded = (user: Listed) => shownName(user).toLowerCase().replace(/^[^\p{L}\p{N}]+/u, '') // prettier-ignore
const assigned = (user: Listed) => user.roles.filter((role) => !role.isSystem).map(({ name }) => name)

const FILTERS: Record<string, (user: Listed) => boolean> = {
  '': () => true,
  'state=blocked': ({ state }) => state === 'blocked',
  'state=active': ({ state }) => state === 'active',
  'state=invited,unverified,owner': ({ state }) => ['invited', 'unverified', 'owner'].includes(state),
  'role=support': (user) => assigned(user).includes('support'),
  'role=support,editors': (user) => assigned(user).some((name) => name === 'support' || name === 'editors'),
  'role=none': (user) => assigned(user).length === 0,
  'role=none,editors': (user) => assigned(user).length === 0 || assigned(user).includes('editors'),
  'role=%40everyone': (user) => user.roles.some(({ name }) => name === '@everyone'),
  'tag=vip': ({ tags }) => tags.includes('VIP'),
  'tag=Vip,beta%20TESTER': ({ tags }) => tags.length > 0,
  'tag=vip&role=none&query=example': (user) => user.tags.includes('VIP') && assigned(user).length === 0 && user.email.includes('example'), // prettier-ignore
  'query=ИВАН': ({ name }) => name === 'Иван',
  'query=mail.example': ({ email }) => email.includes('mail.example'),
  'query=USER_11': ({ username }) => username.includes('user_11'),
  'query=example': ({ email }) => email.includes('example'),
  'since=2026-01-01T10:00Z&until=2026-01-01T12:00Z': ({ createdAt }) => createdAt >= '2026-01-01T10' && createdAt < '2026-01-01T12', // prettier-ignore
  'seenSince=2026-02-01': ({ lastSeenAt }) => lastSeenAt !== null && lastSeenAt >= '2026-02-01',
  'seenBefore=2026-02-01': ({ lastSeenAt }) => lastSeenAt === null || lastSeenAt < '2026-02-01',
  'state=active&role=support&query=example&seenBefore=2027-01-01': (user) => user.state === 'active' && assigned(user).includes('support') && user.email.includes('example'), // prettier-ignore
  'state=active&role=none&query=example&since=2026-01-01': (user) => user.state === 'active' && assigned(user).length === 0 && user.email.includes('example'), // prettier-ignore
}

const ORDERS: Record<string, (user: Listed) => string | number> = {
  oldest: ({ createdAt }) => createdAt,
  newest: ({ createdAt }) => createdAt,
  name: folded,
  posts: (user) => Number(user.posts),
  votes: (user) => Number(user.votes),
  seen: ({ lastSeenAt }) => lastSeenAt ?? '',
}

describe.each(engines)('the list of people on %s', (engine) => {
  let world: Awaited<ReturnType<typeof makePeople>>
  let everybody: Listed[] = []
  beforeAll(async () => {
    world = await untilEndOfFile(() => makePeople(engine))
    for (let page = 1; everybody.length < MANY + 62; page++)
      everybody.push(...(await read(world.site, world.token, `limit=100&page=${page}`)).users)
  })

  it('has everybody once', () => {
    expect(new Set(everybody.map(({ userId }) => userId)).size).toBe(MANY + 62)
  })

  it.each(Object.entries(FILTERS))(
    'has those and only those of the filter "%s", in every order',
    async (query, passes) => {
      const { site, token } = world
      const wanted = new Set(everybody.filter(passes).map(({ userId }) => userId))
      expect(wanted.size).toBeGreaterThan(0)
      for (const [sort, key] of Object.entries(ORDERS)) {
        const found: Listed[] = []
        for (let after = ''; ;) {
          const { users: page, page_info, total_count } = await read(site, token, `${query}&sort=${sort}&limit=100${after}`) // prettier-ignore
          expect([query, sort, total_count]).toEqual([query, sort, wanted.size])
          found.push(...page)
          if (!page_info.has_next_page || found.length > 400) break
          after = `&after=${page_info.end_cursor}`
        }
        expect(found.every(({ userId }) => wanted.has(userId))).toBe(true)
        expect(new Set(found.map(({ userId }) => userId)).size).toBe(found.length)
        expect(found.length > 400 || found.length === wanted.size).toBe(true)
        const keys = found.map(key)
        const sign = ['newest', 'posts', 'votes', 'seen'].includes(sort) ? -1 : 1
        const isOrdered = keys.every((each, at) => at === 0 || sign * Buffer.compare(asBytes(keys[at - 1]!), asBytes(each)) <= 0) // prettier-ignore
        expect([query, sort, isOrdered]).toEqual([query, sort, true])
        const second = await read(site, token, `${query}&sort=${sort}&limit=7&page=2`)
        expect(second.users.map(({ userId }) => userId)).toEqual(found.slice(7, 14).map(({ userId }) => userId))
      }
    },
  )

  it('refuses a role, a state, a time or a cursor that it does not have', async () => {
    const { site, token } = world
    const blocked = everybody.find(({ state }) => state === 'blocked')
    for (const [query, field, code] of [
      ['role=nobody', 'role', 'UNKNOWN_ROLE'],
      [`role=${newId()}`, 'role', 'UNKNOWN_ROLE'],
      ['state=asleep', 'state', 'UNKNOWN_CHOICE'],
      ['sort=age', 'sort', 'UNKNOWN_CHOICE'],
      ['seenSince=soon', 'seenSince', 'INVALID_TIME'],
      ['seenBefore=soon', 'seenBefore', 'INVALID_TIME'],
      [`state=active&after=${blocked?.userId}`, 'after', 'INVALID_CURSOR'],
      [`role=support&after=${blocked?.userId}`, 'after', 'INVALID_CURSOR'],
      ['after=ada@example.org', 'after', 'INVALID_CURSOR'],
    ] as const) {
      const { status, body } = await site.http(`GET /users?${query}`, { token })
      expect([query, status, body.errors?.[0]]).toMatchObject([query, 400, { field, code }])
    }
  })

  it('is a download with the same filters', async () => {
    const { site, token } = world
    const { text, headers } = await site.http('GET /export/users?state=blocked', { token })
    const blocked = everybody.filter(({ state }) => state === 'blocked')
    expect(headers['content-disposition']).toContain('users.csv')
    const [head, ...lines] = text.trimEnd().split(/\r?\n/)
    expect(head).toBe('name,email,roles,posts,votes,state,lastSeenAt,createdAt,username,tags,notes,userId')
    expect(lines.map((line) => line.split(',').at(-1))).toEqual(blocked.map(({ userId }) => userId))
    const rows = (await site.http('GET /export/users?role=support&format=jsonl&sort=newest', { token })).text
    expect(rows.trimEnd().split('\n').map((line) => JSON.parse(line).userId)).toEqual(everybody.filter((user) => assigned(user).includes('support')).toReversed().map(({ userId }) => userId)) // prettier-ignore
  })
})

const asBytes = (key: string | number): Buffer =>
  typeof key === 'string' ? Buffer.from(key) : Buffer.from(String(key).padStart(9, '0'))

describe.each(engines)('when somebody was last seen on %s', (engine) => {
  it('is never at first, then a sign-in, then the hour of a later request, by a session or a key', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { user } = await site.call(users.create, { email: 'eve@example.org', password: 'a long password' })
    const seen = async () => (await site.call(users.show, { user: user.userId })).user.lastSeenAt
    expect([user.lastSeenAt, await seen()]).toEqual([null, null])
    site.clock.now = new Date('2026-03-02T10:20:00.000Z')
    const token = await site.signIn(user.userId)
    expect(await seen()).toBe('2026-03-02T10:20:00.000Z')
    await site.http('GET /users/profile', { token })
    expect(await seen()).toBe('2026-03-02T10:20:00.000Z') // the hour began before
    site.clock.now = new Date('2026-03-02T12:30:00.000Z')
    await site.http('GET /users/profile', { token })
    expect(await seen()).toBe('2026-03-02T12:00:00.000Z')
    const key = (await site.http('POST /keys', { token, body: { name: 'sync' } })).body.token
    site.clock.now = new Date('2026-03-02T15:59:00.000Z')
    await site.http('GET /users/profile', { token: key })
    expect(await seen()).toBe('2026-03-02T15:00:00.000Z')
    await site.call(users.signOut, { user: user.userId })
    expect(await seen()).toBe('2026-03-02T15:00:00.000Z')
  })

  it('is told with user:read alone, and by the order of the list', async () => {
    const site = await makeSite(engine)
    const [one, other] = [await site.member(), await site.member()]
    site.clock.now = new Date('2026-03-03T10:00:00.000Z')
    await site.signIn(one.userId)
    const { users: listed } = await site.call(users.list, { sort: 'seen' })
    expect(listed.map(({ userId }) => userId)).toEqual([one.userId, other.userId])
    const { token } = await site.member(['user:block'])
    const { body } = await site.http(`POST /users/${other.userId}/block`, { token })
    expect(body.user).toMatchObject({ lastSeenAt: null, email: '', notes: null, state: 'blocked' })
  })
})

describe.each(engines)('the state of people on %s', (engine) => {
  it('is the first that holds, and counts from the next list on', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { user } = await site.call(users.create, { email: 'eve@example.org', name: 'Eve' })
    const states = async () => {
      const [eve] = (await site.call(users.list, { query: 'eve' })).users
      const listed = await Promise.all(
        (['owner', 'blocked', 'active', 'invited', 'unverified'] as const).map(async (state) =>
          (await site.call(users.list, { state: [state], query: 'eve' })).users.length ? [state] : [],
        ),
      )
      return [eve?.state, ...listed.flat()]
    }
    expect(await states()).toEqual(['invited', 'invited'])
    await site.call(users.update, { user: user.userId, password: 'a long password' })
    expect(await states()).toEqual(['unverified', 'unverified'])
    await site.call(users.update, { user: user.userId, isVerified: true })
    expect(await states()).toEqual(['active', 'active'])
    await site.call(users.block, { user: user.userId })
    expect(await states()).toEqual(['blocked', 'blocked'])
    await site.call(users.update, { user: user.userId, name: 'Steve', username: 'steve', email: 'st@example.org' })
    expect((await site.call(users.list, { query: 'eve@' })).users).toEqual([])
    expect((await site.call(users.list, { query: 'STEVE' })).users).toHaveLength(1)
    expect((await site.call(users.list, { state: ['owner'] })).users).toHaveLength(1)
  })
})
