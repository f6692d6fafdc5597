import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

/** A server that answers every request so, and what it was asked. */
async function answering(listener: RequestListener): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim())
    listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup(async () => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

it('a server that redirects is not followed, so that the token goes nowhere else', async () => {
  const machine = await makeMachine('sqlite')
  const other = await answering((_, response) => response.end('{}'))
  const first = await answering((_, response) => response.writeHead(302, { location: other.url }).end())
  const { code, stderr } = await machine.run(`boards list --server ${first.url}`, { env: { FEEDBACKCTL_TOKEN: 'abc' } })
  expect([code, stderr]).toEqual([6, expect.stringContaining(`it redirects to ${other.url}. Give that address.`)])
  expect(first.asked).toEqual([expect.stringMatching(/^GET \/api\/v1\/boards\?.* Bearer abc$/)])
  expect(other.asked).toEqual([])
})

it.each([
  ['closes the connection', ((request) => request.socket.destroy()) satisfies RequestListener],
  ['breaks off its answer', ((request, response) => { response.writeHead(200, { 'content-length': 100 }); response.write('{'); setTimeout(() => request.socket.destroy(), 50) }) satisfies RequestListener], // prettier-ignore
  ['answers in another form', ((_, response) => response.end('<html>')) satisfies RequestListener],
] as [string, RequestListener][])('a server that %s is reported as unreachable', async (_, listener) => {
  const machine = await makeMachine('sqlite')
  const { url } = await answering(listener)
  const { code, stderr, stdout } = await machine.run(`boards list --server ${url}`)
  expect([code, stdout]).toEqual([6, ''])
  expect(stderr).toMatch(/SERVER_UNREACHABLE/)
  expect(stderr).toContain(url)
})

it('a deletion with a server sends what it deletes', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, {
    stdin: 'correct horse battery',
  })
  await machine.run(`boards create 'Größe' --url big --server ${url}`)
  expect(await machine.run(`boards delete big --yes --server ${url}`)).toMatchObject({ code: 0 })
  expect(JSON.parse((await machine.run('boards list --json')).stdout).total_count).toBe(0)
  expect(await machine.run(`logout --server ${url}`)).toMatchObject({ code: 0 })
})
