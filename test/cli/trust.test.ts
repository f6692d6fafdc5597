import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'

const STRANGER = 65_534
const isRoot = process.getuid?.() === 0

describe('a configuration file that somebody else may have written', () => {
  const place = (machine: Machine, name = 'feedbackctl.toml', text = 'mail.from = "me@mine.example"\n') => {
    const file = path.join(machine.folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  const listed = async (machine: Machine, args = '') => {
    const { code, stdout, stderr } = await machine.run(`config list --json ${args}`)
    return { code, stderr, ...(stdout !== '' && { settings: JSON.parse(stdout) as Record<string, string> }) }
  }

  it.each([
    [
      'is writable by all',
      'feedbackctl.toml',
      (file: string) => chmodSync(file, 0o666),
      /others may write it: run "chmod go-w \S+feedbackctl\.toml"/,
    ],
    ['is writable by its group', 'feedbackctl.toml', (file: string) => chmodSync(file, 0o620), /others may write it/],
    [
      'is in a folder where it can be replaced',
      'feedbackctl.toml',
      (file: string) => chmodSync(path.dirname(file), 0o777),
      /others may replace it: run "chmod go-w \S+"/,
    ],
    [
      'of the user is writable by all',
      'config/feedbackctl/config.toml',
      (file: string) => chmodSync(file, 0o602),
      /others may write it/,
    ],
    ...(isRoot
      ? ([
          [
            'belongs to another user',
            'feedbackctl.toml',
            (file: string) => chownSync(file, STRANGER, STRANGER),
            /it belongs to another user/,
          ],
          [
            'is in a folder of another user',
            'feedbackctl.toml',
            (file: string) => chownSync(path.dirname(file), STRANGER, STRANGER),
            /another user may replace it/,
          ],
        ] as const)
      : []),
  ] as const)('is ignored where it %s, and that is said once', async (_, name, change, why) => {
    const machine = await makeMachine('sqlite')
    const file = place(machine, name)
    expect(await listed(machine)).toMatchObject({
      code: 0,
      stderr: '',
      settings: { 'mail.from': 'me@mine.example' },
    })
    change(file)
    const { code, stderr, settings = {} } = await listed(machine)
    expect([code, settings['mail.from']]).toEqual([0, 'noreply@localhost'])
    expect(stderr).toMatch(why)
    expect(stderr.match(/Warning: Ignored/g)).toHaveLength(1)
    expect(settings.ignored).toMatch(why)
  })

  // Only root can make a link of another user.
  it.runIf(isRoot)('is ignored where a stranger placed a link to another file of the reader (needs root)', async () => {
    const machine = await makeMachine('sqlite')
    place(machine, 'other.toml')
    const link = path.join(machine.folder, 'feedbackctl.toml')
    symlinkSync('other.toml', link)
    expect((await listed(machine)).settings?.['mail.from']).toBe('me@mine.example')
    const { lchownSync } = await import('node:fs')
    lchownSync(link, STRANGER, STRANGER)
    expect((await listed(machine)).stderr).toContain('it belongs to another user')
  })

  it('is obeyed in a folder of everybody where only its owner can replace it', async () => {
    const machine = await makeMachine('sqlite')
    place(machine)
    chmodSync(machine.folder, 0o1777)
    expect(await listed(machine)).toMatchObject({ stderr: '', settings: { 'mail.from': 'me@mine.example' } })
  })

  it('is an error where --config names it, unless it is a pipe or a device', async () => {
    const machine = await makeMachine('sqlite')
    const file = place(machine, 'named.toml')
    chmodSync(file, 0o666)
    const refused = await machine.run(`boards list --config ${file}`)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/named\.toml is not obeyed: others may write it[^]*CONFIG_INVALID/)
    expect(await listed(machine, '--config /dev/null')).toMatchObject({ code: 0, stderr: '' })
  })

  it('runs no program and sends no token', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const script = path.join(machine.folder, 'run.sh')
    writeFileSync(script, `#!/bin/sh\ntouch ${machine.folder}/RAN\n`, { mode: 0o755 })
    const text = `server = "http://127.0.0.1:1"\n[mail]\nurl = "sendmail:${script}"\n`
    chmodSync(place(machine, 'feedbackctl.toml', text), 0o666)
    const { code, stderr } = await machine.run('users create eve@example.org', { env: { FEEDBACKCTL_TOKEN: 'CANARY' } })
    expect(stderr).toContain('others may write it')
    expect([code, existsSync(path.join(machine.folder, 'RAN'))]).toEqual([0, false])
  })
})

describe('./feedbackctl.toml', () => {
  it.each([
    ['server', 'server = "http://127.0.0.1:1"'],
    ['token', 'token = "CANARY of a folder"'],
    ['secret', 'secret = "CANARY of a folder that is long"'],
    ['mail.url', 'mail.url = "sendmail:/bin/CANARY"'],
    ['mail.url', 'mail.url = "smtp://CANARY.example"'],
    ['mail.url', 'mail.url = "smtps://u:CANARY@evil.example"'],
    ['database.url', 'database.url = "postgres://u:CANARY@evil.example/db"'],
    ['site.url', 'site.url = "https://CANARY.example"'],
    ['trust-proxy', 'trust-proxy = "true"'],
    ['cors.origins', 'cors.origins = "https://CANARY.example"'],
    ['web.root', 'web.root = "/CANARY"'],
    ['accounts.unverified', 'accounts.unverified = "read"'],
    ['passwords.common', 'passwords.common = "refuse"'],
    ['limits.requests', 'limits.requests = "7/7m"'],
    ['limits.sign-in', 'limits.sign-in = "off"'],
    ['limits.mail', 'limits.mail = "off"'],
    ['limits.token', 'limits.token = "off"'],
    ['setup.token', 'setup.token = "CANARY of a folder"'],
    ['metrics.listen', 'metrics.listen = "CANARY:9464"'],
    ['metrics.token', 'metrics.token = "CANARY-of-a-folder"'],
    ['setup.password', 'setup.password = "CANARY of a folder"'],
  ])('cannot set %s, although the reader owns it', async (key, line) => {
    const machine = await makeMachine('sqlite')
    const file = path.join(machine.folder, 'feedbackctl.toml')
    writeFileSync(file, `${line}\nlog.level = "debug"\n`)
    const { code, stdout, stderr } = await machine.run('config list --json')
    expect(code).toBe(0)
    expect(stderr).toContain(`Warning: Ignored ${key} in ${file}: the current folder may be somebody else's.`)
    const settings = JSON.parse(stdout) as Record<string, string>
    writeFileSync(file, '')
    const without = JSON.parse((await machine.run('config list --json')).stdout) as Record<string, string>
    expect(settings[key]).toBe(without[key])
    expect([settings['log.level'], settings.ignored]).toEqual(['debug', expect.stringContaining(`Ignored ${key} in`)])
    expect(stdout + stderr).not.toContain('CANARY')
    writeFileSync(path.join(machine.folder, 'own.toml'), `${line}\n`)
    const chosen = JSON.parse((await machine.run('config list --json --config own.toml')).stdout)
    expect(chosen).toHaveProperty([key])
    expect(chosen[key]).not.toBe(without[key])
  })

  it('can set a folder for mail and a SQLite database', async () => {
    const machine = await makeMachine('sqlite')
    writeFileSync(
      path.join(machine.folder, 'feedbackctl.toml'),
      'mail.url = "folder:m"\ndatabase.url = "sqlite:d.db"\n',
    )
    const { stdout, stderr } = await machine.run('config list --json', { env: { FEEDBACKCTL_DATABASE_URL: '' } })
    expect([stderr, JSON.parse(stdout)]).toMatchObject([
      '',
      { 'mail.url': `folder:${machine.folder}/m`, 'database.url': `sqlite:${machine.folder}/d.db` },
    ])
  })

  it('gets nothing from setup that it cannot set', async () => {
    const machine = await makeMachine('sqlite')
    const file = path.join(machine.folder, 'feedbackctl.toml')
    const before = '[mail]\nurl = "folder:mail"\n'
    writeFileSync(file, before)
    const setup = (mail: string) =>
      machine.run(`setup --email ada@example.org --generate-password --no-input --mail-url ${mail}`)
    for (const mail of ['smtp://me:CANARY@127.0.0.1:1', 'sendmail:'])
      expect(await setup(mail)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Setup does not write mail.url'),
      })
    expect(await setup('folder:elsewhere --site-url https://mine.example')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Setup does not write site.url'),
    })
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(existsSync(path.join(machine.folder, 'data/feedbackctl/feedback.db'))).toBe(false)
    expect((await setup('folder:elsewhere')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('elsewhere')
  })
})
