import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { DRY_RUN_HEADER } from '../../src/core/wire.js'
import * as merges from '../../src/service/merges.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'
import { miscounts } from '../../src/db/recount.js'

const headers = { 'content-type': 'application/x-ndjson' }

const send = async (
  site: TestSite,
  token: string | undefined,
  records: readonly unknown[],
  { query = 'source=canny', isDry = false } = {},
) => {
  const body = records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('')
  const { status, text } = await site.http(`POST /import/records?${query}`, {
    token,
    body,
    headers: { ...headers, ...(isDry && { [DRY_RUN_HEADER]: '1' }) },
  })
  const lines = text.trim().split('\n').map((line) => JSON.parse(line)) // prettier-ignore
  return { status, lines, last: lines.at(-1), failed: lines.filter(({ result }) => result === 'failed') }
}

const all = (type: string, found: number, outcome: string) => ({
  type,
  found,
  created: 0,
  matched: 0,
  existing: 0,
  failed: 0,
  [outcome]: found,
})

const RECORDS = [
  { type: 'board', sourceId: 'b1', name: 'Feature requests', color: '#ff0000' },
  { type: 'status', sourceId: 's1', name: 'In progress' },
  { type: 'tag', sourceId: 't1', name: 'UI' },
  { type: 'person', sourceId: 'u1', name: 'Ann', email: 'ANN@example.org', createdAt: '2020-01-01T00:00:00Z' },
  { type: 'post', sourceId: 'p1', title: 'Dark mode', text: 'Please', board: 'b1', status: 's1', author: 'u1', tags: ['t1'], createdAt: '2021-02-03T04:05:06Z', importedVotes: 40, paths: ['/ideas/p/dark-mode/?x=1', '/posts/dark-mode'] }, // prettier-ignore
  { type: 'person', sourceId: 'u2', name: 'Bob' },
  { type: 'vote', post: 'p1', person: 'u1', createdAt: '2021-02-03T05:00:00Z' },
  { type: 'vote', post: 'p1', person: 'u2' },
  { type: 'comment', sourceId: 'c1', post: 'p1', author: 'u2', text: 'Me too', createdAt: '2021-03-01T00:00:00Z' },
  { type: 'comment', sourceId: 'c2', post: 'p1', author: 'u1', parent: 'c1', text: 'Psst', isInternal: true },
  { type: 'comment', sourceId: 'c3', post: 'p1', author: 'u1', parent: 'c2', text: 'Answer' },
  { type: 'post', sourceId: 'p2', title: 'Night mode', importedVotes: 2, board: 'b1' },
  { type: 'merge', post: 'p2', into: 'p1' },
]

describe.each(engines)('an import on %s', (engine) => {
  it('creates what another product had, once, and tells nobody', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { status, last, failed } = await send(site, token, RECORDS)
    expect([status, failed]).toEqual([200, []])
    expect(last).toEqual({
      result: 'complete',
      balance: [
        all('board', 1, 'created'),
        all('status', 1, 'created'),
        all('tag', 1, 'created'),
        all('person', 2, 'created'),
        all('post', 2, 'created'),
        all('vote', 2, 'created'),
        all('comment', 3, 'created'),
        all('merge', 1, 'created'),
      ],
      byBoard: [
        {
          boardId: expect.any(String),
          board: 'Feature requests',
          posts: { found: 2, created: 2, skipped: 0 },
          votes: { found: 44, created: 44, skipped: 0 },
          comments: { found: 3, created: 3, skipped: 0 },
        },
      ],
      failures: [],
      places: [
        { type: 'board', name: 'Feature requests' },
        { type: 'status', name: 'In progress' },
        { type: 'tag', name: 'UI' },
      ],
      boards: [{ boardId: last.byBoard[0].boardId, board: 'Feature requests', posts: 2, votes: 46 }],
      passwords: { kept: 0, leftOut: 0 },
      isBalanced: true,
    })
    const { post } = await site.call(posts.show, { id: '1' })
    expect(post).toMatchObject({
      title: 'Dark mode',
      createdAt: '2021-02-03T04:05:06.000Z',
      board: { name: 'Feature requests', color: 'ff0000' },
      roadmap: { name: 'In progress' },
      author: { name: 'Ann' },
      tags: [{ name: 'UI' }],
      voters: { votesCount: 44, importedVotes: 42 },
    })
    const listed = await site.http('GET /posts/1/votes')
    expect([listed.body.votes.total_count, listed.body.votes.results.length]).toEqual([2, 2])
    const comments = await site.db.selectFrom('comments').select(['body', 'is_internal', 'parent_id']).orderBy('created_at').orderBy('id').execute() // prettier-ignore
    expect(comments.map(({ body, is_internal: internal, parent_id: parent }) => [body, internal, parent !== null])).toEqual([['Me too', 0, false], ['Psst', 1, true], ['Answer', 1, true]]) // prettier-ignore
    const users = await site.db.selectFrom('users').select(['email', 'isVerified', 'password', 'createdAt']).where('isOwner', '=', 0).orderBy('name').execute() // prettier-ignore
    expect(users).toEqual([
      { email: 'ann@example.org', isVerified: 0, password: null, createdAt: '2020-01-01T00:00:00.000Z' },
      { email: expect.stringMatching(/^\w{20}@imported\.invalid$/), isVerified: 0, password: null, createdAt: expect.any(String) }, // prettier-ignore
    ])
    expect(
      await site.db.selectFrom('deliveries').select('recipient').where('recipient', '<>', OWNER.email).execute(),
    ).toEqual([])
    expect(await site.db.selectFrom('notifications').select('userId').execute()).toEqual([])
    expect((await site.events()).at(-1)).toEqual(['site.imported', 'site'])
    expect(await miscounts(site.db)).toEqual([])

    const again = await send(site, token, RECORDS)
    expect(again.last.balance.map(({ type, found, existing }: Record<string, unknown>) => [type, found === existing])).toEqual(last.balance.map(({ type }: { type: string }) => [type, true])) // prettier-ignore
    expect(again.last.boards).toEqual(last.boards)

    await site.call(merges.unmerge, { ids: ['2'] })
    expect((await site.call(posts.show, { id: '1' })).post.voters).toMatchObject({ votesCount: 42, importedVotes: 40 })
    expect((await site.call(posts.show, { id: '2' })).post.voters).toMatchObject({ votesCount: 2, importedVotes: 2 })
    expect(await miscounts(site.db)).toEqual([])
    await site.call(posts.remove, { id: '1' })
    await send(site, token, RECORDS)
    expect((await site.db.selectFrom('posts').select('title').execute()).map(({ title }) => title)).toEqual(['Night mode']) // prettier-ignore
  })

  it('finds boards, people and votes that the site has, and brings later what is new', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { board } = await site.call(boards.create, { name: 'feature REQUESTS' })
    const ann = await site.member([], { email: 'ann@example.org' })
    const first = await send(site, token, RECORDS.slice(0, 6))
    const counts = (last: { balance: { type: string; matched: number; created: number }[] }) =>
      Object.fromEntries(last.balance.map(({ type, matched, created }) => [type, [matched, created]]))
    expect(counts(first.last)).toEqual({ board: [1, 0], status: [0, 1], tag: [0, 1], person: [1, 1], post: [0, 1] })
    const { post } = await site.call(posts.show, { id: '1' })
    expect([post.board?.boardId, post.author.userId]).toEqual([board.boardId, ann.userId])
    await site.http('POST /votes', { token: ann.token, body: { postId: post.postId } })
    const second = await send(site, token, RECORDS)
    expect(counts(second.last)).toMatchObject({ person: [0, 0], post: [0, 1], vote: [1, 1], comment: [0, 3] })
    expect(second.last.isBalanced).toBe(true)
    const other = await send(site, token, [{ type: 'post', sourceId: 'p1', title: 'Dark mode' }], {
      query: 'source=fider',
    })
    expect(counts(other.last)).toEqual({ post: [0, 1] })
  })

  it('refuses a record that is wrong, takes the others, and says which they are', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { failed, last } = await send(site, token, [
      'nonsense',
      { type: 'idea' },
      { type: 'post', sourceId: 'p1', title: '  ' },
      { type: 'post', sourceId: 'p2', title: 'x'.repeat(300), board: null },
      { type: 'post', sourceId: 'p3', title: 'No board', board: 'b9' },
      { type: 'post', sourceId: 'p4', title: 'Late', createdAt: '3000-01-01' },
      { type: 'post', sourceId: 'p5', title: 'Bad time', createdAt: 'yesterday' },
      { type: 'post', sourceId: 'p6', title: 'Votes', importedVotes: -1 },
      { type: 'person', sourceId: 'u1', email: 'nobody' },
      { type: 'vote', post: 'p2', person: 'u1' },
      { type: 'comment', sourceId: 'c1', post: 'p2', text: 'x\u0000y' },
      { type: 'comment', sourceId: 'c2', post: 'p2', text: '<script>alert(1)</script>' },
    ])
    expect(failed.map(({ line }) => line).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10, 11])
    expect(last.balance).toMatchObject([{ type: 'person', failed: 1 }, { type: 'post', created: 1, failed: 5 }, { type: 'vote', failed: 1 }, { type: 'comment', created: 1, failed: 1 }, { type: 'other', failed: 2 }]) // prettier-ignore
    const { post } = await site.call(posts.show, { id: '1' })
    expect([post.title.length, post.contentMarkdown?.startsWith('...')]).toEqual([100, true])
    const comment = await site.db.selectFrom('comments').select('body').executeTakeFirstOrThrow()
    expect(comment.body).not.toContain('<script')
  })

  it('has one row for each board of the site, whatever the source calls it, with its id', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    const named = ['Ideas', 'ideas', ' IDEAS', 'Bugs', 'BUGS'].map((name, n) => ({ type: 'board', sourceId: `b${n}`, name })) // prettier-ignore
    const some = named.map(({ sourceId }, n) => ({ type: 'post', sourceId: `p${n}`, title: `Post ${n}`, board: sourceId, importedVotes: n + 1 })) // prettier-ignore
    const records = [...named, ...some, { type: 'post', sourceId: 'p9', title: 'Of no board', importedVotes: 10 }]
    const query = `source=canny&boardId=${board.boardId}`
    const rows = ({
      byBoard,
    }: {
      byBoard: { boardId?: string; board: string; posts: { created: number }; votes: { found: number } }[]
    }) =>
      // prettier-ignore
      byBoard.map(({ boardId, board: name, posts: { created }, votes: { found } }) => [boardId, name, created, found])
    const dry = await send(site, token, records, { query, isDry: true })
    expect(rows(dry.last)).toEqual([[board.boardId, 'Ideas', 4, 16], [undefined, 'Bugs', 2, 9]]) // prettier-ignore
    const { last } = await send(site, token, records, { query })
    const bugs = last.byBoard[1].boardId
    expect(rows(last)).toEqual([[board.boardId, 'Ideas', 4, 16], [bugs, 'Bugs', 2, 9]]) // prettier-ignore
    expect(last.boards).toEqual([{ boardId: bugs, board: 'Bugs', posts: 2, votes: 9 }, { boardId: board.boardId, board: 'Ideas', posts: 4, votes: 16 }]) // prettier-ignore
    expect(dry.last.balance).toEqual(last.balance)

    await site.call(boards.update, { boardId: board.boardId, partial: true, name: 'Wishes' })
    await site.call(boards.remove, { boardId: bugs })
    const again = await send(site, token, records, { query })
    expect(rows(again.last)).toEqual([[board.boardId, 'Wishes', 0, 16], [undefined, 'Bugs', 0, 9]]) // prettier-ignore
    expect(again.last.boards).toMatchObject([
      { boardId: board.boardId, votes: 16 },
      { boardId: null, votes: 9 },
    ])
  })

  it('counts what is refused by its type and on its board, as far as the line says them', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { failed, last } = await send(site, token, [
      'nonsense',
      { type: 'idea', board: 'b1' },
      { type: 'comment', sourceId: 'c1', post: 'p1', text: '' },
      { type: 'vote', post: 'p1' },
      { type: 'vote', post: 'p2', person: 'u1' },
      { type: 'board', sourceId: 'b1', name: 'Ideas' },
      { type: 'person', sourceId: 'u1' },
      { type: 'post', sourceId: 'p1', title: 'Dark mode', board: 'b1', importedVotes: 3 },
      { type: 'post', sourceId: 'p2', title: 'No time', board: 'b1', importedVotes: '40', createdAt: 5 },
      { type: 'post', sourceId: 'p3', board: 'b1\u0001', importedVotes: 7 },
      { type: 'post', sourceId: 'p4', title: 'No board', board: { id: 'b1' }, importedVotes: -1 },
      { type: 'post', sourceId: 'p5', title: 'Unreadable', board: 'b1\u0000' },
      { type: 'post', sourceId: 6, title: 'Of none', board: null },
    ])
    expect(failed.map(({ line, type }) => [line, type]).toSorted(([a], [b]) => a - b)).toEqual([[1, undefined], [2, undefined], [3, 'comment'], [4, 'vote'], [5, 'vote'], [9, 'post'], [10, 'post'], [11, 'post'], [12, 'post'], [13, 'post']]) // prettier-ignore
    expect(last.balance).toEqual([all('board', 1, 'created'), all('person', 1, 'created'), { ...all('post', 6, 'failed'), created: 1, failed: 5 }, all('vote', 2, 'failed'), all('comment', 1, 'failed'), all('other', 2, 'failed')]) // prettier-ignore
    expect(last.isBalanced).toBe(true)
    const part = (found: number, created = 0) => ({ found, created, skipped: found - created })
    expect(last.byBoard).toEqual([
      { boardId: expect.any(String), board: 'Ideas', posts: part(3, 1), votes: part(52, 3), comments: part(1) },
      { posts: part(2), votes: part(0), comments: part(0) },
      { boardId: null, board: null, posts: part(1), votes: part(0), comments: part(0) },
    ])
  })

  it('names each cause of refusals once, and at most 50', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const post = (fields: object, n: number) => ({ type: 'post', sourceId: `p${n}`, title: 'Dark mode', ...fields })
    const { last } = await send(site, token, [
      ...[{ title: 5 }, { importedVotes: -1 }, { importedVotes: -2 }, { importedVotes: 2e7 }, { board: 'b1' }, { status: 's1' }, { status: 's2' }, { createdAt: '3000-01-01' }, { createdAt: 'yesterday' }].map(post), // prettier-ignore
      { type: 'person', sourceId: 'u1', email: 'nobody' },
      { type: 'person', sourceId: 'u2', email: 'no one' },
    ])
    expect(last.failures.map(({ type, count, first }: Record<string, unknown>) => [type, count, first])).toEqual([
      ['person', 2, expect.stringContaining('"nobody" is not')],
      ['post', 1, expect.stringContaining('title must be')],
      ['post', 2, expect.stringContaining('importedVotes must be')],
      ['post', 1, expect.stringContaining('20000000 is not')],
      ['post', 1, expect.stringContaining('board names')],
      ['post', 2, expect.stringContaining('status names something that no line before it has: "s1"')],
      ['post', 1, expect.stringContaining('createdAt must not be in the future')],
      ['post', 1, expect.stringContaining('createdAt must be a time')],
    ])
    expect(last).not.toHaveProperty('otherFailures')
    const many = Array.from({ length: 60 }, (_, n) => post({ [`x${n}`]: 1 }, n))
    const { failures, otherFailures } = (await send(site, token, [...many, ...many])).last
    expect([failures.length, failures[0].count, otherFailures]).toEqual([50, 2, 20])
  })

  it('marks one comment as the answer of a post, and never replaces it', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const comment = (n: number, more = {}) => ({ type: 'comment', sourceId: `c${n}`, post: 'p1', text: `Text ${n}`, createdAt: `2021-01-0${n}`, ...more }) // prettier-ignore
    const isAnswer = { isAnswer: true }
    await send(site, token, [{ type: 'post', sourceId: 'p1', title: 'Dark mode' }, comment(1, { ...isAnswer, isInternal: true }), comment(2, isAnswer), comment(3, isAnswer)]) // prettier-ignore
    const { last } = await send(site, token, [comment(4, isAnswer)])
    expect(last.balance).toMatchObject([{ type: 'comment', created: 1 }])
    const rows = await site.db.selectFrom('comments').select(['body', 'official']).orderBy('created_at').execute()
    expect(rows.map(({ body, official }) => [body, official])).toEqual([['Text 1', null], ['Text 2', 'answer'], ['Text 3', null], ['Text 4', null]]) // prettier-ignore
  })

  it('changes nothing in a dry run, with the same balance', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const dry = await send(site, token, RECORDS, { isDry: true })
    expect(await site.db.selectFrom('posts').select('title').execute()).toEqual([])
    expect(await site.db.selectFrom('boards').select('name').execute()).toEqual([])
    const { last } = await send(site, token, RECORDS)
    expect(dry.last.balance).toEqual(last.balance)
  })

  it('is for the owner alone', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const team = await site.member(['post:create', 'board:create', 'dashboard:read'])
    expect([(await send(site, team.token, RECORDS)).status, (await send(site, undefined, RECORDS)).status]).toEqual([403, 400]) // prettier-ignore
  })

  it('divides what the database refuses, to find the record', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const people = Array.from({ length: 2000 }, (_, at) => ({ type: 'person', sourceId: `${at}`, name: at === 1500 ? 'Refused' : 'Eve' })) // prettier-ignore
    for (const statement of engine === 'sqlite'
      ? [`create trigger refused before insert on users when new.name = 'Refused' begin select raise(abort, 'refused'); end`] // prettier-ignore
      : [
          `create function refused() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
          `create trigger refused before insert on users for each row when (new.name = 'Refused') execute function refused()`,
        ])
      await sql.raw(statement).execute(site.db)
    site.statements.length = 0
    const { last } = await send(site, token, people)
    expect(last).toMatchObject({ code: 'SERVER_ERROR' })
    const tries = site.statements.filter((text) => /insert into "users"/.test(text))
    expect([tries.length > 2, tries.length < 30]).toEqual([true, true])
    expect(await site.db.selectFrom('users').select('userId').where('name', '=', 'Eve').execute()).toHaveLength(1500)
  })

  it('leads from the paths that posts had to where they are now, for those who see them', async () => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost' })
    const token = await site.owner()
    await send(site, token, RECORDS.slice(0, 6))
    const { post } = await site.call(posts.show, { id: '1' })
    const at = (path: string, method = 'GET') => site.http(`${method} /${path}`, { headers: { accept: 'text/html' } })
    for (const path of ['/ideas/p/dark-mode', '/ideas/p/dark-mode/', '/ideas/p/dark-mode?utm=1', '/posts/dark-mode'])
      for (const answer of [await at(path), await at(path, 'HEAD')])
        expect(answer).toMatchObject({ status: 301, headers: { location: `/posts/${post.slug}` } })
    expect((await at('/ideas/p/other')).status).toBe(404)
    await site.call(boards.update, { boardId: post.board?.boardId, partial: true, display: false })
    expect((await at('/ideas/p/dark-mode')).status).toBe(404)
  })
})
