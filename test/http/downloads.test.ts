import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import * as Type from 'typebox'
import { describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/db/connect.js'
import { Listener } from '../../src/http/listener.js'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import type { Context } from '../../src/service/lib/context.js'
import { download, type Piece } from '../../src/service/lib/download.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import { fields } from '../../src/service/lib/schemas.js'
import { makeGate } from '../support/gate.js'
import { cleanup, engines, httpOf, makeSite, temporaryFolder, type TestSite } from '../support/site.js'

type Rows = (ctx: Context) => AsyncIterable<Piece>

/** A download of these pieces. */
const downloadOf = (rows: Rows, access: 'public' | 'signed-in' = 'public'): AnyOperation =>
  download({
    id: 'test.download',
    summary: 'Download texts',
    http: 'GET /texts 200',
    access,
    types: ['text/csv'],
    errors: [],
    input: fields({}),
    output: Type.String(),
    rows: async (ctx) => ({ file: 'all "texts".csv', type: 'text/csv', pieces: rows(ctx) }),
  })

/** As long as a chunk. */
const PIECE = { text: 'x'.repeat(64 * 1024), rows: 1 }

async function listening(site: TestSite): Promise<{ port: number; url: string }> {
  const server = await site.server()
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.addresses()[0] as { port: number }
  return { port, url: `http://127.0.0.1:${port}/api/v1` }
}

/** A client that asks for the download, and does not read. */
async function unreadFrom(port: number, version = '1.1'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause()
  cleanup(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(`GET /api/v1/texts HTTP/${version}\r\nHost: localhost\r\n\r\n`)
  await once(socket, 'connect')
  return socket
}

/** Until the buffers of the system are full, and nothing is read any more. */
async function untilStalled(url: string, read: () => number): Promise<void> {
  const readWhileOthersAsk = async () => {
    const before = read()
    for (let request = 0; request < 20; request++) await fetch(`${url}/boards`)
    return before === 0 ? NaN : read() - before
  }
  await expect.poll(readWhileOthersAsk).toBe(0)
}

it('is sent as a file that nobody stores, whole to each client, and HEAD reads nothing', async () => {
  let read = 0
  const texts = ['a,b\n', ...Array.from({ length: 5 }, (_, index) => `${index}`.repeat(40_000))]
  const site = await makeSite('sqlite', {
    extra: [
      downloadOf(async function* () {
        for (const each of texts) {
          read++
          yield { text: each, rows: 1 }
        }
      }),
    ],
  })
  const { status, headers } = await site.http('HEAD /texts')
  expect([status, read]).toEqual([200, 0])
  const { url } = await listening(site)
  const answer = await fetch(`${url}/texts`)
  expect(await answer.text()).toBe(texts.join(''))
  for (const each of [headers, Object.fromEntries(answer.headers)])
    expect(each).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="all__texts_.csv"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
  expect([answer.headers.get('content-length'), answer.headers.get('etag')]).toEqual([null, null])
})

it('reads nothing while its client does not, and ends where the client goes', async () => {
  let read = 0
  const ended = makeGate()
  const site = await makeSite('sqlite', {
    extra: [
      downloadOf(async function* () {
        try {
          for (;;) {
            read++
            yield PIECE
          }
        } finally {
          ended.open()
        }
      }),
    ],
  })
  const { port, url } = await listening(site)
  const socket = await unreadFrom(port)
  await untilStalled(url, () => read)
  socket.destroy()
  await ended.opened
  await expect.poll(() => site.logs.join('')).toContain('download ended: its client is gone')
})

it('breaks a connection over a Unix socket too', async () => {
  const site = await makeSite('sqlite', {
    extra: [
      downloadOf(async function* () {
        yield PIECE
        throw new Error('on the way')
      }),
    ],
  })
  const server = await site.server()
  const socketPath = path.join(temporaryFolder(), 'socket')
  await server.ready()
  const listener = await Listener.open({ socket: socketPath }, server.server)
  cleanup(async () => listener.close())
  const [response] = (await once(get({ socketPath, path: '/api/v1/texts' }), 'response')) as [IncomingMessage]
  await expect(text(response)).rejects.toThrow('aborted')
})

it('answers an error before its first byte, and breaks the connection after it', async () => {
  let first = 0
  const site = await makeSite('sqlite', {
    extra: [
      downloadOf(async function* () {
        if (first === 0) throw new Error('before')
        for (let piece = 0; piece < first; piece++) yield PIECE
        throw new Error('on the way')
      }),
    ],
  })
  const { port, url } = await listening(site)
  const refused = await fetch(`${url}/texts`)
  expect([refused.status, refused.headers.get('content-disposition')]).toEqual([500, null])
  expect(await refused.json()).toMatchObject({ code: 'SERVER_ERROR' })
  first = 3
  const broken = await fetch(`${url}/texts`)
  expect(broken.status).toBe(200)
  await expect(broken.text()).rejects.toThrow('terminated')
  const old = await unreadFrom(port, '1.0')
  const failed = once(old, 'error')
  old.resume()
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }])
  const logged = site.logs.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'a download failed before its end')
  expect(logged).toMatchObject({ reqId: broken.headers.get('x-request-id'), err: { message: 'on the way' } })
})

it('runs a few times at once, for each person and in all; who takes nothing gives way', async () => {
  let read = 0
  const site = await makeSite('sqlite', {
    limits: { downloads: 3, ownDownloads: 2 },
    extra: [
      downloadOf(async function* () {
        for (; ; read++) yield PIECE
      }),
    ],
  })
  const { token } = await site.member()
  const { port, url } = await listening(site)
  vi.useFakeTimers({ toFake: ['performance'] })
  cleanup(async () => void vi.useRealTimers())
  const ask = async (headers = {}) => {
    const leave = new AbortController()
    const answer = await fetch(`${url}/texts`, { headers, signal: leave.signal })
    cleanup(() => leave.abort(answer)) // fetch cancels the body of a response that is garbage, so this keeps it
    const code = answer.status === 200 ? '' : ((await answer.json()) as { code: string }).code
    return `${answer.status} ${code} ${answer.headers.get('retry-after')}`
  }
  const slow = await unreadFrom(port)
  await untilStalled(url, () => read)
  const mine = { authorization: `Bearer ${token}` }
  expect([await ask(mine), await ask(mine)]).toEqual(['200  null', '200  null'])
  expect(await ask(mine)).toBe('429 RATE_LIMITED 10')
  expect(await ask()).toBe('503 SERVER_BUSY 10')
  await untilStalled(url, () => read)
  vi.advanceTimersByTime(11_000)
  expect(await ask()).toBe('200  null')
  await once(slow.resume(), 'close')
  expect(site.logs.join('')).toContain('download cut: its client takes nothing, and another waits')
})

describe.each(engines)('on %s', (engine) => {
  it('ends where its person is blocked or loses a right', async () => {
    for (const [change, code] of [
      ['block', 'USER_BLOCK'],
      ['right', 'NOT_ENOUGH_PERMISSION'],
    ] as const) {
      const changed = makeGate()
      const site = await makeSite(engine, {
        extra: [
          downloadOf(async function* ({ db }) {
            yield PIECE
            if (change === 'block') await db.updateTable('users').set({ isBlocked: 1 }).execute()
            else await db.deleteFrom('role_permissions').where('permission', '=', 'board:read').execute()
            changed.open()
            yield PIECE
            yield PIECE
          }, 'signed-in'),
        ],
      })
      const { token } = await site.member(['board:read'])
      const { url } = await listening(site)
      const answer = await fetch(`${url}/texts`, { headers: { authorization: `Bearer ${token}` } })
      await changed.opened
      await expect(answer.text()).rejects.toThrow('terminated')
      await expect.poll(() => site.logs.join('')).toContain(`"code":"${code}"`)
    }
  })
})

it('on PostgreSQL outlives the deadline of a request: each of its queries has one', async () => {
  const site = await makeSite('postgres')
  const { db, ping, cache, close } = await openDatabase(site.databaseUrl, { timeout: 5000 })
  vi.useFakeTimers({ toFake: ['performance'] })
  cleanup(async () => void vi.useRealTimers())
  const slow = downloadOf(async function* (ctx) {
    for (let page = 0; page < 3; page++) {
      await sql`select 1`.execute(ctx.db)
      vi.advanceTimersByTime(10_000)
      yield PIECE
    }
  })
  const server = await buildServer(
    [...operations, slow],
    { ...site.base, db, ping, cache },
    { level: 'silent', stream: { write() {} } },
  )
  cleanup(async () => {
    await server.close()
    await close()
  })
  const { status, text } = await httpOf(server)('GET /texts')
  expect([status, text.length]).toEqual([200, 3 * PIECE.text.length])
})
