import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const CSV = { 'content-type': 'text/csv' }
const JSONL = { 'content-type': 'application/x-ndjson' }

/** Sends the body, and returns the status and the lines of the answer. */
async function upload(
  site: TestSite,
  token: string | undefined,
  body: string,
  { query = '', headers = CSV }: { query?: string; headers?: Record<string, string> } = {},
) {
  const { status, text } = await site.http(`POST /import/posts${query}`, { token, body, headers })
  const lines = text.trim().split('\n').map((line) => JSON.parse(line)) // prettier-ignore
  return { status, lines }
}

const titlesOf = async ({ db }: TestSite) =>
  (await db.selectFrom('posts').select('title').orderBy('number').execute()).map(({ title }) => title)

describe.each(engines)('an upload of posts on %s', (engine) => {
  it('creates a post for each record of CSV, with its vote and its event, and answers a line for each', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { board } = await site.call(boards.create, { name: 'Ideas for all', url: 'ideas' })
    const csv = '\ufeffTitle;body;BOARD\r\n"=1+1; ""so""";"one\r\ntwo";ideas\r\n\r\nPlain;;Ideas for all\r\nNone;;\r\n'
    const { status, lines } = await upload(site, token, csv)
    expect([status, lines]).toEqual([
      200,
      [
        { line: 2, result: 'created', post: { postId: expect.any(String), number: 1, slug: expect.any(String) } },
        { line: 5, result: 'created', post: expect.objectContaining({ number: 2 }) },
        { line: 6, result: 'created', post: expect.objectContaining({ number: 3 }) },
        { result: 'complete', created: 3, existing: 0, failed: 0 },
      ],
    ])
    const rows = await site.db.selectFrom('posts').selectAll().orderBy('number').execute()
    expect(rows).toMatchObject([
      { title: '=1+1; "so"', contentMarkdown: 'one\ntwo', boardId: board.boardId, votesCount: 1 },
      { title: 'Plain', contentMarkdown: null, boardId: board.boardId, votesCount: 1 },
      { title: 'None', boardId: null },
    ])
    expect((await site.events()).slice(-3)).toEqual(rows.map(({ postId }) => ['post.created', postId]))
  })

  it('reads lines of JSON, with a board for all that name none, and answers with all of a post', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    await site.call(boards.create, { name: 'Ideas' })
    const { board } = await site.call(boards.create, { name: 'Bugs' })
    const body =
      '{"title":"One"}\n\n{"title":" Two ","boardId":"bugs","contentMarkdown":"<b>x</b>"}\n{"title":"Three","boardId":"nope"}\n{"title":"","body":"x"}\n{}\n[]\n{'
    const { status, lines } = await upload(site, token, body, { query: '?boardId=ideas&whole=true', headers: JSONL })
    const failed = (line: number, error: object) => ({ line, result: 'failed', error: expect.objectContaining(error) })
    expect([status, lines]).toEqual([
      200,
      [
        { line: 1, result: 'created', post: expect.objectContaining({ title: 'One', boardId: expect.any(String) }) },
        { line: 3, result: 'created', post: expect.objectContaining({ title: 'Two', boardId: board.boardId }) },
        failed(4, { code: 'VALIDATION_ERROR', errors: [expect.objectContaining({ code: 'UNKNOWN_BOARD', field: 'boardId' })] }), // prettier-ignore
        failed(5, { code: 'VALIDATION_ERROR', errors: [expect.objectContaining({ code: 'UNKNOWN_FIELD' })] }),
        failed(6, { code: 'VALIDATION_ERROR', errors: [expect.objectContaining({ code: 'POST_TITLE_MISSING' })] }),
        failed(7, { code: 'INVALID_JSON' }),
        failed(8, { code: 'INVALID_JSON' }),
        { result: 'complete', created: 2, existing: 0, failed: 5 },
      ],
    ])
    const one = await site.http('POST /posts', { token, body: { title: 'Four' } })
    expect(Object.keys(lines[0].post)).toEqual(Object.keys(one.body.post))
    expect(await titlesOf(site)).toEqual(['One', 'Two', 'Four'])
  })

  it('with ifNotExists creates none twice, also where two are sent at once; a dry run creates none', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    await site.call(boards.create, { name: 'Ideas' })
    await site.call(posts.create, { title: 'There', boardId: 'ideas' })
    const names = Array.from({ length: 30 }, (_, index) => `Number ${index}`)
    const csv = ['title,board', 'There,ideas', 'There,', ...names.map((name) => `${name},ideas`)].join('\n')
    const dry = await upload(site, token, csv, {
      query: '?ifNotExists=true',
      headers: { ...CSV, 'feedbackctl-dry-run': '1' },
    })
    expect(dry.lines.at(-1)).toEqual({ result: 'complete', created: 31, existing: 1, failed: 0 })
    expect(await titlesOf(site)).toEqual(['There'])
    const both = await Promise.all([1, 2].map(() => upload(site, token, csv, { query: '?ifNotExists=true' })))
    const sum = (key: string) => both.reduce((total, { lines }) => total + lines.at(-1)[key], 0)
    expect([sum('created'), sum('existing'), sum('failed')]).toEqual([31, 33, 0])
    expect((await titlesOf(site)).toSorted()).toEqual(['There', 'There', ...names].toSorted())
    const again = await upload(site, token, csv, { query: '?ifNotExists=true&whole=true' })
    const { post } = await site.call(posts.show, { id: again.lines[0].post.postId })
    expect(again.lines[0]).toMatchObject({ line: 2, result: 'exists', post: { title: 'There', slugId: post.slugId } })
    expect(Object.keys(again.lines[0].post)).toEqual(Object.keys((await site.call(posts.create, { title: 'x' })).post))
  })

  it('creates each hundred in a transaction, and what stands beside a record that fails', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const rows = Array.from({ length: 250 }, (_, index) => (index % 60 === 7 ? 'x'.repeat(101) : `Title ${index}`))
    const { lines } = await upload(site, token, `title\n${rows.join('\n')}\n`)
    expect(lines.at(-1)).toEqual({ result: 'complete', created: 245, existing: 0, failed: 5 })
    expect(lines.filter(({ result }) => result === 'failed').map(({ line }) => line)).toEqual([9, 69, 129, 189, 249])
    expect(await titlesOf(site)).toEqual(rows.filter((title) => title.length < 101))
    const { logs } = site
    expect(logs.join('')).not.toContain('"level":50')
  })

  it.each([
    [
      'names an unknown column',
      'title,votes\nx,1\n',
      '400 VALIDATION_ERROR',
      /"votes".*The columns are: title, body, board\./,
    ],
    ['names no column', 'A title\nAnother\n', '400 VALIDATION_ERROR', /must name the columns, with title\./],
    ['names a column twice', 'title,Title\nx,y\n', '400 VALIDATION_ERROR', /"title" twice/],
    ['is not UTF-8', Buffer.from('title\nGr\xf6\xdfe\n', 'latin1'), '400 INVALID_JSON', /not valid UTF-8/],
    ['has a line of a megabyte', `title\nA\n"${'x'.repeat(1_000_000)}"\n`, '413 PAYLOAD_TOO_LARGE', /Line 3 .* 500000/],
  ])('that %s is refused, and changes nothing', async (_, body, outcome, message) => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const server = await site.server()
    const answer = await server.inject({
      method: 'POST',
      url: '/api/v1/import/posts',
      headers: { ...CSV, authorization: `Bearer ${token}` },
      payload: body,
    })
    expect(`${answer.statusCode} ${answer.json().code}`).toBe(outcome)
    expect(answer.json().message).toMatch(message)
    expect(await titlesOf(site)).toEqual([])
  })

  it('has no row with text that cannot be stored, nor one whose quotes or cells do not fit', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { lines } = await upload(site, token, 'title;body\nNul\0;x\nA"b"c;d\nA;b;c\n;b\nGood;\n')
    const codes = lines.map(({ error }) => error?.errors?.[0].code)
    expect(codes).toEqual([
      'TEXT_UNREADABLE',
      'INVALID_RECORD',
      'INVALID_RECORD',
      'INVALID_RECORD',
      undefined,
      undefined,
    ])
    expect((await upload(site, token, '{"title":"\\ud800"}\n{"title":"x","boardId":"a\\u0000"}', { headers: JSONL })).lines.at(-1)).toMatchObject({ failed: 2 }) // prettier-ignore
    expect(await titlesOf(site)).toEqual(['Good'])
    for (const nothing of ['', '\n\n', '\ufeff'])
      expect((await upload(site, token, nothing, { headers: JSONL })).lines).toEqual([
        { result: 'complete', created: 0, existing: 0, failed: 0 },
      ])
  })

  it('is refused where a post is: to strangers, without the permission, and to the blocked', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.db.deleteFrom('role_permissions').where('permission', '=', 'post:create').execute()
    const callers = [
      undefined,
      (await site.member(['board:read'])).token,
      (await site.member(['post:create'], { blocked: true })).token,
    ]
    for (const token of callers) {
      const one = await site.http('POST /posts', { token, body: { title: 'x' } })
      const many = await site.http('POST /import/posts', { token, body: 'title\nx\n', headers: CSV })
      expect([many.status, many.body]).toEqual([one.status, one.body])
    }
    expect(await titlesOf(site)).toEqual([])
  })

  it('of a new account ends at its limit, and counts what it creates alone', async () => {
    const rates = { posts: { points: 3, seconds: 3600 } }
    const site = await makeSite(engine, { rates, newFor: 3600 })
    await site.owner()
    const { token } = await site.member(['post:create'])
    const { lines } = await upload(site, token, 'title,board\nOne,\n,\nOne,\nTwo,nope\nThree,\nFour,\nFive,\n', {
      query: '?ifNotExists=true',
    })
    expect(lines.map(({ result, error }) => `${result} ${error?.code ?? ''}`.trim())).toEqual([
      'created',
      'failed VALIDATION_ERROR',
      'exists',
      'failed VALIDATION_ERROR',
      'created',
      'created',
      'incomplete RATE_LIMITED',
    ])
    expect(lines.at(-1)).toMatchObject({ created: 3, existing: 1, failed: 2 })
    expect((await site.http('POST /import/posts', { token, body: 'title\nSix\n', headers: CSV })).status).toBe(429)
    expect(await titlesOf(site)).toEqual(['One', 'Three', 'Four'])
  })
})
