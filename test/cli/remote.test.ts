import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { existsSync, statSync } from 'node:fs'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
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

/** Sends until the client closes the connection. */
function endless(response: ServerResponse): void {
  const part = Buffer.alloc(1024 * 1024, 'x')
  const send = () => {
    while (response.write(part));
  }
  response.on('drain', send)
  send()
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
  ['breaks off its answer', ((request, response) => { response.writeHead(200, { 'content-length': 100 }); response.write('{', () => request.socket.end()) }) satisfies RequestListener], // prettier-ignore
  ['answers in another form', ((_, response) => response.end('<html>')) satisfies RequestListener],
  ['answers with other JSON', ((_, response) => response.end('{"boards":{}}')) satisfies RequestListener],
  ['does not end its answer', ((_, response) => endless(response)) satisfies RequestListener],
] as [string, RequestListener][])('a server that %s is reported as unreachable', async (_, listener) => {
  const machine = await makeMachine('sqlite')
  const { url } = await answering(listener)
  const { code, stderr, stdout } = await machine.run(`boards list --server ${url}`)
  expect([code, stdout]).toEqual([6, ''])
  expect(stderr).toMatch(/SERVER_UNREACHABLE/)
  expect(stderr).toContain(url)
})

it.each([
  ['boards list', '{"boards":[null],"results":[null]}'],
  ['views list', '{"views":[{"name":"Mine"}]}'],
  ['users sessions ada', '{"sessions":[null]}'],
  ['roadmaps search later', '{"roadmaps":["Later"]}'],
  ['roles assign Member ada', '{}'],
])('the answer to "%s" is not %s, which no server sends', async (command, answer) => {
  const machine = await makeMachine('sqlite')
  const { url } = await answering((_, response) => response.end(answer))
  const { code, stderr, stdout } = await machine.run(`${command} --server ${url}`)
  expect([code, stdout, stderr]).toEqual([6, '', expect.stringContaining('not as feedbackctl does')])
})

const JSON_FILE = { 'content-type': 'application/json', 'content-disposition': 'attachment; filename="me.json"' }

it('a download that breaks off leaves no file, whatever its length', async () => {
  const machine = await makeMachine('sqlite')
  const file = path.join(machine.folder, 'me.json')
  const breaking = await answering((request, response) => {
    response.writeHead(200, JSON_FILE)
    response.write('{"profile":', () => request.socket.resetAndDestroy())
  })
  const broken = await machine.run(`account export me.json --server ${breaking.url}`)
  expect([broken.code, existsSync(file)]).toEqual([6, false])
  expect(broken.stderr).toContain(`${breaking.url} did not send all: the connection ended.`)
  expect(broken.stderr).toContain('Removed me.json, which was not complete.')
  const printed = await machine.run(`account export --server ${breaking.url}`)
  expect([printed.code, printed.stdout]).toEqual([6, '{"profile":'])
  const MB = Buffer.alloc(1024 * 1024, 'x')
  const long = await answering((_, response) => {
    response.writeHead(200, JSON_FILE)
    void pipeline(Readable.from(Array.from({ length: 70 }, () => MB)), response)
  })
  const whole = await machine.run(`account export me.json --server ${long.url}`)
  expect([whole.code, statSync(file).size, statSync(file).mode & 0o777]).toEqual([0, 70 * MB.length, 0o600])
})

it('Ctrl-C ends a download, and leaves no file', async () => {
  const machine = await makeMachine('sqlite')
  const { url } = await answering((_, response) => {
    response.writeHead(200, JSON_FILE)
    response.write('{"profile":') // and no more
  })
  const file = path.join(machine.folder, 'me.json')
  const running = machine.start(`account export me.json --server ${url}`)
  await expect.poll(() => existsSync(file) && statSync(file).size).toBeGreaterThan(0)
  const { code, stderr } = await running.stop('SIGINT')
  expect([code, existsSync(file)]).toEqual([130, false])
  expect(stderr).toContain('Removed me.json, which was not complete.')
})

it('an older server, which sends the data in parts, is not taken for a whole', async () => {
  const machine = await makeMachine('sqlite')
  const { url } = await answering((_, response) => response.writeHead(200).end('{"profile":{},"next":"posts~x"}'))
  const { code, stderr } = await machine.run(`account export me.json --server ${url}`)
  expect([code, stderr]).toEqual([6, expect.stringContaining('not as feedbackctl does')])
  expect(existsSync(path.join(machine.folder, 'me.json'))).toBe(false)
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

it('a session that has ended is said, where visitors may read too', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('boards create Ideas')
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const at = { env: { FEEDBACKCTL_SERVER: url } }
  expect(await machine.run('posts create Dark --body x', at)).toMatchObject({
    code: 4,
    stderr: `✗ Not signed in to ${url}.\n  fix   feedbackctl login --server ${url}\n  code  INVALID_AUTH_HEADER (exit 4)\n`,
  })
  const unopened = await machine.terminal("posts create 'Dark mode'", { env: { ...at.env, EDITOR: `touch ${machine.folder}/opened;` } }).ended // prettier-ignore
  expect([unopened.code, unopened.text]).toEqual([4, expect.stringContaining('Not signed in')])
  expect(existsSync(`${machine.folder}/opened`)).toBe(false)
  await machine.run('login --email ada@example.org --password-stdin', { ...at, stdin: 'correct horse battery' })
  expect((await machine.run('boards list', at)).stderr).toBe('')
  await machine.run('users sign-out ada@example.org --yes')
  const ended = `Your session at ${url} has ended.`
  expect(await machine.run('boards list -q --visibility public', at)).toEqual({
    code: 0,
    stdout: 'ideas\n',
    stderr: `${ended} You see what visitors see. To sign in, run:\n  feedbackctl login --server ${url}\n`,
  })
  expect(await machine.run('boards create More', at)).toMatchObject({
    code: 4,
    stderr: `✗ ${ended}\n  fix   feedbackctl login --server ${url}\n  code  INVALID_TOKEN (exit 4)\n`,
  })
  expect((await machine.run('boards list -q --visibility public', { env: { ...at.env, FEEDBACKCTL_TOKEN: 'x.y.z' } })).stderr).toContain(`${url} does not accept the token. You see`) // prettier-ignore
})

it('an empty flag selects no other site', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const flag of ['--server', '--data-dir', '--database-url', '--config', '--token-file'])
    expect(await machine.run(`users list ${flag} ''`)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`✗ ${flag} is empty. Give a `),
    })
})

it('a fix names what the command named, but not what was refused', async () => {
  const machine = await makeMachine('sqlite')
  const fixesOf = async (args: string) => (await machine.run(args)).stderr
  expect(await fixesOf('users list --data-dir /nonexist')).toContain('fix   feedbackctl setup --data-dir /nonexist ')
  for (const args of ['--config /nonexist.toml', '--server http://127.0.0.1:1 --token-file /nonexist'])
    expect(await fixesOf(`users list ${args}`)).toContain('fix   feedbackctl doctor config\n')
})
