import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pty from '@lydell/node-pty'
import { describe, expect, it } from 'vitest'
import { makeMachine, PROGRAM } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { cleanup } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/

/** Sends a second SIGHUP as soon as nothing listens for it. */
const SECOND_SIGNAL = `
  process.on('removeListener', (event) => {
    if (event === 'SIGHUP' && process.listenerCount('SIGHUP') === 0) process.kill(process.pid, 'SIGHUP')
  })`

describe('a terminal that is closed', () => {
  it.each([
    ['serve', /listening on/],
    ['serve --workers 2', /listening on[^]*listening on/],
    ['demo', /Serving until Ctrl-C/],
  ])('ends %s with 129', async (args, ready) => {
    const screen = (await makeMachine('sqlite')).terminal(args)
    await screen.sees(ready)
    screen.close()
    expect(await screen.ended).toMatchObject({ code: 129 })
  })

  it.each(['serve', 'serve --workers 2'])('ends %s with 129 if a second signal comes at once', async (args) => {
    const machine = await makeMachine('sqlite')
    const preload = path.join(machine.folder, 'second.cjs')
    writeFileSync(preload, SECOND_SIGNAL)
    const screen = machine.terminal(args, { env: { NODE_OPTIONS: `--require ${preload}` } })
    await screen.sees(args === 'serve' ? /listening on/ : /listening on[^]*listening on/)
    screen.close()
    expect(await screen.ended).toMatchObject({ code: 129 })
  })

  it('does not stop serve in the background, which still ends on SIGTERM', async () => {
    const machine = await makeMachine('sqlite')
    const port = await freePort()
    const start = `set -m; trap '' HUP; '${process.execPath}' '${PROGRAM}' serve --listen 127.0.0.1:${port} & echo "pid $!."; sleep 60`
    const shell = pty.spawn('bash', ['-c', start], { cwd: machine.folder, env: machine.env })
    let text = ''
    shell.onData((data) => (text += data))
    await expect.poll(() => text).toContain('listening on')
    const pid = Number(/pid (\d+)\./.exec(text)?.[1])
    cleanup(async () => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
    cleanup(async () => shell.kill('SIGKILL'))
    ;(shell as unknown as { destroy(): void }).destroy()
    for (let request = 0; request < 20; request++)
      expect((await fetch(`http://127.0.0.1:${port}/api/v1/boards`)).status).toBe(200)
    // A server that writes its log to the closed terminal again and again is never idle
    await expect.poll(() => ticksWithin(pid, 500)).toBeLessThan(3)
    process.kill(pid, 'SIGTERM')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})

it('SIGHUP without a terminal, as under nohup, does not stop serve, nor do SIGUSR1 and SIGUSR2', async () => {
  const server = (await makeMachine('sqlite')).start('serve')
  const [, url] = await server.says(LISTENING)
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) server.child.kill(signal)
  // A signal comes before what the process reads after it
  for (let request = 0; request < 5; request++) expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await server.stop()).code).toBe(0)
})

it('a command that fails ends with its code and all of its message, whatever is still open', async () => {
  const machine = await makeMachine('sqlite')
  const hook = path.join(machine.folder, 'hook.cjs')
  writeFileSync(hook, `require('node:net').createServer().listen(0, '127.0.0.1')`)
  const name = 'x'.repeat(100_000)
  const { code, stderr } = await machine.process(`boards ${name}`, { env: { NODE_OPTIONS: `--require ${hook}` } })
  expect(code).toBe(2)
  expect(stderr).toContain(name)
})

describe('serve --workers 2', () => {
  it('replaces a worker that was killed while it started, and says so', async () => {
    const server = (await makeMachine('sqlite')).start('serve --workers 2')
    const { pid = 0 } = server.child
    await expect.poll(() => childrenOf(pid).length, { interval: 1 }).toBeGreaterThan(0)
    process.kill(childrenOf(pid)[0] ?? 0, 'SIGKILL')
    await server.says(/"reason":"SIGKILL".*"msg":"a worker exited and is restarted"/)
    await server.says(LISTENING)
    expect((await server.stop()).code).toBe(0)
  })

  it('replaces a worker that hangs', async () => {
    const server = (await makeMachine('sqlite')).start('serve --workers 2')
    await server.says(/listening on[^]*listening on/)
    const [hung = 0] = childrenOf(server.child.pid ?? 0)
    process.kill(hung, 'SIGSTOP')
    await server.says(/"reason":"sent no heartbeat for 10 s".*"msg":"a worker exited and is restarted"/)
    await server.says(/listening on[^]*listening on[^]*listening on/)
    expect((await server.stop()).code).toBe(0)
  })
})

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Ticks of CPU, of which there are 100 in a second, that the process uses within so many milliseconds. */
async function ticksWithin(pid: number, milliseconds: number): Promise<number> {
  const before = ticks(pid)
  await sleep(milliseconds)
  return ticks(pid) - before
}

/** User and system time. */
const ticks = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')
  return Number(fields[13]) + Number(fields[14])
}
