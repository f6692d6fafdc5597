import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { LENGTHS } from '../../src/core/lengths.js'
import { cleanup, engines, makeSite } from '../support/site.js'

const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }

describe.each(engines)('the longest text on %s', (engine) => {
  it.each([
    ['Chinese', '中'],
    ['emoji', '😀'],
  ])('is accepted in %s: as JSON and from a form', async (_, character) => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost' })
    const token = await site.owner()
    const { board } = (await site.http('POST /boards', { token, body: { name: 'Ideas' } })).body
    const contentMarkdown = character.repeat(LENGTHS.text)
    const { status, body } = await site.http('POST /posts', { token, body: { title: 'Long', contentMarkdown, boardId: board.boardId } }) // prettier-ignore
    expect([status, body.post?.contentMarkdown === contentMarkdown]).toEqual([201, true])
    const fields = { title: 'From a form', contentMarkdown, board: board.url, checked: 'true' }
    const sent = await site.http('POST //posts/new', { body: new URLSearchParams(fields).toString(), headers: { ...FORM, cookie: `feedbackctl=${token}` } }) // prettier-ignore
    expect([sent.status, sent.headers.location]).toEqual([303, expect.stringContaining('/posts/from-a-form')])
    const stored = await site.db.selectFrom('posts').select('contentMarkdown').execute()
    expect(stored.map((post) => post.contentMarkdown === contentMarkdown)).toEqual([true, true])
  })
})

it('JSON that escapes each character of the longest text is accepted, and a larger body is refused', async () => {
  const site = await makeSite('sqlite')
  const token = await site.owner()
  const headers = { 'content-type': 'application/json' }
  const send = async (text: string) =>
    (await site.http('POST /posts', { token, headers, body: `{"title":"Long","contentMarkdown":"${text}"}` })).status
  expect(await send(String.raw`\u4e2d`.repeat(LENGTHS.text))).toBe(201)
  expect(await send('x'.repeat(LENGTHS.text * 8))).toBe(413)
})

describe('bodies that arrive', () => {
  const SIZE = 90_000
  const HEAD = `POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${SIZE}\r\n\r\n{`

  async function slowSenders(limits: { bodies: number }) {
    const site = await makeSite('sqlite', { limits })
    const { port } = new URL(await (await site.server()).listen({ host: '127.0.0.1', port: 0 }))
    return (head = HEAD) => {
      const state = { text: '', closed: false, socket: connect(Number(port), '127.0.0.1') }
      cleanup(() => void state.socket.destroy())
      state.socket.on('data', (data) => (state.text += String(data)))
      state.socket.on('error', () => {}).on('close', () => (state.closed = true))
      return new Promise<typeof state>((resolve) => state.socket.write(head, () => resolve(state)))
    }
  }

  it('need bounded memory: the one that has been arriving longest is refused, and a quick one passes', async () => {
    const open = await slowSenders({ bodies: SIZE * 3 })
    const slow = [await open(), await open(), await open()]
    const quick = await open(HEAD + ' '.repeat(SIZE - 2) + '}')
    await expect.poll(() => quick.text).toMatch(/^HTTP\/1\.1 400 /) // it names no user
    await expect.poll(() => slow.map(({ closed }) => closed)).toEqual([true, false, false])
    expect(slow[0]?.text).toMatch(/^HTTP\/1\.1 408 /)
    const chunked = HEAD.replace(/Content-Length.*/, 'Transfer-Encoding: chunked')
    await open(chunked) // may be of any length, so that it needs all there is
    await expect.poll(() => slow.map(({ closed }) => closed)).toEqual([true, true, true])
  })

  it('are forgotten once they have arrived or their connection is closed', async () => {
    const open = await slowSenders({ bodies: SIZE * 2 })
    const slow = await open()
    for (let round = 0; round < 5; round++) {
      const quick = await open(HEAD + ' '.repeat(SIZE - 2) + '}')
      await expect.poll(() => quick.text).toMatch(/^HTTP\/1\.1 400 /)
      const broken = await open()
      broken.socket.destroy()
      await expect.poll(() => broken.closed).toBe(true)
    }
    expect(slow.closed).toBe(false)
  })
})
