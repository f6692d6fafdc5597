import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { connect, transaction } from '../../src/db/connect.js'
import { insertEvents } from '../../src/db/events.js'
import { operator } from '../../src/service/lib/access.js'
import * as boards from '../../src/service/boards.js'
import { change } from '../../src/service/lib/change.js'
import type { Context } from '../../src/service/lib/context.js'
import * as events from '../../src/service/events.js'
import { execute } from '../../src/service/lib/operation.js'
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
    const owner = await site.db.selectFrom('users').select(['userId', 'username']).executeTakeFirstOrThrow()
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
          person: null,
          actor: null,
          via: 'cli',
          operator: 'tester',
          created_at: '2026-03-02T10:00:00.000Z',
        },
        {
          id: second,
          action: 'board.created',
          subject_id: board.boardId,
          subject: 'Ideas',
          person: null,
          actor: null,
          via: 'cli',
          operator: 'tester',
          created_at: '2026-03-02T10:00:00.000Z',
        },
        {
          id: third,
          action: 'board.updated',
          subject_id: board.boardId,
          subject: 'Bright ideas',
          person: null,
          actor: owner,
          via: 'http',
          operator: null,
          created_at: '2026-03-02T11:00:00.000Z',
        },
      ],
      next: third,
    })
    expect(JSON.stringify(body)).not.toContain(OWNER.email)
  })

  it('are paged in both directions, with `created` in any letter case, by `next`', async () => {
    const site = await makeSite(engine)
    expect(await site.call(events.list, {})).toEqual({ events: [], next: null })
    expect(await site.call(events.list, { after: 0 })).toEqual({ events: [], next: 0 })
    for (let number = 1; number <= 12; number++) await site.call(boards.create, { name: `${number}` })
    const token = await site.owner()
    const page = async (query: string) => (await site.http(`GET /events?${query}`, { token })).body
    const first = await page('limit=')
    expect(subjects(first)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
    expect(subjects(await page(`after=${first.next}&limit=2&created=ASC`))).toEqual(['11', '12'])
    const end = (await page('limit=100')).next
    expect(await page(`after=${end}`)).toEqual({ events: [], next: end })
    const newest = await page('created=Desc&limit=3')
    expect(subjects(newest).slice(1)).toEqual(['12', '11'])
    expect(subjects(await page(`created=desc&limit=2&after=${newest.next}`))).toEqual(['10', '9'])
    expect(await page('created=desc&after=0')).toEqual({ events: [], next: 0 })
  })

  it('show the present names of people, and none of deleted people', async () => {
    const site = await makeSite(engine)
    const one = await site.member()
    const other = await site.member()
    await insertEvents(site.db, [ofUser(one.userId, other.userId)])
    await site.db.updateTable('users').set({ username: 'renamed' }).where('userId', '=', one.userId).execute()
    await site.db.updateTable('users').set({ username: 'admin' }).where('userId', '=', other.userId).execute()
    const [event] = (await site.call(events.list, {})).events
    expect(event).toMatchObject({ subject: 'renamed', actor: { userId: other.userId, username: 'admin' } })
    await site.db.deleteFrom('users').execute()
    const [later] = (await site.call(events.list, {})).events
    expect(later).toMatchObject({
      subject_id: one.userId,
      subject: null,
      actor: { userId: other.userId, username: 'deleted' },
    })
  })

  it.each([
    ['after=-1', 'after', 'MIN_VALUE_0'],
    ['after=x', 'after', 'INTEGER_EXPECTED'],
    ['limit=0', 'limit', 'MIN_VALUE_1'],
    ['limit=101', 'limit', 'MAX_VALUE_100'],
    ['created=sideways', 'created', 'UNKNOWN_CHOICE'],
    ['page=1', 'page', 'UNKNOWN_FIELD'],
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
    const poll = async (): Promise<void> => {
      const { events: found, next } = await execute(
        events.list,
        { ...ctxOf(site), db: reader },
        { after: seen.at(-1), limit: 7 },
      )
      seen.push(...found.map((event) => event.id))
      expect(next).toBe(seen.at(-1) ?? null)
    }
    const state = { writing: true }
    const writers = Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        for (let turn = 0; turn < 3; turn++) {
          await transaction(site.db, async (db) => {
            await change({ ...ctxOf(site), db }, async ({ record }) => record('board.created', 'x', `${number}`))
            // No event may overtake one that is written but not committed
            await setTimeout((number * 7 + turn * 3) % 11)
          })
        }
      }),
    ).finally(() => (state.writing = false))
    while (state.writing) {
      await poll()
      await setTimeout(1) // SQLite is synchronous and would never yield to the writers
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
