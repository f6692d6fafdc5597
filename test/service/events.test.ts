import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { NOUNS } from '../../src/core/nouns.js'
import { connect, transaction } from '../../src/db/connect.js'
import { insertEvents } from '../../src/db/events.js'
import { operator } from '../../src/service/lib/access.js'
import * as boards from '../../src/service/boards.js'
import { change } from '../../src/service/lib/change.js'
import type { Context } from '../../src/service/lib/context.js'
import * as events from '../../src/service/events.js'
import { execute } from '../../src/service/lib/operation.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as users from '../../src/service/users.js'
import { cleanup, engines, failure, makeSite, OWNER, type TestSite } from '../support/site.js'

const actions = async (site: TestSite) =>
  (await site.call(events.list, { limit: 100 })).events.map((event) => event.action)
const subjects = (answer: { events: { subject: string | null }[] }) => answer.events.map((event) => event.subject)
const ctxOf = ({ db, clock }: TestSite): Context => ({
  db,
  actor: operator,
  now: () => clock.now,
  secret: () => '',
  mail: null,
  siteUrl: '',
  origin: 'http',
  dryRun: false,
})
const ofUser = (subject_id: string, actor_id: string | null = null) => ({
  action: 'user.blocked',
  subject_id,
  subject: null,
  actor_id,
  origin: 'http',
  created_at: '2026-03-02T10:00:00.000Z',
})

describe.each(engines)('events on %s', (engine) => {
  it('record the action, the row, the actor and the origin', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    site.clock.now = new Date('2026-03-02T11:00:00.000Z')
    await site.http('PATCH /boards', { token, body: { boardId: 'ideas', name: 'Bright ideas', partial: true } })
    const { status, body } = await site.http('GET /events', { token })
    const owner = await site.db.selectFrom('users').select(['userId', 'name', 'username']).executeTakeFirstOrThrow()
    expect(status).toBe(200)
    const [first, second, third] = body.events.map((event: { id: number }) => event.id)
    expect(second).toBeGreaterThan(first)
    expect(body).toEqual({
      events: [
        {
          id: first,
          action: 'site.set_up',
          subject_id: 'site',
          subject: null,
          user: null,
          person: null,
          actor: null,
          via: 'cli',
          operator: 'tester',
          address: null,
          key_id: null,
          created_at: '2026-03-02T10:00:00.000Z',
          details: null,
        },
        {
          id: second,
          action: 'board.created',
          subject_id: board.boardId,
          subject: 'Ideas',
          user: null,
          person: null,
          actor: null,
          via: 'cli',
          operator: 'tester',
          address: null,
          key_id: null,
          created_at: '2026-03-02T10:00:00.000Z',
          details: null,
        },
        {
          id: third,
          action: 'board.updated',
          subject_id: board.boardId,
          subject: 'Bright ideas',
          user: null,
          person: null,
          actor: owner,
          via: 'http',
          operator: null,
          address: '127.0.0.1',
          key_id: null,
          created_at: '2026-03-02T11:00:00.000Z',
          details: [{ field: 'name', before: 'Ideas', after: 'Bright ideas' }],
        },
      ],
      next: third,
      page_info: { count: 3, current_page: 1, has_next_page: false, start_cursor: `${first}`, end_cursor: `${third}` },
    })
    expect(JSON.stringify(body)).not.toContain(OWNER.email)
  })

  it('say what changed, before and after, and nothing that did not', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const changed = async (line: string, body: object) => {
      const answer = await site.http(line, { token, body })
      expect([line, answer.status, answer.body?.code]).toEqual([line, expect.toBeOneOf([200, 201, 204]), undefined])
      return (await site.call(events.list, { created: 'desc', limit: 1 })).events[0]?.details
    }
    await changed('POST /boards', { name: 'Ideas' })
    const board = { boardId: 'ideas', partial: true }
    expect(await changed('PATCH /boards', { ...board, display: false, view_voters: true })).toEqual([
      { field: 'display', before: 'true', after: 'false' },
    ])
    expect(await changed('PATCH /boards', { ...board, display: false })).toBe(null)
    await changed('POST /roles', { name: 'Team', permissions: ['board:read'] })
    const { rows } = await sql<{ id: string }>`select id from roles where name = 'Team'`.execute(site.db)
    const role = { id: rows[0]?.id, name: 'Crew', permissions: ['post:update', 'board:read'] }
    expect(await changed('PATCH /roles', { ...role, description: 'All of us' })).toEqual([
      { field: 'name', before: 'Team', after: 'Crew' },
      { field: 'description', before: null, after: 'All of us' },
      { field: 'permissions', before: 'board:read', after: 'post:update board:read' },
    ])
    for (const name of ['One', 'Two']) await changed('POST /roadmaps', { name })
    expect(await changed('PUT /roadmaps/two/position', { position: 1 })).toEqual([
      { field: 'index', before: '2', after: '1' },
    ])
    await changed('POST /posts', { title: 'Dark', contentMarkdown: 'a text' })
    const post = { id: '#1', partial: true }
    expect(await changed('PATCH /posts', { ...post, title: 'Dark mode', contentMarkdown: 'another text' })).toEqual([
      { field: 'title', before: 'Dark', after: 'Dark mode' },
      { field: 'text', before: null, after: 'edited' },
    ])
    expect(await changed('PATCH /posts', { ...post, roadmapId: 'two' })).toEqual([
      { field: 'roadmap_id', before: null, after: expect.stringMatching(/^[\da-f-]{36}$/), after_name: 'Two' },
    ])
    expect(await changed('PATCH /settings/site', { title: 'Moon', allowSignup: false })).toEqual([
      { field: 'title', before: OWNER.siteTitle, after: 'Moon' },
      { field: 'allowSignup', before: 'true', after: 'false' },
    ])
    expect(await changed('PUT /settings/blocked-domains', { domains: ['spam.example'] })).toEqual([
      { field: 'blockedDomains', before: '[]', after: '["spam.example"]' },
    ])
    const domains = Array.from({ length: 100 }, (_, number) => `spam${number}.example`)
    const [long] = (await changed('PUT /settings/blocked-domains', { domains })) ?? []
    expect(long?.after).toMatch(/^\["spam0\.example",.{580,}…$/)
    expect(long?.after).toHaveLength(600)
  })

  it('say nothing of fields that are secret or personal', () => {
    const recorded = Object.values(NOUNS).flatMap((noun) => ('details' in noun ? Object.keys(noun.details) : []))
    const secret = ['password', 'secret', 'keyHash', 'secretFingerprint', 'email', 'username', 'notes', 'address', 'body', 'contentMarkdown'] // prettier-ignore
    expect(recorded.filter((field) => secret.includes(field))).toEqual([])
  })

  it('are paged in both directions, with `created` in any letter case, by `next`', async () => {
    const site = await makeSite(engine)
    const none = { count: 0, current_page: 1, has_next_page: false, start_cursor: null, end_cursor: null }
    expect(await site.call(events.list, {})).toEqual({ events: [], next: null, page_info: none })
    const after = { ...none, current_page: null }
    expect(await site.call(events.list, { after: 0 })).toEqual({ events: [], next: 0, page_info: after })
    for (let number = 1; number <= 12; number++) await site.call(boards.create, { name: `${number}` })
    const token = await site.owner()
    const page = async (query: string) => (await site.http(`GET /events?${query}`, { token })).body
    const first = await page('limit=')
    expect(subjects(first)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
    expect(subjects(await page(`after=${first.next}&limit=2&created=ASC`))).toEqual(['11', '12'])
    const end = (await page('limit=100')).next
    expect(await page(`after=${end}`)).toEqual({ events: [], next: end, page_info: after })
    expect(subjects(await page('page=2&limit=5'))).toEqual(['6', '7', '8', '9', '10'])
    const newest = await page('created=Desc&limit=3')
    expect(subjects(newest).slice(1)).toEqual(['12', '11'])
    expect(subjects(await page(`created=desc&limit=2&after=${newest.next}`))).toEqual(['10', '9'])
    expect(await page('created=desc&after=0')).toEqual({ events: [], next: 0, page_info: after })
  })

  it('show the present names of people, and none of deleted people', async () => {
    const site = await makeSite(engine)
    const one = await site.member()
    const other = await site.member()
    await insertEvents(site.db, [ofUser(one.userId, other.userId)])
    await site.db.updateTable('users').set({ username: 'renamed' }).where('userId', '=', one.userId).execute()
    await site.db
      .updateTable('users')
      .set({ username: 'admin', name: 'Grace Hopper' })
      .where('userId', '=', other.userId)
      .execute()
    const [event] = (await site.call(events.list, {})).events
    expect(event).toMatchObject({
      subject: 'renamed',
      actor: { userId: other.userId, name: 'Grace Hopper', username: 'admin' },
    })
    expect((await site.call(events.list, { query: 'grace h' })).events).toHaveLength(1)
    await site.db.deleteFrom('users').execute()
    const [later] = (await site.call(events.list, {})).events
    expect(later).toMatchObject({
      subject_id: one.userId,
      subject: null,
      actor: { userId: other.userId, name: 'deleted user', username: 'deleted' },
    })
  })

  it.each([
    ['after=-1', 'after', 'MIN_VALUE_0'],
    ['after=x', 'after', 'INTEGER_EXPECTED'],
    ['limit=0', 'limit', 'MIN_VALUE_1'],
    ['limit=101', 'limit', 'MAX_VALUE_100'],
    ['created=sideways', 'created', 'UNKNOWN_CHOICE'],
    ['page=0', 'page', 'MIN_VALUE_1'],
    ['page=2&after=1', 'after', 'INVALID_CURSOR'],
    ['action=post', 'action', 'INVALID_VALUE'],
    ['since=yesterday', 'since', 'INVALID_TIME'],
    ['since=2026-13-01', 'since', 'INVALID_TIME'],
    ['until=2026-03-01T09:00:00', 'until', 'INVALID_TIME'],
    ['until=', 'until', 'INVALID_TIME'],
  ])('cannot be listed by %s', async (query, field, code) => {
    const site = await makeSite(engine)
    const { status, body } = await site.http(`GET /events?${query}`, { token: await site.owner() })
    expect([status, body.code, body.errors[0].field, body.errors[0].code]).toEqual([
      400,
      'VALIDATION_ERROR',
      field,
      code,
    ])
  })

  it('are filtered by person, action, subject and time, in both directions and page by page', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const [eve, bob] = [await site.member([], { email: 'eve@example.org' }), await site.member()]
    const time = (date: number) => (site.clock.now = new Date(`2026-03-02T${10 + date * 2}:00:00.000Z`))
    const boardIds: string[] = []
    for (let number = 1; number <= 5; number++) {
      time(number)
      boardIds.push((await site.http('POST /boards', { token, body: { name: `Board ${number}` } })).body.board.boardId)
      await site.http('POST /posts', { token: number % 2 ? eve.token : bob.token, body: { title: `Post ${number}` } })
    }
    time(6)
    await site.call(users.block, { user: eve.userId })
    await site.call(boards.remove, { boardId: boardIds[0] })
    const list = async (query: string): Promise<string[]> => {
      const { body } = await site.http(`GET /events?limit=100&${query}`, { token })
      const shown = body.events.map((event: events.Event) => `${event.action} ${event.subject}`)
      const backwards = (await site.http(`GET /events?limit=100&created=desc&${query}`, { token })).body.events
      expect(backwards.map((event: events.Event) => `${event.action} ${event.subject}`).toReversed()).toEqual(shown)
      const paged: string[] = []
      for (let after = 0; ;) {
        const page = (await site.http(`GET /events?limit=1&after=${after}&${query}`, { token })).body
        if (page.events.length === 0) break
        paged.push(...page.events.map((event: events.Event) => `${event.action} ${event.subject}`))
        after = page.next
      }
      expect(paged).toEqual(shown)
      return shown
    }
    const { username } = await site.db
      .selectFrom('users')
      .select('username')
      .where('userId', '=', eve.userId)
      .executeTakeFirstOrThrow()
    const ofEve = ['post.created Post 1', 'post.created Post 3', 'post.created Post 5', `user.blocked ${username}`]
    for (const who of ['eve@example.org', username, eve.userId, eve.userId.toUpperCase()])
      expect(await list(`person=${who}`)).toEqual(ofEve)
    expect(await list(`person=${username}&action=post.created&since=2026-03-02T14:00:00Z`)).toEqual(ofEve.slice(1, 3))
    expect(await list('action=post.created')).toHaveLength(5)
    expect(await list('action=no.such')).toEqual([])
    expect(await list(`subject=${boardIds[0]}`)).toEqual(['board.created Board 1', 'board.deleted Board 1'])
    expect(await list('since=2026-03-02T14:00Z&until=2026-03-02T16:00:00.000Z')).toEqual([
      'board.created Board 2',
      'post.created Post 2',
    ])
    expect(await list(`since=${encodeURIComponent('2026-03-02T20:00:00+02:00')}&action=board.created`)).toEqual([
      'board.created Board 4',
      'board.created Board 5',
    ])
    expect(await list('since=2027-01-01')).toEqual([])
    expect(await list('until=2020-01-01')).toEqual([])
    await site.call(users.remove, { user: eve.userId })
    expect(await list(`person=${eve.userId}`)).toHaveLength(5)
    expect((await site.http('GET /events?person=nobody', { token })).body.code).toBe('USER_NOT_FOUND')
  })

  it('name nothing that is private to a reader who may not read it', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const by = async (request: string, body: object) => {
      const answer = await site.http(request, { token: owner, body })
      expect(answer).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
      return answer.body
    }
    const { board: secret } = await by('POST /boards', { name: 'Canary board', url: 'canary-board', display: false })
    await by('POST /boards', { name: 'Open', url: 'open' })
    const { roadmap } = await by('POST /roadmaps', { name: 'Canary stage', url: 'canary-stage', display: false })
    const { tag } = await by('POST /tags', { name: 'Canary tag', url: 'canary-tag', display: false })
    const { post: hidden } = await by('POST /posts', { title: 'Canary post', boardId: 'canary-board' })
    const { post: shown } = await by('POST /posts', { title: 'Plain post', boardId: 'open' })
    await by('PATCH /boards', { boardId: secret.boardId, name: 'Canary place', partial: true })
    await by('PATCH /posts', { postId: hidden.postId, title: 'Canary wish' })
    await by('PATCH /posts', { postId: shown.postId, title: 'Plain wish' })
    await by(`POST /posts/${hidden.postId}/comments`, { body: 'Yes' })
    await site.http('DELETE /votes', { token: owner, body: { postId: shown.postId } })
    await by('POST /posts/tag', { ids: [shown.postId], add: [tag.tagId] })
    await by('POST /views', { name: 'Canary view', shared: true })
    const { board: opened } = await by('POST /boards', { name: 'Canary past', url: 'past', display: false })
    await by('PATCH /boards', { boardId: opened.boardId, name: 'Now', url: 'now', display: true, partial: true })
    await by('POST /boards', { name: 'Canary closing', url: 'closing' })
    const { post: gone } = await by('POST /posts', { title: 'Canary gone', boardId: 'canary-board' })
    await site.http('DELETE /posts', { token: owner, body: { id: gone.postId } })
    const { post: merged } = await by('POST /posts', { title: 'Canary merged', boardId: 'closing' })
    await by(`POST /posts/${merged.postId}/comments`, { body: 'On the merged one' })
    await by('POST /posts/merge', { ids: [merged.postId], into: shown.postId })
    await by('PATCH /boards', { boardId: 'closing', display: false, partial: true })
    const { post: moved } = await by('POST /posts', { title: 'Moved', boardId: 'canary-board' })
    await by('PATCH /posts', { id: moved.postId, boardId: 'open', roadmapId: 'canary-stage', partial: true })
    const movesSeenBy = async (token: string) =>
      (await site.http(`GET /events?subject=${moved.postId}&action=post.updated`, { token })).body.events[0].details

    const reader = await site.member(['event:read'])
    const { status, text, body } = await site.http('GET /events?limit=100', { token: reader.token })
    expect(status).toBe(200)
    expect(text).not.toMatch(/canary/i)
    const names = (id: string) =>
      body.events.filter((event: events.Event) => event.subject_id === id).map((event: events.Event) => event.subject)
    expect(names(shown.postId)).toEqual(Array(4).fill('Plain wish'))
    expect(names(opened.boardId)).toEqual(['Now', 'Now'])
    expect(body.events.filter((event: events.Event) => event.subject_gone).map((event: events.Event) => event.subject_id)).toEqual([gone.postId, gone.postId]) // prettier-ignore
    for (const { id } of body.events)
      expect((await site.http(`GET /events/${id}`, { token: reader.token })).text).not.toMatch(/canary/i)
    // Nor does a search, or a name that stands for a row
    expect((await site.http('GET /events?query=canary', { token: reader.token })).body.events).toEqual([])
    for (const name of ['canary-board', 'canary-stage', 'canary-tag', `${hidden.number}`, hidden.slug])
      expect((await site.http(`GET /names/subject/${name}`, { token: reader.token })).body).toEqual({ id: null })
    expect((await site.http('GET /names/subject/open', { token: reader.token })).body.id).toEqual(expect.any(String))
    const all = await site.member(['event:read', 'board:read', 'roadmap:read', 'dashboard:read'])
    const { text: whole } = await site.http('GET /events?limit=100', { token: all.token })
    for (const name of ['board', 'place', 'stage', 'tag', 'post', 'wish', 'view', 'past', 'gone', 'merged', 'closing'])
      expect(whole).toContain(`Canary ${name}`)
    expect(roadmap.name).toBe('Canary stage')
    // A change of the place has names beside the ids
    const ids = [
      { field: 'boardId', before: secret.boardId, after: expect.any(String), after_name: 'Open' },
      { field: 'roadmap_id', before: null, after: roadmap.id },
    ]
    expect(await movesSeenBy(reader.token)).toEqual(ids)
    const named = [
      { ...ids[0], before_name: 'Canary place' },
      { ...ids[1], after_name: 'Canary stage' },
    ]
    expect(await movesSeenBy(all.token)).toEqual(named)
    await site.call(roadmaps.remove, { id: 'canary-stage' })
    expect(await movesSeenBy(all.token)).toEqual([named[0], ids[1]])
  })

  it('name the address and the key of a request', async () => {
    const site = await makeSite(engine, { trustProxy: 'true' })
    const owner = await site.owner()
    const { body } = await site.http('POST /keys', { token: owner, body: { name: 'ci' } })
    const headers = { 'x-forwarded-for': '2001:db8::7' }
    await site.http('POST /boards', { token: body.token, headers, body: { name: 'Ideas' } })
    const [event] = (await site.call(events.list, { created: 'desc', limit: 1 })).events
    expect(event).toMatchObject({ address: '2001:db8::7', key_id: body.key.keyId, via: 'http' })
  })

  it('tell of failed sign-ins: with the account if there is one, and not of each in a flood', async () => {
    const site = await makeSite(engine, { trustProxy: 'true' })
    await site.owner()
    const eve = await site.member([], { email: 'eve@example.org', password: 'the right password', blocked: true })
    const signIn = async (email: string, password: string, address = '203.0.113.9', headers = {}) =>
      (
        await site.http('POST /auth/login', {
          body: { email, password },
          headers: { 'x-forwarded-for': address, ...headers },
        })
      ).status
    const failed = async () =>
      (await site.call(events.list, { action: 'user.sign_in_failed', limit: 100 })).events.map((event) => [
        event.subject_id,
        event.address,
      ])
    const ada = (await site.db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow())
      .userId
    expect(await signIn(OWNER.email, OWNER.password)).toBe(200)
    expect(await signIn('not an address', 'x')).toBe(400)
    expect(await signIn(OWNER.email, OWNER.password, '203.0.113.9', { 'feedbackctl-dry-run': '1' })).toBe(200)
    expect(await failed()).toEqual([])
    expect(await signIn(OWNER.email, 'wrong', '203.0.113.9', { 'feedbackctl-dry-run': '1' })).toBe(403)
    expect(await failed()).toHaveLength(1)
    expect(await signIn(OWNER.email, 'wrong')).toBe(403)
    expect(await signIn(OWNER.email, 'wrong again')).toBe(403)
    expect(await signIn('nobody@example.org', 'my secret password')).toBe(404)
    expect(await signIn('eve@example.org', 'the right password')).toBe(403)
    const [first, second, third] = [ada, 'unknown', eve.userId].map((id) => [id, '203.0.113.9'])
    expect(await failed()).toEqual([first, second, third])
    expect(await signIn(OWNER.email, 'wrong', '203.0.113.10')).toBe(403)
    expect(await failed()).toEqual([first, second, third, [ada, '203.0.113.10']])
    site.clock.now = new Date(site.clock.now.getTime() + 61_000)
    expect(await signIn(OWNER.email, 'wrong')).toBe(403)
    expect(await failed()).toHaveLength(5)
    const row = await site.db.selectFrom('events').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
    const more = Array.from({ length: 99 }, (_, index) => ({ ...row, id: undefined as never, address: `${index}` }))
    for (const one of more) delete one.id
    await insertEvents(site.db, more)
    expect(await signIn('nobody@example.org', 'x', '198.51.100.1')).toBe(404)
    expect((await site.events()).filter(([action]) => action === 'user.sign_in_failed')).toHaveLength(104)
    const stored = JSON.stringify(await site.db.selectFrom('events').selectAll().execute())
    expect(stored).not.toMatch(/nobody@|my secret|wrong/)
  })

  it('are only for the owner', async () => {
    const site = await makeSite(engine)
    const code = async (token?: string) => (await site.http('GET /events', { token })).body.code
    expect(await code()).toBe('INVALID_AUTH_HEADER')
    expect(await code((await site.member(['dashboard:read', 'settings:read', 'role:read'])).token)).toBe(
      'NOT_ENOUGH_PERMISSION',
    )
    expect(await code((await site.member([], { blocked: true })).token)).toBe('USER_BLOCK')
  })

  it('are never missed by polling after the last one, with concurrent writers', async () => {
    const site = await makeSite(engine)
    const reader = engine === 'postgres' ? await connect(site.databaseUrl) : site.db
    if (reader !== site.db) cleanup(() => reader.destroy())
    const seen: number[] = []
    const state = { writing: true, polls: 0 }
    const poll = async (): Promise<void> => {
      const { events: found, next } = await execute(
        events.list,
        { ...ctxOf(site), db: reader },
        { after: seen.at(-1), limit: 7 },
      )
      seen.push(...found.map((event) => event.id))
      expect(next).toBe(seen.at(-1) ?? null)
      state.polls++
    }
    const writers = Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        for (let turn = 0; turn < 3; turn++) {
          await transaction(site.db, async (db) => {
            await change({ ...ctxOf(site), db }, async ({ record }) => record('board.created', 'x', `${number}`))
            // No event may overtake one that is written but not committed, which the reader looks for meanwhile
            const until = state.polls + 2 + ((number * 7 + turn * 3) % 5)
            while (state.polls < until) await nextTurn()
          })
        }
      }),
    ).finally(() => (state.writing = false))
    while (state.writing) {
      await poll()
      await nextTurn() // SQLite is synchronous and would never yield to the writers
    }
    await writers
    for (let turn = 0; turn <= 20; turn++) await poll()
    const written = await site.db.selectFrom('events').select('id').orderBy('id').execute()
    expect(written).toHaveLength(60)
    expect(seen).toEqual(written.map((row) => row.id))
  })

  it('are not written by a rollback, a refusal or a dry run', async () => {
    const site = await makeSite(engine)
    await site.call(boards.create, { name: 'Ideas' })
    const token = await site.owner()
    const before = await actions(site)
    const headers = { 'feedbackctl-dry-run': '1' }
    expect((await site.http('POST /boards', { token, headers, body: { name: 'x' } })).status).toBe(201)
    expect((await site.http('DELETE /boards', { token, headers, body: { boardId: 'ideas' } })).status).toBe(204)
    expect((await failure(site.call(boards.create, { name: 'x', url: 'ideas' }))).code).toBe('BOARD_URL_EXISTS')
    const broken = change(ctxOf(site), async ({ record }) => {
      record('board.created', 'x', 'x')
      throw new Error('power cut')
    })
    await expect(broken).rejects.toThrow('power cut')
    expect(await actions(site)).toEqual(before)
  })

  it('are written once by each operation that changes a board, and not by one that reads', async () => {
    const site = await makeSite(engine)
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    expect(await actions(site)).toEqual(['board.created'])
    await site.call(boards.update, { boardId: board.boardId, name: 'x', url: 'x' })
    expect(await actions(site)).toEqual(['board.created', 'board.updated'])
    await site.call(boards.list, {})
    await site.call(boards.get, {})
    await site.call(boards.show, { url: 'x' })
    await site.call(boards.search, { name: 'x' })
    await site.call(boards.checkSlug, { url: 'x' })
    await site.call(boards.checkName, { name: 'x' })
    await site.call(boards.remove, { boardId: 'x' })
    expect(await actions(site)).toEqual(['board.created', 'board.updated', 'board.deleted'])
  })
})
