import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { connect as connectSocket, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { migrations } from '../../src/db/migrations/index.js'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { LEASE_MS } from '../../src/delivery/queue.js'
import { makeMachine, requestsTo } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { cleanup, engines, makeDatabase, OWNER, temporaryFolder } from '../support/site.js'
import { smtpHost } from '../support/smtp.js'

const LISTENING = /listening on (http:\S+?)"/
const post = (url: string, body: unknown) =>
  fetch(`${url}/api/v1/auth/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Makes a process see the time at which the lease of a mail has expired that was sent before it started. */
const CLOCK_AHEAD = `
const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + ${LEASE_MS}] : given))
  }
  static now() {
    return Real.now() + ${LEASE_MS}
  }
}
`

describe.each(engines)('feedbackctl serve on %s', (engine) => {
  it('creates exactly one owner from fifty concurrent setups in two processes', async () => {
    const machine = await makeMachine(engine)
    // All wait for one lock: on a busy machine longer than a request usually may
    const env = { FEEDBACKCTL_MAIL_URL: `folder:${machine.folder}/mail`, FEEDBACKCTL_DATABASE_TIMEOUT: '1m' }
    const servers = [machine.start('serve', { env }), machine.start('serve', { env })]
    const urls = (await Promise.all(servers.map((server) => server.says(LISTENING)))).map(([, url = '']) => url)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        post(urls[number % 2] ?? '', { ...OWNER, email: `o${number}@example.org` }),
      ),
    )
    const unexpected = answers.filter((answer) => ![201, 403].includes(answer.status))
    expect(await Promise.all(unexpected.map((answer) => answer.text()))).toEqual([])
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1)
    const refused = await Promise.all(
      answers.filter((answer) => answer.status === 403).map((answer) => answer.json() as Promise<{ code: string }>),
    )
    expect(refused.map(({ code }) => code)).toEqual(Array.from({ length: 49 }, () => 'SETUP_COMPLETED'))
    await expect
      .poll(() => readdirSync(machine.folder).includes('mail') && readdirSync(path.join(machine.folder, 'mail')).length)
      .toBe(1)
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    expect(await db.selectFrom('users').select('isOwner').execute()).toEqual([{ isOwner: 1 }])
  })

  it('serves a site without an owner, logs how to set it up, and stops cleanly on SIGTERM', async () => {
    const machine = await makeMachine(engine)
    const server = machine.start('serve')
    const [, url] = await server.says(LISTENING)
    const [, site = ''] = await server.says(/no owner yet: open (\S+) to set it up, or run \\"feedbackctl setup\\"/)
    expect(new URL((await fetch(site)).url)).toMatchObject({
      pathname: '/setup/welcome',
      port: new URL(url ?? '').port,
    })
    expect((await fetch(`${url}/api/v1/boards`)).status).toBe(200)
    const refused = await post(url ?? '', OWNER)
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([501, 'MAIL_CONFIG_MISSING'])
    const { code, stdout, stderr } = await server.stop()
    expect([code, stdout]).toEqual([0, ''])
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string })
    expect(lines.at(-1)?.msg).toBe('stopped')
  })

  it('finishes a request that was arriving as it stops, and closes its connection', async () => {
    const machine = await makeMachine(engine)
    const server = machine.start('serve')
    const [, url = ''] = await server.says(LISTENING)
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
    cleanup(async () => void socket.destroy())
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => (received += text))
    const head = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2'
    socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n{`)
    await expect.poll(() => received).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    received = ''
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    cleanup(async () => agent.destroy())
    const isToldToClose = async () => (await requestsTo(url, agent)('GET /boards')).headers.connection === 'close'
    expect(await isToldToClose()).toBe(false)
    const ended = server.stop()
    await server.says(/stopping/)
    await expect.poll(isToldToClose, { interval: 1 }).toBe(true) // connections that are on their way come first
    socket.write('}GET /api/v1/boards HTTP/1.1\r\nHost: x\r\n\r\n')
    await ended
    expect(received).toMatch(/^HTTP\/1.1 400 .*\r\nconnection: close\r\n.*EMAIL_INVALID/is)
    expect(received.split('HTTP/1.1 ')).toHaveLength(2)
  })

  it('refuses to start with another secret than the site was set up with', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const refused = await machine.process('serve', { env: { FEEDBACKCTL_SECRET: 'another secret, long enough' } })
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('SECRET_MISMATCH') })
  })

  it('loses no acknowledged board when it is killed', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const server = machine.start('serve')
    const [, url] = await server.says(LISTENING)
    const acknowledged: string[] = []
    const writing = (async () => {
      for (let number = 0; ; number++) {
        const answer = await fetch(`${url}/api/v1/boards`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: `Board ${number}` }),
        })
        if (answer.status === 201) acknowledged.push(`board-${number}`)
      }
    })().catch(() => {})
    await expect.poll(() => acknowledged.length).toBeGreaterThan(30)
    await server.stop('SIGKILL')
    await writing
    const stored = new Set((await machine.run('boards list --all -q')).stdout.trim().split('\n'))
    expect(acknowledged.filter((url_) => !stored.has(url_))).toEqual([])
  })
})

describe('feedbackctl serve', () => {
  it('refuses a port that is in use with 6, so that a service manager tries again', async () => {
    const machine = await makeMachine('sqlite')
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    cleanup(() => new Promise<void>((resolve) => other.close(() => resolve())))
    expect(await machine.process(`serve --listen 127.0.0.1:${port}`)).toMatchObject({
      code: 6,
      stdout: '',
      stderr: expect.stringContaining(`Cannot listen on 127.0.0.1:${port}: another program listens there.`),
    })
  })

  it.each([
    ['serve --listen nonsense', {}],
    ['serve --log-level loud', {}],
    ['serve', { FEEDBACKCTL_MAIL_URL: 'ftp://x' }],
    ['serve', { FEEDBACKCTL_SECRET: 'short' }],
    ['serve --trust-proxy 10.0.0.0/33', {}],
    ['serve', { FEEDBACKCTL_LIMITS_MAIL: '10/86401s' }],
  ])('%s with %j is a wrong configuration: 78', async (args, env) => {
    const machine = await makeMachine('sqlite')
    expect(await machine.process(args, { env })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('CONFIG_INVALID'),
    })
  })

  it('a limit may count a whole day', async () => {
    const machine = await makeMachine('sqlite')
    const { code, stdout } = await machine.run('config list', { env: { FEEDBACKCTL_LIMITS_MAIL: '10/24h' } })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^limits\.mail\t10\/24h\b/m)])
  })

  it('logs readable lines on a terminal, and stops on Ctrl-C', async () => {
    const machine = await makeMachine('sqlite')
    const screen = machine.terminal('serve')
    await screen.sees(/INFO.*listening on http:\/\/127\.0\.0\.1:\d+/)
    await screen.sees(/mail is not configured[^]*\n/)
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(screen.text()) ?? []
    const before = screen.text().length
    await fetch(`${url}/healthz?a=b`)
    await screen.sees(/healthz[^]*\n/)
    const shown = stripVTControlCharacters(screen.text().slice(before))
    expect(shown).toMatch(/^\[[\d:]+\] INFO: GET \/healthz\?\*\*\* 200 [\d.]+ ms 127\.0\.0\.1 \S+\r\n$/)
    screen.type('\u0003')
    expect(await screen.ended).toMatchObject({ code: 0, text: expect.stringContaining('stopped') })
  })

  it('delivers a mail after its lease has expired if the first server was killed while sending it', async () => {
    const machine = await makeMachine('sqlite')
    const host = await smtpHost()
    let arrived = 0
    host.onMail = async () => {
      arrived++
      if (arrived === 1) await new Promise(() => {}) // the first server is killed before the mail is accepted
    }
    const env = { FEEDBACKCTL_MAIL_URL: host.url }
    const first = machine.start('serve', { env })
    const [, url] = await first.says(LISTENING)
    expect((await post(url ?? '', OWNER)).status).toBe(201)
    await expect.poll(() => arrived).toBe(1)
    await first.stop('SIGKILL')
    const clock = path.join(machine.folder, 'clock.cjs')
    writeFileSync(clock, CLOCK_AHEAD)
    const second = machine.start('serve', { env: { ...env, NODE_OPTIONS: `--require ${clock}` } })
    await second.says(/mail delivered/)
    expect(host.received).toHaveLength(1)
    expect(arrived).toBe(2)
  })

  it('delivers mail that another process queued', async () => {
    const machine = await makeMachine('sqlite')
    const server = machine.start('serve', { env: { FEEDBACKCTL_MAIL_URL: `folder:${machine.folder}/served` } })
    await server.says(LISTENING)
    // setup cannot deliver the mail itself
    await machine.run('setup --email ada@example.org --generate-password --mail-url smtp://127.0.0.1:1')
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    await db.updateTable('deliveries').set({ dueAt: new Date().toISOString() }).execute()
    await expect
      .poll(
        () => readdirSync(machine.folder).includes('served') && readdirSync(path.join(machine.folder, 'served')).length,
      )
      .toBe(1)
  })
})

describe('while another process locks the SQLite file', () => {
  const locked = async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('boards create Ideas')
    const other = openSqlite(machine.databaseUrl.slice('sqlite:'.length))
    cleanup(async () => void other.close())
    return { machine, other }
  }

  it('a server keeps reading, and writes when the lock is free', async () => {
    const { machine, other } = await locked()
    const token = await machine.setup()
    const server = machine.start('serve')
    const [, url] = await server.says(LISTENING)
    other.exec('begin immediate')
    const writing = fetch(`${url}/api/v1/boards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"name":"Later"}',
    })
    let isWritten = false
    const written = writing.then(({ status }) => {
      isWritten = true
      return status
    })
    // If reads waited for the write, none would end. A write waits five seconds, so there are few of them
    for (let reads = 0; reads < 5; reads++) expect((await fetch(`${url}/api/v1/boards`)).status).toBe(200)
    expect(isWritten).toBe(false)
    other.exec('rollback')
    expect(await written).toBe(201)
  })

  // Takes five seconds: that long a command and a server wait for the lock
  it('a command fails after five seconds with exit code 6, and says why; a mail that was delivered is recorded once the lock is free, and not sent again', async () => {
    const { machine, other } = await locked()
    const host = await smtpHost()
    const env = { FEEDBACKCTL_MAIL_URL: host.url }
    host.onMail = async () => void (other.inTransaction || other.exec('begin immediate'))
    const first = machine.start('serve', { env })
    const [, url] = await first.says(LISTENING)
    expect((await post(url ?? '', OWNER)).status).toBe(201)
    await expect.poll(() => host.received.length).toBe(1)
    expect(await machine.run('boards create Other')).toMatchObject({
      code: 6,
      stdout: '',
      stderr: expect.stringMatching(/kept the database locked[^]*DATABASE_UNREACHABLE/),
    })
    expect((await machine.run('boards list -q')).stdout).toBe('ideas\n')
    await first.says(/the delivery cannot be recorded yet/)
    other.exec('rollback')
    host.onMail = async () => {}
    await first.says(/mail delivered"/)
    expect(host.received).toHaveLength(1)
  })
})

it('feedbackctl serve exits with 0 although a client never finishes its request', async () => {
  const machine = await makeMachine('sqlite')
  const server = machine.start('serve --shutdown-timeout 1')
  const [, url] = await server.says(LISTENING)
  const socket = connectSocket(Number(new URL(url ?? '').port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"em',
  )
  await expect.poll(() => socket.bytesWritten).toBeGreaterThan(50)
  expect((await server.stop()).code).toBe(0)
})

it('feedbackctl serve exits with 0 although a mail server never responds', async () => {
  const machine = await makeMachine('sqlite')
  const host = await smtpHost()
  let arrived = false
  host.onMail = async () => {
    arrived = true
    await new Promise(() => {})
  }
  const server = machine.start('serve --shutdown-timeout 1', { env: { FEEDBACKCTL_MAIL_URL: host.url } })
  const [, url] = await server.says(LISTENING)
  await post(url ?? '', OWNER)
  await expect.poll(() => arrived).toBe(true)
  expect((await server.stop()).code).toBe(0)
})

describe('feedbackctl migrate', () => {
  it('is needed once on PostgreSQL, unless serve --migrate does it', async () => {
    const machine = await makeMachine('postgres')
    const bare = { FEEDBACKCTL_DATABASE_URL: await makeDatabase('postgres', machine.folder, { bare: true }) }
    expect(await machine.run('boards list', { env: bare })).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/feedbackctl migrate[^]*DATABASE_OUTDATED/),
    })
    expect(await machine.process('serve', { env: bare })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('DATABASE_OUTDATED'),
    })
    const both = await Promise.all([
      machine.process('migrate', { env: bare }),
      machine.process('migrate', { env: bare }),
    ])
    expect(both.map((each) => each.stdout).toSorted()).toEqual([
      Object.keys(migrations)
        .map((name) => `Applied ${name}\n`)
        .join(''),
      'The database is up to date.\n',
    ])
    expect(await machine.run('migrate', { env: bare })).toMatchObject({
      code: 0,
      stdout: 'The database is up to date.\n',
    })
    const other = { FEEDBACKCTL_DATABASE_URL: await makeDatabase('postgres', machine.folder, { bare: true }) }
    await machine.start('serve --migrate', { env: other }).says(LISTENING)
  })

  it('is automatic on SQLite, and runs once however many processes start at the same time', async () => {
    const machine = await makeMachine('sqlite')
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, number) => machine.process(`boards create 'Board ${number}'`)),
    )
    expect(results.map((result) => [result.code, result.stderr])).toEqual(
      Array.from({ length: 6 }, (_, number) => [0, `Created board "Board ${number}" (board-${number}).\n`]),
    )
    expect((await machine.run('boards list --json')).stdout).toContain('"total_count":6')
  })

  it('refuses a database of a newer version', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('migrate')
    const db = await connect(machine.databaseUrl)
    await (db as never as import('kysely').Kysely<Record<string, Record<string, string>>>)
      .insertInto('kysely_migration')
      .values({ name: '9999_future', timestamp: '2030' })
      .execute()
    await db.destroy()
    expect(await machine.run('boards list')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('DATABASE_NEWER'),
    })
    expect(await machine.process('serve')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('DATABASE_NEWER'),
    })
  })
})

describe('feedbackctl config', () => {
  it('shows where each value comes from, flags before environment before files, and no secret', async () => {
    const machine = await makeMachine('sqlite')
    writeFileSync(
      path.join(machine.folder, 'feedbackctl.toml'),
      '[log]\nlevel = "debug"\n[mail]\nfrom = "a@example.org"\n',
    )
    const env = {
      FEEDBACKCTL_SITE_URL: 'https://env.example.org',
      FEEDBACKCTL_LISTEN: '',
      PORT: '9000',
      FEEDBACKCTL_MAIL_URL: 'smtp://me:hidden-in-url@host:25',
      FEEDBACKCTL_SECRET: 'hidden-secret-of-tests',
      FEEDBACKCTL_TOKEN: 'hidden-token',
    }
    const { code, stdout } = await machine.run('config list --show-origin --data-dir here', { env })
    expect(code).toBe(0)
    expect(stdout).not.toContain('hidden')
    const values = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => [line.split('\t')[0], line.split('\t').slice(1)]),
    )
    expect(values).toMatchObject({
      'data.dir': [path.join(machine.folder, 'here'), '--data-dir'],
      'site.url': ['https://env.example.org', 'FEEDBACKCTL_SITE_URL'],
      'log.level': ['debug', path.join(machine.folder, 'feedbackctl.toml')],
      listen: ['127.0.0.1:9000', 'PORT'],
      'mail.url': ['smtp://me:***@host:25', 'FEEDBACKCTL_MAIL_URL'],
      'mail.from': ['a@example.org', path.join(machine.folder, 'feedbackctl.toml')],
      secret: ['***', 'FEEDBACKCTL_SECRET'],
    })
  })

  it.each([
    ['--mail-url smtp://ada@example.org:CANARY@127.0.0.1:1'],
    ['--mail-url smtp://ada:CAN@ARY:CANARY@host'],
    ['--mail-url smtp://CANARY@host/?auth.pass=CANARY'],
    ['--database-url postgres://u:p@CANARY@h/db'],
    ['--database-url postgres://u:CANARY@127.0.0.1:1/db'],
    ['--database-url postgres://127.0.0.1:1/db?user=u&password=CANARY'],
    ['--server http://u:CANARY@127.0.0.1:1'],
    ['--site-url http://u:CANARY@127.0.0.1:1'],
    ['--server http://127.0.0.1:1 --token-file token'],
    ['--secret-file token'],
  ])('never shows the secret in %s', async (flags) => {
    const machine = await makeMachine('sqlite')
    writeFileSync(path.join(machine.folder, 'token'), 'CANARY\nCANARY of sixteen letters')
    await machine.run('boards create Ideas')
    for (const command of [
      'config list --show-origin',
      'boards list',
      'boards create Ideas --url ideas',
      'boards delete ideas',
      'setup',
      '',
    ]) {
      const { stdout, stderr } = await machine.run(`${command} ${flags} --debug`)
      expect(stdout + stderr).not.toContain('CANARY')
    }
    const shown = await machine.terminal(`boards list --limit 1 ${flags}`).ended
    expect(shown.text).not.toContain('CANARY')
  })

  it('is listed even if it is invalid, with the errors', async () => {
    const machine = await makeMachine('sqlite')
    writeFileSync(path.join(machine.folder, 'feedbackctl.toml'), '[log]\nlevel = "loud"\n')
    expect(await machine.run('config list')).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^log\.level\tloud$/m),
      stderr: expect.stringContaining('log.level must be one of'),
    })
  })

  it('lists all settings although one is invalid', async () => {
    const machine = await makeMachine('sqlite')
    writeFileSync(path.join(machine.folder, 'feedbackctl.toml'), 'nonsense = 1\n[mail]\nfrom = "a@example.org"\n')
    const env = { FEEDBACKCTL_LISTEN: '1234', FEEDBACKCTL_SECRET: 'x'.repeat(20), FEEDBACKCTL_SECRET_FILE: '/x' }
    const { code, stdout, stderr } = await machine.run('config list', { env })
    expect(code).toBe(2)
    for (const line of ['listen\t1234', 'mail.from\ta@example.org']) expect(stdout).toContain(line)
    for (const problem of ['Both FEEDBACKCTL_SECRET', 'unknown key "nonsense"']) expect(stderr).toContain(problem)
  })

  it('resolves paths in a file relative to that file, and accepts IPv6 in HOST', async () => {
    const machine = await makeMachine('sqlite')
    mkdirSync(path.join(machine.folder, 'etc'))
    writeFileSync(
      path.join(machine.folder, 'etc/site.toml'),
      '[data]\ndir = "d"\n[database]\nurl = "sqlite:fb.db"\n[mail]\nurl = "folder:m"\n',
    )
    const { stdout } = await machine.run('config list --config etc/site.toml', {
      env: { HOST: '::', FEEDBACKCTL_LISTEN: '' },
    })
    for (const line of [
      `data.dir\t${machine.folder}/etc/d`,
      `database.url\tsqlite:${machine.folder}/etc/fb.db`,
      `mail.url\tfolder:${machine.folder}/etc/m`,
      'listen\t[::]:8000',
    ])
      expect(stdout).toContain(line)
  })

  it.each([
    ['[mial]\nurl = "folder:x"\n', 'unknown key "mial.url" in line 2. Did you mean "mail.url"?'],
    ['[site]\nlissten = ":1"\n', 'unknown key "site.lissten" in line 2. Did you mean "listen"?'],
    ['[frobnicate]\nurl = "x"\n', /unknown key "frobnicate.url" in line 2.\n/],
    ['[log]\nlevel = "warn\n', /feedbackctl.toml is not valid TOML in line 2, column \d+: [a-z ]+\.\n/],
    ['[log]\nlevel = "loud"\n', 'log.level must be one of'],
  ])('refuses a file with %j', async (text, message) => {
    const machine = await makeMachine('sqlite')
    writeFileSync(path.join(machine.folder, 'feedbackctl.toml'), text)
    expect(await machine.run('config list')).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
  })
})

describe('feedbackctl demo', () => {
  it('prints an address that works in pages and feeds, whatever port is free', async () => {
    const machine = await makeMachine('sqlite')
    const running = ['demo', 'demo'].map((args) => machine.start(args, { env: { TMPDIR: machine.folder } }))
    const urls: string[] = []
    for (const each of running) {
      await each.says(/Serving until Ctrl-C/)
      const [, url = ''] = /^Open (\S+) in your browser/.exec(each.output().stdout) ?? []
      urls.push(url)
      const page = await (await fetch(url)).text()
      expect(page).toContain('Feedback for Moonbase')
      expect(page).toContain(`<link rel="canonical" href="${url}/`)
      const feed = await (await fetch(`${url}/feed.atom`)).text()
      expect(feed.replaceAll('&#x2F;', '/')).toContain(`${url}/posts/`)
    }
    expect(new Set(urls).size).toBe(2)
    for (const each of running) expect((await each.stop('SIGINT')).code).toBe(0)
  })

  it('listens where --listen says, and takes no other setting', async () => {
    const machine = await makeMachine('sqlite')
    const env = { TMPDIR: machine.folder }
    const running = machine.start('demo --listen 127.0.0.2:0', { env })
    await running.says(/Serving until Ctrl-C/)
    const [, url = ''] = /^Open (http:\/\/127\.0\.0\.2:\d+) in your browser/.exec(running.output().stdout) ?? []
    expect(await (await fetch(url)).text()).toContain(`<link rel="canonical" href="${url}/`)
    const taken = await machine.process(`demo --once --listen ${url.slice('http://'.length)}`, { env })
    expect(taken).toMatchObject({
      code: 6,
      stdout: '',
      stderr: expect.stringMatching(/another program listens there[^]*\n {2}fix {3}feedbackctl demo\n/),
    })
    await running.stop('SIGINT')
    for (const [flags, message] of [
      ['--listen nowhere', /HOST:PORT or PORT/],
      ['--server http://127.0.0.1:1', /"demo" reads no site and takes no settings but --listen\. Leave out --server\./],
      ['--data-dir /tmp', /Leave out --data-dir\./],
    ] as const)
      expect(await machine.process(`demo --once ${flags}`, { env })).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(message),
      })
    expect((await machine.run('service print --log-level debug')).stderr).toContain('Leave out --log-level.')
    expect(readdirSync(machine.folder).filter((name) => name.startsWith('feedbackctl-demo'))).toEqual([])
  })

  it('has posts whose texts and comments are in the language of the title, and of their own', async () => {
    const machine = await makeMachine('sqlite')
    const running = machine.start('demo', { env: { TMPDIR: machine.folder } })
    await running.says(/Serving until Ctrl-C/)
    const [, url = ''] = /^Open (\S+) in your browser/.exec(running.output().stdout) ?? []
    const textOf = async (path: string) => (await fetch(url + path)).text()
    const links = Array.from((await textOf('/?status=all')).matchAll(/<h2><a href="([^"]+)"/g), ([, path = '']) => path)
    const rest = Array.from(
      (await textOf('/?status=all&page=2')).matchAll(/<h2><a href="([^"]+)"/g),
      ([, path = '']) => path,
    )
    const paths = new Set([...links, ...rest])
    expect(paths.size).toBe(25)
    const texts: string[] = []
    for (const path of paths) {
      const page = await textOf(path)
      const [, title = ''] = /<h1><bdi>([^<]+)/.exec(page) ?? []
      const written = Array.from(page.matchAll(/<div class="prose"[^>]*>(.*?)<\/div>/gs), ([, text = '']) => text)
      texts.push(...written)
      for (const script of [/\p{sc=Cyrillic}/u, /\p{sc=Han}/u])
        expect([title, written.map((text) => script.test(text))]).toEqual([
          title,
          written.map(() => script.test(title)),
        ])
    }
    expect(texts.length).toBeGreaterThan(40)
    expect(new Set(texts).size).toBe(texts.length)
    await running.stop('SIGINT')
  })

  it('--once shows a site with posts, the same each time, and removes it', async () => {
    const machine = await makeMachine('sqlite')
    const env = { TMPDIR: machine.folder }
    const { code, stdout, stderr } = await machine.process('demo --once', { env })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^Open http:\/\/127\.0\.0\.1:\d+ in your browser\.\nTo sign in as the owner: ada@example\.org, /,
    )
    expect(stdout.trimEnd().split('\n').length, 'lines, so that a terminal of 24 shows the first').toBeLessThan(22)
    expect(stdout).toMatch(/TITLE +BOARD +VOTES +COMMENTS +ROADMAP +AUTHOR +AGE/)
    const votes = (text: string) => [...text.matchAll(/ {2}(\d+) +\d+ {2}/g)].map(([, count]) => Number(count))
    expect(votes(stdout)).toHaveLength(8)
    expect(votes((await machine.process('demo --once', { env })).stdout)).toEqual(votes(stdout))
    expect(readdirSync(machine.folder).filter((name) => name.startsWith('feedbackctl-demo'))).toEqual([])
  })

  it('prints only data to stdout with --json, and leaves nothing behind when it is stopped early', async () => {
    const machine = await makeMachine('sqlite')
    const env = { TMPDIR: machine.folder }
    const { stdout, stderr } = await machine.process('demo --once --json', { env })
    expect(JSON.parse(stdout)).toMatchObject({ posts: { length: 8 }, total_count: 26 })
    expect(stderr).toContain('curl')
    const isThere = (folder: string, name: string) =>
      readdirSync(folder).some((demo) => existsSync(path.join(folder, demo, name)))
    const moments: ((folder: string, printed: string) => boolean)[] = [
      (folder) => isThere(folder, '.'),
      (folder) => isThere(folder, 'data/feedback.db'),
      (_, printed) => printed.includes('Open '),
    ]
    await Promise.all(
      moments.map(async (isNow) => {
        const folder = temporaryFolder()
        const running = machine.start('demo', { env: { TMPDIR: folder } })
        await expect.poll(() => isNow(folder, running.output().stdout), { interval: 5 }).toBe(true)
        await running.stop('SIGINT')
        expect(readdirSync(folder)).toEqual([])
      }),
    )
  })

  it('prints commands that work when pasted, and is removed on Ctrl-C', async () => {
    const machine = await makeMachine('sqlite')
    const running = machine.start('demo', { env: { TMPDIR: machine.folder } })
    await running.says(/Serving until Ctrl-C/)
    const { stdout } = running.output()
    const { execFileSync } = await import('node:child_process')
    const [line = ''] = stdout.split('\n').filter((each) => each.startsWith('  curl'))
    expect(execFileSync('sh', ['-c', line.replace('curl', 'curl -sf')], { encoding: 'utf8' })).toMatch(/^\{"boards"/)
    const [, config] = /export FEEDBACKCTL_CONFIG=(\S+)/.exec(stdout) ?? []
    const env = { FEEDBACKCTL_CONFIG: config ?? '' }
    expect((await machine.run('posts list --board ideas -q', { env })).stdout.trim().split('\n')).toHaveLength(4)
    expect((await machine.run('posts create Launch', { env })).code).toBe(0)
    expect(readFileSync(config ?? '', 'utf8')).toContain('folder:mail')
    expect((await running.stop('SIGINT')).code).toBe(0)
    expect(readdirSync(machine.folder).filter((name) => name.startsWith('feedbackctl-demo'))).toEqual([])
  })
})

describe('feedbackctl', () => {
  it('prints its version, its commands, and the status of the site', async () => {
    const machine = await makeMachine('sqlite')
    expect((await machine.run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await machine.run('')).stdout).toContain('no site here yet')
    expect(readdirSync(machine.folder)).toEqual([]) // the status creates nothing
    await machine.setup()
    expect((await machine.run('')).stdout).toMatch(/is set up, with 0 boards\./)
  })
})
