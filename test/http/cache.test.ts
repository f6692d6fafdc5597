import { connect as connectSocket } from 'node:net'
import fc from 'fast-check'
import { sql, type QueryExecutor } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/db/connect.js'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { cleanup, engines, httpOf, makeSite, OWNER, type TestSite } from '../support/site.js'

/** A second server of the same site: without a cache, or with one that is allowed so much staleness. */
async function another(site: TestSite, { staleness }: { staleness?: number } = {}) {
  const { db, cache, ping, close } = await openDatabase(site.databaseUrl, staleness === undefined ? {} : { staleness })
  const server = await buildServer(
    operations,
    { ...site.base, db, ping, ...(staleness !== undefined && { cache }) },
    { level: 'silent', stream: { write() {} } },
  )
  cleanup(async () => {
    await server.close()
    await close()
  })
  return httpOf(server)
}

/** What a server says to these bytes until it hangs up. */
const talk = (port: number, bytes: string) =>
  new Promise<string>((resolve, reject) => {
    let text = ''
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(bytes))
    socket
      .on('data', (data) => (text += data))
      .on('close', () => resolve(text))
      .on('error', reject)
  })

/** What of an answer is the same whenever it is given. */
function same({ status, text, headers }: Awaited<ReturnType<TestSite['http']>>) {
  const own = ['x-request-id', 'date', 'connection', 'keep-alive']
  return { status, text, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name))) }
}

describe.each(engines)('answers that are kept on %s', (engine) => {
  it('are those that would be worked out anew, whatever was done before and by whom', async () => {
    const site = await makeSite(engine)
    const anew = await another(site)
    const owner = await site.owner()
    const [one, two] = [await site.member(['board:read']), await site.member()]
    const people = [undefined, owner, one.token, two.token, 'nonsense']
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    const { post } = await site.call(posts.create, { title: 'Dark mode', boardId: board.boardId })

    const reads: [string, unknown?][] = [
      ['GET /boards'],
      ['GET /boards?limit=2&page=1'],
      ['GET /boards/ideas'],
      ['GET /settings/site'],
      ['GET /roadmaps'],
      ['GET /users/profile'],
      ['GET /users/permissions'],
      ['GET /events?limit=3'],
      ['POST /posts/get', {}],
      ['POST /posts/get', { sort: 'votes', limit: 3 }],
      ['POST /posts/slug', { id: post.postId }],
      [`GET /posts/${post.postId}/votes`],
      [`GET /posts/${post.postId}/activity`],
      ['POST /boards/check-slug', { url: 'ideas-2' }],
      ['POST /auth/password/validateToken', { token: 'x'.repeat(43) }],
    ]
    let count = 0
    const writes: [string, unknown?][] = [
      ['POST /votes', { postId: post.postId }],
      ['DELETE /votes', { postId: post.postId }],
      ['PATCH /boards', { boardId: board.boardId, partial: true, display: false }],
      ['PATCH /boards', { boardId: board.boardId, partial: true, display: true, view_voters: false }],
      ['POST /posts', { title: 'Another', boardId: board.boardId }],
      [`POST /posts/${post.postId}/comments`, { body: 'Yes', is_internal: true }],
      ['PATCH /settings/site', { title: 'Moonbase' }],
      ['PATCH /settings/site', {}],
      ['POST /roadmaps', { name: 'Next', display: true }],
      [`POST /users/${two.userId}/block`],
      [`POST /users/${two.userId}/unblock`],
      [`POST /users/${one.userId}/sign-out`],
    ]
    const step = fc.record({
      read: fc.nat(reads.length - 1),
      write: fc.nat(writes.length - 1),
      who: fc.nat(people.length - 1),
      by: fc.nat(people.length - 1),
      kind: fc.nat(5),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        for (const { read, write, who, by, kind } of steps) {
          if (kind === 0) {
            const [request, body] = writes[write] ?? ['']
            const way = count++ % 2 === 0 ? site.http : anew
            const headers = count % 5 === 0 ? { 'feedbackctl-dry-run': '1' } : {}
            await way(request, { body, headers, ...(people[by] !== undefined && { token: people[by] }) })
          } else if (kind === 1) {
            await site.db
              .updateTable('settings')
              .set({ description: `changed ${count++}` })
              .execute() // by whoever can
          }
          const [request, body] = reads[read] ?? ['']
          const asked = {
            ...(body !== undefined && { body }),
            ...(people[who] !== undefined && { token: people[who] }),
          }
          const expected = same(await anew(request, asked))
          expect(same(await site.http(request, asked))).toEqual(expected)
          expect(same(await site.http(request, asked))).toEqual(expected)
        }
      }),
      { numRuns: engine === 'sqlite' ? 40 : 20, endOnFailure: true },
    )
  }, 240_000)

  it('follow the votes, whoever casts them and on which post', async () => {
    const site = await makeSite(engine)
    const anew = await another(site)
    const owner = await site.owner()
    const tokens = [undefined, owner, (await site.member()).token, (await site.member()).token]
    const ids: string[] = []
    const cast = new Set<string>()
    for (const title of ['Dark mode', 'Export', 'Charts', 'Mails']) {
      site.clock.now = new Date(site.clock.now.getTime() + 1000)
      ids.push((await site.http('POST /posts', { token: owner, body: { title } })).body.post.postId as string)
      cast.add(`1 ${ids.length - 1}`)
    }
    const reads: [string, unknown?][] = [
      ['POST /posts/get', { limit: 2 }],
      ['POST /posts/get', { limit: 2, sort: 'votes' }],
      ['GET /boards'],
      ...ids.map((id): [string, unknown] => ['POST /posts/slug', { id }]),
      [`GET /posts/${ids[0]}/votes`],
    ]
    for (let vote = 0; vote < 24; vote++) {
      const [by, on] = [1 + (vote % 3), (vote * 7 + Math.floor(vote / 5)) % ids.length]
      const [method, status] = cast.delete(`${by} ${on}`) ? ['DELETE', 200] : ['POST', 201]
      if (method === 'POST') cast.add(`${by} ${on}`)
      const way = vote % 8 === 7 ? anew : site.http
      expect((await way(`${method} /votes`, { token: tokens[by], body: { postId: ids[on] } })).status).toBe(status)
      for (const [request, asked] of reads) {
        for (const token of tokens)
          expect(same(await site.http(request, { body: asked, token }))).toEqual(
            same(await anew(request, { body: asked, token })),
          )
      }
    }
  }, 60_000)

  it('are given again without work, and have the same bytes, headers and log line', async () => {
    const site = await makeSite(engine)
    await site.call(boards.create, { name: '💡 Ideas' })
    for (const [request, body] of [['GET /boards'], ['POST /posts/get', { limit: 3 }]] as const) {
      const asked = { ...(body && { body }) }
      const first = await site.http(request, asked)
      const { length } = site.logs
      const queries = countQueries(site)
      const second = await site.http(request, asked)
      expect(queries()).toBe(0)
      await another(site).then((anew) => anew(request, asked))
      expect(queries()).toBeGreaterThan(0)
      expect(same(second)).toEqual(same(first))
      expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
      const [before, after] = [site.logs[length - 1], site.logs[length]].map((line) =>
        Object.keys(JSON.parse(line ?? '{}') as object),
      )
      expect(after).toEqual(before)
    }
    const { headers } = await site.http('GET /boards')
    const unchanged = await site.http('GET /boards', { headers: { 'if-none-match': String(headers.etag) } })
    expect([unchanged.status, unchanged.text, unchanged.headers['content-type'], unchanged.headers.etag]).toEqual([
      304,
      '',
      undefined,
      headers.etag,
    ])
  })

  it('come in the order in which they were asked on one connection, between those that are worked out and before what cannot be read', async () => {
    const site = await makeSite(engine)
    await site.call(boards.create, { name: 'Ideas' })
    const { port } = new URL(await site.server.listen({ host: '127.0.0.1', port: 0 }))
    const get = (path: string, id: string, last = false) =>
      `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n${last ? 'Connection: close\r\n' : ''}\r\n`
    const asked = ['/boards', '/boards/ideas', '/boards?limit=2', '/boards', '/boards/none']
    const bytes = Array.from({ length: 100 }, (_, n) => get(asked[n % asked.length] ?? '', `id-${n}`, n === 99)).join(
      '',
    )
    for (let round = 0; round < 2; round++) {
      const length = site.logs.length
      const text = await talk(Number(port), bytes)
      const ids = Array.from(text.matchAll(/^x-request-id: (\S+)/gim), ([, id]) => id)
      expect(ids).toEqual(Array.from({ length: 100 }, (_, n) => `id-${n}`))
      expect(Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => status)).toEqual(
        ids.map((_, n) => (n % asked.length === 4 ? '404' : '200')),
      )
      const logged = site.logs.slice(length).map((line) => (JSON.parse(line) as { reqId: string }).reqId)
      expect(new Set(logged)).toEqual(new Set(ids))
    }
    if (engine === 'postgres') return // where an answer may have to be waited for, and comes too late
    const length = site.logs.length
    const text = await talk(Number(port), `${get('/boards', 'good')}nonsense\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*x-request-id: good\r\n[^]*HTTP\/1\.1 400 [^]*BAD_REQUEST/)
    expect(site.logs.slice(length).map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([200, 400])
  })

  it('are sent before the server closes, which then closes the connection', async () => {
    if (engine === 'postgres') return // where an answer may have to be waited for
    const site = await makeSite(engine)
    const { port } = new URL(await site.server.listen({ host: '127.0.0.1', port: 0 }))
    await site.http('GET /boards')
    let closed: Promise<undefined> | undefined
    site.server.server.on('request', () => void (closed ??= site.server.close()))
    const began = performance.now()
    expect(await talk(Number(port), 'GET /api/v1/boards HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    await closed
    expect(performance.now() - began).toBeLessThan(3000)
  })

  it('are kept although a visitor asks for many addresses, and never given for a body that is refused', async () => {
    const site = await makeSite(engine)
    for (let page = 1; page <= 120; page++) await site.http(`POST /posts/get?page=${page}`, { body: {} })
    const ask = (headers = {}) => site.http('POST /posts/get', { body: {}, headers })
    for (let round = 0; round < 2; round++) {
      expect([
        (await ask()).status,
        (await ask({ 'content-encoding': 'undefined' })).status,
        (await ask({ 'content-type': 'text/plain' })).status,
      ]).toEqual([200, 415, 415])
    }
    const queries = countQueries(site)
    await ask()
    expect(queries()).toBe(0)
  })

  it('are never those of somebody else, or of somebody who may not any more', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const [one, two] = [await site.member(), await site.member()]
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    await site.http('POST /votes', { token: one.token, body: { postId: post.postId } })
    const own = async (token?: string) =>
      (await site.http('POST /posts/get', { body: {}, ...(token !== undefined && { token }) })).body.posts[0].voters
        .viewerVote?.userId as string | undefined
    for (let round = 0; round < 3; round++) {
      expect([await own(), await own(one.token), await own(two.token), await own(one.token)]).toEqual([
        undefined,
        one.userId,
        undefined,
        one.userId,
      ])
    }
    const profile = () => site.http('GET /users/profile', { token: one.token })
    expect([(await profile()).status, (await profile()).status]).toEqual([200, 200])
    await site.http(`POST /users/${one.userId}/block`, { token: owner })
    expect((await profile()).status).toBe(403)
    expect(await own(one.token)).toBe(one.userId)
  })

  it('end with the session they were made for', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member()
    const profile = () => site.http('GET /users/profile', { token })
    expect([(await profile()).status, (await profile()).status]).toEqual([200, 200])
    site.clock.now = new Date(site.clock.now.getTime() + 2 * 24 * 3600 * 1000)
    expect((await profile()).status).toBe(401)
  })

  it('are not kept where they depend on the time, or are made of a secret', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const login = async () =>
      (await site.http('POST /auth/login', { body: { email: OWNER.email, password: OWNER.password } })).body.user
        .authToken as string
    const first = await login()
    site.clock.now = new Date(site.clock.now.getTime() + 5000)
    expect(await login()).not.toBe(first)

    await site.http('POST /auth/password/reset', { body: { email: OWNER.email } })
    const token = await site.mailedToken(OWNER.email)
    const valid = async () => (await site.http('POST /auth/password/validateToken', { body: { token } })).status
    expect([await valid(), await valid(), await valid()]).toEqual([200, 200, 200])
    site.clock.now = new Date(site.clock.now.getTime() + 3 * 3600 * 1000)
    expect(await valid()).toBe(401)
  })
})

it('on PostgreSQL a visitor may see what was so a moment ago; whoever is signed in, or wrote here, sees what is', async () => {
  const site = await makeSite('postgres')
  const owner = await site.owner()
  const here = await another(site, { staleness: 60_000 })
  const title = async (token?: string) =>
    (await here('GET /settings/site', token === undefined ? {} : { token })).body.settings.title as string
  const before = await title()
  await site.db.updateTable('settings').set({ title: 'Elsewhere' }).execute()
  expect(await title()).toBe(before)
  expect(await title(owner)).toBe('Elsewhere')
  await here('PATCH /settings/site', { token: owner, body: { title: 'Here' } })
  expect(await title()).toBe('Here')

  const soon = await another(site, { staleness: 50 })
  const shown = async () => (await soon('GET /settings/site')).body.settings.title as string
  expect(await shown()).toBe('Here')
  await site.db.updateTable('settings').set({ title: 'Later' }).execute()
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(await shown()).toBe('Later')
})

it('on PostgreSQL a watch that hangs stops no read, and no probe waits for it', async () => {
  const site = await makeSite('postgres')
  await site.http('GET /boards')
  const { rows } = await sql<{
    pid: number
  }>`select pid from pg_stat_activity where application_name = 'feedbackctl cache' and datname = current_database()`.execute(
    site.db,
  )
  const [watching] = rows
  expect(rows).toHaveLength(1)
  process.kill(watching?.pid ?? 0, 'SIGSTOP')
  try {
    expect((await site.http('GET //healthz')).status).toBe(200)
    const pages = await Promise.all([1, 2, 3, 4].map((page) => site.http(`GET /boards?page=${page}`)))
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  } finally {
    process.kill(watching?.pid ?? 0, 'SIGCONT')
  }
})

/** Counts the queries that reach the database from now on. */
function countQueries(site: TestSite): () => number {
  const counted = vi.spyOn(Object.getPrototypeOf(site.db.getExecutor()) as QueryExecutor, 'executeQuery')
  cleanup(async () => counted.mockRestore())
  const before = counted.mock.calls.length
  return () => counted.mock.calls.length - before
}
