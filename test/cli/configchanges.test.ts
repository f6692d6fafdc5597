import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { edited } from '../../src/cli/lib/settings/tomledit.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

const fileOf = (machine: Machine): string => path.join(machine.folder, 'config/feedbackctl/config.toml')

function configured(machine: Machine, text: string, mode = 0o600): string {
  const file = fileOf(machine)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

describe('config set', () => {
  it('writes the file that "config path" names, and says that a server needs a restart', async () => {
    const machine = await makeMachine('sqlite')
    const file = fileOf(machine)
    expect(await machine.run('config path')).toEqual({ code: 0, stdout: `${file}\n`, stderr: '' })
    expect(await machine.run('config set site.language de')).toEqual({
      code: 0,
      stdout: `site.language\t${file}\tyes\n`,
      stderr: `Set site.language in ${file}. Restart "feedbackctl serve" to use it.\n`,
    })
    expect(readFileSync(file, 'utf8')).toBe('[site]\nlanguage = "de"\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse((await machine.run('config set server http://localhost:1 --json')).stdout)).toEqual({
      key: 'server',
      file,
      restart: false,
    })
    expect(readFileSync(file, 'utf8')).toBe('server = "http://localhost:1"\n[site]\nlanguage = "de"\n')
    expect((await machine.run('config get site.language')).stdout).toBe('de\n')
    expect(JSON.parse((await machine.run('config get site.language --json')).stdout)).toEqual({
      key: 'site.language',
      value: 'de',
      origin: file,
    })
    expect((await machine.run('config unset server')).stderr).toBe(`Removed server from ${file}.\n`)
    expect(await machine.run('config unset server')).toMatchObject({ code: 0, stderr: `${file} does not set server. Its value comes from: not set.\n` }) // prettier-ignore
    expect(await machine.run('config get server')).toMatchObject({ code: 3, stderr: expect.stringContaining('server is not set.') }) // prettier-ignore
    expect((await machine.run('config validate')).stdout).toBe(`${file}\tyes\n`)
  })

  it('keeps comments, order and all other lines', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(
      machine,
      '# ours\n\n[site] # the site\nurl = "https://a.example.org"   # old\n\n[mail]\n# none\n',
    )
    await machine.run('config set site.url https://b.example.org')
    await machine.run('config set listen 9000')
    await machine.run('config set backup.every 1d')
    await machine.run('config set mail.from \'Ada "A" \\ <ada@example.org>\'')
    expect(readFileSync(file, 'utf8')).toBe(
      String.raw`# ours
listen = 9000

[site] # the site
url = "https://b.example.org"   # old

[mail]
from = "Ada \"A\" \\ <ada@example.org>"
# none

[backup]
every = "1d"
`,
    )
    await machine.run('config unset site.url')
    expect(readFileSync(file, 'utf8')).toContain('[site] # the site\n\n[mail]')
  })

  it.each([
    [
      'config set listen nowhere',
      2,
      'listen must be HOST:PORT, PORT or unix:PATH; "nowhere" is not. Nothing was changed.',
    ],
    ['config set lissten 1', 2, 'There is no setting "lissten". Did you mean "listen"?'],
    ['config get lissten', 2, 'There is no setting "lissten".'],
    [
      "config set mail.from ''",
      2,
      'The value is empty. To remove mail.from, run "feedbackctl config unset mail.from".',
    ],
    ["config set setup.name 'a\nb'", 2, 'setup.name must be one line of text, without control characters'],
    [`config set setup.name ${'x'.repeat(10_001)}`, 2, 'setup.name must have at most 10000 characters.'],
    ['config set context prod', 2, 'context must be the name of a context; "prod" is not.'],
    [
      'config set secret abc',
      2,
      'secret must have at least 16 characters: make one with "openssl rand -hex 32". Nothing was changed.',
    ],
    ['config set listen 1 --context old', 2, 'The settings of a context are changed in its table [contexts.NAME].'],
    ['config set listen 1 --context old', 2, 'fix feedbackctl config edit code'],
    ['config set site.lisen 1', 2, 'Did you mean "listen"? fix feedbackctl config set listen 1 code'],
    ['config set nonsense 1', 2, 'There is no setting "nonsense". fix feedbackctl config list code'],
  ])('%.60s is refused, and changes nothing', async (args, code, said) => {
    const machine = await makeMachine('sqlite')
    const text = '[contexts.old]\ndata.dir = "old"\n'
    const file = configured(machine, text)
    const answer = await machine.run(args)
    expect([answer.code, answer.stdout]).toEqual([code, ''])
    expect(flat(answer.stderr)).toContain(said)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('takes a secret from stdin, shows it never, and lets nobody else read it', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, 'listen = 8000\n', 0o644)
    const passphrase = 'correct horse battery'
    const set = await machine.run('config set backup.passphrase -', { stdin: `${passphrase}\n` })
    const get = await machine.run('config get backup.passphrase')
    expect([set.code, get.stdout]).toEqual([0, '***\n'])
    expect(set.stdout + set.stderr + get.stderr).not.toContain('horse')
    expect(readFileSync(file, 'utf8')).toContain(`passphrase = "${passphrase}"`)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    const seen = await machine.run(`config set backup.passphrase '${passphrase} 2'`)
    expect([seen.code, flat(seen.stderr)]).toEqual([0, expect.stringContaining('can see the value of backup.passphrase in "ps"')]) // prettier-ignore
  })

  it('keeps who may read the file', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, 'listen = 8000\n', 0o644)
    await machine.run('config set listen 9000')
    expect(statSync(file).mode & 0o777).toBe(0o644)
  })

  it('says what else decides', async () => {
    const machine = await makeMachine('sqlite')
    const env = { FEEDBACKCTL_LOG_LEVEL: 'warn' }
    const { code, stderr } = await machine.run('config set log.level debug', { env })
    expect([code, stderr]).toEqual([0, `Set log.level in ${fileOf(machine)}. It has no effect: FEEDBACKCTL_LOG_LEVEL sets it too.\n`]) // prettier-ignore
    expect((await machine.run('config unset log.level', { env })).stderr).toBe(
      `Removed log.level from ${fileOf(machine)}. FEEDBACKCTL_LOG_LEVEL still sets it.\n`,
    )
  })

  it('says that the file is not read, and examines that file', async () => {
    const machine = await makeMachine('sqlite')
    const folder = path.join(machine.folder, 'open')
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    const file = path.join(folder, 'config.toml')
    const { code, stderr } = await machine.run(`config set site.url https://x.org --config ${file}`)
    expect([code, stderr]).toEqual([0, `Set site.url in ${file}. Commands of this user do not read the file: "feedbackctl doctor config --config ${file}" says why.\n`]) // prettier-ignore
    const examined = await machine.run(`doctor config --config ${file}`)
    expect(examined.stdout).toContain(`The configuration file ${file} is not obeyed: others may replace it`)
  })

  it('says in a dry run what it would do, and checks the value', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, 'listen = 8000\n')
    expect(await machine.run('config set listen 9000 --dry-run')).toMatchObject({ code: 0, stderr: `Would set listen in ${file}.\n` }) // prettier-ignore
    expect(await machine.run('config unset listen --dry-run')).toMatchObject({ code: 0, stderr: `Would remove listen from ${file}.\n` }) // prettier-ignore
    expect((await machine.run('config set listen nowhere --dry-run')).code).toBe(2)
    expect(readFileSync(file, 'utf8')).toBe('listen = 8000\n')
  })

  it('does not write to the current folder what is not obeyed there', async () => {
    const machine = await makeMachine('sqlite')
    const here = path.join(machine.folder, 'feedbackctl.toml')
    writeFileSync(here, '[mail]\nurl = "folder:mail"\n')
    await machine.run('config set trust-proxy loopback')
    expect(readFileSync(here, 'utf8')).not.toContain('trust-proxy')
    expect(readFileSync(fileOf(machine), 'utf8')).toBe('trust-proxy = "loopback"\n')
    await machine.run('config set trust-proxy loopback --config feedbackctl.toml')
    expect(readFileSync(here, 'utf8')).toContain('trust-proxy = "loopback"\n')
  })

  it('corrects a file that is wrong, but not one that it cannot read', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, 'log.level = "loud"\n')
    expect(await machine.run('config validate')).toMatchObject({ code: 2, stderr: expect.stringContaining('line 1') })
    expect((await machine.run('config set log.level warn')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('log.level = "warn"\n')
    for (const text of [
      'listen = \n',
      'site = { url = "https://a.example.org" }\n',
      'site.url = """\nhttps://a.example.org"""\n',
    ]) {
      writeFileSync(file, text)
      const { code, stderr } = await machine.run('config set site.url https://b.example.org')
      expect([code, flat(stderr)]).toEqual([
        2,
        expect.stringContaining(`Cannot add site.url to ${file} automatically.`),
      ])
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
  })
})

describe('config edit', () => {
  const editing = (machine: Machine, script: string) => {
    const editor = path.join(machine.folder, 'editor')
    writeFileSync(editor, `#!/bin/sh\n${script}\n`)
    chmodSync(editor, 0o755)
    return machine.process('config edit', { env: { EDITOR: editor } })
  }

  it('replaces the file by what the editor saved, if that is valid', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, '# ours\nlisten = 8000\n')
    const changed = await editing(machine, `sed -i s/8000/9000/ "$1"`)
    expect([changed.code, changed.stderr]).toEqual([0, `Changed ${file}. Restart "feedbackctl serve" to use it.\n`])
    expect(readFileSync(file, 'utf8')).toBe('# ours\nlisten = 9000\n')
    const wrong = await editing(machine, `sed -i s/9000/nowhere/ "$1"`)
    expect([wrong.code, flat(wrong.stderr)]).toEqual([2, expect.stringMatching(/is not valid TOML in line 2.* Nothing was changed\./)]) // prettier-ignore
    const refused = await editing(machine, `echo 'lissten = 1' >> "$1"`)
    expect(flat(refused.stderr)).toContain(`${file} has an unknown key "lissten" in line 3. Did you mean "listen"?`)
    expect(readFileSync(file, 'utf8')).toBe('# ours\nlisten = 9000\n')
    expect(await editing(machine, 'true')).toMatchObject({ code: 0, stderr: 'No changes.\n' })
    expect((await editing(machine, 'false')).code).toBe(2)
  })

  it('keeps a text that is refused, and says where and what to do with it', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, 'listen = 8000\n')
    const refused = await editing(machine, `echo '# hours of work' >> "$1"; echo 'lissten = 1' >> "$1"`)
    const [, kept = ''] = /Your text was saved\. Correct it, .*--config (\S+)"/.exec(flat(refused.stderr)) ?? []
    cleanup(() => rmSync(kept, { force: true }))
    expect(flat(refused.stderr)).toContain(`and copy it to ${file}`)
    expect(readFileSync(kept, 'utf8')).toBe('listen = 8000\n# hours of work\nlissten = 1\n')
    expect(statSync(kept).mode & 0o777).toBe(0o600)
  })

  it('is refused where neither a terminal nor an editor is there', async () => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, 'listen = 8000\n')
    const { code, stderr } = await machine.process('config edit', { stdin: '', env: { EDITOR: '', VISUAL: '' } })
    expect([code, flat(stderr)]).toEqual([
      2,
      expect.stringContaining('An editor needs a terminal, and stdin is not a terminal. Nothing was changed.'),
    ])
    expect(readFileSync(file, 'utf8')).toBe('listen = 8000\n')
  })

  it('makes a file where there is none', async () => {
    const machine = await makeMachine('sqlite')
    expect((await editing(machine, `echo 'listen = 1' > "$1"`)).code).toBe(0)
    expect(readFileSync(fileOf(machine), 'utf8')).toBe('listen = 1\n')
    const other = await makeMachine('sqlite')
    expect((await editing(other, 'true')).code).toBe(5)
    expect(existsSync(fileOf(other))).toBe(false)
  })
})

describe('an edit of TOML', () => {
  it.each([
    ['', 'listen', '1', 'listen = 1\n'],
    ['', 'site.url', '"x"', '[site]\nurl = "x"\n'],
    ['a = 1', 'site.url', '"x"', 'a = 1\n\n[site]\nurl = "x"\n'],
    ['site.language = "de" # d\n', 'site.url', '"x"', 'site.language = "de" # d\nsite.url = "x"\n'],
    ["  site . url = 'y' # d\n", 'site.url', '"x"', '  site . url = "x" # d\n'],
    ['listen = "a#b" # c\r\n', 'listen', '1', 'listen = 1 # c\r\n'],
    ['# of the table\n[mail]\n', 'listen', '1', 'listen = 1\n# of the table\n[mail]\n'],
    ['[mail]\nurl = """\n[site]\n"""\n', 'site.url', '"x"', undefined],
    ['[mail]\n"url" = "y"\n', 'mail.url', undefined, '[mail]\n'],
    ['mail = { url = "y", from = "z" }\n', 'mail.url', undefined, undefined],
    ['[contexts.a]\nserver = "y"\n', 'server', '"x"', 'server = "x"\n[contexts.a]\nserver = "y"\n'],
  ])('%j with %s = %s is %j', (text, key, value, expected) => {
    expect(edited(text, key, value)).toBe(expected)
  })
})
