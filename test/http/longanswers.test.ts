import { once } from 'node:events'
import { connect } from 'node:net'
import * as Type from 'typebox'
import { expect, it, vi } from 'vitest'
import { operation, type AnyOperation } from '../../src/service/lib/operation.js'
import { fields } from '../../src/service/lib/schemas.js'
import { makeGate } from '../support/gate.js'
import { cleanup, makeSite } from '../support/site.js'

/** A list of texts. `read` is called when one is serialised. */
const listOf = (length: number, read: (request: number) => void, character = 'x'): AnyOperation => {
  let requests = 0
  return operation({
    id: 'test.list',
    summary: 'List texts',
    http: 'GET /texts 200',
    access: 'public',
    errors: [],
    input: fields({}),
    output: Type.Object({ texts: Type.Array(Type.Object({ first: Type.String(), text: Type.String() })) }),
    async run() {
      const request = ++requests
      let reads = 0
      const row = { first: character.repeat(length) }
      // The first look is for its length
      const text = { enumerable: true, get: () => (++reads === 2 && read(request), 'x') }
      return { texts: [Object.defineProperty(row, 'text', text) as { first: string; text: string }] }
    },
  })
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
  const site = await makeSite('sqlite', { extra: [listOf(300_000, () => {}, character)] })
  const server = await site.server()
  const asked = vi.spyOn(server.connections, 'hasRoom')
  const { text } = await site.http('GET /texts')
  expect([Buffer.byteLength(text) > 300_000 * bytes, asked.mock.calls]).toEqual([true, [[300_000 * bytes + 1]]])
})

it('a client that goes, or that does not read, is in the way of no other', async () => {
  const gate = makeGate()
  const site = await makeSite('sqlite', { extra: [listOf(8_000_000, (request) => request === 1 && gate.open())] })
  const server = await site.server()
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.addresses()[0] as { port: number }
  const ask = () => {
    const socket = connect(port, '127.0.0.1').pause()
    socket.write('GET /api/v1/texts HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return socket
  }
  const unread = ask()
  await gate.opened
  const gone = [ask(), ask(), ask()]
  await Promise.all(gone.map((socket) => once(socket, 'connect')))
  for (const socket of gone) socket.destroy()
  const { status } = await fetch(`http://127.0.0.1:${port}/api/v1/texts`)
  expect(status).toBe(200)
  unread.destroy()
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
