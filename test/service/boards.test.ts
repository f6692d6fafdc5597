import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import { newId } from '../../src/core/ids.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { engines, failure, makeSite, type TestSite } from '../support/site.js'

/** Boards named 1 to n, a minute apart. */
async function withBoards(site: TestSite, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    await site.call(boards.create, { name: `Board ${number}` })
  }
}

const names = (body: { boards: { name: string }[] }) => body.boards.map((board) => Number(board.name.split(' ')[1]))

describe.each(engines)('boards on %s', (engine) => {
  describe('GET /boards', () => {
    it('returns the first ten, newest first, as with created=desc, limit=10 and page=1', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 12)
      const plain = await site.http('GET /boards')
      expect(plain.status).toBe(200)
      expect(names(plain.body)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
      const { results: _, ...rest } = plain.body
      expect((await site.http('GET /boards?created=desc&limit=10&page=1')).body).toEqual(rest)
    })

    it('shows a board with exactly the fields of the contract', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: '🔗 Integrations', color: '4A90E2' })
      const { body } = await site.http('GET /boards')
      expect(body.boards).toEqual([
        {
          boardId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          name: '🔗 Integrations',
          url: 'integrations',
          color: '4a90e2',
          display: true,
          view_voters: true,
          createdAt: '2026-03-02T10:00:00.000Z',
          post_count: '0',
          may: [],
        },
      ])
    })

    it('finds boards by how their name starts, in any letter case, page by page', async () => {
      const site = await makeSite(engine)
      const token = await site.owner()
      await withBoards(site, 3)
      for (const [name, display] of [
        ['📱 Mobile app', true],
        ['mobility', true],
        ['MOBY', false],
        ['100%', true],
      ] as const) {
        site.clock.now = new Date(site.clock.now.getTime() + 60_000)
        await site.call(boards.create, { name, display })
      }
      const found = async (query: string, options = {}) => {
        const { status, body } = await site.http(`GET /boards?${query}`, options)
        expect(status).toBe(200)
        return [body.boards.map(({ name }: { name: string }) => name), body.total_count, body.total_pages]
      }
      expect(await found('query=Mob')).toEqual([['mobility', '📱 Mobile app'], 2, 1])
      expect(await found('query=%20mobi%20&created=asc')).toEqual([['📱 Mobile app', 'mobility'], 2, 1])
      const all = 'query=mob&visibility=public,private'
      expect(await found(all)).toEqual([['mobility', '📱 Mobile app'], 2, 1])
      expect(await found(all, { token })).toEqual([['MOBY', 'mobility', '📱 Mobile app'], 3, 1])
      expect(await found('query=mob&visibility=private', { token })).toEqual([['MOBY'], 1, 1])
      expect(await found(`${all}&limit=2&page=2`, { token })).toEqual([['📱 Mobile app'], 3, 2])
      for (const none of ['app', '%', '_', 'mob%25', 'zebra']) expect(await found(`query=${encodeURIComponent(none)}`)).toEqual([[], 0, 0]) // prettier-ignore
      expect((await found('query=')).slice(1)).toEqual([6, 1])

      const { body } = await site.http('GET /boards?query=mob&limit=1')
      const next = await site.http(`GET /boards?query=mob&limit=1&after=${body.page_info.end_cursor}`)
      expect(next.body.boards.map(({ name }: { name: string }) => name)).toEqual(['📱 Mobile app'])
      expect(next.body.page_info).toMatchObject({ current_page: 2, has_next_page: false })
      const other = await site.http(`GET /boards?query=zebra&after=${body.page_info.end_cursor}`)
      expect([other.status, other.body.errors[0].code]).toEqual([400, 'INVALID_CURSOR'])
    })

    it('takes `created` in any letter case', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 3)
      for (const [word, order] of [
        ['asc', [1, 2, 3]],
        ['ASC', [1, 2, 3]],
        ['Desc', [3, 2, 1]],
      ] as const) {
        expect(names((await site.http(`GET /boards?created=${word}`)).body)).toEqual(order)
      }
    })

    it('has results only when page is not given, and the page keys always', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 3)
      const plain = await site.http('GET /boards?limit=2')
      expect(plain.body.results).toEqual(plain.body.boards)
      const [first, last] = plain.body.boards
      expect(plain.body.page_info).toEqual({
        count: 2,
        current_page: 1,
        has_next_page: true,
        start_cursor: first.boardId,
        end_cursor: last.boardId,
      })
      expect(plain.body).toMatchObject({ total_count: 3, total_pages: 2 })
      const paged = await site.http('GET /boards?limit=2&page=2')
      expect(paged.body).not.toHaveProperty('results')
      expect(paged.body.page_info).toMatchObject({ count: 1, current_page: 2, has_next_page: false })
    })

    it('answers 200 and an empty list for a page past the end', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 3)
      for (const page of ['2', '99999999', '9007199254740991']) {
        const { status, body } = await site.http(`GET /boards?page=${page}`)
        expect(status).toBe(200)
        expect(body).toEqual({
          boards: [],
          page_info: {
            count: 0,
            current_page: Number(page),
            has_next_page: false,
            start_cursor: null,
            end_cursor: null,
          },
          total_count: 3,
          total_pages: 1,
        })
      }
    })

    it('walks all boards by cursor in both directions, each once', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 7)
      for (const created of ['asc', 'desc']) {
        const seen: number[] = []
        let after = ''
        for (let page = 1; page <= 3; page++) {
          const { body } = await site.http(`GET /boards?first=3&created=${created}${after}`)
          expect(body.page_info).toMatchObject({ current_page: page, has_next_page: page < 3 })
          expect(body).toMatchObject({ total_count: 7, total_pages: 3 })
          seen.push(...names(body))
          after = `&after=${body.page_info.end_cursor}`
        }
        const all = [1, 2, 3, 4, 5, 6, 7]
        expect(seen).toEqual(created === 'asc' ? all : all.toReversed())
      }
    })

    it('orders boards of the same instant by id', async () => {
      const site = await makeSite(engine)
      for (const name of ['a', 'b', 'c']) await site.call(boards.create, { name })
      const { body } = await site.http('GET /boards?created=asc')
      const ids = body.boards.map((board: { boardId: string }) => board.boardId)
      expect(ids).toEqual(ids.toSorted())
      const page = await site.http(`GET /boards?created=asc&after=${ids[0]}`)
      expect(page.body.boards.map((board: { boardId: string }) => board.boardId)).toEqual(ids.slice(1))
    })

    it.each([
      ['page=0', 'page', 'MIN_VALUE_1', 0],
      ['page=-1', 'page', 'MIN_VALUE_1', -1],
      ['page=1.5', 'page', 'INTEGER_EXPECTED', '1.5'],
      ['page=1e3', 'page', 'INTEGER_EXPECTED', '1e3'],
      ['limit=0', 'limit', 'MIN_VALUE_1', 0],
      ['limit=101', 'limit', 'MAX_VALUE_100', 101],
      ['limit=abc', 'limit', 'INTEGER_EXPECTED', 'abc'],
      ['first=0', 'first', 'MIN_VALUE_1', 0],
      ['created=sideways', 'created', 'UNKNOWN_CHOICE', 'sideways'],
      ['visibility=secret', 'visibility', 'UNKNOWN_CHOICE', ['secret']],
      ['after=', 'after', 'INVALID_CURSOR', ''],
      ['after=nonsense', 'after', 'INVALID_CURSOR', 'nonsense'],
      [`after=${newId()}`, 'after', 'INVALID_CURSOR', expect.any(String)],
      ['page=1&page=2', 'page', 'INTEGER_EXPECTED', ['1', '2']],
    ])('refuses %s with a VALIDATION_ERROR that names field, rule and value', async (query, field, code, value) => {
      const site = await makeSite(engine)
      const { status, body } = await site.http(`GET /boards?${query}`)
      expect(status).toBe(400)
      expect(body.code).toBe('VALIDATION_ERROR')
      expect(body.errors).toEqual([
        { code, field, rule: expect.any(String), value, message: expect.stringContaining(field) },
      ])
      expect(body.message).toContain(body.errors[0].rule)
    })

    it('refuses page together with after, and a parameter it does not know', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 1)
      const { body } = await site.http('GET /boards')
      expect((await site.http(`GET /boards?page=1&after=${body.boards[0].boardId}`)).body.errors[0]).toMatchObject({
        code: 'INVALID_CURSOR',
        field: 'after',
      })
      const unknown = await site.http('GET /boards?pgae=2')
      expect(unknown.status).toBe(400)
      expect(unknown.body.message).toBe('There is no field "pgae". Did you mean "page"?')
    })

    it('treats an empty number or list as not given, as published clients send it', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 1)
      expect((await site.http('GET /boards?limit=&page=&visibility=')).body.page_info).toMatchObject({
        count: 1,
        current_page: 1,
      })
    })

    it('accepts the empty JSON object of the specification', async () => {
      const site = await makeSite(engine)
      expect((await site.http('GET /boards', { body: {} })).status).toBe(200)
    })

    it('lists private boards only on request and with board:read', async () => {
      const site = await makeSite(engine)
      const { board: hidden } = (await site.call(boards.create, { name: 'Board 1', display: false })) as {
        board: { boardId: string }
      }
      await site.call(boards.create, { name: 'Board 2' })
      const reader = await site.member(['board:read'])
      const plain = await site.member()
      const blocked = await site.member(['board:read'], { blocked: true })
      for (const token of [undefined, plain.token, blocked.token]) {
        const { body, text } = await site.http('GET /boards?visibility=public,private', { token })
        expect(names(body)).toEqual([2])
        expect(body.total_count).toBe(1)
        expect(text).not.toContain(hidden.boardId)
        expect((await site.http(`GET /boards?after=${hidden.boardId}`, { token })).body.errors[0].code).toBe(
          'INVALID_CURSOR',
        )
      }
      expect(names((await site.http('GET /boards', { token: reader.token })).body)).toEqual([2])
      expect((await site.http('GET /boards?visibility=public,private', { token: reader.token })).body.total_count).toBe(
        2,
      )
      expect(names((await site.http('GET /boards?visibility=private', { token: reader.token })).body)).toEqual([1])
    })
  })

  describe('GET /boards/:url', () => {
    it('finds a board by url or id, and a private one only with board:read', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas', display: false })
      const { token } = await site.member(['board:read'])
      for (const key of ['ideas', board.boardId])
        expect((await site.http(`GET /boards/${key}`, { token })).body).toEqual({
          board: { ...board, may: [] },
          version: expect.any(String),
        })
      const refused = await site.http('GET /boards/ideas')
      expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(refused.text).not.toContain(board.boardId)
      const missing = await site.http('GET /boards/nothing')
      expect([missing.status, missing.body.code]).toEqual([404, 'BOARD_NOT_FOUND'])
    })
  })

  describe('GET /boards/search/:name', () => {
    it('finds by the start of the name in any case and script, wildcards taken literally', async () => {
      const site = await makeSite(engine)
      for (const name of [
        'Mobile app',
        'mobility',
        'Desktop',
        'ÜBER uns',
        '日本語',
        '50% off',
        '50 more',
        '📱 Mobil',
        '🎉🎉',
      ])
        await site.call(boards.create, { name })
      const { token } = await site.member(['board:read'])
      const found = async (text: string) =>
        (await site.http(`GET /boards/search/${encodeURIComponent(text)}`, { token })).body.boards.map(
          (board: { name: string }) => board.name,
        )
      expect(await found('MOB')).toEqual(['📱 Mobil', 'Mobile app', 'mobility'])
      expect(await found('📱 mobil')).toEqual(['📱 Mobil', 'Mobile app', 'mobility'])
      expect(await found('🎉')).toEqual(['🎉🎉'])
      expect(await found('über')).toEqual(['ÜBER uns'])
      expect(await found('日本')).toEqual(['日本語'])
      expect(await found('50%')).toEqual(['50% off'])
      expect(await found('_')).toEqual([])
    })

    it('needs an account with board:read', async () => {
      const site = await makeSite(engine)
      expect((await site.http('GET /boards/search/a')).body.code).toBe('INVALID_AUTH_HEADER')
      const refused = await site.http('GET /boards/search/a', { token: (await site.member()).token })
      expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    })
  })

  describe('POST /boards', () => {
    it('creates a public board with defaults, with board:create', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member(['board:create'])
      const { status, body } = await site.http('POST /boards', { token })
      expect(status).toBe(201)
      expect(body.board).toMatchObject({
        name: 'new board',
        url: 'new-board',
        display: true,
        view_voters: true,
        post_count: '0',
        color: expect.stringMatching(/^[0-9a-f]{6}$/),
      })
    })

    it('has a colour that no other has while there is one, and then one of the rarest', async () => {
      const site = await makeSite(engine)
      const made: string[] = []
      const { token } = await site.member(['board:create'])
      for (let count = 0; count < 24; count++)
        made.push((await site.http('POST /boards', { token, body: { display: count % 2 === 0 } })).body.board.color)
      expect(new Set(made.slice(0, 12)).size).toBe(12)
      expect(made.slice(12)).toEqual(made.slice(0, 12))
    })

    it('adds a short suffix to the url only when it is taken', async () => {
      const site = await makeSite(engine)
      const urls = []
      for (let round = 0; round < 3; round++) urls.push((await site.call(boards.create, { name: 'Ideas' })).board.url)
      expect(urls).toEqual([
        'ideas',
        expect.stringMatching(/^ideas-[0-9a-z]{4}$/),
        expect.stringMatching(/^ideas-[0-9a-z]{4}$/),
      ])
    })

    it.each([
      ['🎉🎉', /^board$/],
      ['日本語', /^日本語$/],
      ['Über uns', /^ueber-uns$/],
      ['get', /^get-[0-9a-z]{4}$/],
      ['x'.repeat(50), /^x{50}$/],
      [`${'ü'.repeat(24)}a bc`, /^(ue){24}a$/],
    ])('makes a url of %s', async (name, url) => {
      const site = await makeSite(engine)
      expect((await site.call(boards.create, { name })).board.url).toMatch(url)
    })

    it('counts characters, not bytes, up to 50', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member(['board:create'])
      expect((await site.http('POST /boards', { token, body: { name: '🎉'.repeat(50) } })).status).toBe(201)
      const refused = await site.http('POST /boards', { token, body: { name: '🎉'.repeat(51) } })
      expect(refused.body.errors).toMatchObject([{ code: 'TOO_LONG', field: 'name' }])
    })

    it.each([
      [{ name: '   ' }, 'BOARD_NAME_MISSING'],
      [{ name: 5 }, 'BOARD_NAME_MISSING'],
      [{ color: 'fff' }, 'BOARD_COLOR_HEX_LENGTH'],
      [{ color: 'gggggg' }, 'BOARD_COLOR_HEX_CHAR'],
      [{ display: 'true' }, 'BOOLEAN_EXPECTED'],
      [{ view_voters: 1 }, 'BOOLEAN_EXPECTED'],
      [{ url: '🎉' }, 'BOARD_URL_MISSING'],
      [{ name: 'a\u0000b' }, 'TEXT_UNREADABLE'],
      [{ name: '\ud800' }, 'TEXT_UNREADABLE'],
      [{ colour: 'ffffff' }, 'UNKNOWN_FIELD'],
    ])('refuses %j and changes nothing', async (body, code) => {
      const site = await makeSite(engine)
      const { token } = await site.member(['board:create'])
      const refused = await site.http('POST /boards', { token, body })
      expect([refused.status, refused.body.code, refused.body.errors?.[0].code]).toEqual([
        400,
        'VALIDATION_ERROR',
        code,
      ])
      expect((await site.http('GET /boards')).body.total_count).toBe(0)
    })

    it('refuses a url that is taken, and says not to retry', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: 'Ideas' })
      const { token } = await site.member(['board:create'])
      for (const url of ['ideas', 'IDEAS', 'get']) {
        const { status, body, headers } = await site.http('POST /boards', { token, body: { name: 'Other', url } })
        expect([status, body.code, headers['x-should-retry']]).toEqual([409, 'BOARD_URL_EXISTS', 'false'])
      }
    })

    it('names the board that has the url, unless the caller cannot read it', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: 'Plans', display: false })
      const why = async (token: string) => (await site.http('POST /boards', { token, body: { url: 'plans' } })).body.why
      expect(await why((await site.member(['board:create'])).token)).toBeUndefined()
      expect(await why((await site.member(['board:create', 'board:read'])).token)).toBe(
        'board "Plans" has had it since 2026-03-02',
      )
    })

    it('is refused to visitors and to members without the permission', async () => {
      const site = await makeSite(engine)
      expect((await site.http('POST /boards', { body: { name: 'x' } })).body.code).toBe('INVALID_AUTH_HEADER')
      expect(
        (await site.http('POST /boards', { token: (await site.member(['board:read'])).token, body: { name: 'x' } }))
          .body.code,
      ).toBe('NOT_ENOUGH_PERMISSION')
      expect((await site.http('GET /boards')).body.total_count).toBe(0)
    })

    it('gives concurrent boards of one name different urls', async () => {
      const site = await makeSite(engine)
      const made = await Promise.all(Array.from({ length: 20 }, () => site.call(boards.create, { name: 'Ideas' })))
      expect(new Set(made.map(({ board }) => board.url)).size).toBe(20)
      expect((await site.http('GET /boards')).body.total_count).toBe(20)
    })
  })

  describe('PATCH /boards', () => {
    it('changes name, url, colour and switches, and accepts what GET returned', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas', color: 'aaaaaa' })
      const { token } = await site.member(['board:update', 'board:read'])
      const { status, body } = await site.http('PATCH /boards', {
        token,
        body: {
          ...board,
          name: ' Bright ideas ',
          url: 'Bright IDEAS!',
          color: '00FF00',
          display: false,
          view_voters: false,
        },
      })
      expect(status).toBe(200)
      expect(body.board).toEqual({
        ...board,
        may: ['update'],
        name: 'Bright ideas',
        url: 'bright-ideas',
        color: '00ff00',
        display: false,
        view_voters: false,
      })
      expect((await site.http('GET /boards/search/bright', { token })).body.boards).toHaveLength(1)
      expect((await site.http('GET /boards')).body.total_count).toBe(0)
    })

    it('leaves fields that are not given', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas', color: 'aaaaaa', display: false })
      const { token } = await site.member(['board:update', 'board:read'])
      expect(
        (await site.http('PATCH /boards', { token, body: { boardId: board.boardId, name: 'New', url: 'ideas' } })).body
          .board,
      ).toEqual({
        ...board,
        may: ['update'],
        name: 'New',
      })
    })

    it('answers in the order of the contract: 404 before 403 before 400', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas' })
      const { token } = await site.member()
      const updater = await site.member(['board:update'])
      const answer = async (body: unknown, who: string | undefined = token) => {
        const { status, body: answered } = await site.http('PATCH /boards', { token: who, body })
        return [status, answered.code, answered.errors?.map((issue: { code: string }) => issue.code)]
      }
      expect((await site.http('PATCH /boards', { body: {} })).body.code).toBe('INVALID_AUTH_HEADER')
      expect(await answer({})).toEqual([404, 'BOARD_ID_OR_URL_MISSING', undefined])
      expect(await answer({ boardId: 5 })).toEqual([404, 'BOARD_ID_OR_URL_MISSING', undefined])
      expect(await answer({ boardId: newId() })).toEqual([404, 'BOARD_NOT_FOUND', undefined])
      expect(await answer({ boardId: board.boardId })).toEqual([403, 'NOT_ENOUGH_PERMISSION', undefined])
      expect(await answer({ boardId: board.boardId }, updater.token)).toEqual([
        400,
        'VALIDATION_ERROR',
        ['BOARD_NAME_MISSING', 'BOARD_URL_MISSING'],
      ])
      expect(
        await answer({ boardId: board.boardId, name: 'x', url: 'y', color: 'zz', display: 'no' }, updater.token),
      ).toEqual([400, 'VALIDATION_ERROR', ['BOARD_COLOR_HEX_LENGTH', 'BOOLEAN_EXPECTED']])
    })

    it('refuses a url of another board', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: 'Ideas' })
      const { board } = await site.call(boards.create, { name: 'Bugs' })
      const { token } = await site.member(['board:update'])
      const { status, body } = await site.http('PATCH /boards', {
        token,
        body: { boardId: board.boardId, name: 'Bugs', url: 'ideas' },
      })
      expect([status, body.code]).toEqual([409, 'BOARD_URL_EXISTS'])
      expect((await site.http('GET /boards/bugs')).status).toBe(200)
    })
  })

  describe('DELETE /boards', () => {
    it('gives its posts to another board, so that those of a private one stay private', async () => {
      const site = await makeSite(engine)
      await site.owner()
      for (const name of ['Secret', 'Archive']) await site.call(boards.create, { name, display: false })
      const { post } = await site.call(posts.create, { title: 'Merger', boardId: 'secret' })
      const remove = async (permissions: Permission[], moveTo: string) => {
        const { token } = await site.member(['board:read', 'board:destroy', ...permissions])
        const answer = await site.http('DELETE /boards', { token, body: { boardId: 'secret', moveTo } })
        return [answer.status, answer.body?.code]
      }
      expect(await remove([], 'archive')).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(await remove(['post:update'], 'nowhere')).toEqual([404, 'BOARD_NOT_FOUND'])
      expect(await remove(['post:update'], 'secret')).toEqual([400, 'VALIDATION_ERROR'])
      expect((await site.call(boards.show, { url: 'secret' })).board.post_count, 'nothing changed').toBe('1')
      expect(await remove(['post:update'], 'archive')).toEqual([204, undefined])
      expect((await site.call(boards.show, { url: 'archive' })).board.post_count).toBe('1')
      expect((await site.http(`GET /posts/${post.slug}`)).status).toBe(404)
    })

    it('deletes a board with board:destroy', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas' })
      const { token } = await site.member()
      const destroyer = await site.member(['board:destroy'])
      const remove = async (who: string | undefined, body: unknown) => {
        const answer = await site.http('DELETE /boards', { token: who, body })
        return [answer.status, answer.body?.code]
      }
      expect(await remove(undefined, { boardId: board.boardId })).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await remove(token, { boardId: newId() })).toEqual([404, 'BOARD_NOT_FOUND'])
      expect(await remove(token, { boardId: board.boardId })).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(await remove(destroyer.token, { boardId: board.boardId })).toEqual([204, undefined])
      expect(await remove(destroyer.token, { boardId: board.boardId })).toEqual([404, 'BOARD_NOT_FOUND'])
      expect((await site.http('GET /boards')).body.total_count).toBe(0)
    })
  })

  describe('POST /boards/check-slug', () => {
    it('checks whether a url is free', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: 'Ideas' })
      for (const permission of ['board:create', 'board:update'] as const) {
        const { token } = await site.member([permission])
        const available = async (url: string) =>
          (await site.http('POST /boards/check-slug', { token, body: { url } })).body
        expect(await available('ideas')).toEqual({ available: false })
        expect(await available(' Ideas! ')).toEqual({ available: false })
        expect(await available('get')).toEqual({ available: false })
        expect(await available('free')).toEqual({ available: true })
        const { status, body } = await site.http('POST /boards/check-slug', { token, body: {} })
        expect([status, body.code]).toEqual([400, 'BOARD_URL_MISSING'])
      }
      const refused = await site.http('POST /boards/check-slug', { token: (await site.member()).token, body: {} })
      expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    })
  })

  describe('GET /boards/get', () => {
    it('returns a page of all boards by age, private ones too, and no other key', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 3)
      await site.call(boards.update, { boardId: 'board-2', display: false, partial: true })
      const { token } = await site.member(['board:read'])
      const get = async (query: string) => (await site.http(`GET /boards/get${query}`, { token })).body
      expect(Object.keys(await get(''))).toEqual(['boards'])
      expect((await get('')).boards[1]).toEqual({
        ...(await site.call(boards.show, { url: 'board-2' })).board,
        may: [],
      })
      expect(names(await get(''))).toEqual([3, 2, 1])
      expect(names(await get('?created=ASC&limit=2'))).toEqual([1, 2])
      expect(names(await get('?created=asc&limit=2&page=2'))).toEqual([3])
      expect((await get('?page=0')).errors[0].code).toBe('MIN_VALUE_1')
      expect((await get('?visibility=public')).errors[0].code).toBe('UNKNOWN_FIELD')
    })

    it('returns the public boards without board:read, also to clients that send no token', async () => {
      const site = await makeSite(engine)
      await withBoards(site, 3)
      await site.call(boards.update, { boardId: 'board-2', display: false, partial: true })
      const get = async (token?: string) => names((await site.http('GET /boards/get', { token })).body)
      expect(await get()).toEqual([3, 1])
      expect(await get((await site.member(['board:create'])).token)).toEqual([3, 1])
      expect(await get((await site.member(['board:read'], { blocked: true })).token)).toEqual([3, 1])
      expect(await get(await site.owner())).toEqual([3, 2, 1])
    })
  })

  it('takes a name without characters that nobody sees', async () => {
    const site = await makeSite(engine)
    const { board } = await site.call(boards.create, { name: 'Dark\n\u001b[31m \u202emode' })
    expect([board.name, board.url]).toEqual(['Dark [31m mode', 'dark-31m-mode'])
  })

  describe('POST /boards/check-name', () => {
    it('checks whether no board has the name, in any letter case; private boards count', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: '📱 Mobile App', display: false })
      const { token } = await site.member(['board:create'])
      const available = async (name: unknown) =>
        (await site.http('POST /boards/check-name', { token, body: { name } })).body
      for (const name of ['📱 Mobile App', 'mobile app', ' MOBILE APP '])
        expect(await available(name)).toEqual({ available: false })
      for (const name of ['mobile', 'Mobile App 2', '📱']) expect(await available(name)).toEqual({ available: true })
    })

    it('needs board:create, and then a name', async () => {
      const site = await makeSite(engine)
      expect((await site.http('POST /boards/check-name', { body: {} })).body.code).toBe('INVALID_AUTH_HEADER')
      expect(
        (await site.http('POST /boards/check-name', { token: (await site.member()).token, body: {} })).body.code,
      ).toBe('NOT_ENOUGH_PERMISSION')
      const { token } = await site.member(['board:create'])
      for (const body of [undefined, {}, { name: '' }, { name: '  ' }]) {
        const answer = await site.http('POST /boards/check-name', { token, body })
        expect([answer.status, answer.body.code, answer.body.errors]).toEqual([
          400,
          'BOARD_NAME_MISSING',
          [{ code: 'BOARD_NAME_MISSING', field: 'name', message: expect.any(String), rule: expect.any(String) }],
        ])
      }
      const wrong = await site.http('POST /boards/check-name', { token, body: { name: 5 } })
      expect([wrong.status, wrong.body.code, wrong.body.errors[0].code]).toEqual([
        400,
        'VALIDATION_ERROR',
        'BOARD_NAME_MISSING',
      ])
    })
  })

  it('checks every known field among any number of unknown ones', async () => {
    const site = await makeSite(engine)
    const unknown = Array.from({ length: 30 }, (_, index) => `k${index}`)
    const query = unknown.map((name) => `${name}=1`).join('&')
    for (const bad of ['limit=-5', 'limit=100000', 'limit=abc', 'created=sideways', 'limit=1']) {
      const { status, body } = await site.http(`GET /boards?${query}&${bad}`)
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR'])
    }
    const { token } = await site.member(['board:create'])
    const body = {
      ...Object.fromEntries(unknown.map((name) => [name, 1])),
      name: 'x'.repeat(80_000),
      display: 'no',
      color: 'zz',
    }
    const refused = await site.http('POST /boards', { token, body })
    expect(refused.body.errors.map((issue: { code: string }) => issue.code)).toEqual(
      expect.arrayContaining(['UNKNOWN_FIELD', 'TOO_LONG', 'BOOLEAN_EXPECTED', 'BOARD_COLOR_HEX_LENGTH']),
    )
    expect(refused.text.length).toBeLessThan(5000)
    expect((await site.http('GET /boards')).body.total_count).toBe(0)
  })

  it('refuses a taken url in a dry run too, and changes nothing', async () => {
    const site = await makeSite(engine)
    await site.call(boards.create, { name: 'One' })
    await site.call(boards.create, { name: 'Two' })
    const { token } = await site.member(['board:update', 'board:create'])
    const headers = { 'feedbackctl-dry-run': '1' }
    const taken = await site.http('PATCH /boards', {
      token,
      headers,
      body: { boardId: 'two', url: 'one', partial: true },
    })
    expect([taken.status, taken.body.code]).toEqual([409, 'BOARD_URL_EXISTS'])
    expect(
      (await site.http('PATCH /boards', { token, headers, body: { boardId: 'two', url: 'three', partial: true } })).body
        .board.url,
    ).toBe('three')
    expect((await site.http('POST /boards', { token, headers, body: { name: 'x', url: 'one' } })).status).toBe(409)
    expect((await site.http('GET /boards/two')).status).toBe(200)
  })

  it('finds a board by its id whatever urls other boards have', async () => {
    const site = await makeSite(engine)
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    expect((await failure(site.call(boards.create, { name: 'Evil', url: board.boardId }))).code).toBe(
      'BOARD_URL_EXISTS',
    )
    const { board: named } = await site.call(boards.create, { name: board.boardId })
    expect(named.url).not.toBe(board.boardId)
    expect((await site.call(boards.show, { url: board.boardId })).board.name).toBe('Ideas')
  })

  it('leaves name and url in a partial change', async () => {
    const site = await makeSite(engine)
    const { board } = await site.call(boards.create, { name: 'Ideas', color: 'aaaaaa' })
    const { token } = await site.member(['board:update'])
    expect(
      (await site.http('PATCH /boards', { token, body: { boardId: 'ideas', color: 'bbbbbb', partial: true } })).body
        .board,
    ).toEqual({
      ...board,
      may: ['update'],
      color: 'bbbbbb',
    })
    expect(
      (await site.http('PATCH /boards', { token, body: { boardId: 'ideas', name: ' ', partial: true } })).body.errors[0]
        .code,
    ).toBe('BOARD_NAME_MISSING')
  })

  it.each([['boardId'], ['name'], ['url']])('refuses NUL in %s before any look-up', async (field) => {
    const site = await makeSite(engine)
    const { token } = await site.member(['board:update', 'board:destroy'])
    const body = { boardId: 'x', name: 'x', url: 'x', [field]: 'a\u0000' }
    expect((await site.http('PATCH /boards', { token, body })).body.errors[0]).toMatchObject({
      code: 'TEXT_UNREADABLE',
      field,
    })
  })

  it('keeps post_count when posts are written or moved, and when the board is deleted', async () => {
    const site = await makeSite(engine)
    const { userId } = await site.member()
    const { board: ideas } = await site.call(boards.create, { name: 'Ideas' })
    const { board: bugs } = await site.call(boards.create, { name: 'Bugs' })
    const counts = async () =>
      Object.fromEntries(
        (await site.http('GET /boards')).body.boards.map((board: { url: string; post_count: string }) => [
          board.url,
          board.post_count,
        ]),
      )
    const post = (number: number, boardId: string | null) => ({
      postId: `p${number}`,
      title: 't',
      slug: `s${number}`,
      slugId: `s${number}`,
      contentMarkdown: null,
      userId,
      boardId,
      createdAt: '',
      updatedAt: '',
    })
    await site.db
      .insertInto('posts')
      .values([post(1, ideas.boardId), post(2, ideas.boardId), post(3, null)])
      .execute()
    expect(await counts()).toEqual({ ideas: '2', bugs: '0' })
    await site.db.updateTable('posts').set({ boardId: bugs.boardId }).where('postId', 'in', ['p2', 'p3']).execute()
    expect(await counts()).toEqual({ ideas: '1', bugs: '2' })
    await site.db.deleteFrom('posts').where('postId', '=', 'p3').execute()
    expect(await counts()).toEqual({ ideas: '1', bugs: '1' })
    await site.call(boards.remove, { boardId: 'bugs' })
    expect(await counts()).toEqual({ ideas: '1' })
    expect(
      await site.db.selectFrom('posts').select(['postId', 'boardId']).where('postId', '=', 'p2').execute(),
    ).toEqual([{ postId: 'p2', boardId: null }])
  })

  it('gives the operator the owner’s rights in this process', async () => {
    const site = await makeSite(engine)
    await site.call(boards.create, { name: 'Hidden', display: false })
    expect((await site.call(boards.list, { visibility: ['private'] })).total_count).toBe(1)
    expect((await failure(site.call(boards.show, { url: 'none' }))).code).toBe('BOARD_NOT_FOUND')
  })
})
