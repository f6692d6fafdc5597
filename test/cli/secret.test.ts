import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { generate } from 'otplib'
import { describe, expect, it } from 'vitest'
import { makeMachine, signedAnew, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/
const secretOf = ({ folder }: Machine): string => path.join(folder, 'data/feedbackctl/secret')
const fileOf = ({ databaseUrl }: Machine): string => databaseUrl.slice('sqlite:'.length)

const signIn = (url: string) =>
  fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse battery' }),
  })

describe.each(engines)('a site on %s whose secret is lost', (engine) => {
  it('does not start, is given no new secret, and shows the command that fixes it', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    rmSync(secretOf(machine))
    expect(await machine.run('serve')).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/secret of this site is missing[^]*feedbackctl secret new[^]*SECRET_MISMATCH/),
    })
    expect(existsSync(secretOf(machine))).toBe(false)
    expect((await machine.run('boards list')).code).toBe(0)
  })

  it('starts after "secret reset", which ends all sessions', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    rmSync(secretOf(machine))
    expect(await machine.run('secret reset')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CONFIRMATION_NEEDED'),
    })
    expect(existsSync(secretOf(machine))).toBe(false)
    expect(await machine.run('secret reset --yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(secretOf(machine)),
    })
    const [, url = ''] = await machine.start('serve').says(LISTENING)
    expect((await signIn(url)).status).toBe(200)
    const asked = await fetch(`${url}/api/v1/users/permissions`, { headers: { authorization: `Bearer ${token}` } })
    expect(asked.status).toBe(401)
  })
})

describe.each(engines)('"secret new" on %s', (engine) => {
  it('says what ends, ends it while the server runs, and lets people sign in again', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const [, url = ''] = await machine.start('serve').says(LISTENING)
    expect((await signIn(url)).status).toBe(200)
    const secret = JSON.parse((await machine.run(`totp begin --as ada@example.org --json`)).stdout) as {
      secret: string
    }
    expect(
      (await machine.run(`totp enable ${await generate({ secret: secret.secret })} --as ada@example.org`)).code,
    ).toBe(0)
    const before = readFileSync(secretOf(machine), 'utf8')
    const dry = await machine.run('secret new --dry-run --json')
    const { ends } = JSON.parse(dry.stdout) as { ends: { sessions: number; apps: number } }
    expect(ends.apps).toBe(1)
    expect(ends.sessions).toBeGreaterThan(0)
    expect(dry.stderr).not.toContain('Everyone has')
    expect(readFileSync(secretOf(machine), 'utf8')).toBe(before)
    expect(await machine.run('secret new')).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/ends \d+ sessions? and 1 authenticator app\./),
    })
    rmSync(secretOf(machine))
    const done = await machine.run('secret new --yes --json')
    expect(JSON.parse(done.stdout)).toEqual({ file: secretOf(machine), ends })
    const status = async () =>
      (await fetch(`${url}/api/v1/users/permissions`, { headers: { authorization: `Bearer ${token}` } })).status
    await expect.poll(status).toBe(401)
    const owner = (await machine.run('owner link --quiet')).stdout.trim().replace(/^.*token=/, '')
    const used = await fetch(`${url}/api/v1/auth/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: owner }),
    })
    expect(used.status).toBe(200)
    expect(JSON.parse((await machine.run('secret new --dry-run --json')).stdout)).toMatchObject({
      ends: { sessions: 1 },
    })
    expect((await machine.run('events list')).stdout).toContain('site.secret_replaced')
  })
})

it('"secret reset" replaces a secret that does not fit, or takes the one that is set', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  writeFileSync(secretOf(machine), 'not the secret of the site')
  expect((await machine.run('serve')).code).toBe(78)
  expect((await machine.run('secret reset -y')).code).toBe(0)
  expect(readFileSync(secretOf(machine), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
  await machine.start('serve').says(LISTENING)

  const env = { FEEDBACKCTL_SECRET: 'chosen by whoever runs it' }
  expect((await machine.run('serve', { env })).code).toBe(78)
  expect((await machine.run('secret reset -y', { env })).code).toBe(0)
  await machine.start('serve', { env }).says(LISTENING)
})

describe('"secret rotate"', () => {
  const asks = async (url: string, token: string) =>
    (await fetch(`${url}/api/v1/users/permissions`, { headers: { authorization: `Bearer ${token}` } })).status

  it('is noticed by servers that run; tokens of the old secret work on, and for no longer than said', async () => {
    const machine = await makeMachine('sqlite')
    const old = await machine.setup()
    const [, url = ''] = await machine.start('serve').says(LISTENING)
    expect(await asks(url, old)).toBe(200)
    const before = readFileSync(secretOf(machine), 'utf8')
    expect(await machine.run('secret rotate --hours 49')).toMatchObject({ code: 2 })
    expect((await machine.run('secret rotate')).code).toBe(0)
    expect(readFileSync(secretOf(machine), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    expect(readFileSync(secretOf(machine), 'utf8')).not.toBe(before)
    expect(statSync(`${secretOf(machine)}.previous`).mode & 0o777).toBe(0o600)
    await expect.poll(() => asks(url, signedAnew(old, secretOf(machine)))).toBe(200)
    const { user } = (await (await signIn(url)).json()) as { user: { authToken: string } }
    expect([await asks(url, old), await asks(url, user.authToken)]).toEqual([200, 200])
    const [, other = ''] = await machine.start('serve').says(LISTENING)
    expect([await asks(other, old), await asks(other, user.authToken)]).toEqual([200, 200])
    expect((await machine.run('secret rotate --hours 0')).code).toBe(0)
    for (const each of [url, other])
      await expect.poll(async () => [await asks(each, old), await asks(each, user.authToken)]).toEqual([401, 401])
  })

  it('that was interrupted leaves a site that starts', async () => {
    const machine = await makeMachine('sqlite')
    const token = await machine.setup()
    const secret = readFileSync(secretOf(machine), 'utf8').trim()
    writeFileSync(`${secretOf(machine)}.previous`, `${secret}\n2099-01-01T00:00:00.000Z\n`)
    writeFileSync(secretOf(machine), 'a new and random secret')
    const [, url = ''] = await machine.start('serve').says(LISTENING)
    expect(await asks(url, token)).toBe(200)
  })

  it('refuses a secret that is a setting', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('migrate')
    expect(
      await machine.run('secret rotate', { env: { FEEDBACKCTL_SECRET: 'chosen by whoever runs it' } }),
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('FEEDBACKCTL_SECRET'),
    })
  })
})

it.each(['aaaaaaaaaaaaaaaaaaaaaaaa', 'abababababababababab', 'secretsecretsecret', '12312312312312312', 'short'])(
  'the secret %s is refused, with a command that makes a better one',
  async (secret) => {
    const machine = await makeMachine('sqlite')
    const refused = { code: 78, stderr: expect.stringContaining('openssl rand') }
    expect(await machine.run('serve', { env: { FEEDBACKCTL_SECRET: secret } })).toMatchObject(refused)
    await machine.setup()
    writeFileSync(secretOf(machine), secret)
    expect(await machine.run('serve')).toMatchObject(refused)
  },
)

describe('a secret without its SQLite file', () => {
  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['empty', (file: string) => writeFileSync(file, '')],
  ])('that is %s makes no new site', async (_, damage) => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    damage(fileOf(machine))
    const before = existsSync(fileOf(machine))
    for (const [command, code] of [
      ['serve', 78],
      ['serve --workers 2', 78],
      ['setup --email eve@example.org --generate-password --mail-url folder:mail', 5],
      ['boards list', 5],
      ['migrate', 5],
    ] as const)
      expect(await machine.run(command)).toMatchObject({
        code,
        stdout: '',
        stderr: expect.stringMatching(/feedback\.db is (missing|empty)[^]*backup[^]*DATABASE_MISSING/),
      })
    expect(existsSync(fileOf(machine))).toBe(before)
    for (const evidence of [secretOf(machine), `${fileOf(machine)}.site`]) {
      const { stderr } = await machine.run('boards list')
      expect(stderr).toContain(evidence)
      rmSync(evidence)
    }
    expect((await machine.run('boards list')).code).toBe(before ? 0 : 3)
    expect((await machine.run('boards create Ideas')).code).toBe(0)
  })
})

describe('a site whose secret is a setting', () => {
  const env = { FEEDBACKCTL_SECRET: 'chosen by whoever runs it' }

  it.each([
    [
      'a command',
      async (machine: Machine) => {
        const args = 'setup --email ada@example.org --generate-password --mail-url folder:mail'
        expect((await machine.run(args, { env })).code).toBe(0)
      },
    ],
    [
      'a request',
      async (machine: Machine) => {
        const server = machine.start('serve --mail-url folder:mail', { env })
        const [, url = ''] = await server.says(LISTENING)
        const { status } = await fetch(`${url}/api/v1/auth/setup`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse battery' }),
        })
        expect(status).toBe(201)
        await server.stop()
      },
    ],
  ])('and that was set up by %s is not set up again where its SQLite file is lost', async (_, setUp) => {
    const machine = await makeMachine('sqlite')
    await setUp(machine)
    expect(existsSync(secretOf(machine))).toBe(false)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${fileOf(machine)}${suffix}`, { force: true })
    expect(await machine.run('serve', { env })).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/feedback\.db\.site shows that there was a site[^]*DATABASE_MISSING/),
    })
    expect(existsSync(fileOf(machine))).toBe(false)
  })
})

it('a secret that everybody may read is named when serve starts', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  chmodSync(secretOf(machine), 0o644)
  const server = machine.start('serve')
  await server.says(/everybody on this machine/)
  const { stderr } = await server.stop()
  expect(stderr).toMatch(/everybody on this machine can read the secret: run \\"chmod 600 .*secret\\"/)
})

it('a data folder that cannot be created is named', async () => {
  const machine = await makeMachine('sqlite')
  expect(await machine.run('boards create Ideas --data-dir /proc/feedbackctl')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Cannot open \/proc\/feedbackctl\/feedback\.db[^]*DATABASE_UNUSABLE/),
  })
})
