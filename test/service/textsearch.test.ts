import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { folded, searchKey } from '../../src/core/text.js'
import { queueMail } from '../../src/delivery/mail.js'
import * as comments from '../../src/service/comments.js'
import * as invitations from '../../src/service/invitations.js'
import { operations } from '../../src/service/index.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as roles from '../../src/service/roles.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

/** What LIKE, an index of words and a comparison of bytes would each take for another. */
const TEXTS = ['50% off', '50 off', 'c_d', 'cXd', 'Ärger', 'x.y\\z']

/** Each text to find, and which of the texts have it. */
const FOUND: readonly (readonly [query: string, found: readonly string[]])[] = [
  ['50%', ['50% off']],
  ['% OFF', ['50% off']],
  ['0 o', ['50 off']],
  ['C_D', ['c_d']],
  ['cxd', ['cXd']],
  ['äRGER', ['Ärger']],
  ['\\', ['x.y\\z']],
  ['  x.Y  ', ['x.y\\z']],
  ['off', ['50% off', '50 off']],
  ["' or 1=1 --", []],
  ['zzz', []],
]

interface World {
  site: TestSite
  token: string
  member: string
}

interface List {
  path: string
  rows: string
  /** Makes a row with each text. */
  make(this: void, world: World): Promise<unknown>
  /** Whether symbols at the start of what is looked for are left out. */
  byKey?: true
  /** A text of a row. */
  text(this: void, row: never): string
}

const each = async (act: (text: string, index: number) => Promise<unknown>) => {
  for (const [index, text] of TEXTS.entries()) await act(text, index)
}

const invite = async ({ site, token }: World) =>
  each(async (name, index) => {
    const email = `${index}@example.org`
    await site.http('POST /invitations', { token, body: { emails: [email] } })
    await site.call(users.update, { user: email, name, username: `guest_${index}` }) // a random one may have a word that is looked for
  })

const write = async ({ site, member }: World) => {
  const as = site.callAs({ ...operator, userId: member })
  await each((title) => as(posts.create, { title }))
}

/** The lists that find a text anywhere in what their rows say. */
const LISTS: Readonly<Record<string, List>> = {
  'users.list': {
    path: '/users',
    rows: 'users',
    make: invite,
    byKey: true,
    text: ({ name }: { name: string }) => name,
  },
  'invitations.list': {
    path: '/invitations',
    rows: 'invitations',
    make: invite,
    text: ({ name }: { name: string }) => name,
  },
  'roles.list': {
    path: '/roles',
    rows: 'roles',
    make: ({ site }) => each((name) => site.call(roles.create, { name, permissions: [] })),
    text: ({ name }: { name: string }) => name,
  },
  'keys.list': {
    path: '/keys',
    rows: 'keys',
    make: ({ site, token }) => each((name) => site.http('POST /keys', { token, body: { name } })),
    text: ({ name }: { name: string }) => name,
  },
  'sessions.list': {
    path: '/sessions',
    rows: 'sessions',
    async make({ site }) {
      const { userId } = await site.db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow() // prettier-ignore
      const [createdAt, expiresAt] = [site.clock.now.toISOString(), '2099-01-01T00:00:00.000Z']
      await each((userAgent) =>
        site.db
          .insertInto('sessions')
          .values({ sessionId: newId(), userId, userAgent, address: '::1', createdAt, expiresAt })
          .execute(),
      )
    },
    text: ({ userAgent }: { userAgent: string }) => userAgent,
  },
  'moderation.list': {
    path: '/moderation',
    rows: 'items',
    make: write,
    text: ({ post }: { post: { title: string } }) => post.title,
  },
  'comments.listAll': {
    path: '/comments',
    rows: 'activity',
    async make({ site, member }) {
      const as = site.callAs({ ...operator, userId: member })
      const { post } = await as(posts.create, { title: 'A post' })
      await each((body) => as(comments.create, { post_id: post.postId, body }))
    },
    text: ({ comment }: { comment: { body: string } }) => comment.body,
  },
  'events.list': {
    path: '/events',
    rows: 'events',
    make: write,
    text: ({ subject }: { subject: string }) => subject,
  },
  'mails.list': {
    path: '/mails',
    rows: 'mails',
    make: ({ site }) =>
      each((subject) => queueMail(site.db, site.clock.now, { recipient: 'a@b.co', subject, text: '', html: '' })),
    text: ({ subject }: { subject: string }) => subject,
  },
  'mails.suppressed': {
    path: '/mails/suppressed',
    rows: 'suppressed',
    async make(world) {
      await invite(world)
      const { db, clock } = world.site
      const row = { bounces: 3, bouncedAt: clock.now.toISOString(), suppressedAt: clock.now.toISOString() }
      const people = await db.selectFrom('users').select(['userId', 'name']).where('name', 'in', TEXTS).execute()
      for (const { userId, name: reason } of people)
        await db
          .insertInto('mail_bounces')
          .values({ ...row, userId, reason })
          .execute()
    },
    text: ({ reason }: { reason: string }) => reason,
  },
  'views.list': {
    path: '/views',
    rows: 'views',
    make: ({ site, token }) => each((name) => site.http('POST /views', { token, body: { name } })),
    text: ({ name }: { name: string }) => name,
  },
  'notifications.list': {
    path: '/notifications',
    rows: 'notifications',
    async make(world) {
      await write(world)
      const { db, clock } = world.site
      const { userId } = await db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow() // prettier-ignore
      const written = await db.selectFrom('posts').select('postId').execute()
      const row = { userId, kind: 'status', commentId: null, roadmapId: null, actorId: null, readAt: null, createdAt: clock.now.toISOString() } as const // prettier-ignore
      for (const [index, { postId }] of written.entries())
        await db
          .insertInto('notifications')
          .values({ ...row, postId, eventId: index + 1 })
          .execute()
    },
    text: ({ post }: { post: { title: string } }) => post.title,
  },
}

/** These search for words, or for the start of a name. */
const OTHERS = ['boards.list', 'roadmaps.list', 'tags.list', 'posts.list', 'posts.facets', 'search.find']

it('every list by which a text is looked for is tried', () => {
  const lists = operations.filter(
    ({ http, input }) => 'query' in input.properties && 'page' in input.properties && http.startsWith('GET'),
  )
  const known = [...Object.keys(LISTS), ...OTHERS]
  expect(lists.map(({ id }) => id).filter((id) => !known.includes(id))).toEqual([])
})

async function filled(engine: Engine, list: List) {
  const site = await makeSite(engine)
  const token = await site.owner()
  const { userId: member } = await site.member([])
  await list.make({ site, token, member })
  const ask = (input: Record<string, string | number>) =>
    site.http(`GET ${list.path}?${Object.entries(input).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`, { token }) // prettier-ignore
  const textsOf = (body: Record<string, never[]>) => (body[list.rows] ?? []).map((row) => list.text(row))
  return { site, token, ask, textsOf }
}

describe.each(engines)('a text to find on %s', (engine) => {
  it.each(Object.entries(LISTS))('%s finds it literally, in any letter case, on every page', async (_, list) => {
    const { ask, textsOf } = await filled(engine, list)
    const all = textsOf((await ask({ limit: 100 })).body)
    expect(all).toEqual(expect.arrayContaining(TEXTS))
    expect(textsOf((await ask({ limit: 100, query: ' \t ' })).body)).toEqual(all)
    for (const [query, found] of FOUND.filter(([query]) => !list.byKey || searchKey(query) === folded(query))) {
      const { status, body } = await ask({ limit: 100, query })
      expect([query, status, textsOf(body).toSorted()]).toEqual([query, 200, found.toSorted()]) // oxlint-disable-line unicorn/require-array-sort-compare
    }
    const { body: first } = await ask({ limit: 1, query: 'off' })
    const { body: after } = await ask({ limit: 1, query: 'off', after: first.page_info.end_cursor })
    const { body: second } = await ask({ limit: 1, query: 'off', page: 2 })
    expect([first.page_info.has_next_page, after.page_info.has_next_page]).toEqual([true, false])
    expect([textsOf(first)[0], textsOf(after)[0]].toSorted()).toEqual(['50 off', '50% off']) // oxlint-disable-line unicorn/require-array-sort-compare
    expect(textsOf(second)).toEqual(textsOf(after))
    expect([first.total_count ?? 2, first.total ?? 2]).toEqual([2, 2])
  })

  it.each(Object.entries(LISTS))('%s is in both orders, and has what is of a time', async (id, list) => {
    const { site, ask, textsOf } = await filled(engine, list)
    const known = (body: Record<string, never[]>) => textsOf(body).filter((text) => TEXTS.includes(text))
    const time = site.clock.now.toISOString()
    const all = known((await ask({ limit: 100, since: time })).body)
    expect(all.length).toBeGreaterThanOrEqual(TEXTS.length)
    expect(known((await ask({ limit: 100, until: time })).body)).toEqual([])
    if (id === 'views.list') return // by name
    const [oldest, newest] = [await ask({ limit: 100, created: 'asc' }), await ask({ limit: 100, created: 'desc' })]
    expect(known(oldest.body)).toEqual(known(newest.body).toReversed())
    const { body } = await ask({ limit: 1, created: 'asc', query: 'off' })
    const { body: next } = await ask({ limit: 1, created: 'asc', query: 'off', after: body.page_info.end_cursor })
    const { body: both } = await ask({ limit: 100, created: 'asc', query: 'off' })
    expect([...textsOf(body), ...textsOf(next)]).toEqual(textsOf(both))
  })

  it.each(Object.entries(LISTS))('%s refuses one that is too long or that no database stores', async (_, list) => {
    const { ask } = await filled(engine, { ...list, make: async () => {} })
    expect(await ask({ query: 'x'.repeat(500) })).toMatchObject({ status: 200 })
    for (const query of ['x'.repeat(10_000), 'a\0b', 'x'.repeat(501)])
      expect(await ask({ query })).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
  })

  it('an address is found by those who may read it alone', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    await site.http('POST /invitations', { token, body: { emails: ['a%b@example.org', 'a-b@example.org'] } })
    const found = async (query: string, its: string) =>
      (await site.http(`GET /invitations?query=${encodeURIComponent(query)}`, { token: its })).body.invitations.length
    expect([await found('A%B@', token), await found('EXAMPLE.org', token)]).toEqual([1, 2])
    const inviter = await site.member(['user:invite'])
    expect(await found('', inviter.token)).toBe(2)
    expect([await found('a%b@', inviter.token), await found('example', inviter.token)]).toEqual([0, 0])
    const username = (await site.call(invitations.list, {})).invitations[0]?.username ?? ''
    expect(await found(username, inviter.token)).toBe(1)
  })

  it('a cursor is a row that is found', async () => {
    for (const id of [
      'invitations.list',
      'roles.list',
      'keys.list',
      'sessions.list',
      'moderation.list',
      'mails.list',
    ]) {
      const { ask, textsOf } = await filled(engine, LISTS[id]!)
      const { body } = await ask({ limit: 1, query: 'off' })
      expect(textsOf(body)).toHaveLength(1)
      expect([id, await ask({ query: 'Ärger', after: body.page_info.end_cursor })]).toEqual([id, expect.objectContaining({ status: 400, body: expect.objectContaining({ code: 'VALIDATION_ERROR' }) })]) // prettier-ignore
    }
  })
})
