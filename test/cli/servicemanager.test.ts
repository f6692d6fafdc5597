import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { ownPostgres } from '../support/postgres.js'
import { cleanup } from '../support/site.js'

/** A machine whose systemd-notify writes down what it was told, and with which socket. */
async function watched({ fails = false } = {}) {
  const machine = await makeMachine('sqlite')
  const bin = path.join(machine.folder, 'bin')
  const file = path.join(machine.folder, 'told')
  mkdirSync(bin)
  const program = path.join(bin, 'systemd-notify')
  writeFileSync(
    program,
    `#!/bin/sh\n${fails ? 'echo Failed to notify >&2; exit 1\n' : ''}echo "$NOTIFY_SOCKET $*" >> ${file}\n`,
  )
  chmodSync(program, 0o755)
  const env = { PATH: `${bin}:${machine.env.PATH}`, NOTIFY_SOCKET: '@of-systemd', WATCHDOG_USEC: '200000' }
  const told = () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [])
  return { machine, env, told, fed: () => told().filter((line) => line === '@of-systemd WATCHDOG=1').length }
}

it.each([
  ['serve', /^@of-systemd READY=1 STATUS=serves http:\S+:\d+$/],
  ['serve --workers 2', /^@of-systemd READY=1 STATUS=serves with 2 workers$/],
])('%s tells systemd when it serves, that it is alive, and when it stops', async (args, ready) => {
  const { machine, env, told, fed } = await watched()
  const server = machine.start(args, { env })
  await server.says(/listening on/)
  await expect.poll(fed).toBeGreaterThan(2)
  expect(told()[0]).toMatch(ready)
  expect(told().filter((line) => line.includes('READY'))).toHaveLength(1)
  expect(await server.stop()).toMatchObject({ code: 0 })
  expect(told().at(-1)).toBe('@of-systemd STOPPING=1 STATUS=finishes open requests')
})

it('the watchdog is fed while the database answers, and a start waits for it', async () => {
  const database = await ownPostgres({ port: await freePort() })
  cleanup(() => database.remove())
  const { machine, env, told, fed } = await watched()
  const server = machine.start('serve --migrate', { env: { ...env, FEEDBACKCTL_DATABASE_URL: database.url } })
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  await expect.poll(fed).toBeGreaterThan(0)
  await database.stop()
  const statusOf = async () => (await fetch(`${url}/readyz`)).status
  await expect.poll(statusOf).toBe(503)
  const before = fed()
  for (let request = 0; request < 5; request++) expect(await statusOf()).toBe(503)
  expect(fed()).toBeLessThanOrEqual(before + 1) // one may have been on its way

  const other = machine.start('serve', { env: { ...env, FEEDBACKCTL_DATABASE_URL: database.url } })
  await expect.poll(told).toContain('@of-systemd STATUS=waits for the database')
  expect(told().filter((line) => line.includes('READY'))).toHaveLength(1)
  await database.start()
  await other.says(/listening on/)
  await expect.poll(() => told().filter((line) => line.includes('READY'))).toHaveLength(2)
  await expect.poll(fed).toBeGreaterThan(before + 1)
})

it('is silent for another process, and only warns where systemd cannot be told', async () => {
  const { machine, env, told } = await watched()
  const server = machine.start('serve', { env: { ...env, WATCHDOG_PID: '1' } })
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  await expect.poll(told).toHaveLength(1)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  await server.stop()
  expect(told()).toHaveLength(2)

  const failing = await watched({ fails: true })
  const other = failing.machine.start('serve', { env: failing.env })
  await other.says(/"reason":"Failed to notify".*cannot notify the service manager/)
  expect(await other.stop()).toMatchObject({ code: 0 })
})
