import { readFileSync, statSync } from 'node:fs'
import { get } from 'node:http'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { cleanup } from '../support/site.js'

const MANAGER = path.resolve(import.meta.dirname, '../support/manager.js')
/** Those with workers take longer. */
const RESTARTS = Number(process.env.FEEDBACKCTL_TEST_RESTARTS ?? 6)
const REQUESTS = 50

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts a service manager that opens a socket and starts the program with it. */
async function managed(args: string, env: Record<string, string> = {}) {
  const machine = await makeMachine('sqlite', { program: MANAGER })
  const { FEEDBACKCTL_LISTEN: _own, ...own } = machine.env
  Object.assign(machine.env, own)
  const manager = machine.start(args, { env })
  /** Of the program, each time that it was started. */
  const pids = () => [...manager.output().stderr.matchAll(/^started (\d+)$/gm)].map(([, pid]) => Number(pid))
  cleanup(async () => {
    for (const pid of pids()) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  const lines = (pattern: RegExp) =>
    manager
      .output()
      .stderr.split('\n')
      .filter((line) => pattern.test(line))
  return { machine, manager, pids, lines }
}

/** Sends a request over a connection of its own, and returns its status or why there is none. */
const statusOf = (url: string): Promise<number | string> =>
  new Promise((resolve) => {
    get(`${url}/api/v1/boards`, { agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', ({ message }) => resolve(message))
    }).on('error', ({ message }) => resolve(message))
  })

/** Sends requests, several at a time, while the program is restarted. Returns how many were answered with what. */
async function restarted(args: string, { workers, restarts }: { workers: number; restarts: number }) {
  const port = await freePort()
  const { manager, pids, lines } = await managed(args, { ROUNDS: String(restarts + 1), AT: `127.0.0.1:${port}` })
  const answers = new Map<number | string, number>()
  const counted = () => [...answers.values()].reduce((sum, count) => sum + count, 0)
  const ended = new AbortController()
  await manager.says(/listening on/)
  const client = async () => {
    while (!ended.signal.aborted) {
      const answer = await statusOf(`http://127.0.0.1:${port}`)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  const clients = Array.from({ length: 4 }, client)
  for (let restart = 1; restart <= restarts; restart++) {
    await expect.poll(counted, { interval: 5 }).toBeGreaterThanOrEqual(REQUESTS * restart)
    await expect.poll(() => lines(/listening on/).length, { interval: 5 }).toBe(workers * restart)
    process.kill(pids().at(-1) ?? 0, 'SIGTERM')
  }
  await expect.poll(() => lines(/listening on/).length).toBe(workers * (restarts + 1))
  ended.abort()
  await Promise.all(clients)
  process.kill(pids().at(-1) ?? 0, 'SIGTERM')
  expect(await manager.ended).toMatchObject({ code: 0 })
  return answers
}

describe('feedbackctl serve with a socket that it inherits', () => {
  it.each([
    ['serve', { workers: 1, restarts: RESTARTS }],
    ['serve --workers 2', { workers: 2, restarts: Math.ceil(RESTARTS / 3) }],
  ])('refuses and resets no connection while it is restarted: %s', async (args, how) => {
    const answers = await restarted(args, how)
    expect([...answers.keys()]).toEqual([200])
    expect(answers.get(200)).toBeGreaterThanOrEqual(REQUESTS * how.restarts)
  })

  it('listens at its address and not at that of the settings, and says so', async () => {
    const { manager } = await managed('serve --listen 127.0.0.1:1', { NAMES: 'feedbackctl.socket' })
    const [line, url = ''] = await manager.says(/^.*"inherited":true.*listening on (http:\S+?)".*$/m)
    expect(line).not.toContain('127.0.0.1:1"')
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await manager.says(/listen is 127\.0\.0\.1:1, but/)).toBeTruthy()
  })

  it.each(['serve', 'serve --workers 2'])(
    'warns who can become the owner by its address, whatever listen is: %s',
    async (args) => {
      const at = `0.0.0.0:${await freePort()}`
      const open = await managed(`${args} --listen 127.0.0.1:1`, { AT: at })
      const [, danger] = await open.manager.says(/DANGER: anyone who reaches (.+?) first can become the owner/)
      expect(danger).toBe(args === 'serve' ? at : 'the inherited socket')
      expect(
        await open.manager.says(/listen is 127\.0\.0\.1:1, but the inherited socket is at http:\/\/0\.0\.0\.0:/),
      ).toBeTruthy()
    },
  )

  it('passes neither the variables nor the socket on to its workers', async () => {
    const { manager, pids, lines } = await managed('serve --workers 2', { NAMES: 'feedbackctl.socket' })
    await expect.poll(() => lines(/listening on/).length).toBe(2)
    const workers = lines(/listening on/).map((line) => (JSON.parse(line) as { pid: number }).pid)
    for (const pid of workers) expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/(^|\0)LISTEN_/)
    process.kill(workers[0] ?? 0, 'SIGKILL')
    await manager.says(/a worker exited and is restarted/)
    await expect.poll(() => lines(/listening on/).length).toBe(3)
    // With the last worker Node closes the socket, so only who passed it can start the server again
    process.kill(pids()[0] ?? 0, 'SIGSTOP')
    for (const line of lines(/listening on/)) {
      const { pid } = JSON.parse(line) as { pid: number }
      if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    }
    process.kill(pids()[0] ?? 0, 'SIGCONT')
    expect(await manager.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('the inherited sockets are closed with the last worker') }) // prettier-ignore
  })

  it.each([
    [{ FDS: '0' }, 'LISTEN_FDS must be a number of sockets from 1 to 16; "0" is not.'],
    [{ FDS: '17' }, '"17" is not.'],
    [{ FDS: '-1' }, '"-1" is not.'],
    [{ FDS: 'x'.repeat(1000) }, `"${'x'.repeat(100)}" is not.`],
    [{ FDS: '3', NAMES: 'site:admin:💡' }, 'Descriptor 4, "admin", is not a socket, although LISTEN_FDS says'],
    [{ KIND: 'none' }, 'Descriptor 3 is not a socket'],
    [{ KIND: 'file' }, 'Descriptor 3 is not a socket'],
    [{ KIND: 'udp' }, 'as descriptor 3 cannot be listened on: it must be one of TCP'],
  ])('refuses to start with %j', async (env, message) => {
    const { manager } = await managed('serve', env)
    expect(await manager.ended).toMatchObject({ code: 78, stderr: expect.stringContaining(message) })
  })

  it.each(['serve', 'serve --workers 2'])('listens on a Unix socket too, and leaves it: %s', async (args) => {
    const { machine, manager, pids } = await managed(args, { KIND: 'unix' })
    const socketPath = path.join(machine.folder, 'socket')
    await manager.says(/"inherited":true.*listening on unix:inherited/)
    const status = await new Promise((resolve) => {
      get({ socketPath, path: '/api/v1/boards', agent: false }, ({ statusCode }) => resolve(statusCode))
    })
    expect(status).toBe(200)
    process.kill(pids().at(-1) ?? 0, 'SIGTERM')
    expect(await manager.ended).toMatchObject({ code: 0 })
    expect(statSync(socketPath).isSocket()).toBe(true)
  })

  it('refuses a socket of a wrong kind with workers too', async () => {
    const { manager } = await managed('serve --workers 2', { KIND: 'udp' })
    expect(await manager.ended).toMatchObject({ code: 78, stderr: expect.stringContaining('it must be one of TCP') })
  })

  it.each([{ PID: '1' }, { PID: '' }, { PID: 'x', FDS: '0' }])(
    'ignores what is for another process: %j',
    async (env) => {
      const { manager } = await managed('serve --listen 127.0.0.1:0', env)
      const [line] = await manager.says(/^.*listening on.*$/m)
      expect(line).not.toContain('inherited')
    },
  )
})
