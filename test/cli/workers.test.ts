import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { engines } from '../support/site.js'

/** Starts two workers, and returns their address and process ids. `meanwhile` runs once the first listens. */
async function startTwoWorkers(machine: Machine, meanwhile?: (url: string) => unknown) {
  const port = await freePort()
  const server = machine.start(`serve --workers 2 --listen 127.0.0.1:${port} --log-level info`, {
    env: { FEEDBACKCTL_MAIL_URL: `folder:${machine.folder}/mail` },
  })
  const workers = () => {
    const lines = server
      .output()
      .stderr.split('\n')
      .filter((line) => line.includes('"listening on '))
    return lines.map((line) => (JSON.parse(line) as { pid: number }).pid)
  }
  const url = `http://127.0.0.1:${port}`
  await expect.poll(() => workers().length).toBeGreaterThan(0)
  meanwhile?.(url)
  await expect.poll(() => workers().length).toBe(2)
  return { server, url, workers }
}

describe.each(engines)('feedbackctl serve --workers 2 on %s', (engine) => {
  it('restarts a worker that is killed, and loses no acknowledged write', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const { server, url, workers } = await startTwoWorkers(machine)
    const acknowledged: string[] = []
    const until = new AbortController()
    const writer = async (name: string) => {
      for (let number = 0; !until.signal.aborted; number++) {
        const board = `${name}-${number}`
        const answer = await fetch(`${url}/api/v1/boards`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: board }),
          signal: AbortSignal.timeout(5000), // Node drops a connection that it hands to a dying worker
        }).catch(() => undefined) // the worker was killed
        if (answer?.status === 201) acknowledged.push(board)
      }
    }
    const writing = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(writer))
    await expect.poll(() => acknowledged.length).toBeGreaterThan(50)
    process.kill(workers()[1] ?? 0, 'SIGKILL')
    await server.says(/"reason":"SIGKILL".*"msg":"a worker exited and is restarted"/)
    await expect.poll(() => workers().length).toBe(3)
    const before = acknowledged.length
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 20)
    until.abort()
    await writing
    const { code } = await server.stop()
    expect(code).toBe(0)
    const stored = new Set((await machine.run('boards list --all -q')).stdout.trim().split('\n'))
    expect(acknowledged.filter((board) => !stored.has(board))).toEqual([])
  })

  it('shows every worker what one of them wrote, and sends each mail once', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const { url } = await startTwoWorkers(machine)
    const mails = () => readdirSync(path.join(machine.folder, 'mail')).length
    const before = mails()
    for (let round = 0; round < 30; round++) {
      const title = `Title ${round}`
      // So that the next request goes to the other worker
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' }
      await fetch(`${url}/api/v1/settings/site`, { method: 'PATCH', headers, body: JSON.stringify({ title }) })
      for (let reads = 0; reads < 2; reads++) {
        const shown = (await (await fetch(`${url}/api/v1/settings/site`, { headers })).json()) as {
          settings: { title: string }
        }
        expect(shown.settings.title).toBe(title)
      }
    }
    const verify = await fetch(`${url}/api/v1/auth/email/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(verify.status).toBe(200)
    await expect.poll(mails).toBe(before + 1)
  })
})

it('a worker that starts responds to the connections that come while it begins to listen', async () => {
  const machine = await makeMachine('sqlite')
  const failures: unknown[] = []
  const until = new AbortController()
  let connecting: Promise<unknown> | undefined
  const { server } = await startTwoWorkers(machine, (url) => {
    const connect = async () => {
      while (!until.signal.aborted)
        await once(get(`${url}/healthz`, { agent: false }), 'response').then(
          ([response]: IncomingMessage[]) => response?.resume(),
          (error: unknown) => failures.push(error),
        )
    }
    connecting = Promise.all(Array.from({ length: 8 }, connect))
  })
  until.abort()
  await connecting
  await server.stop()
  expect(failures).toEqual([])
  expect(server.output().stderr).not.toContain('a worker exited')
})

it('feedbackctl serve --workers reports once that its port is in use, and exits with 6', async () => {
  const machine = await makeMachine('sqlite')
  const { url } = await startTwoWorkers(machine)
  const refused = await machine.run(`serve --workers 3 --listen ${url.slice('http://'.length)}`)
  expect(refused).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(/^(?:{.*\n)*✗ Cannot listen on .*\n(?! *✗)[^✗]*$/),
  })
})

it('workers of feedbackctl serve stop gracefully when their primary is killed', async () => {
  const machine = await makeMachine('sqlite')
  const { server, workers } = await startTwoWorkers(machine)
  const pids = workers()
  await server.stop('SIGKILL')
  const alive = () =>
    pids.filter((pid) => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    })
  await expect.poll(alive).toEqual([])
})
