import { connect as connectSocket } from 'node:net'
import fc from 'fast-check'
import { sql } from 'kysely'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/db/connect.js'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { assertProperty } from '../support/properties.js'
import { cleanup, engines, httpOf, makeSite, OWNER, stable, type TestSite } from '../support/site.js'

const SILENT = { level: 'silent', stream: { write() {} } }

/** Starts a second server of the site: without a cache, or with one of this staleness. */
async function secondServer(
  site: TestSite,
  { staleness, statements }: { staleness?: number; statements?: string[] } = {},
) {
  const trace = statements && ((statement: string) => void statements.push(statement))
  const { db, cache, ping, close } = await openDatabase(site.databaseUrl, {
    ...(staleness !== undefined && { staleness }),
    trace,
  })
  const server = await buildServer(
    operations,
    { ...site.base, db, ping, ...(staleness !== undefined && { cache }) },
    SILENT,
  )
  cleanup(async () => {
    await server.close()
    await close()
  })
  return httpOf(server)
}

/** Sends bytes, and returns everything that the server sends until it closes the connection. */
const exchange = (port: number, bytes: string) =>
  new Promise<string>((resolve, reject) => {
    let text = ''
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(bytes))
    socket
      .on('data', (data) => (text += data))
      .on('close', () => resolve(text))
      .on('error', reject)
  })

/** A request as a client sends it. */
const bytesOf = (path: string, id: string, isLast = false) =>
  `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n${isLast ? 'Connection: close\r\n' : ''}\r\n`

describe.each(engines)('the response cache on %s', (engine) => {
  it('returns the same as a server without a cache, after any writes by any user', async () => {
    const site = await makeSite(engine)
    const uncached = await secondServer(site)
    const owner = await site.owner()
    const [one, two] = [await site.member(['board:read']), await site.member()]
    const tokens = [undefined, owner, one.token, two.token, 'nonsense']
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
      reader: fc.nat(tokens.length - 1),
      writer: fc.nat(tokens.length - 1),
      kind: fc.nat(5),
    })
    await assertProperty(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        for (const { read, write, reader, writer, kind } of steps) {
          if (kind === 0) {
            const [request, body] = writes[write] ?? ['']
            const server = count++ % 2 === 0 ? site.http : uncached
            const headers = count % 5 === 0 ? { 'feedbackctl-dry-run': '1' } : {}
            await server(request, { body, headers, ...(tokens[writer] !== undefined && { token: tokens[writer] }) })
          } else if (kind === 1) {
            await site.db
              .updateTable('settings')
              .set({ description: `changed ${count++}` })
              .execute() // directly in the database
          }
          const [request, body] = reads[read] ?? ['']
          const options = {
            ...(body !== undefined && { body }),
            ...(tokens[reader] !== undefined && { token: tokens[reader] }),
          }
          const expected = stable(await uncached(request, options))
          expect(stable(await site.http(request, options))).toEqual(expected)
          expect(stable(await site.http(request, options))).toEqual(expected)
        }
      }),
      { numRuns: engine === 'sqlite' ? 40 : 20, endOnFailure: true },
    )
  })

  it('is invalidated by votes of any user on any post', async () => {
    const site = await makeSite(engine)
    const uncached = await secondServer(site)
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
      const [voter, index] = [1 + (vote % 3), (vote * 7 + Math.floor(vote / 5)) % ids.length]
      const [method, status] = cast.delete(`${voter} ${index}`) ? ['DELETE', 200] : ['POST', 201]
      if (method === 'POST') cast.add(`${voter} ${index}`)
      const server = vote % 8 === 7 ? uncached : site.http
      expect((await server(`${method} /votes`, { token: tokens[voter], body: { postId: ids[index] } })).status).toBe(
        status,
      )
      for (const [request, body] of reads) {
        for (const token of tokens)
          expect(stable(await site.http(request, { body, token }))).toEqual(
            stable(await uncached(request, { body, token })),
          )
      }
    }
  })

  it('serves a hit without queries, with the same bytes, headers and log fields', async () => {
    const site = await makeSite(engine, { rerun: false, rates: {} })
    await site.call(boards.create, { name: '💡 Ideas' })
    for (const [request, body] of [['GET /boards'], ['POST /posts/get', { limit: 3 }]] as const) {
      const options = { ...(body && { body }) }
      const first = await site.http(request, options)
      const { length } = site.logs
      site.statements.length = 0
      const second = await site.http(request, options)
      expect(site.statements).toEqual([])
      const statements: string[] = []
      await secondServer(site, { statements }).then((uncached) => uncached(request, options))
      expect(statements).not.toEqual([])
      expect(stable(second)).toEqual(stable(first))
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

  it('keeps the order of pipelined requests, hits and misses alike', async () => {
    const site = await makeSite(engine, { rerun: false })
    await site.call(boards.create, { name: 'Ideas' })
    const { port } = new URL(await (await site.server()).listen({ host: '127.0.0.1', port: 0 }))
    const paths = ['/boards', '/boards/ideas', '/boards?limit=2', '/boards', '/boards/none']
    const bytes = Array.from({ length: 30 }, (_, n) => bytesOf(paths[n % paths.length] ?? '', `id-${n}`, n === 29))
    for (let round = 0; round < 2; round++) {
      const length = site.logs.length
      const text = await exchange(Number(port), bytes.join(''))
      const ids = Array.from(text.matchAll(/^x-request-id: (\S+)/gim), ([, id]) => id)
      expect(ids).toEqual(Array.from({ length: 30 }, (_, n) => `id-${n}`))
      expect(Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => status)).toEqual(
        ids.map((_, n) => (n % paths.length === 4 ? '404' : '200')),
      )
      const logged = site.logs.slice(length).map((line) => (JSON.parse(line) as { reqId: string }).reqId)
      expect(new Set(logged)).toEqual(new Set(ids))
    }
  })

  it('survives a scan of many URLs, and never serves a request whose body is rejected', async () => {
    const site = await makeSite(engine, { rerun: false, rates: {} })
    for (let page = 1; page <= 120; page++) await site.http(`POST /posts/get?page=${page}`, { body: {} })
    const list = (headers = {}) => site.http('POST /posts/get', { body: {}, headers })
    for (let round = 0; round < 2; round++) {
      expect([
        (await list()).status,
        (await list({ 'content-encoding': 'undefined' })).status,
        (await list({ 'content-type': 'text/plain' })).status,
      ]).toEqual([200, 415, 415])
    }
    site.statements.length = 0
    await list()
    expect(site.statements).toEqual([])
  })

  it('never serves one user the response of another, or a user who has been blocked', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const [one, two] = [await site.member(), await site.member()]
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    await site.http('POST /votes', { token: one.token, body: { postId: post.postId } })
    const viewerVote = async (token?: string) =>
      (await site.http('POST /posts/get', { body: {}, ...(token !== undefined && { token }) })).body.posts[0].voters
        .viewerVote?.userId as string | undefined
    for (let round = 0; round < 3; round++) {
      expect([
        await viewerVote(),
        await viewerVote(one.token),
        await viewerVote(two.token),
        await viewerVote(one.token),
      ]).toEqual([undefined, one.userId, undefined, one.userId])
    }
    const profile = () => site.http('GET /users/profile', { token: one.token })
    expect([(await profile()).status, (await profile()).status]).toEqual([200, 200])
    await site.http(`POST /users/${one.userId}/block`, { token: owner })
    expect((await profile()).status).toBe(403)
    expect(await viewerVote(one.token)).toBeUndefined()
  })

  it('expires an entry with its session', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member()
    const profile = () => site.http('GET /users/profile', { token })
    expect([(await profile()).status, (await profile()).status]).toEqual([200, 200])
    site.clock.now = new Date(site.clock.now.getTime() + 2 * 24 * 3600 * 1000)
    expect((await profile()).status).toBe(401)
  })

  it('does not cache responses that depend on the clock or the secret', async () => {
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

// On PostgreSQL a response may wait for the revision, and come too late for both.
describe('a cached response on SQLite', () => {
  it('is sent before a malformed request behind it is rejected', async () => {
    const site = await makeSite('sqlite', { rerun: false })
    const { port } = new URL(await (await site.server()).listen({ host: '127.0.0.1', port: 0 }))
    await site.http('GET /boards')
    const length = site.logs.length
    const text = await exchange(Number(port), `${bytesOf('/boards', 'good')}nonsense\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*x-request-id: good\r\n[^]*HTTP\/1\.1 400 [^]*BAD_REQUEST/)
    expect(site.logs.slice(length).map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([200, 400])
  })

  it('is sent before the server closes, which then closes the connection', async () => {
    const site = await makeSite('sqlite', { rerun: false })
    const server = await site.server()
    const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
    Object.assign(server.server, { keepAliveTimeout: 0, timeout: 0 }) // nothing else closes it
    await site.http('GET /boards')
    let closed: Promise<undefined> | undefined
    server.server.on('request', () => void (closed ??= server.close()))
    expect(await exchange(Number(port), bytesOf('/boards', 'last'))).toMatch(/^HTTP\/1\.1 200 [^]*x-request-id: last/)
    expect(closed).toBeDefined()
    await closed
  })
})

it('on PostgreSQL, visitors may get stale responses; signed-in users, and anyone after a write on this server, do not', async () => {
  const site = await makeSite('postgres', { rerun: false })
  const owner = await site.owner()
  vi.useFakeTimers({ toFake: ['performance'] })
  const stale = await secondServer(site, { staleness: 60_000 })
  const title = async (token?: string) =>
    (await stale('GET /settings/site', token === undefined ? {} : { token })).body.settings.title as string
  const before = await title()
  await site.db.updateTable('settings').set({ title: 'Elsewhere' }).execute()
  expect(await title()).toBe(before)
  expect(await title(owner)).toBe('Elsewhere')
  await stale('PATCH /settings/site', { token: owner, body: { title: 'Here' } })
  expect(await title()).toBe('Here')

  await site.db.updateTable('settings').set({ title: 'Later' }).execute()
  vi.advanceTimersByTime(60_000)
  expect(await title()).toBe('Here')
  vi.advanceTimersByTime(1)
  expect(await title()).toBe('Later')
})

it('on PostgreSQL, a hanging cache connection blocks neither reads nor probes', async () => {
  const site = await makeSite('postgres', { rerun: false })
  await site.http('GET /boards')
  const { rows } = await sql<{
    pid: number
  }>`select pid from pg_stat_activity where application_name = 'feedbackctl cache' and datname = current_database()`.execute(
    site.db,
  )
  const [connection] = rows
  expect(rows).toHaveLength(1)
  process.kill(connection?.pid ?? 0, 'SIGSTOP')
  try {
    expect((await site.http('GET //healthz')).status).toBe(200)
    const pages = await Promise.all([1, 2, 3, 4].map((page) => site.http(`GET /boards?page=${page}`)))
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  } finally {
    process.kill(connection?.pid ?? 0, 'SIGCONT')
  }
})

it('on PostgreSQL, the time that a request has includes the look for changes', async () => {
  const site = await makeSite('postgres', { rerun: false })
  const { db, cache, ping, close } = await openDatabase(site.databaseUrl, { timeout: 1000 })
  const server = await buildServer(operations, { ...site.base, db, ping, cache }, SILENT)
  cleanup(async () => {
    await server.close()
    await close()
  })
  let asked = NaN
  vi.spyOn(cache, 'revision').mockImplementation(async () => {
    asked = performance.now()
    await turn()
    return NaN
  })
  const forRequest = vi.spyOn(cache, 'forRequest')
  await httpOf(server)('GET /events')
  const [, deadline = Infinity] = forRequest.mock.lastCall ?? []
  expect(deadline).toBeLessThanOrEqual(asked + 1000) // none of which the look adds to
})
