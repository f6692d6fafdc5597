import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { cleanup, engines } from '../support/site.js'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `Title ${from + index}\n`).join('')

const titles = async ({ run }: Machine): Promise<string[]> =>
  JSON.parse((await run('posts list --all --sort oldest --fields title')).stdout).map((post: { title: string }) => post.title) // prettier-ignore

const rowsIn = (output: string): string[] => output.split('\n').filter((line) => line !== '')

describe.each(engines)('a server that is killed during an upload on %s', (engine) => {
  it('has what it acknowledged, and gets the rest from the same upload again', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const [server, again] = [machine.start('serve'), machine.start('serve')]
    const sending = async (url: string, query: string) => {
      const sent = request(new URL(`/api/v1/import/posts${query}`, url), {
        method: 'POST',
        headers: { 'content-type': 'text/csv', authorization: `Bearer ${token}` },
      })
      sent.on('error', () => {}).write(`title\n${lines(1, 150)}`)
      return sent
    }
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const sent = await sending(url, '')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    let output = ''
    answer.setEncoding('utf8').on('data', (part: string) => (output += part)).on('error', () => {}) // prettier-ignore
    await expect.poll(() => rowsIn(output).length).toBe(100)
    await server.stop('SIGKILL')
    expect(rowsIn(output).every((line) => JSON.parse(line).result === 'created')).toBe(true)
    expect(await titles(machine)).toEqual(rowsIn(lines(1, 100)))

    const [, other = ''] = await again.says(/listening on (http:\S+?)"/)
    const rest = await sending(other, '?ifNotExists=true')
    rest.end()
    const [whole] = (await once(rest, 'response')) as [IncomingMessage]
    expect(JSON.parse(rowsIn(await text(whole)).at(-1) ?? '')).toEqual({ result: 'complete', created: 50, existing: 100, failed: 0 }) // prettier-ignore
    expect(await titles(machine)).toEqual(rowsIn(lines(1, 150)))
  })

  it('ends "posts create -", which creates the rest when it runs again', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token }
    const serve = async () => {
      const server = machine.start(`serve --listen 127.0.0.1:${port}`)
      await server.says(/listening on/)
      return server
    }
    const server = await serve()
    const { child, output, ended } = machine.start('posts create - -q', { env })
    child.stdin?.write(lines(1, 130))
    await expect.poll(() => rowsIn(output().stdout).length).toBe(100)
    await server.stop('SIGKILL')
    child.stdin?.end(lines(131, 150))
    const { code, stderr } = await ended
    expect(code).toBe(7)
    expect(stderr).toMatch(/✗ line 101, "Title 101": Cannot reach .* Lines 101 to 150 may have been created/s)
    expect(stderr).toContain('The lines after 101 were not tried.')
    await serve()
    const again = await machine.run('posts create - --if-not-exists -o tsv --fields title', {
      env,
      stdin: lines(1, 150),
    })
    expect([again.code, again.stderr]).toEqual([0, expect.stringMatching(/^(\d+ posts …\n)*Created 50 posts\.\n100 posts existed already\.\n$/)]) // prettier-ignore
    expect(again.stdout).toBe(lines(1, 150))
    expect(await titles(machine)).toEqual(rowsIn(lines(1, 150)))
  })
})

it('"posts create -" sends a hundred posts in a request, and says which lines an answer leaves open', async () => {
  const machine = await makeMachine('sqlite')
  const asked: string[][] = []
  const server = createServer((received, response) => {
    void text(received).then((body) => {
      const rows = rowsIn(body)
      asked.push([received.url ?? '', received.headers['content-type'] ?? '', String(rows.length), rows[0] ?? ''])
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      const post = (row: string, line: number) => JSON.stringify({ line: line + 1, result: 'created', post: { ...JSON.parse(row), slug: `s${line}`, number: line } }) // prettier-ignore
      const answer = rows.map(post).slice(0, asked.length === 1 ? undefined : 20)
      response.write(`${answer.join('\n')}\n`, () => {
        if (asked.length === 1) response.end('{"result":"complete"}\n')
        else received.socket.resetAndDestroy()
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup(async () => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, stdout, stderr } = await machine.run(`posts create - -q --board ideas --server ${url}`, {
    stdin: `${lines(1, 99)}${'x'.repeat(101)}\n${lines(101, 250)}`,
  })
  expect(asked.map(([path, type, count]) => [path, type, count])).toEqual([
    ['/api/v1/import/posts?whole=true', 'application/x-ndjson', '99'],
    ['/api/v1/import/posts?whole=true', 'application/x-ndjson', '100'],
  ])
  expect(JSON.parse(asked[0]?.[3] ?? '')).toEqual({ title: 'Title 1', boardId: 'ideas' })
  expect([code, rowsIn(stdout).length]).toEqual([7, 119])
  expect(stderr).toMatch(/✗ line 100, "x+": title must be/)
  expect(stderr).toMatch(
    /✗ line 121, "Title 121": .* did not send all: the connection ended\. Lines 121 to 200 may have/,
  )
})
