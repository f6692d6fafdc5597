import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import * as Type from 'typebox'
import { expect, it, vi } from 'vitest'
import { readSettings } from '../../src/db/settings.js'
import { IDLE_GRACE_MS } from '../../src/http/lib/connections.js'
import { operation, type AnyOperation } from '../../src/service/lib/operation.js'
import { fields } from '../../src/service/lib/schemas.js'
import { cleanup, makeSite } from '../support/site.js'

/** What a request takes here, in milliseconds of a clock that only requests move. A turn has room for five. */
const COST = 4.5
const PER_TURN = 5
const CLIENTS = 40

const SLOW = 'GET /api/v1/slow HTTP/1.1\r\nHost: localhost\r\n'
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
const LAST = 'Connection: close\r\n\r\n'

/** A server with a request that takes time, and what it did in each turn of the event loop. */
async function slowSite(cache: { cache?: 'public' } = {}) {
  vi.useFakeTimers({ toFake: ['performance'] })
  cleanup(async () => void vi.useRealTimers())
  const turns: string[][] = []
  let isCounting = false
  const did = (what: string) => {
    if (!isCounting) {
      isCounting = true
      turns.push([])
      setImmediate(() => (isCounting = false))
    }
    turns.at(-1)?.push(what)
  }
  const slow: AnyOperation = {
    ...operation({
      id: 'test.slow',
      summary: 'Take time',
      http: 'GET /slow 200',
      access: 'public',
      errors: [],
      input: fields({ name: Type.String({ default: '' }) }),
      output: Type.Object({ name: Type.String() }),
      async run({ db }, { name }) {
        await (cache.cache ? readSettings(db) : Promise.resolve()) // as with queries of SQLite, it goes on in the same turn
        vi.advanceTimersByTime(COST)
        did(name)
        return { name }
      },
    }),
    ...cache,
  }
  const site = await makeSite('sqlite', { extra: [slow], rerun: false })
  const server = await site.server()
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.addresses()[0] as { port: number }
  await fetch(`http://127.0.0.1:${port}/healthz`) // loads what the first request loads
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(HEALTH)
    await once(socket, 'data') // the server accepts one connection in a turn
    return socket
  }
  return { server, turns, did, open, sockets: () => Promise.all(Array.from({ length: CLIENTS }, open)) }
}

const named = (name: number | string) => SLOW.replace('/slow', `/slow?name=${name}`)
const statusesOf = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

it('requests that many visitors send at once are handled a few in each turn, in their order', async () => {
  const { turns, sockets } = await slowSite()
  const all = await sockets()
  for (const [index, socket] of all.entries()) socket.write(named(index) + LAST)
  const answers = await Promise.all(all.map((socket) => text(socket)))
  expect(answers.map(statusesOf)).toEqual(all.map(() => ['200']))
  expect(turns.flat().length).toBe(CLIENTS)
  expect(turns.map(({ length }) => length).filter((count) => count > PER_TURN)).toEqual([])
  expect(turns.flat().map(Number)).toEqual(all.map((_, index) => index))
})

it('a probe does not wait behind them', async () => {
  const { turns, did, sockets, open } = await slowSite()
  const all = await sockets()
  const probe = await open()
  probe.on('data', () => did('probe'))
  probe.write(HEALTH)
  for (const [index, socket] of all.entries()) socket.write(named(index) + LAST)
  const ask = () => void (turns.flat().length < CLIENTS && probe.write(HEALTH))
  probe.on('data', ask)
  await Promise.all(all.map((socket) => text(socket)))
  probe.destroy()
  const done = turns.flat()
  const gaps = done.join(' ').split('probe').map((gap) => gap.split(' ').filter((each) => each !== '').length) // prettier-ignore
  expect(Math.max(...gaps)).toBeLessThanOrEqual(PER_TURN * 2) // its answer is read a turn after it was sent
})

it('many who wait for one page that is not cached yet get the one that the first of them made', async () => {
  const { turns, sockets } = await slowSite({ cache: 'public' })
  const all = await sockets()
  for (const [index, socket] of all.entries()) socket.write(named(index < PER_TURN ? index : 'same') + LAST)
  const answers = await Promise.all(all.map((socket) => text(socket)))
  expect(answers.map(statusesOf)).toEqual(all.map(() => ['200']))
  expect(turns.flat()).toEqual([...Array.from({ length: PER_TURN }, (_, index) => String(index)), 'same'])
})

it('the requests of one connection keep their order, and have their limit, while they wait', async () => {
  const { server, turns, sockets, open } = await slowSite()
  const [one, flood, all] = [await open(), await open(), await sockets()]
  for (const [index, socket] of all.entries()) socket.write(named(index) + LAST)
  one.write(named('a') + '\r\n' + HEALTH + named('b') + LAST)
  flood.write((named('flood') + '\r\n').repeat(server.connections.limits.waiting + 2))
  const [first, second] = await Promise.all([text(one), text(flood), ...all.map((socket) => text(socket))])
  expect([...first.matchAll(/"(?:name|status)":"(\w+)"/g)].map(([, name]) => name)).toEqual(['a', 'ok', 'b'])
  expect(statusesOf(second)).toEqual([...Array.from({ length: server.connections.limits.waiting + 1 }, () => '200'), '503']) // prettier-ignore
  expect(turns.map(({ length }) => length).filter((count) => count > PER_TURN)).toEqual([])
})

it('a request whose client goes while it waits is not handled', async () => {
  const { turns, sockets } = await slowSite()
  const all = await sockets()
  for (const [index, socket] of all.entries()) {
    socket.write(named(index) + LAST)
    if (index >= CLIENTS / 2)
      socket
        .once('ready', () => {})
        .end()
        .destroySoon()
  }
  const staying = all.slice(0, CLIENTS / 2)
  expect((await Promise.all(staying.map((socket) => text(socket)))).map(statusesOf)).toEqual(staying.map(() => ['200']))
  expect(turns.flat().length).toBeLessThan(CLIENTS)
})

it('a server that stops answers the requests that wait', async () => {
  const { server, sockets } = await slowSite()
  const all = await sockets()
  const draining = server.connections.drain(30)
  await vi.waitUntil(() => server.connections.isDraining, { interval: 1 })
  for (const [index, socket] of all.entries()) socket.write(`${named(index)}\r\n`)
  const answers = await Promise.all(all.map((socket) => text(socket)))
  vi.advanceTimersByTime(31_000) // for other connections, which are idle
  await draining
  expect(answers.map(statusesOf)).toEqual(all.map(() => ['200']))
})

it('a server that was held up while it stops first reads what has arrived meanwhile', async () => {
  const { server, sockets } = await slowSite()
  const all = await sockets()
  const draining = server.connections.drain(30)
  await vi.waitUntil(() => server.connections.isDraining, { interval: 1 })
  await new Promise(setImmediate) // timers come next, and sockets after them
  for (const [index, socket] of all.entries()) socket.write(named(index) + '\r\n')
  vi.advanceTimersByTime(5000) // the grace for idle connections, and for requests that arrive, is over
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100) // its next look is due before it reads
  expect((await Promise.all(all.map((socket) => text(socket)))).map(statusesOf)).toEqual(all.map(() => ['200']))
  await draining
})

it('a server that was held up before it tells clients to close gives idle connections their whole grace', async () => {
  const { server, sockets } = await slowSite()
  const all = await sockets()
  const looks = vi.spyOn(performance, 'now')
  const ending = { isOver: false }
  /** Waits without moving the clock, which `vi.waitUntil` moves. */
  const until = async (holds: () => boolean) => {
    while (!holds() && !ending.isOver) await new Promise(setImmediate)
    looks.mockClear()
  }
  const draining = server.connections.drain(30).finally(() => (ending.isOver = true))
  vi.advanceTimersByTime(5000)
  await until(() => server.connections.isDraining)
  await until(() => looks.mock.calls.length >= 2)
  vi.advanceTimersByTime(IDLE_GRACE_MS - 1)
  await until(() => looks.mock.calls.length >= 2)
  for (const [index, socket] of all.entries()) socket.write(named(index) + '\r\n')
  expect((await Promise.all(all.map((socket) => text(socket)))).map(statusesOf)).toEqual(all.map(() => ['200']))
  vi.advanceTimersByTime(5000) // for other connections, which are idle
  await draining
})
