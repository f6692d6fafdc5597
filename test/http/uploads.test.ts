import { once } from 'node:events'
import { request as ask, type IncomingMessage, type RequestOptions } from 'node:http'
import { connect } from 'node:net'
import * as Type from 'typebox'
import { describe, expect, it, vi } from 'vitest'
import { AppError } from '../../src/core/errors.js'
import type { LongBody } from '../../src/service/lib/download.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import { fields } from '../../src/service/lib/schemas.js'
import { upload } from '../../src/service/lib/upload.js'
import { makeGate } from '../support/gate.js'
import { cleanup, makeSite, type TestSite } from '../support/site.js'

type Take = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<string>

const declared = {
  id: 'test.upload',
  summary: 'Upload bytes',
  http: 'POST /bytes 200',
  accepts: ['text/csv'],
  maxBytes: 1_000_000,
  errors: [],
  input: fields({}),
} as const

/** An upload that answers how many bytes there were. */
const counting = (access: 'public' | 'signed-in' = 'public'): AnyOperation =>
  upload({
    ...declared,
    access,
    output: Type.Object({ bytes: Type.Integer() }),
    async run(_ctx, _input, body) {
      let bytes = 0
      for await (const chunk of body.bytes) bytes += chunk.length
      return { bytes }
    },
  })

/** An upload that answers these texts, while it takes the body. */
const answering = (take: Take): AnyOperation =>
  upload({
    ...declared,
    access: 'public',
    types: ['application/x-ndjson'],
    output: Type.String(),
    run: async (_ctx, _input, { bytes }): Promise<LongBody> => ({
      type: 'application/x-ndjson',
      end: ({ code }) => ({ text: `ended ${code}\n`, rows: 0 }),
      pieces: (async function* () {
        for await (const text of take(bytes)) yield { text, rows: 1 }
      })(),
    }),
  })

const chunksOf: Take = async function* (bytes) {
  for await (const chunk of bytes) yield `${chunk.length}\n`
}

async function listening(site: TestSite): Promise<number> {
  const server = await site.server()
  await server.listen({ host: '127.0.0.1', port: 0 })
  return (server.addresses()[0] as { port: number }).port
}

/** A request whose body is sent by hand. */
function sending(port: number, { headers = {}, ...options }: RequestOptions = {}) {
  const sent = ask({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/api/v1/bytes',
    headers: { 'content-type': 'text/csv', ...headers },
    ...options,
  })
  cleanup(() => sent.destroy())
  sent.on('error', () => {})
  const response = once(sent, 'response').then(([answer]) => answer as IncomingMessage)
  response.catch(() => {})
  const state = { text: '', isOver: false }
  void response.then((answer) =>
    answer
      .setEncoding('utf8')
      .on('data', (text: string) => (state.text += text))
      .on('close', () => (state.isOver = true))
      .on('error', () => {}),
  )
  /** The status and the code of an error. */
  const outcome = async () => {
    const { statusCode } = await response
    await expect.poll(() => state.isOver).toBe(true)
    return `${statusCode} ${state.text.startsWith('{') ? (JSON.parse(state.text).code ?? state.text) : state.text}`
  }
  return { sent, response, state, outcome }
}

const KB = 'x'.repeat(1024)

it('takes a body of any length, as long as it has no more bytes than it may have', async () => {
  const site = await makeSite('sqlite', { extra: [counting()] })
  const port = await listening(site)
  const whole = sending(port)
  for (let part = 0; part < 500; part++) whole.sent.write(KB)
  whole.sent.end()
  expect(await whole.outcome()).toBe('200 {"bytes":512000}')
  expect((await whole.response).headers).toMatchObject({ 'cache-control': 'no-store' })
  const said = sending(port, { headers: { 'content-length': 2_000_000 } })
  said.sent.flushHeaders()
  expect(await said.outcome()).toBe('413 PAYLOAD_TOO_LARGE')
  const unsaid = sending(port)
  for (let part = 0; part < 1000; part++) unsaid.sent.write(KB)
  expect(await unsaid.outcome()).toBe('413 PAYLOAD_TOO_LARGE')
})

it('takes plain text of its types alone, and asks who sends it first', async () => {
  const site = await makeSite('sqlite', { extra: [counting('signed-in')] })
  const { token } = await site.member()
  const send = async (headers: Record<string, string>, as?: string) => {
    const { status, body } = await site.http('POST /bytes', { token: as, body: 'a,b', headers })
    return `${status} ${body.code ?? body.bytes}`
  }
  expect(await send({ 'content-type': 'text/csv' })).toBe('400 INVALID_AUTH_HEADER')
  for (const type of ['text/csv', 'Text/CSV; charset="UTF-8"'])
    expect(await send({ 'content-type': type }, token)).toBe('200 3')
  for (const headers of [
    { 'content-type': 'application/json' },
    { 'content-type': 'text/csv; charset=latin1' },
    { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
  ])
    expect(await send(headers, token)).toBe('415 UNSUPPORTED_MEDIA_TYPE')
})

it('answers while it is sent, and what fails on the way ends the answer', async () => {
  let failure: Error = new AppError('RATE_LIMITED', 'Too many.')
  const site = await makeSite('sqlite', {
    extra: [
      answering(async function* (bytes) {
        for await (const chunk of bytes) {
          if (Buffer.from(chunk).includes('!')) throw failure
          yield `${chunk.length}\n`
        }
      }),
    ],
  })
  const port = await listening(site)
  for (const code of ['RATE_LIMITED', 'SERVER_ERROR']) {
    const { sent, state, outcome } = sending(port)
    sent.write('abc')
    await expect.poll(() => state.text).toBe('3\n')
    sent.write('!')
    expect(await outcome()).toBe(`200 3\nended ${code}\n`)
    const first = sending(port)
    first.sent.write('!')
    expect(await first.outcome()).toBe(code === 'RATE_LIMITED' ? `429 ${code}` : `500 ${code}`)
    failure = new Error('secret')
  }
  expect(site.logs.join('')).toContain('an upload failed before its end')
})

it('receives nothing while its body is not taken', async () => {
  const gate = makeGate()
  let taken = 0
  const site = await makeSite('sqlite', {
    extra: [
      answering(async function* (bytes) {
        yield 'ready\n'
        for await (const chunk of bytes) {
          taken += chunk.length
          await gate.opened
        }
        yield 'done\n'
      }),
    ],
  })
  const { sent, state } = sending(await listening(site))
  sent.flushHeaders()
  await expect.poll(() => state.text).toBe('ready\n')
  let given = 0
  const fill = () => {
    while (given < 900 && sent.write(KB)) given++
    given++
  }
  sent.on('drain', fill)
  fill()
  await expect.poll(() => taken).toBeGreaterThan(0)
  expect(taken).toBeLessThanOrEqual(64 * 1024)
  await expect.poll(() => given).toBeGreaterThanOrEqual(900)
  sent.end()
  gate.open()
  await expect.poll(() => state.text).toBe('ready\ndone\n')
})

it('gives up a body that stops arriving, and one whose connection ends', async () => {
  const site = await makeSite('sqlite', {
    extra: [answering(chunksOf)],
    limits: { arriving: 1000, headers: 500, request: 500, check: 20 },
  })
  const port = await listening(site)
  const silent = sending(port)
  silent.sent.flushHeaders()
  expect(await silent.outcome()).toBe('408 BAD_REQUEST')
  const slow = sending(port)
  slow.sent.write(KB) // takes longer than other requests may
  expect(await slow.outcome()).toBe('200 1024\nended BAD_REQUEST\n')
  const cut = sending(port)
  cut.sent.write(KB)
  await expect.poll(() => cut.state.text).toBe('1024\n')
  cut.sent.destroy()
  await expect.poll(() => site.logs.filter((line) => line.includes('upload ended before its end')).length).toBe(2)
  const next = sending(port)
  next.sent.end('abc')
  expect(await next.outcome()).toBe('200 3\n')
})

it('runs a few times at once, for each person and in all; who sends nothing gives way', async () => {
  const site = await makeSite('sqlite', { extra: [answering(chunksOf)], limits: { uploads: 3, ownUploads: 2 } })
  const { token } = await site.member()
  const port = await listening(site)
  vi.useFakeTimers({ toFake: ['performance'] })
  cleanup(async () => void vi.useRealTimers())
  const send = async (headers = {}) => {
    const upload = sending(port, { headers })
    upload.sent.write(KB)
    const { statusCode, headers: answered } = await upload.response
    return { ...upload, said: `${statusCode} ${answered['retry-after']}` }
  }
  const slow = await send()
  const mine = { authorization: `Bearer ${token}` }
  expect([slow.said, (await send(mine)).said, (await send(mine)).said]).toEqual(Array(3).fill('200 undefined'))
  expect((await send(mine)).said).toBe('429 10')
  expect((await send()).said).toBe('503 10')
  vi.advanceTimersByTime(11_000)
  expect((await send()).said).toBe('200 undefined')
  expect(await slow.outcome()).toBe('200 1024\nended SERVER_BUSY\n')
  expect(site.logs.join('')).toContain('upload cut: its client sends nothing, and another waits')
})

it('ends where the server stops, and where a connection is needed it is not the one that is closed', async () => {
  const site = await makeSite('sqlite', { extra: [answering(chunksOf)], limits: { connections: 2 } })
  const port = await listening(site)
  const { sent, state, outcome } = sending(port)
  sent.write('abc')
  await expect.poll(() => state.text).toBe('3\n')
  const idle = [1, 2, 3].map(() => connect(port, '127.0.0.1').on('error', () => {}))
  cleanup(() => idle.forEach((socket) => socket.destroy()))
  await Promise.all(idle.slice(0, 2).map((socket) => once(socket, 'close')))
  sent.write('more')
  await expect.poll(() => state.text).toBe('3\n4\n')
  await (await site.server()).connections.drain(60)
  expect(await outcome()).toBe('200 3\n4\nended SERVER_BUSY\n')
})

describe('a client that sends all before it reads', () => {
  it('has no more received than the answer to it has room for', async () => {
    let answered = 0
    const site = await makeSite('sqlite', {
      extra: [
        answering(async function* (bytes) {
          yield 'ready\n'
          for await (const _ of bytes) break
          for (; answered < 1_000_000; answered++) yield KB
        }),
      ],
    })
    const port = await listening(site)
    const socket = connect(port, '127.0.0.1').pause()
    cleanup(() => socket.destroy())
    socket.write('POST /api/v1/bytes HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 10\r\n\r\nx')
    const whileOthersAsk = async () => {
      const before = answered
      for (let request = 0; request < 20; request++) await fetch(`http://127.0.0.1:${port}/healthz`)
      return before === 0 ? NaN : answered - before
    }
    await expect.poll(whileOthersAsk).toBe(0)
    expect(answered).toBeLessThan(100_000)
  })

  it('gets an answer of a megabyte', async () => {
    const site = await makeSite('sqlite', {
      extra: [
        answering(async function* (bytes) {
          for await (const _ of bytes) yield KB.repeat(16)
        }),
      ],
    })
    const port = await listening(site)
    const socket = connect(port, '127.0.0.1').pause()
    cleanup(() => socket.destroy())
    await once(socket, 'connect')
    socket.write('POST /api/v1/bytes HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 327680\r\n\r\n')
    for (let part = 0; part < 320; part++) if (!socket.write(KB)) await once(socket, 'drain')
    let text = ''
    socket.on('data', (chunk) => (text += chunk)).resume()
    await expect.poll(() => text.endsWith('0\r\n\r\n')).toBe(true)
  })
})
