import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { constants } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { isSecret, keys, variableOf, type Key } from '../../src/core/settings.js'
import { cleanup, engines, type Engine } from '../support/site.js'
import { makeMachine } from '../support/cli.js'
import { secretOf } from '../support/doctor.js'

const CANARY = 'CANARY-of-1-setting'

/** A value of each secret setting that has the canary in it, and with which a server starts. */
const withCanary = (databaseUrl: string): Partial<Record<Key, string>> => ({
  'database.url': databaseUrl,
  'mail.url': `smtp://me:${CANARY}@127.0.0.1:1`,
  secret: `${CANARY}-0123456789abcdef`,
  token: CANARY,
  'backup.passphrase': CANARY,
  'setup.token': CANARY,
  'metrics.token': CANARY,
  'setup.password': CANARY,
})

/** The address of a database of a user whose password is the canary. */
async function canaryUser(databaseUrl: string): Promise<string> {
  const admin = new pg.Client({ connectionString: inject('postgres') })
  await admin.connect()
  await admin.query(`create role canary superuser login password '${CANARY}'`)
  cleanup(async () => {
    await admin.query('drop role canary')
    await admin.end()
  })
  const url = new URL(databaseUrl)
  Object.assign(url, { username: 'canary', password: CANARY })
  return url.href
}

const { SIGUSR1 } = constants.signals

/** Whether a process has not taken a signal yet. */
function isPending(pid: number | string, signal: number): boolean {
  const [, bits = ''] = /^ShdPnd:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (BigInt(`0x${bits}`) & (1n << BigInt(signal - 1))) !== 0n
}

const opensInspector = () =>
  new Promise<boolean>((resolve) => {
    const socket = connect(9229, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

it('every secret setting has a canary', () => {
  expect(Object.keys(withCanary('')).toSorted()).toEqual(keys.filter(isSecret).toSorted())
})

it.each(engines)(
  'no secret setting is in a log, an error, a list, a document or a process title on %s',
  async (engine: Engine) => {
    const machine = await makeMachine(engine)
    const values = withCanary(engine === 'postgres' ? await canaryUser(machine.databaseUrl) : machine.databaseUrl)
    const env = Object.fromEntries(Object.entries(values).map(([key, value]) => [variableOf(key as Key), value]))
    const flags = `--mail-url ${values['mail.url']} ${engine === 'postgres' ? `--database-url ${values['database.url']}` : ''}`
    const told: string[] = []
    for (const workers of [1, 2]) {
      const server = machine.start(`serve --workers ${workers} ${flags}`, {
        env: { ...env, FEEDBACKCTL_LOG_LEVEL: 'trace' },
      })
      const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
      if (workers === 2) await server.says(/listening on[^]*listening on/)
      const get = async (target: string, init?: RequestInit) =>
        told.push(await (await fetch(`${url}${target}`, init)).text())
      await get('/api/v1/openapi.json')
      await get('/api/v1/docs/')
      const json = { 'content-type': 'application/json' }
      const body = { email: 'ada@example.org', password: 'correct horse battery' }
      await get('/api/v1/auth/setup', { method: 'POST', headers: json, body: JSON.stringify(body) })
      await get('/api/v1/auth/setup', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ ...body, setupToken: CANARY }),
      })
      await get('/api/v1/auth/password/reset', { method: 'POST', headers: json, body: JSON.stringify(body) })
      await get(`/api/v1/boards?token=${CANARY}`)
      await get('/readyz')
      const pid = server.child.pid ?? 0
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
      expect(children.length).toBe(workers === 1 ? 0 : 2)
      for (const each of [pid, ...children]) {
        const title = readFileSync(`/proc/${each}/cmdline`, 'utf8').replaceAll('\0', '')
        expect(title).toBe('feedbackctl serve')
        process.kill(Number(each), 'SIGUSR1')
      }
      for (const each of [pid, ...children]) await expect.poll(() => isPending(each, SIGUSR1)).toBe(false)
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      expect(await opensInspector()).toBe(false)
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      const { code, stdout, stderr } = await server.stop()
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('Debugger')])
      told.push(stdout, stderr)
    }
    const file = path.join(machine.folder, 'broken.toml')
    writeFileSync(file, `secret = "${CANARY}\n`)
    for (const args of [
      'config list --show-origin',
      'config list --json',
      'config list -o yaml',
      'boards list --debug',
      'boards list --server http://127.0.0.1:1',
      `boards list --config ${file} --debug`,
      'boards list --mail-url smtp://me:CANARY@:x --debug',
      'serve --database-url postgres://me:CANARY@127.0.0.1:1/none --workers 0',
      'setup --email ada@example.org',
      'secret rotate',
      'help environment',
    ]) {
      const { stdout, stderr } = await machine.run(args, { env })
      told.push(stdout, stderr)
    }
    for (const text of told) expect(text).not.toContain('CANARY')
  },
)

it.each(engines)('no secret of any source is in the report of doctor on %s', async (engine) => {
  const machine = await makeMachine(engine)
  if (engine === 'postgres') await machine.run('migrate')
  const token = await machine.setup()
  const secret = readFileSync(secretOf(machine), 'utf8').trim()
  const values = withCanary(engine === 'postgres' ? await canaryUser(machine.databaseUrl) : machine.databaseUrl)
  const env = Object.fromEntries(Object.entries(values).map(([key, value]) => [variableOf(key as Key), value]))
  const folder = path.join(machine.folder, 'config/feedbackctl')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'tokens.json'), JSON.stringify({ 'http://127.0.0.1:1': CANARY }), { mode: 0o600 })
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
  const context = `[contexts.other]\nserver = "http://127.0.0.1:1"\ntoken = "${CANARY}"\n`
  writeFileSync(path.join(machine.folder, 'all.toml'), [...lines, context].join(''), { mode: 0o644 })
  writeFileSync(path.join(machine.folder, 'broken.toml'), `secret = "${CANARY}\n`)
  writeFileSync(path.join(machine.folder, 'unknown.toml'), `password = "${CANARY}"\n`)
  const databaseUrl = values['database.url'] ?? ''
  const bare = engine === 'postgres' ? databaseUrl.replace(`:${CANARY}@`, '@') : 'postgres://me@127.0.0.1:1/none'

  let count = 0
  const report = async (args: string, given: Record<string, string> = {}) => {
    const file = `report-${(count += 1)}.json`
    const { stdout, stderr } = await machine.run(`doctor --report ${file} ${args}`, { env: given })
    const text = readFileSync(path.join(machine.folder, file), 'utf8')
    for (const hidden of [CANARY, 'CANARY', secret, token])
      for (const shown of [text, stdout, stderr])
        expect(shown, `${args} ${JSON.stringify(given)}`).not.toContain(hidden)
    return JSON.parse(text) as { settings: Record<string, unknown>; checks: { id: string; evidence: string }[] }
  }
  for (const { settings, checks } of [
    await report('', env),
    await report('--config all.toml', { FEEDBACKCTL_DATABASE_URL: '' }),
  ]) {
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(keys.filter(isSecret)))
    expect(settings['mail.url']).toMatchObject({ value: 'smtp://***@127.0.0.1:1' })
    const { evidence } = checks.find(({ id }) => id === 'database') ?? {}
    expect(evidence).toContain('schema') // the database was opened with its password
  }
  await report('--debug --verbose', { ...env, FEEDBACKCTL_DATABASE_URL: bare, PGPASSWORD: CANARY })
  for (const url of [
    `postgres://me:${CANARY}@127.0.0.1:1/none`,
    `postgres://127.0.0.1:1/none?user=me&password=${CANARY}`,
    `postgres://me:${CANARY}@127.0.0.1:none/none`,
  ])
    await report('', { ...env, FEEDBACKCTL_DATABASE_URL: url })
  for (const url of [
    `smtp://me:${CANARY}@:x`,
    `smtp://me:a@${CANARY}@127.0.0.1:1`,
    `smtp://127.0.0.1:1/?auth.pass=${CANARY}`,
  ])
    await report('', { FEEDBACKCTL_MAIL_URL: url })
  const short = {
    FEEDBACKCTL_SECRET: 'CANARY',
    FEEDBACKCTL_BACKUP_PASSPHRASE: 'CANARY',
    FEEDBACKCTL_SETUP_TOKEN: 'CANARY',
  }
  await report('', short)
  for (const name of ['broken', 'unknown']) await report(`--config ${name}.toml`)
})
