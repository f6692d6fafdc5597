import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { IDLE_GRACE_MS } from '../../src/http/lib/connections.js'
import { makeMachine, PROGRAM } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { cleanup, makeSite } from '../support/site.js'
import { amount, figures } from './amount.js'

const HEADERS =
  'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n'
const LOGIN = `${HEADERS}\r\n{`
const GET = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'

/** A connection, what it received, and whether it was cut instead of closed. */
function open(port: number, bytes = '', options: { allowHalfOpen?: boolean } = {}) {
  const socket = connect({ port, host: '127.0.0.1', ...options })
  const state = { socket, text: '', ended: false, closed: false, error: undefined as string | undefined }
  cleanup(async () => void socket.destroy())
  socket
    .on('connect', () => void (bytes && socket.write(bytes)))
    .on('data', (data) => (state.text += data))
    .on('end', () => (state.ended = true))
    .on('error', (error: NodeJS.ErrnoException) => (state.error = error.code))
    .on('close', () => (state.closed = true))
  return state
}

async function listening(options: Parameters<typeof makeSite>[1]) {
  const site = await makeSite('sqlite', options)
  return { site, port: Number(new URL(await (await site.server()).listen({ host: '127.0.0.1', port: 0 })).port) }
}

describe('slow senders', () => {
  it.each([
    ['sends nothing', ''],
    ['never ends its headers', HEADERS],
    ['never ends its body', LOGIN],
  ])('a client that %s gets 408 in time', async (_, bytes) => {
    const { port } = await listening({ limits: { headers: 300, request: 400, check: 50 } })
    const client = open(port, bytes)
    await expect.poll(() => client.text).toMatch(/^HTTP\/1\.1 408 [^]*"code":"BAD_REQUEST"/)
    await expect.poll(() => client.closed).toBe(true)
    expect(client.error).toBeUndefined()
  })

  it('have limits by default', async () => {
    const { site } = await listening({})
    const { requestTimeout, headersTimeout, timeout } = (await site.server()).server
    expect([requestTimeout, headersTimeout, timeout]).toEqual([30_000, 15_000, 30_000])
  })

  it('do not delay SIGTERM', async () => {
    // Longer than this test may take
    const server = (await makeMachine('sqlite')).start('serve', { env: { FEEDBACKCTL_SHUTDOWN_TIMEOUT: '600' } })
    const [, url] = await server.says(/listening on (http:\S+?)"/)
    const clients = ['', HEADERS, LOGIN].map((bytes) => open(Number(new URL(url ?? '').port), bytes))
    await expect.poll(() => clients.map(({ socket }) => socket.bytesWritten > 0 || socket.readyState === 'open')).toEqual([true, true, true]) // prettier-ignore
    expect((await server.stop()).code).toBe(0)
  })
})

describe('more connections than there is room for', () => {
  it('close those that have been idle longest; those who are served go on being served', async () => {
    const { port } = await listening({ limits: { connections: 20 } })
    const served = open(port, GET)
    const idle: ReturnType<typeof open>[] = []
    const answered = () => served.text.split('HTTP/1.1 200').length - 1
    await expect.poll(answered).toBe(1)
    for (let round = 1; round <= 10; round++) {
      // Few enough that those of two rounds fit: the server may accept them after it has answered
      for (let count = 0; count < 6; count++) idle.push(open(port, count % 2 === 0 ? LOGIN : ''))
      await expect.poll(() => idle.every(({ closed, socket }) => closed || !socket.connecting)).toBe(true)
      served.socket.write(GET)
      await expect.poll(answered).toBe(round + 1)
    }
    await expect.poll(() => idle.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(40)
    expect(served.closed).toBe(false)
    expect(idle.filter(({ error }) => error)).toEqual([])
    const fresh = open(port, GET)
    await expect.poll(() => fresh.text).toMatch(/^HTTP\/1\.1 200/)
  })

  it('get 503 if all others are being served', async () => {
    const waiting: (() => void)[] = []
    const gate = () => new Promise<boolean>((resolve) => waiting.push(() => resolve(true)))
    const { port } = await listening({ limits: { connections: 3 }, gates: [gate] })
    const served = [1, 2, 3].map(() => open(port, GET))
    await expect.poll(() => waiting.length).toBe(3)
    const refused = open(port, GET)
    await expect.poll(() => refused.closed).toBe(true)
    expect(refused.text).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: \d[^]*"code":"SERVER_BUSY"/)
    expect([refused.error, waiting.length]).toEqual([undefined, 3])
    for (const go of waiting) go()
    await expect.poll(() => served.map(({ text }) => text.slice(0, 12))).toEqual(Array(3).fill('HTTP/1.1 200'))
  })

  it('are cut without a response if too many do not close after it', async () => {
    let served = 0
    const gate = () => new Promise<boolean>(() => void served++)
    const { port } = await listening({ limits: { connections: 3 }, gates: [gate] })
    for (let count = 0; count < 3; count++) open(port, GET)
    await expect.poll(() => served).toBe(3)
    const refused = Array.from({ length: 60 }, () => open(port, GET, { allowHalfOpen: true }))
    await expect.poll(() => refused.every(({ closed, ended, text }) => closed || ended || text !== '')).toBe(true)
    const texts = refused.map(({ text }) => text.slice(0, 12))
    expect(new Set(texts)).toEqual(new Set(['HTTP/1.1 503', '']))
    expect(texts.filter(Boolean).length).toBeGreaterThanOrEqual(32)
  })

  it('do not use up the descriptors of the process', async () => {
    const machine = await makeMachine('sqlite')
    const port = await freePort()
    const command = `ulimit -n 100; exec '${process.execPath}' '${PROGRAM}' serve --listen 127.0.0.1:${port}`
    const child = spawn('bash', ['-c', command], { env: machine.env, stdio: 'ignore' })
    cleanup(async () => void child.kill('SIGKILL'))
    const isUp = async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.status
    await expect.poll(isUp).toBe(200)
    const many = Array.from({ length: 150 }, () => open(port))
    await expect.poll(() => many.every(({ closed, socket }) => closed || !socket.connecting)).toBe(true)
    const clients = Array.from({ length: 20 }, () => open(port, GET))
    await expect.poll(() => clients.filter(({ text }) => text.startsWith('HTTP/1.1 200')).length).toBe(20) // prettier-ignore
  })
})

describe.each([1, 2])('SIGTERM under load with %i workers', (workers) => {
  it('cuts no request that was sent before its connection was said to close', async (context) => {
    const machine = await makeMachine('sqlite')
    const token = await machine.setup()
    const counts = { stops: 0, answered: 0 }
    while (counts.stops < amount(2, 20)) {
      const port = await freePort()
      const server = machine.start(`serve --workers ${workers} --listen 127.0.0.1:${port}`)
      for (let count = 0; count < workers; count++)
        await expect.poll(() => server.output().stderr.split('listening on').length).toBeGreaterThan(workers) // prettier-ignore
      const ended = new AbortController()
      const clients = Array.from({ length: 12 }, (_, number) => keepSending(port, token, number, ended.signal))
      await expect.poll(() => clients.every(({ result }) => result.answered >= 5)).toBe(true)
      const { code } = await server.stop()
      ended.abort()
      const results = await Promise.all(clients.map(({ ended }) => ended))
      expect(results.flatMap(({ cut }) => cut)).toEqual([])
      expect(code).toBe(0)
      for (const { answered } of results) counts.answered += answered
      if (results.some(({ wasPaused }) => wasPaused)) continue // another stop
      expect(results.every(({ wasToldToClose }) => wasToldToClose)).toBe(true)
      counts.stops++
    }
    figures(context, `${counts.stops} stops, ${counts.answered} requests answered, 0 cut`)
  })
})

interface Sent {
  answered: number
  cut: string[]
  wasToldToClose: boolean
  /** Whether its connection was closed because this process sent nothing for as long as idle connections stay open. */
  wasPaused: boolean
}

/** Reads and writes over one connection at a time until the server listens no more. */
function keepSending(port: number, token: string, client: number, signal: AbortSignal) {
  const result: Sent = { answered: 0, cut: [], wasToldToClose: false, wasPaused: false }
  return { result, ended: sendAll(result, port, token, client, signal) }
}

async function sendAll(result: Sent, port: number, token: string, client: number, signal: AbortSignal): Promise<Sent> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let lastSentAt = Infinity
  for (let number = 0; !signal.aborted; number++) {
    const outcome = await send(port, token, agent, number % 4 === 0 ? `post ${client} ${number} ${port}` : undefined)
    if (outcome.error === 'ECONNREFUSED') break
    // A new connection that the system had not handed to the server when it stopped listening
    if (outcome.error === 'ECONNRESET' && !outcome.reused && result.wasToldToClose) break
    const isPaused = outcome.reused === true && outcome.sentAt - lastSentAt > IDLE_GRACE_MS
    lastSentAt = outcome.sentAt
    if (isPaused && /^(ECONNRESET|EPIPE)$/.test(outcome.error ?? '')) {
      result.wasPaused = true
      break
    }
    if (outcome.error !== undefined) {
      result.cut.push(`${outcome.error} on a ${outcome.reused ? 'used' : 'new'} connection`)
      break
    }
    result.answered++
    result.wasToldToClose ||= outcome.close === true
  }
  agent.destroy()
  return result
}

interface Outcome {
  /** When the request was written, in milliseconds. */
  sentAt: number
  error?: string
  reused?: boolean
  close?: boolean
}

const send = (port: number, token: string, agent: Agent, title: string | undefined) =>
  new Promise<Outcome>((resolve) => {
    let sentAt = performance.now()
    const sent = request({
      agent,
      port,
      host: '127.0.0.1',
      method: title === undefined ? 'GET' : 'POST',
      path: title === undefined ? '/api/v1/boards' : '/api/v1/posts',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    sent.on('socket', () => (sentAt = performance.now()))
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ sentAt, error: error.code ?? error.message, reused: sent.reusedSocket })) // prettier-ignore
    sent.on('response', (response) => {
      response.resume().on('end', () => {
        const status = response.statusCode ?? 0
        resolve({
          sentAt,
          ...(status < 300 ? { close: response.headers.connection === 'close' } : { error: String(status) }),
        })
      })
    })
    sent.end(title === undefined ? undefined : JSON.stringify({ title }))
  })

describe('clients that send requests and do not read', () => {
  const DOCUMENT = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
  const count = (text: string, what: string) => text.split(what).length - 1

  it('get the responses to 33 requests, one 503, and the end of the connection', async () => {
    const { port } = await listening({})
    const client = open(port, GET.repeat(100))
    await expect.poll(() => client.closed).toBe(true)
    expect(client.error).toBeUndefined()
    expect(count(client.text, 'HTTP/1.1 200')).toBe(33)
    expect(client.text).toMatch(/HTTP\/1\.1 503 [^]*connection: close[^]*"code":"SERVER_BUSY"[^]*$/i)
    expect(count(client.text, 'HTTP/1.1 ')).toBe(34)
    const next = open(port, GET.repeat(33))
    await expect.poll(() => count(next.text, 'HTTP/1.1 200')).toBe(33)
    next.socket.write(GET.repeat(33)) // those before are answered, and wait no more
    await expect.poll(() => count(next.text, 'HTTP/1.1 200')).toBe(66)
  })

  it('share a limit of waiting requests, which the responses and the end of a connection give back', async () => {
    const { port } = await listening({ limits: { allWaiting: 10 } })
    const [one, other] = [open(port, GET.repeat(12)), open(port, GET.repeat(12))]
    await expect.poll(() => [one.closed, other.closed]).toEqual([true, true])
    expect([one.text, other.text].map((text) => count(text, 'HTTP/1.1 503'))).toEqual([1, 1])
    const next = open(port, GET.repeat(11))
    await expect.poll(() => count(next.text, 'HTTP/1.1 200')).toBe(11)
  })

  it('are handled one request after another', async () => {
    const { port, site } = await listening({})
    const token = await site.owner()
    const both = ['one', 'two', 'three'].map((url) => {
      const body = JSON.stringify({ name: url, url })
      const head = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
      const write = `POST /api/v1/boards HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      return `${write}GET /api/v1/boards/${url} HTTP/1.1\r\n${head}\r\n`
    })
    const client = open(port, both.join(''))
    await expect.poll(() => count(client.text, 'HTTP/1.1 ')).toBe(6)
    expect(client.text.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['201', '200', '201', '200', '201', '200'])
  })

  it('are cut, those with the most first, if together they leave too much unsent', async () => {
    const { port, site } = await listening({ limits: { unsent: 500_000 } })
    const { text: document } = await site.http('GET /openapi.json')
    const greedy = Array.from({ length: 8 }, () => {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
      cleanup(async () => void socket.destroy())
      socket.write(DOCUMENT.repeat(33)) // a connection without a listener for its data does not read
      return socket
    })
    const modest = open(port)
    for (let times = 1; times <= 40; times++) {
      modest.socket.write(DOCUMENT)
      await expect.poll(() => modest.text.endsWith(`\r\n\r\n${document}`)).toBe(true)
      modest.text = ''
    }
    for (const socket of greedy) socket.resume()
    await expect.poll(() => greedy.some(({ closed }) => closed)).toBe(true)
    expect(modest.closed).toBe(false)
  })
})
