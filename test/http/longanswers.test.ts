import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as Type from 'typebox'
import { expect, it, vi } from 'vitest'
import { operation, type AnyOperation } from '../../src/service/lib/operation.js'
import { fields } from '../../src/service/lib/schemas.js'
import { makeGate } from '../support/gate.js'
import { cleanup, makeSite } from '../support/site.js'

interface Options {
  character?: string
  /** Called when the rows of a request are read. */
  asked?: (request: number) => void
  cache?: 'public'
}

/** A list of texts. `read` is called when one is serialised. */
const listOf = (
  length: number,
  read: (request: number) => void,
  { character = 'x', asked, cache }: Options = {},
): AnyOperation => {
  let requests = 0
  const list = operation({
    id: 'test.list',
    summary: 'List texts',
    http: 'GET /texts 200',
    access: 'public',
    errors: [],
    input: fields({}),
    output: Type.Object({ texts: Type.Array(Type.Object({ first: Type.String(), text: Type.String() })) }),
    async run() {
      const request = ++requests
      asked?.(request)
      let reads = 0
      const row = { first: character.repeat(length) }
      // The first look is for its length
      const text = { enumerable: true, get: () => (++reads === 2 && read(request), 'x') }
      return { texts: [Object.defineProperty(row, 'text', text) as { first: string; text: string }] }
    },
  })
  return cache ? { ...list, cache } : list
}

/** What happens to five requests at once: each is serialised, then handed over. */
async function orderOf(length: number): Promise<string[]> {
  const seen: string[] = []
  const site = await makeSite('sqlite', { extra: [listOf(length, () => void seen.push('serialised'))] })
  const server = await site.server()
  vi.spyOn(server.connections, 'produce').mockImplementation(() => void seen.push('made'))
  const answers = await Promise.all(Array.from({ length: 5 }, () => site.http('GET /texts')))
  expect(answers.map(({ status, text }) => [status, text.length > length])).toEqual(answers.map(() => [200, true]))
  return seen
}

it('long answers are made one after another, and short ones at once', async () => {
  const inTurn = Array.from({ length: 5 }, () => ['serialised', 'made']).flat()
  expect(await orderOf(2_000_000)).toEqual(inTurn)
  expect((await orderOf(10)).toSorted()).toEqual(inTurn.toSorted())
})

it.each([
  ['control characters of six bytes', '\u0001', 6],
  ['control characters of two bytes', '\t', 2],
  ['quotation marks', '"', 2],
  ['letters of three bytes', '語', 3],
])('%s count as the bytes that are written', async (_, character, bytes) => {
  const site = await makeSite('sqlite', { extra: [listOf(300_000, () => {}, { character })] })
  const server = await site.server()
  const asked = vi.spyOn(server.connections, 'hasRoom')
  const { text } = await site.http('GET /texts')
  expect([Buffer.byteLength(text) > 300_000 * bytes, asked.mock.calls]).toEqual([true, [[300_000 * bytes + 1]]])
})

/** A server, and what asks it for the texts over a connection of its own, of which nothing is read. */
async function listening(extra: AnyOperation) {
  const site = await makeSite('sqlite', { extra: [extra] })
  const server = await site.server()
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.addresses()[0] as { port: number }
  const ask = () => {
    const socket = connect(port, '127.0.0.1').pause()
    socket.write('GET /api/v1/texts HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return socket
  }
  return { server, url: `http://127.0.0.1:${port}/api/v1/texts`, ask }
}

it('a client that goes, or that does not read, is in the way of no other, and nothing is made for it', async () => {
  const [first, arrived] = [makeGate(), makeGate()]
  const serialised: number[] = []
  const read = (request: number) => {
    serialised.push(request)
    first.open()
  }
  const { server, url, ask } = await listening(
    listOf(8_000_000, read, { asked: (request) => request === 4 && arrived.open() }),
  )
  const unread = ask()
  await first.opened
  const hasRoom = vi.spyOn(server.connections, 'hasRoom').mockReturnValue(false)
  vi.useFakeTimers({ toFake: ['performance'] }) // the second one waits for room until it is gone
  cleanup(async () => void vi.useRealTimers())
  const gone = [ask(), ask(), ask()]
  await arrived.opened
  for (const socket of gone) socket.destroy()
  const open = promisify(server.server.getConnections.bind(server.server))
  await expect.poll(open).toBe(1)
  hasRoom.mockRestore()
  const { status } = await fetch(url)
  expect([status, serialised]).toEqual([200, [1, 5]])
  unread.destroy()
})

it('of answers that wait, only a few keep their rows, and the others are read again in their turn', async () => {
  const arrived = makeGate()
  const runs: number[] = []
  const asked = (request: number) => {
    runs.push(request)
    if (request === 12) arrived.open()
  }
  const site = await makeSite('sqlite', { extra: [listOf(2_000_000, () => {}, { asked, cache: 'public' })] })
  const server = await site.server()
  const hasRoom = vi.spyOn(server.connections, 'hasRoom').mockReturnValue(false)
  vi.useFakeTimers({ toFake: ['performance'] }) // the first one waits for room until the others wait for it
  cleanup(async () => void vi.useRealTimers())
  const answers = Array.from({ length: 12 }, () => site.http('GET /texts'))
  await arrived.opened
  for (let turn = 0; turn < 10; turn++) await setImmediate() // the last ones are measured
  hasRoom.mockReturnValue(true)
  const lengths = (await Promise.all(answers)).map(({ status, text }) => [status, text.length > 2_000_000])
  expect([lengths, runs.length]).toEqual([lengths.map(() => [200, true]), 12 + 7])
})

it('clients that read get their long answers whole, however many ask at once', async () => {
  const site = await makeSite('sqlite', { extra: [listOf(20_000_000, () => {})] })
  const server = await site.server()
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.addresses()[0] as { port: number }
  vi.useFakeTimers({ toFake: ['performance'] }) // a busy machine needs longer than they are waited for
  cleanup(async () => void vi.useRealTimers())
  const lengthOf = async () => (await (await fetch(`http://127.0.0.1:${port}/api/v1/texts`)).text()).length > 20_000_000
  const answers = await Promise.allSettled(Array.from({ length: 12 }, () => lengthOf()))
  expect(answers).toEqual(answers.map(() => ({ status: 'fulfilled', value: true })))
})
