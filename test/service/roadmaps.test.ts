import { describe, expect, it } from 'vitest'
import { remote } from '../../src/client/remote.js'
import { newId } from '../../src/core/ids.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, failure, makeSite, type TestSite } from '../support/site.js'

/** Public roadmaps of these names, in this order. */
async function withRoadmaps(site: TestSite, ...names: string[]): Promise<roadmaps.Roadmap[]> {
  const made = []
  for (const name of names) made.push((await site.call(roadmaps.create, { name, display: true })).roadmap)
  return made
}

const order = async (site: TestSite) =>
  (await site.call(roadmaps.list, { visibility: ['public', 'private'], limit: 100 })).roadmaps.map(
    ({ name, index }) => `${name} ${index}`,
  )
const events = (site: TestSite) =>
  site.db.selectFrom('events').select(['action', 'subject_id', 'subject']).orderBy('id').execute()
const names = (body: { roadmaps: { name: string }[] }) => body.roadmaps.map((roadmap) => roadmap.name)

describe.each(engines)('roadmaps on %s', (engine) => {
  it('each have a colour of their own, which one that is deleted leaves to the next', async () => {
    const site = await makeSite(engine)
    const colors = (await withRoadmaps(site, 'Planned', 'Secret plans', 'Done')).map(({ color }) => color)
    expect(new Set(colors).size).toBe(3)
    await site.call(roadmaps.remove, { id: 'secret-plans' })
    const [next] = await withRoadmaps(site, 'Later')
    expect(next?.color).toBe(colors[1])
  })

  it('have a kind, which a change keeps unless it names another, and the log says so', async () => {
    const site = await makeSite(engine)
    const { roadmap } = await site.call(roadmaps.create, { name: 'Not now', kind: 'declined' })
    expect(roadmap).toMatchObject({ kind: 'declined' })
    const change = async (input: object) =>
      (await site.call(roadmaps.update, { id: roadmap.id, partial: true, ...input })).roadmap.kind
    expect(await change({ name: 'Done' })).toBe('declined')
    const before = (await site.call(roadmaps.show, { url: 'not-now' })).version
    expect(await change({ kind: 'done' })).toBe('done')
    const stale = failure(change({ kind: 'open', ifVersion: before }))
    expect((await stale).code).toBe('CONTENT_CHANGED')
    expect((await site.call(roadmaps.list, { visibility: ['private'] })).roadmaps[0]?.kind).toBe('done')
    const last = await site.db.selectFrom('events').select('details').orderBy('id', 'desc').limit(1).executeTakeFirst()
    expect(JSON.parse(last?.details ?? '')).toEqual([{ field: 'kind', before: 'declined', after: 'done' }])
  })

  it.each([
    ['en', ['Under review', 'Planned', 'In progress', 'Complete']],
    ['de', ['In Prüfung', 'Geplant', 'In Arbeit', 'Fertig']],
  ] as const)('have the kinds of their names, the usual ones in "%s" too', async (siteLanguage, usual) => {
    const site = await makeSite(engine, { siteLanguage })
    const { roadmaps: made } = await site.call(roadmaps.createUsual, {})
    expect(made.map(({ name, kind }) => [name, kind])).toEqual(
      usual.map((name, at) => [name, ['open', 'planned', 'active', 'done'][at]]),
    )
    for (const [at, name] of usual.entries())
      expect((await site.call(roadmaps.create, { name })).roadmap.kind).toBe(made[at]?.kind)
  })

  it.each([
    ['🚀 Shipped', 'done'],
    ['RELEASED in v2', 'done'],
    ['Unreleased', 'open'],
    ["Won't do", 'declined'],
    ['Won’t fix', 'declined'],
    ['Nicht geplant', 'declined'],
    ['Not started', 'open'],
    ['Up next', 'planned'],
    ['Started', 'active'],
    ['計画中', 'planned'],
    ['Разное', 'open'],
    ['?', 'open'],
  ])('takes %s for %s', async (name, kind) => {
    const site = await makeSite(engine)
    expect((await site.call(roadmaps.create, { name })).roadmap.kind).toBe(kind)
  })

  describe('GET /roadmaps', () => {
    it('answers the public ones by index, with exactly the fields of the contract', async () => {
      const site = await makeSite(engine)
      const [later, now] = await withRoadmaps(site, 'Later', 'Now')
      await site.call(roadmaps.create, { name: 'Secret' })
      await site.call(roadmaps.sort, { from: { id: later!.id, index: 2 }, to: { id: now!.id, index: 1 } })
      const { status, body } = await site.http('GET /roadmaps')
      expect(status).toBe(200)
      expect(body.roadmaps).toEqual([
        {
          id: now!.id,
          name: 'Now',
          url: 'now',
          color: now!.color,
          index: 1,
          display: true,
          kind: 'open',
          created_at: '2026-03-02T10:00:00.000Z',
          may: [],
        },
        {
          id: later!.id,
          name: 'Later',
          url: 'later',
          color: later!.color,
          index: 2,
          display: true,
          kind: 'open',
          created_at: '2026-03-02T10:00:00.000Z',
          may: [],
        },
      ])
      expect(body.results).toEqual(body.roadmaps)
      expect(body).toMatchObject({
        total_count: 2,
        total_pages: 1,
        page_info: { count: 2, current_page: 1, has_next_page: false, start_cursor: now!.id, end_cursor: later!.id },
      })
    })

    it('has twenty on a page, and is walked by page and by cursor, each once', async () => {
      const site = await makeSite(engine)
      const all = Array.from({ length: 23 }, (_, index) => `R${index}`)
      await withRoadmaps(site, ...all)
      const first = await site.http('GET /roadmaps')
      expect(names(first.body)).toEqual(all.slice(0, 20))
      expect(first.body).toMatchObject({ total_pages: 2, page_info: { has_next_page: true } })
      const second = await site.http('GET /roadmaps?page=2')
      expect(names(second.body)).toEqual(all.slice(20))
      expect(second.body).not.toHaveProperty('results')
      const after = await site.http(`GET /roadmaps?after=${first.body.page_info.end_cursor}`)
      expect(names(after.body)).toEqual(all.slice(20))
      expect(after.body.page_info).toMatchObject({ current_page: 2, has_next_page: false })
    })

    it.each([
      ['first=0', 'MIN_VALUE_1'],
      ['limit=101', 'MAX_VALUE_100'],
      ['after=', 'INVALID_CURSOR'],
      ['after=plans', 'INVALID_CURSOR'],
      ['visibility=secret', 'UNKNOWN_CHOICE'],
      ['created=asc', 'UNKNOWN_FIELD'],
    ])('refuses %s', async (query, code) => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'Plans')
      const { status, body } = await site.http(`GET /roadmaps?${query}`)
      expect([status, body.code, body.errors[0].code]).toEqual([400, 'VALIDATION_ERROR', code])
    })

    it('lists private ones only on request and with roadmap:read', async () => {
      const site = await makeSite(engine)
      const { roadmap: hidden } = await site.call(roadmaps.create, { name: 'Hidden' })
      await withRoadmaps(site, 'Shown')
      const reader = await site.member(['roadmap:read'])
      for (const token of [
        undefined,
        (await site.member()).token,
        (await site.member(['roadmap:read'], { blocked: true })).token,
      ]) {
        const { body, text } = await site.http('GET /roadmaps?visibility=public,private', { token })
        expect([names(body), body.total_count]).toEqual([['Shown'], 1])
        expect(text).not.toContain(hidden.id)
        expect((await site.http(`GET /roadmaps?after=${hidden.id}`, { token })).body.errors[0].code).toBe(
          'INVALID_CURSOR',
        )
      }
      const asReader = async (query: string) =>
        names((await site.http(`GET /roadmaps${query}`, { token: reader.token })).body)
      expect(await asReader('')).toEqual(['Shown'])
      expect(await asReader('?visibility=public,private')).toEqual(['Hidden', 'Shown'])
      expect(await asReader('?visibility=private')).toEqual(['Hidden'])
    })

    it('counts them rightly when they are hidden, shown and deleted', async () => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'A', 'B', 'C')
      const totals = async () =>
        Promise.all(
          [['public'], ['private']].map(
            async (visibility) => (await site.call(roadmaps.list, { visibility })).total_count,
          ),
        )
      await site.call(roadmaps.update, { id: 'a', display: false, partial: true })
      expect(await totals()).toEqual([2, 1])
      await site.call(roadmaps.remove, { id: 'a' })
      expect(await totals()).toEqual([2, 0])
      await site.call(roadmaps.remove, { id: 'b' })
      expect(await totals()).toEqual([1, 0])
    })
  })

  describe('GET /roadmaps/:url', () => {
    it('finds one by url or id, and a private one only for roadmap:read', async () => {
      const site = await makeSite(engine)
      const { roadmap } = await site.call(roadmaps.create, { name: 'Plans' })
      const { token } = await site.member(['roadmap:read'])
      for (const key of ['plans', roadmap.id])
        expect((await site.http(`GET /roadmaps/${key}`, { token })).body).toEqual({
          roadmap: { ...roadmap, may: [] },
          version: expect.any(String),
        })
      for (const who of [undefined, (await site.member()).token]) {
        const refused = await site.http('GET /roadmaps/plans', { token: who })
        expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
        expect(refused.text).not.toContain(roadmap.id)
      }
      const missing = await site.http('GET /roadmaps/nothing')
      expect([missing.status, missing.body.code]).toEqual([404, 'ROADMAP_NOT_FOUND'])
    })
  })

  describe('GET /roadmaps/search/:name', () => {
    it('finds by the start of the name, for roadmap:read', async () => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'Next year', '🚀 Next', 'Done')
      const { token } = await site.member(['roadmap:read'])
      expect(names((await site.http('GET /roadmaps/search/NEXT', { token })).body)).toEqual(['🚀 Next', 'Next year'])
      expect((await site.http('GET /roadmaps/search/%25', { token })).body).toEqual({ roadmaps: [] })
      expect((await site.http('GET /roadmaps/search/a')).body.code).toBe('INVALID_AUTH_HEADER')
      expect((await site.http('GET /roadmaps/search/a', { token: (await site.member()).token })).body.code).toBe(
        'NOT_ENOUGH_PERMISSION',
      )
    })
  })

  describe('POST /roadmaps', () => {
    it('makes a private one with defaults, as the last', async () => {
      const site = await makeSite(engine)
      const { token, userId } = await site.member(['roadmap:create'])
      const { status, body } = await site.http('POST /roadmaps', { token })
      expect(status).toBe(201)
      expect(body.roadmap).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'new roadmap',
        url: 'new-roadmap',
        color: expect.stringMatching(/^[0-9a-f]{6}$/),
        index: 1,
        display: false,
        kind: 'open',
        created_at: '2026-03-02T10:00:00.000Z',
        may: [],
      })
      const again = await site.http('POST /roadmaps', { token, body: { color: 'AABBCC', display: true } })
      expect(again.body.roadmap).toMatchObject({
        url: expect.stringMatching(/^new-roadmap-[0-9a-z]{4}$/),
        index: 2,
        color: 'aabbcc',
        display: true,
      })
      expect(
        await site.db.selectFrom('events').select(['action', 'subject', 'actor_id', 'origin']).limit(1).execute(),
      ).toEqual([{ action: 'roadmap.created', subject: 'new roadmap', actor_id: userId, origin: 'http' }])
    })

    it.each([
      ['🎉', /^roadmap$/],
      ['sort', /^sort-[0-9a-z]{4}$/],
      ['Search', /^search-[0-9a-z]{4}$/],
    ])('makes a url of %s', async (name, url) => {
      const site = await makeSite(engine)
      expect((await site.call(roadmaps.create, { name })).roadmap.url).toMatch(url)
    })

    it.each([
      [{ name: ' ' }, 'ROADMAP_NAME_MISSING'],
      [{ name: 'x'.repeat(51) }, 'TOO_LONG'],
      [{ color: 'fff' }, 'ROADMAP_COLOR_HEX_LENGTH'],
      [{ color: 'gggggg' }, 'ROADMAP_COLOR_HEX_CHAR'],
      [{ display: 1 }, 'BOOLEAN_EXPECTED'],
      [{ kind: 'Done' }, 'UNKNOWN_CHOICE'],
      [{ kind: 'x'.repeat(100_000) }, 'UNKNOWN_CHOICE'],
      [{ kind: '' }, 'UNKNOWN_CHOICE'],
      [{ kind: null }, 'STRING_EXPECTED'],
      [{ kind: ['done'] }, 'STRING_EXPECTED'],
      [{ url: '🎉' }, 'ROADMAP_URL_MISSING'],
      [{ index: 1 }, 'UNKNOWN_FIELD'],
    ])('refuses %j and changes nothing', async (body, code) => {
      const site = await makeSite(engine)
      const { token } = await site.member(['roadmap:create'])
      const refused = await site.http('POST /roadmaps', { token, body })
      expect([refused.status, refused.body.code, refused.body.errors[0].code]).toEqual([400, 'VALIDATION_ERROR', code])
      expect([await order(site), await events(site)]).toEqual([[], []])
    })

    it('refuses a taken or reserved url, and names the holder unless the caller cannot read it', async () => {
      const site = await makeSite(engine)
      await site.call(roadmaps.create, { name: 'Plans' })
      const creator = await site.member(['roadmap:create'])
      const reader = await site.member(['roadmap:create', 'roadmap:read'])
      const answer = async (token: string, url: string) => {
        const { status, body } = await site.http('POST /roadmaps', { token, body: { url } })
        return [status, body.code, body.why]
      }
      expect(await answer(creator.token, 'plans')).toEqual([409, 'ROADMAP_URL_EXISTS', undefined])
      expect(await answer(reader.token, 'plans')).toEqual([
        409,
        'ROADMAP_URL_EXISTS',
        'roadmap "Plans" has had it since 2026-03-02',
      ])
      for (const url of ['sort', 'search'])
        expect(await answer(reader.token, url)).toEqual([409, 'ROADMAP_URL_EXISTS', undefined])
      expect(await order(site)).toEqual(['Plans 1'])
    })

    it('is refused to visitors, to members without the permission and to blocked ones', async () => {
      const site = await makeSite(engine)
      const code = async (token?: string) => (await site.http('POST /roadmaps', { token, body: {} })).body.code
      expect(await code()).toBe('INVALID_AUTH_HEADER')
      expect(await code((await site.member(['roadmap:read'])).token)).toBe('NOT_ENOUGH_PERMISSION')
      expect(await code((await site.member(['roadmap:create'], { blocked: true })).token)).toBe('USER_BLOCK')
      expect(await order(site)).toEqual([])
      expect((await site.http('POST /roadmaps', { token: await site.owner(), body: {} })).status).toBe(201)
    })

    it('gives each of ten that are made at once its own index and url', async () => {
      const site = await makeSite(engine)
      const made = await Promise.all(Array.from({ length: 10 }, () => site.call(roadmaps.create, { name: 'Plans' })))
      expect(made.map(({ roadmap }) => roadmap.index).toSorted((a, b) => a - b)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
      ])
      expect(new Set(made.map(({ roadmap }) => roadmap.url)).size).toBe(10)
    })
  })

  describe('PATCH /roadmaps', () => {
    it('changes what it is given, and takes back what GET answered', async () => {
      const site = await makeSite(engine)
      const { roadmap } = await site.call(roadmaps.create, { name: 'Plans', color: 'aaaaaa' })
      const { token } = await site.member(['roadmap:update', 'roadmap:read'])
      const { status, body } = await site.http('PATCH /roadmaps', {
        token,
        body: {
          ...roadmap,
          updated_at: 'x',
          index: 99,
          name: ' Great plans ',
          url: 'Great PLANS!',
          color: '00FF00',
          display: true,
        },
      })
      expect(status).toBe(200)
      expect(body.roadmap).toEqual({
        ...roadmap,
        may: ['update'],
        name: 'Great plans',
        url: 'great-plans',
        color: '00ff00',
        display: true,
      })
      expect(names((await site.http('GET /roadmaps/search/great', { token })).body)).toEqual(['Great plans'])
      expect((await events(site)).at(-1)).toEqual({
        action: 'roadmap.updated',
        subject_id: roadmap.id,
        subject: 'Great plans',
      })
    })

    it('leaves name and url as they are in a partial change', async () => {
      const site = await makeSite(engine)
      const { roadmap } = await site.call(roadmaps.create, { name: 'Plans', color: 'aaaaaa' })
      expect((await site.call(roadmaps.update, { id: 'plans', color: 'bbbbbb', partial: true })).roadmap).toEqual({
        ...roadmap,
        color: 'bbbbbb',
      })
    })

    it('answers in the order of the contract: 404 before 403 before 400', async () => {
      const site = await makeSite(engine)
      const { roadmap } = await site.call(roadmaps.create, { name: 'Plans' })
      await site.call(roadmaps.create, { name: 'Other' })
      const { token } = await site.member()
      const updater = await site.member(['roadmap:update', 'roadmap:read'])
      const answer = async (body: unknown, who: string | undefined = token) => {
        const { status, body: answered } = await site.http('PATCH /roadmaps', { token: who, body })
        return [status, answered.code, answered.errors?.map((issue: { code: string }) => issue.code)]
      }
      expect((await site.http('PATCH /roadmaps', { body: {} })).body.code).toBe('INVALID_AUTH_HEADER')
      expect(await answer({})).toEqual([404, 'ROADMAP_ID_OR_URL_MISSING', undefined])
      expect(await answer({ id: 5 })).toEqual([404, 'ROADMAP_ID_OR_URL_MISSING', undefined])
      expect(await answer({ id: newId() })).toEqual([404, 'ROADMAP_NOT_FOUND', undefined])
      expect(await answer({ id: roadmap.id })).toEqual([403, 'NOT_ENOUGH_PERMISSION', undefined])
      expect(await answer({ id: roadmap.id }, updater.token)).toEqual([
        400,
        'VALIDATION_ERROR',
        ['ROADMAP_NAME_MISSING', 'ROADMAP_URL_MISSING'],
      ])
      expect(await answer({ id: roadmap.id, name: 'x', url: 'y', color: 'zz', display: 'no' }, updater.token)).toEqual([
        400,
        'VALIDATION_ERROR',
        ['ROADMAP_COLOR_HEX_LENGTH', 'BOOLEAN_EXPECTED'],
      ])
      expect(await answer({ id: roadmap.id, name: 'x', url: 'other' }, updater.token)).toEqual([
        409,
        'ROADMAP_URL_EXISTS',
        undefined,
      ])
      expect(await order(site)).toEqual(['Plans 1', 'Other 2'])
      expect(await events(site)).toHaveLength(2)
    })
  })

  describe('DELETE /roadmaps', () => {
    it('deletes one with roadmap:destroy, and its posts stay without it', async () => {
      const site = await makeSite(engine)
      const { roadmap } = await site.call(roadmaps.create, { name: 'Plans' })
      const { userId, token } = await site.member()
      const post = {
        postId: 'p',
        title: 't',
        slug: 's',
        slugId: 's',
        contentMarkdown: null,
        userId,
        boardId: null,
        createdAt: '',
        updatedAt: '',
      }
      await site.db.insertInto('posts').values({ ...post, roadmap_id: roadmap.id }).execute() // prettier-ignore
      const destroyer = await site.member(['roadmap:destroy', 'roadmap:read'])
      const remove = async (who: string | undefined, body: unknown) => {
        const answer = await site.http('DELETE /roadmaps', { token: who, body })
        return [answer.status, answer.body?.code]
      }
      expect(await remove(undefined, { id: roadmap.id })).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await remove(token, {})).toEqual([404, 'ROADMAP_ID_OR_URL_MISSING'])
      expect(await remove(token, { id: newId() })).toEqual([404, 'ROADMAP_NOT_FOUND'])
      expect(await remove(token, { id: roadmap.id })).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(await order(site)).toEqual(['Plans 1'])
      expect(await remove(destroyer.token, { id: roadmap.id })).toEqual([204, undefined])
      expect(await remove(destroyer.token, { id: roadmap.id })).toEqual([404, 'ROADMAP_NOT_FOUND'])
      expect(await site.db.selectFrom('posts').select(['postId', 'roadmap_id']).execute()).toEqual([
        { postId: 'p', roadmap_id: null },
      ])
      expect((await events(site)).map((event) => event.action)).toEqual(['roadmap.created', 'roadmap.deleted'])
    })
  })

  describe('PATCH /roadmaps/sort', () => {
    it('gives each its index, and answers the text OK', async () => {
      const site = await makeSite(engine)
      const [a, , c] = await withRoadmaps(site, 'A', 'B', 'C')
      const { token } = await site.member(['roadmap:update'])
      const body = { from: { id: a!.id, index: 3 }, to: { id: c!.id, index: 1 } }
      const { status, text, headers } = await site.http('PATCH /roadmaps/sort', { token, body })
      expect([status, text, headers['content-type']]).toEqual([200, 'OK', 'text/plain; charset=utf-8'])
      expect(await order(site)).toEqual(['C 1', 'B 2', 'A 3'])
      expect((await events(site)).slice(3)).toEqual([
        { action: 'roadmap.moved', subject_id: a!.id, subject: 'A' },
        { action: 'roadmap.moved', subject_id: c!.id, subject: 'C' },
      ])
    })

    it('answers 204 and changes nothing when both are one', async () => {
      const site = await makeSite(engine)
      const [a] = await withRoadmaps(site, 'A', 'B')
      const { token } = await site.member(['roadmap:update'])
      for (const same of [a!.id, 'a']) {
        const { status, text } = await site.http('PATCH /roadmaps/sort', {
          token,
          body: { from: { id: a!.id, index: 7 }, to: { id: same, index: 8 } },
        })
        expect([status, text]).toEqual([204, ''])
      }
      expect(await order(site)).toEqual(['A 1', 'B 2'])
      expect(await events(site)).toHaveLength(2)
    })

    it('renumbers all when two would have the same index', async () => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'A', 'B', 'C', 'D')
      await site.call(roadmaps.sort, { from: { id: 'a', index: 3 }, to: { id: 'd', index: 1 } })
      expect(await order(site)).toEqual(['D 1', 'B 2', 'A 3', 'C 4'])
      await site.call(roadmaps.sort, { from: { id: 'd', index: 9 }, to: { id: 'b', index: 9 } })
      expect(await order(site)).toEqual(['A 1', 'C 2', 'D 3', 'B 4'])
    })

    it('answers in the order of the contract, and changes nothing when it refuses', async () => {
      const site = await makeSite(engine)
      const [a, b] = await withRoadmaps(site, 'A', 'B')
      const updater = await site.member(['roadmap:update'])
      const member = await site.member(['roadmap:read'])
      const swap = { from: { id: a!.id, index: 2 }, to: { id: b!.id, index: 1 } }
      const answer = async (body: unknown, token?: string) => {
        const { status, body: answered } = await site.http('PATCH /roadmaps/sort', { token, body })
        return [
          status,
          answered.code,
          answered.errors?.map((issue: { code: string; field: string }) => `${issue.field} ${issue.code}`),
        ]
      }
      expect(await answer(swap)).toEqual([400, 'INVALID_AUTH_HEADER', undefined])
      expect(await answer({ ...swap, to: { id: newId(), index: 1 } }, member.token)).toEqual([
        404,
        'ROADMAP_NOT_FOUND',
        undefined,
      ])
      expect(await answer({ ...swap, from: { id: newId(), index: 1 } }, updater.token)).toEqual([
        404,
        'ROADMAP_NOT_FOUND',
        undefined,
      ])
      expect(await answer(swap, member.token)).toEqual([403, 'NOT_ENOUGH_PERMISSION', undefined])
      const refused = [
        [{}, ['from FIELD_MISSING', 'to FIELD_MISSING']],
        [{ ...swap, from: null }, ['from OBJECT_EXPECTED']],
        [{ ...swap, from: { id: a!.id } }, ['from OBJECT_EXPECTED']],
        [{ ...swap, from: { index: 2 } }, ['from OBJECT_EXPECTED']],
        [{ ...swap, to: { id: b!.id, index: 'x' } }, ['to OBJECT_EXPECTED']],
        [{ ...swap, to: { id: b!.id, index: -1 } }, ['to INVALID_VALUE']],
        [{ ...swap, to: { id: b!.id, index: 2 ** 40 } }, ['to INVALID_VALUE']],
      ] as const
      for (const [body, codes] of refused)
        expect(await answer(body, updater.token)).toEqual([400, 'VALIDATION_ERROR', codes])
      expect(await order(site)).toEqual(['A 1', 'B 2'])
      expect(await events(site)).toHaveLength(2)
    })

    it('works for the remote client too, with its answer in text and with none', async () => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'A', 'B')
      const call = remote({
        server: await (await site.server()).listen({ host: '127.0.0.1', port: 0 }),
        token: (await site.member(['roadmap:update'])).token,
      })
      expect(await call(roadmaps.sort, { from: { id: 'a', index: 2 }, to: { id: 'b', index: 1 } })).toBe('OK')
      expect(await call(roadmaps.sort, { from: { id: 'a', index: 2 }, to: { id: 'a', index: 1 } })).toBeUndefined()
      expect(
        (await failure(call(roadmaps.sort, { from: { id: 'x', index: 2 }, to: { id: 'a', index: 1 } }))).code,
      ).toBe('ROADMAP_NOT_FOUND')
      expect(await order(site)).toEqual(['B 1', 'A 2'])
    })
  })

  describe('PUT /roadmaps/:roadmap/position', () => {
    it('moves one to a place among all, and the others give way', async () => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'A', 'B', 'C', 'D')
      const { token } = await site.member(['roadmap:update'])
      const put = async (roadmap: string, position: number) =>
        (await site.http(`PUT /roadmaps/${roadmap}/position`, { token, body: { position } })).body.roadmap
      expect(await put('d', 2)).toMatchObject({ name: 'D', index: 2 })
      expect(await order(site)).toEqual(['A 1', 'D 2', 'B 3', 'C 4'])
      expect(await put('a', 3)).toMatchObject({ name: 'A', index: 3 })
      expect(await order(site)).toEqual(['D 1', 'B 2', 'A 3', 'C 4'])
      expect(await put('d', Number.MAX_SAFE_INTEGER)).toMatchObject({ index: 4 })
      expect(await order(site)).toEqual(['B 1', 'A 2', 'C 3', 'D 4'])
      expect((await events(site)).slice(4)).toMatchObject([
        { action: 'roadmap.moved', subject: 'D' },
        { subject: 'A' },
        { subject: 'D' },
      ])
    })

    it('writes no event when it is there already, and closes the gaps that deleted ones left', async () => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'A', 'B', 'C')
      await site.call(roadmaps.remove, { id: 'b' })
      expect(await order(site)).toEqual(['A 1', 'C 3'])
      const before = (await events(site)).length
      expect((await site.call(roadmaps.move, { roadmap: 'c', position: 2 })).roadmap.index).toBe(2)
      expect(await order(site)).toEqual(['A 1', 'C 2'])
      expect(await events(site)).toHaveLength(before)
    })

    it('answers 404 before 403 before 400', async () => {
      const site = await makeSite(engine)
      await withRoadmaps(site, 'A', 'B')
      const updater = await site.member(['roadmap:update'])
      const member = await site.member()
      const answer = async (roadmap: string, position: unknown, token?: string) => {
        const { status, body } = await site.http(`PUT /roadmaps/${roadmap}/position`, { token, body: { position } })
        return [status, body.code, body.errors?.[0].code]
      }
      expect(await answer('a', 1)).toEqual([400, 'INVALID_AUTH_HEADER', undefined])
      expect(await answer('x', 1, member.token)).toEqual([404, 'ROADMAP_NOT_FOUND', undefined])
      expect(await answer('a', 0, member.token)).toEqual([403, 'NOT_ENOUGH_PERMISSION', undefined])
      expect(await answer('a', 0, updater.token)).toEqual([400, 'VALIDATION_ERROR', 'MIN_VALUE_1'])
      expect(await answer('b', '1', updater.token)).toEqual([400, 'VALIDATION_ERROR', 'INTEGER_EXPECTED'])
      expect(await order(site)).toEqual(['A 1', 'B 2'])
    })
  })

  it('keeps every roadmap and distinct indexes however many sort, move, add and delete at once', async () => {
    const site = await makeSite(engine)
    const ids = (await withRoadmaps(site, ...'ABCDEFGHIJ')).map((roadmap) => roadmap.id)
    await withRoadmaps(site, 'gone')
    await Promise.all([
      ...ids.map((id, at) => site.call(roadmaps.move, { roadmap: id, position: 10 - at })),
      ...ids.map((id, at) =>
        site.call(roadmaps.sort, { from: { id, index: (at * 3) % 10 }, to: { id: ids[(at + 1) % 10], index: at } }),
      ),
      site.call(roadmaps.create, { name: 'new' }),
      site.call(roadmaps.remove, { id: 'gone' }),
      site.call(roadmaps.update, { id: 'a', display: false, partial: true }),
    ])
    const rows = await site.db.selectFrom('roadmaps').select(['name', 'index']).orderBy('name').execute()
    expect(rows.map((row) => row.name)).toEqual([...'ABCDEFGHIJ', 'new'])
    expect(new Set(rows.map((row) => row.index)).size).toBe(11)
  })

  it('changes nothing in a dry run, and gives the same answer', async () => {
    const site = await makeSite(engine)
    await withRoadmaps(site, 'A', 'B')
    const { token } = await site.member(['roadmap:update', 'roadmap:create', 'roadmap:destroy'])
    const headers = { 'feedbackctl-dry-run': '1' }
    expect(
      (await site.http('PUT /roadmaps/b/position', { token, headers, body: { position: 1 } })).body.roadmap.index,
    ).toBe(1)
    expect((await site.http('POST /roadmaps', { token, headers })).body.roadmap.index).toBe(3)
    expect((await site.http('DELETE /roadmaps', { token, headers, body: { id: 'a' } })).status).toBe(204)
    expect(await order(site)).toEqual(['A 1', 'B 2'])
    expect(await events(site)).toHaveLength(2)
  })
})
