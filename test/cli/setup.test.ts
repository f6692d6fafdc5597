import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { NEWEST } from '../../src/db/schema.js'
import { makeMachine, serve } from '../support/cli.js'
import { engines, makeDatabase } from '../support/site.js'
import { smtpHost } from '../support/smtp.js'

const FLAGS = '--email ada@example.org --password-stdin --site-title Moonbase --name Ada'
const PASSWORD = 'correct horse battery'

describe.each(engines)('feedbackctl setup on %s', (engine) => {
  it('sets up a site from flags: writes the mail setting, delivers the mail, and prints the next command', async () => {
    const machine = await makeMachine(engine)
    const { code, stdout, stderr } = await machine.run(
      `setup ${FLAGS} --mail-url folder:mail --board Ideas --statuses`,
      {
        stdin: `${PASSWORD}\n`,
      },
    )
    expect([code, stderr]).toEqual([0, ''])
    const file = path.join(machine.folder, 'config/feedbackctl/config.toml')
    expect(stdout).toMatch(/✓ The site is set up\.\n {2}owner {3}Ada <ada@example\.org>, user name ada_\w{8}\n/)
    expect(stdout).toContain('\n  board   Ideas\n  made    the four usual roadmaps\n')
    expect(stdout).toContain(`  mail    folder:${machine.folder}/mail\n  config  ${file} (written)\n`)
    expect(readFileSync(file, 'utf8')).toBe(`[mail]\nurl = "folder:${machine.folder}/mail"\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(path.join(machine.folder, 'mail'))).toHaveLength(1)
    const secret = path.join(machine.folder, 'data/feedbackctl/secret')
    expect([statSync(secret).mode & 0o777, readFileSync(secret, 'utf8').trim().length]).toEqual([0o600, 64])
  })

  it.each(['--title', '--site-title'])('titles the site with %s', async (flag) => {
    const machine = await makeMachine(engine)
    expect(await machine.run(`setup --email ada@example.org --password-stdin --mail-url folder:mail ${flag} Moonbase`, { stdin: PASSWORD })).toMatchObject({ code: 0 }) // prettier-ignore
    expect(JSON.parse((await machine.run('settings show --json')).stdout).settings.title).toBe('Moonbase')
    expect((await machine.run('setup --help')).stdout).not.toContain('--site-title')
  })

  it('is refused the second time with exit 5, or does nothing with --if-needed', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    expect(await machine.run('setup')).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringContaining('SETUP_COMPLETED (exit 5)'),
    })
    expect(await machine.run('setup --if-needed')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'The site already has an owner: nothing to do.\n',
    })
  })

  it('creates one owner when run concurrently, with the mail setting of that run, and no error with --if-needed', async () => {
    const machine = await makeMachine(engine)
    const results = await Promise.all(
      [1, 2, 3, 4].map((number) =>
        machine.process(
          `setup --if-needed --email o${number}@example.org --password-stdin --mail-url folder:mail${number}`,
          { stdin: PASSWORD },
        ),
      ),
    )
    expect(results.map((result) => result.code)).toEqual([0, 0, 0, 0])
    const winner = results.filter((result) => result.stdout.includes('is set up'))
    expect(winner).toHaveLength(1)
    const number = /<o(\d)@example/.exec(winner[0]?.stdout ?? '')?.[1]
    expect(readFileSync(path.join(machine.folder, 'config/feedbackctl/config.toml'), 'utf8')).toContain(
      `/mail${number}"`,
    )
    expect(readdirSync(machine.folder).filter((name) => name.startsWith('mail'))).toEqual([`mail${number}`])
  })

  it('checks everything with --dry-run, and leaves the site without an owner', async () => {
    const machine = await makeMachine(engine)
    expect(await machine.run(`setup ${FLAGS} --mail-url folder:mail --dry-run`, { stdin: PASSWORD })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Would set up the site'),
    })
    expect(existsSync(path.join(machine.folder, 'config'))).toBe(false)
    expect((await machine.run('setup --if-needed')).code).toBe(2)
  })

  it('sets up a server that cannot send mail, where --no-mail says so', async () => {
    const machine = await makeMachine(engine)
    const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
    const elsewhere = await makeMachine('sqlite')
    const line = `setup --email ada@example.org --name Ada --password-stdin --server ${url}`
    expect(await elsewhere.run(line, { stdin: PASSWORD })).toMatchObject({ code: 5, stderr: expect.stringMatching(/feedbackctl setup --no-mail.*MAIL_CONFIG_MISSING/s) }) // prettier-ignore
    expect((await elsewhere.run(`${line} --no-mail`, { stdin: PASSWORD })).code).toBe(0)
    expect((await machine.run('users list -q')).code).toBe(0)
  })

  it('sets a site up without mail, on which the owner signs in, and mail is added later', async () => {
    const machine = await makeMachine(engine)
    const both = await machine.run(`setup ${FLAGS} --no-mail --mail-url folder:mail`, { stdin: PASSWORD })
    expect([both.code, both.stderr]).toEqual([
      2,
      expect.stringContaining('--no-mail contradicts mail.url (from --mail-url).'),
    ])
    const { code, stdout } = await machine.run(`setup ${FLAGS} --no-mail`, { stdin: PASSWORD })
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('  mail    none: set mail.url (feedbackctl help mail-url)\n'),
    ])
    expect(JSON.parse((await machine.run('mail queue list --json')).stdout).mails).toEqual([])
    const http = await serve(machine)
    const body = { email: 'ada@example.org', password: PASSWORD }
    const { status, body: answer } = await http('POST /auth/login', { body })
    expect(status).toBe(200)
    expect((await http('POST /posts', { token: answer.user.authToken, body: { title: 'First' } })).status).toBe(201)
    expect((await http('POST /auth/signup', { body: { ...body, email: 'eve@example.org' } })).status).toBe(501)
    expect((await machine.run('config set mail.url folder:mail')).code).toBe(0)
    expect((await machine.run('mail test --to ada@example.org')).code).toBe(0)
  })

  it('prints the HTTP body with --json, and a generated password once, in it', async () => {
    const machine = await makeMachine(engine)
    const { stdout, stderr } = await machine.run(
      'setup --email ada@example.org --generate-password --mail-url folder:mail --json',
    )
    expect(Object.keys(JSON.parse(stdout).user)).toEqual(['authToken', 'userId', 'name', 'username', 'email', 'avatar'])
    const { password } = JSON.parse(stdout)
    expect(password).toMatch(/^\S{24}$/)
    expect(stderr).not.toContain(password)
    const server = machine.start('serve')
    const [, url] = await server.says(/listening on (http:\S+?)"/)
    expect(
      (await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, { stdin: password })).code,
    ).toBe(0)
  })
})

describe('feedbackctl setup of a PostgreSQL database without tables', () => {
  it('makes the tables, but not in a dry run, and once when run concurrently', async () => {
    const machine = await makeMachine('postgres')
    const env = { FEEDBACKCTL_DATABASE_URL: await makeDatabase('postgres', machine.folder, { bare: true }) }
    const setup = (flags = '') =>
      machine.process(`setup ${FLAGS} --mail-url folder:mail ${flags}`, { env, stdin: PASSWORD })
    expect(await setup('--dry-run')).toMatchObject({ code: 0, stdout: expect.stringContaining('Would set up') })
    expect(await machine.run('boards list', { env })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('has no tables of feedbackctl yet. Run "feedbackctl setup"'),
    })
    const codes = (await Promise.all([setup(), setup()])).map(({ code }) => code)
    expect(codes.toSorted((one, other) => Number(one) - Number(other))).toEqual([0, 5])
    expect(await machine.run('boards create Ideas', { env })).toMatchObject({ code: 0 })
    expect((await machine.run('migrate', { env })).stdout).toBe('The database is up to date.\n')
  })

  it('leaves tables of an older version to migrate', async () => {
    const machine = await makeMachine('postgres')
    const db = await connect(machine.databaseUrl)
    await sql`delete from kysely_migration where name = ${NEWEST}`.execute(db)
    await db.destroy()
    expect(await machine.run(`setup ${FLAGS} --mail-url folder:mail`, { stdin: PASSWORD })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('has an older schema. Make a backup, then run "feedbackctl migrate".'),
    })
  })
})

describe('feedbackctl setup without a terminal', () => {
  it('names all missing values at once, and changes nothing', async () => {
    const machine = await makeMachine('sqlite')
    const { code, stdout, stderr } = await machine.run('setup')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(`✗ Missing required options: --email, --password-stdin, --mail-url. Nothing was changed.
  why   it cannot be asked for: stdin is not a terminal
  fix   --email <address>      or FEEDBACKCTL_SETUP_EMAIL
        --password-stdin       or --password-file, --generate-password
        --mail-url <url>       or FEEDBACKCTL_MAIL_URL, --no-mail
  code  SETUP_INPUT_MISSING (exit 2)
`)
  })

  it('takes all values from the environment, or files, and does not write them to the configuration', async () => {
    const machine = await makeMachine('sqlite')
    const secret = path.join(machine.folder, 'password')
    writeFileSync(secret, `${PASSWORD}\n`)
    const env = {
      FEEDBACKCTL_SETUP_EMAIL: 'ada@example.org',
      FEEDBACKCTL_SETUP_PASSWORD_FILE: secret,
      FEEDBACKCTL_SETUP_SITE_TITLE: 'Moonbase',
      FEEDBACKCTL_MAIL_URL: `folder:${machine.folder}/m`,
    }
    expect(await machine.run('setup', { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('(from FEEDBACKCTL_MAIL_URL)'),
    })
    expect(existsSync(path.join(machine.folder, 'config'))).toBe(false)
  })

  it.each([
    ['--email nonsense --generate-password --mail-url folder:mail', 'EMAIL_INVALID', 3],
    ['--email a@example.org --password short --mail-url folder:mail', 'VALIDATION_ERROR', 3],
    ['--email a@example.org --generate-password --mail-url ftp://x', 'CONFIG_INVALID', 3],
    [
      `--email a@example.org --generate-password --mail-url folder:mail --name ${'x'.repeat(101)}`,
      'VALIDATION_ERROR',
      0,
    ],
  ])('refuses %.60s and leaves no owner behind', async (flags, code, list) => {
    const machine = await makeMachine('sqlite')
    const refused = await machine.run(`setup ${flags}`)
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(code) })
    expect(refused.stderr).not.toContain('shown only now')
    expect(existsSync(path.join(machine.folder, 'config'))).toBe(false)
    expect((await machine.run('boards list -q')).code).toBe(list)
    expect((await machine.run('setup --if-needed')).code).toBe(2) // not set up yet
  })

  it('warns about a password on the command line', async () => {
    const machine = await makeMachine('sqlite')
    const { code, stderr } = await machine.run(
      `setup --email a@example.org --password '${PASSWORD}' --mail-url folder:mail`,
    )
    expect([code, stderr]).toEqual([0, expect.stringContaining('--password is visible')])
    expect(stderr).not.toContain(PASSWORD)
  })

  it('keeps all other lines of an existing configuration file', async () => {
    const machine = await makeMachine('sqlite')
    const file = path.join(machine.folder, 'site.toml')
    writeFileSync(
      file,
      '# ours\nlisten = "127.0.0.1:0" # keep\n\n[mail]\nfrom = "Board <board@example.org>"\n\n[site]\nurl = "https://example.org/x"\n',
    )
    expect(
      (await machine.run(`setup --config site.toml ${FLAGS} --mail-url folder:mail`, { stdin: PASSWORD })).code,
    ).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(
      `# ours\nlisten = "127.0.0.1:0" # keep\n\n[mail]\nurl = "folder:${machine.folder}/mail"\nfrom = "Board <board@example.org>"\n\n[site]\nurl = "https://example.org/x"\n`,
    )
    const [mail] = readdirSync(path.join(machine.folder, 'mail'))
    const text = readFileSync(path.join(machine.folder, 'mail', mail ?? ''), 'utf8')
    expect(text).toContain('From: Board <board@example.org>')
    expect(text.replaceAll('=\n', '').replaceAll('=3D', '=')).toContain('https://example.org/x/email-verify/?token=')
  })

  it.each([['mail = { from = "a@example.org" }\n']])(
    'refuses %j, which it cannot add to, before it creates an owner',
    async (text) => {
      const machine = await makeMachine('sqlite')
      writeFileSync(path.join(machine.folder, 'site.toml'), text)
      const args = 'setup --config site.toml --email a@example.org --generate-password'
      expect(await machine.run(`${args} --mail-url folder:mail`)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('by hand'),
      })
      expect(readFileSync(path.join(machine.folder, 'site.toml'), 'utf8')).toBe(text)
      expect(await machine.run(args, { env: { FEEDBACKCTL_MAIL_URL: 'folder:mail' } })).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('shown only now'),
      })
    },
  )

  it('follows a symbolic link', async () => {
    const machine = await makeMachine('sqlite')
    writeFileSync(path.join(machine.folder, 'real.toml'), '')
    symlinkSync('real.toml', path.join(machine.folder, 'link.toml'))
    expect(
      (await machine.run('setup --config link.toml --email a@example.org --generate-password --mail-url folder:mail'))
        .code,
    ).toBe(0)
    expect(readFileSync(path.join(machine.folder, 'real.toml'), 'utf8')).toContain('[mail]')
    expect(readdirSync(machine.folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('writes the mail setting when it runs again after it was killed in between', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const file = path.join(machine.folder, 'config/feedbackctl/config.toml')
    const before = readFileSync(file, 'utf8')
    rmSync(file) // as if it had been killed before the file was there
    const again = () => machine.run(`setup ${FLAGS} --mail-url folder:mail`, { stdin: PASSWORD })
    expect(await again()).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/mail\.url was not set yet: written to .*config\.toml\.\n[^]*SETUP_COMPLETED/),
    })
    expect(readFileSync(file, 'utf8')).toBe(before)
    writeFileSync(file, '[mail]\nurl = "folder:elsewhere"\n')
    expect((await again()).stderr).not.toContain('written')
    expect(readFileSync(file, 'utf8')).toContain('elsewhere')
  })

  it('succeeds if the mail server does not respond: the mail is queued, and serve delivers it', async () => {
    const machine = await makeMachine('sqlite')
    const { code, stderr } = await machine.run(`setup ${FLAGS} --mail-url smtp://127.0.0.1:1`, { stdin: PASSWORD })
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /Checking the mail server…\nWarning: mail cannot be sent now \(.*ECONNREFUSED.*\)\. It is queued, and "feedbackctl serve" keeps trying\.\n$/,
      ),
    ])
    const { connect } = await import('../../src/db/connect.js')
    const db = await connect(machine.databaseUrl)
    await db.updateTable('deliveries').set({ dueAt: new Date().toISOString() }).execute()
    const host = await smtpHost()
    const server = machine.start('serve', { env: { FEEDBACKCTL_MAIL_URL: host.url } })
    await server.says(/mail delivered/)
    expect(host.received).toMatchObject([{ to: ['ada@example.org'], secure: true, user: 'board' }])
    expect(server.output().stderr).not.toContain('p%40ss')
    await db.destroy()
  })
})

describe('feedbackctl setup on a terminal', () => {
  it('prompts for missing values, prompts again if the passwords differ, and shows none', async () => {
    const machine = await makeMachine('sqlite')
    const screen = machine.terminal('setup')
    await screen.sees(/Site title/)
    screen.type('Moonbase\r')
    await screen.sees(/Your e-mail address/)
    screen.type('nonsense\r')
    await screen.sees(/is not an e-mail address/)
    screen.type('\u0015ada@example.org\r')
    await screen.sees(/Your name/)
    screen.type('\r')
    await screen.sees(/First board/)
    screen.type('\u0015💡 Ideas\r')
    await screen.sees(/four usual statuses/)
    screen.type('\r')
    await screen.sees(/Password \(8 to 256/)
    screen.type('password\r')
    await screen.sees(/most common passwords[^]*Password \(8 to 256/)
    screen.type(`${PASSWORD}\r`)
    await screen.sees(/Confirm password/)
    screen.type('another password\r')
    await screen.sees(/The passwords do not match/)
    screen.type(`${PASSWORD}\r`)
    await screen.sees(/Confirm password/)
    screen.type(`${PASSWORD}\r`)
    await screen.sees(/Address of the site/)
    screen.type('feedback.example.org\r')
    await screen.sees(/must start with http:\/\/ or https:\/\//)
    screen.type('\u0015https://feedback.example.org/\r')
    await screen.sees(/How is mail sent\?/)
    screen.type('\u001b[B\u001b[B\r')
    await screen.sees(/Folder/)
    screen.type('\r')
    const { code, text } = await screen.ended
    expect(code).toBe(0)
    expect(text).toContain('The site is set up.')
    expect(text).not.toContain(PASSWORD)
    expect(text).not.toContain('another password')
    const [mail = '', ...others] = readdirSync(path.join(machine.folder, 'mail'))
    expect([others, readFileSync(path.join(machine.folder, 'mail', mail), 'utf8')]).toEqual([
      [],
      expect.stringMatching(/From: noreply@feedback\.example\.org\r?\n[^]*\nhttps:\/\/feedback\.example\.=/),
    ])
    expect((await machine.run('config get site.url')).stdout).toBe('https://feedback.example.org/\n')
    expect((await machine.run('setup --if-needed')).code).toBe(0)
    expect(JSON.parse((await machine.run('roadmaps list --json')).stdout).total_count).toBe(4)
    expect(JSON.parse((await machine.run('boards list --json')).stdout).boards).toMatchObject([{ name: '💡 Ideas', url: 'ideas' }]) // prettier-ignore
  })

  it('shows no password that is typed before its prompt', async () => {
    const machine = await makeMachine('sqlite')
    const screen = machine.terminal(
      'setup --email ada@example.org --name Ada --site-title X --mail-url folder:mail --no-board --no-statuses',
    )
    await screen.sees(/Password \(8 to 256/)
    const repeat = async (password: string) => {
      screen.type(`${PASSWORD}\r`)
      await screen.sees(/Confirm password/)
      screen.type(`${password}\r`)
    }
    for (let round = 0; round < 20; round++) {
      await repeat('another password')
      await screen.sees(/The passwords do not match/)
    }
    await repeat(PASSWORD)
    await screen.sees(/Address of the site/)
    screen.type('\r')
    const { code, text } = await screen.ended
    expect(code).toBe(0)
    expect(text).not.toContain(PASSWORD)
  })

  it('checks the SMTP server, and prompts again if it does not respond', async () => {
    const machine = await makeMachine('sqlite')
    const host = await smtpHost({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
    const screen = machine.terminal(
      `setup --email ada@example.org --name Ada --site-title X --no-board --no-statuses --password '${PASSWORD}'`,
    )
    const answer = async (port: number) => {
      await screen.sees(/How is mail sent\?/)
      screen.type('\r')
      await screen.sees(/SMTP host/)
      screen.type('127.0.0.1\r')
      await screen.sees(/Port \(465/)
      screen.type(`\u0015${port}\r`)
      await screen.sees(/SMTP user name/)
      screen.type('board\r')
      await screen.sees(/SMTP password/)
      screen.type('p@ss:w/rd\r')
    }
    await screen.sees(/Address of the site/)
    screen.type('\r')
    await answer(1)
    await screen.sees(/The connection failed: .*ECONNREFUSED[^]*Save anyway/)
    screen.type('n\r')
    await answer(host.port)
    const { code, text } = await screen.ended
    expect(code).toBe(0)
    expect(text).not.toContain('p@ss')
    expect(readFileSync(path.join(machine.folder, 'config/feedbackctl/config.toml'), 'utf8')).toContain(
      `smtp://board:p%40ss%3Aw%2Frd@127.0.0.1:${host.port}`,
    )
    expect(host.received).toMatchObject([{ to: ['ada@example.org'], user: 'board' }])
  })

  it('exits with 130 and changes nothing on Ctrl-C', async () => {
    const machine = await makeMachine('sqlite')
    const screen = machine.terminal('setup')
    await screen.sees(/Site title/)
    screen.type('\u0003')
    const { code, text } = await screen.ended
    expect(code).toBe(130)
    expect(text).not.toMatch(/\n\s+at /)
    expect((await machine.run('setup --if-needed')).code).toBe(2)
  })

  it('never prompts with --no-input or in CI', async () => {
    const machine = await makeMachine('sqlite')
    expect(await machine.terminal('setup --no-input').ended).toMatchObject({
      code: 2,
      text: expect.stringContaining('SETUP_INPUT_MISSING'),
    })
    expect(await machine.terminal('setup', { env: { CI: 'true' } }).ended).toMatchObject({ code: 2 })
  })

  it('asks before it deletes a board, and no is the default', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('boards create Ideas')
    const no = machine.terminal('boards delete ideas')
    await no.sees(/Delete board "Ideas" \(ideas\)\?/)
    no.type('\r')
    expect(await no.ended).toMatchObject({ code: 5 })
    expect((await machine.run('boards show ideas')).code).toBe(0)
    const yes = machine.terminal('boards delete ideas')
    await yes.sees(/Delete board/)
    yes.type('y\r')
    expect(await yes.ended).toMatchObject({ code: 0 })
    expect((await machine.run('boards show ideas')).code).toBe(3)
  })
})

it('setup closes an empty database file that others could read', async () => {
  const machine = await makeMachine('sqlite')
  const folder = path.join(machine.folder, 'data/feedbackctl')
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, 'feedback.db')
  writeFileSync(file, '', { mode: 0o644 })
  await machine.setup()
  expect(statSync(file).mode & 0o777).toBe(0o600)
})
