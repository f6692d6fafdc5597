import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request } from 'node:http'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, it } from 'vitest'
import { nameSocket, removeAtExit, type SocketFile } from '../../src/core/socketfile.js'
import { Listener } from '../../src/http/listener.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, temporaryFolder } from '../support/site.js'

/** A machine whose server listens on a Unix socket. */
async function socketMachine() {
  const machine = await makeMachine('sqlite')
  const socket = path.join(machine.folder, 'site.sock')
  machine.env.FEEDBACKCTL_LISTEN = `unix:${socket}`
  return { machine, socket, mode: () => (statSync(socket).mode & 0o777).toString(8) }
}

const statusAt = (socketPath: string, target: string, headers = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path: target, headers, agent: false }, (response) =>
      response.resume().on('end', () => resolve(response.statusCode ?? 0)),
    )
      .on('error', reject)
      .end()
  })

it.each(['serve', 'serve --workers 2'])('listens on a Unix socket, and removes it in the end: %s', async (args) => {
  const { machine, socket, mode } = await socketMachine()
  const server = machine.start(args)
  expect((await server.says(/listening on (\S+?)"/))[1]).toBe(`unix:${socket}`)
  expect(mode()).toBe('660')
  expect(await machine.run('healthcheck --ready')).toMatchObject({ code: 0, stdout: `unix:${socket}\tready\n` })
  expect((await machine.run('status --json')).stdout).toContain(`"unix:${socket}"`)
  expect(await server.stop()).toMatchObject({ code: 0 })
  expect(existsSync(socket)).toBe(false)
  expect(await machine.run('healthcheck')).toMatchObject({
    code: 6,
    stderr: expect.stringContaining(`unix:${socket} cannot be reached: nothing listens there.`),
  })
})

it('knows visitors by X-Forwarded-For, as only a proxy of this machine connects there, and limits each', async () => {
  const { machine, socket } = await socketMachine()
  const server = machine.start('serve --limits-requests 2/1m')
  await server.says(/listening on/)
  const ask = (from: string) => statusAt(socket, '/api/v1/boards', { 'x-forwarded-for': from })
  const statuses = []
  for (const from of ['203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.2']) statuses.push(await ask(from))
  expect(statuses).toEqual([200, 200, 429, 200])
  await server.says(/"remoteAddress":"203\.0\.113\.2"/)
})

it('takes the place of a server that was killed, and not that of one which runs', async () => {
  const { machine, socket, mode } = await socketMachine()
  const killed = machine.start('serve')
  await killed.says(/listening on/)
  await killed.stop('SIGKILL')
  expect(existsSync(socket)).toBe(true)
  const both = ['serve', 'serve'].map((args) => machine.start(args, { env: { FEEDBACKCTL_SOCKET_MODE: '600' } }))
  const refused = await Promise.race(both.map(({ ended }) => ended))
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('another program listens there') })
  expect(await statusAt(socket, '/healthz')).toBe(200)
  expect(mode()).toBe('600')
})

it('takes the name of a server that stops while this one asks whether it runs', async () => {
  const folder = temporaryFolder()
  const [running, next, socket] = [createServer(), createServer(), path.join(folder, 'site.sock')]
  cleanup(() => [running, next].map((each) => each.close()))
  const listens = [once(running.listen(socket), 'listening'), once(next.listen(path.join(folder, 'next')), 'listening')]
  await Promise.all(listens)
  const naming = nameSocket(path.join(folder, 'next'), socket, 0o600)
  rmSync(socket)
  expect(await naming).toMatchObject({ socket })
  expect(readdirSync(folder)).toEqual(['site.sock'])
})

it.each(['serve', 'serve --workers 2'])('leaves the name to a server that has taken it since: %s', async (args) => {
  const { machine, socket } = await socketMachine()
  const first = machine.start(args)
  await first.says(/listening on/)
  rmSync(socket) // as what cleans up old files does
  const second = machine.start('serve')
  await second.says(/listening on/)
  expect(await first.stop()).toMatchObject({ code: 0 })
  expect(await statusAt(socket, '/healthz')).toBe(200)
  expect(readdirSync(machine.folder).filter((name) => statSync(path.join(machine.folder, name)).isSocket())).toEqual(['site.sock']) // prettier-ignore
  expect(await second.stop()).toMatchObject({ code: 0 })
  expect(existsSync(socket)).toBe(false)
})

it('makes the socket anew after all workers were killed, and removes that one in the end', async () => {
  const { machine, socket } = await socketMachine()
  const server = machine.start('serve --workers 2')
  await server.says(/listening on[^]*listening on/)
  const before = statSync(socket).ino
  const pid = server.child.pid ?? 0
  for (const worker of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean))
    process.kill(Number(worker), 'SIGKILL')
  await expect.poll(() => statSync(socket).ino).not.toBe(before)
  expect(await statusAt(socket, '/healthz')).toBe(200)
  expect(await server.stop()).toMatchObject({ code: 0 })
  expect(existsSync(socket)).toBe(false)
})

it('is removed by the server that named it, and by the primary alone where that is a worker, whenever it fails', async () => {
  const socket = path.join(temporaryFolder(), 'site.sock')
  const alone = await Listener.open({ socket }, createHttpServer())
  expect(existsSync(socket)).toBe(true)
  alone.close()
  expect(existsSync(socket)).toBe(false)
  const told: SocketFile[] = []
  const worker = await Listener.open({ socket }, createHttpServer(), { shared: 'family', handOver: (named) => void told.push(named) }) // prettier-ignore
  expect(told).toMatchObject([{ socket }])
  worker.close() // before it said that it listens, when another worker may serve there
  expect(existsSync(socket)).toBe(true)
  for (const named of told) removeAtExit(named).remove()
  expect(existsSync(socket)).toBe(false)
})

it.each([
  ['unix:no/such/folder', 78, 'there is no such folder, or this user may not write in it'],
  ['unix:taken', 6, 'another program listens there, or a file has that name'],
  ['unix:', 78, 'listen must be HOST:PORT, PORT or unix:PATH; "unix:" is not'],
  ['unix:folder/', 78, 'listen must be HOST:PORT, PORT or unix:PATH'],
  [`unix:/${'ü'.repeat(60)}`, 78, 'must have a path of at most 103 bytes'],
])('refuses %s', async (address, code, message) => {
  const { machine } = await socketMachine()
  writeFileSync(path.join(machine.folder, 'taken'), 'mine')
  const { stderr, ...result } = await machine.process(`serve --listen '${address}'`)
  expect(result).toMatchObject({ code })
  expect(stderr).toContain(message)
  expect(existsSync(path.join(machine.folder, 'taken'))).toBe(true)
})
