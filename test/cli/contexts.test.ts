import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { branches } from '../../src/cli/tree.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'

const fileOf = (machine: Machine): string => path.join(machine.folder, 'config/feedbackctl/config.toml')
const textOf = (machine: Machine): string => readFileSync(fileOf(machine), 'utf8')
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

function configured(machine: Machine, text: string): void {
  mkdirSync(path.dirname(fileOf(machine)), { recursive: true })
  writeFileSync(fileOf(machine), text)
  chmodSync(fileOf(machine), 0o600)
}

/** The names of the contexts, the current one with a star. */
async function listed({ run }: Machine, env = {}): Promise<string[]> {
  const { stdout } = await run('context list --json', { env })
  const { contexts } = JSON.parse(stdout) as { contexts: { name: string; current: boolean }[] }
  return contexts.map(({ name, current }) => `${name}${current ? '*' : ''}`)
}

const FILE = `# mine

[mail]
url = "folder:mail" # here

# the old one
[contexts.old]
server = "http://old.example"
# inside

# about the site
[site]
language = "de"
`

describe('context add, use and remove', () => {
  it('keep comments and the order of the file, and say what they did', async () => {
    const machine = await makeMachine('sqlite')
    const { run } = machine
    configured(machine, FILE)
    const added = await run('context add prod.eu --server https://feedback.example.org')
    expect(added).toEqual({
      code: 0,
      stdout: `prod.eu\t\thttps://feedback.example.org\t\tno\t${fileOf(machine)}\n`,
      stderr: `Added context "prod.eu" to ${fileOf(machine)}.\n`,
    })
    expect(textOf(machine)).toBe(`${FILE}\n[contexts."prod.eu"]\nserver = "https://feedback.example.org"\n`)
    const used = await run('context use old')
    expect([used.code, used.stderr]).toEqual([0, 'Commands now use "old": http://old.example.\n'])
    expect(await listed(machine)).toEqual(['old*', 'prod.eu'])
    expect(textOf(machine)).toMatch(/^# mine\ncontext = "old"\n\n\[mail\]/)
    expect((await run('context show')).stdout).toMatch(/^old\tyes\thttp:\/\/old\.example\t/)
    const removed = await run('context remove old')
    expect(removed.stderr).toBe(`Removed context "old" from ${fileOf(machine)}. There is no current context now.\n`)
    expect(textOf(machine)).toBe(
      `# mine\n\n[mail]\nurl = "folder:mail" # here\n\n# about the site\n[site]\nlanguage = "de"\n\n[contexts."prod.eu"]\nserver = "https://feedback.example.org"\n`,
    )
    expect((await run('context remove prod.eu')).code).toBe(0)
    expect(textOf(machine)).toMatch(/language = "de"\n$/)
    expect((await run('context list')).stderr).toContain('No site has a name.')
    expect((await run('context show')).code).toBe(3)
  })

  it('works on the site of the current context, with a place beside it, and without it again', async () => {
    const machine = await makeMachine('sqlite')
    const { run } = machine
    configured(machine, '[data]\ndir = "elsewhere"\n')
    expect((await run('context add here --data-dir mine --use')).stderr).not.toContain('no effect')
    expect((await run('boards create Ideas')).code).toBe(0)
    expect(existsSync(path.join(machine.folder, 'mine/feedback.db'))).toBe(true)
    const env = { FEEDBACKCTL_SERVER: 'http://other.example' }
    expect((await run('context use here', { env })).stderr).toContain('It has no effect yet: FEEDBACKCTL_SERVER says')
    expect((await run('context use --none')).stderr).toBe('Commands now use no context.\n')
    expect((await run('config get data.dir')).stdout).toContain('elsewhere')
    expect((await run('context use --none')).stderr).toContain('chooses no context.')
  })

  it('changes nothing with --dry-run', async () => {
    const machine = await makeMachine('sqlite')
    configured(machine, FILE)
    for (const line of [
      'context add prod --server https://x.example --use --protect',
      'context use old',
      'context protect old',
      'context remove old',
    ])
      expect(await machine.run(`${line} --dry-run`)).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^Would /),
      })
    expect(textOf(machine)).toBe(FILE)
  })

  it('keeps a token in a file of its own, for its owner only', async () => {
    const machine = await makeMachine('sqlite')
    const line = 'context add prod --server https://feedback.example.org/ --token-file -'
    expect((await machine.run(line, { stdin: 'a b\n' })).stderr).toContain('is no token. Nothing was changed.')
    expect(existsSync(fileOf(machine))).toBe(false)
    const added = await machine.run(line, { stdin: 'CANARY-KEY\n' })
    const tokens = path.join(machine.folder, 'config/feedbackctl/tokens.json')
    expect(added.stderr).toContain(`The token is in ${tokens}.`)
    expect(added.stdout + added.stderr + textOf(machine)).not.toContain('CANARY')
    expect(statSync(tokens).mode & 0o777).toBe(0o600)
    expect(statSync(fileOf(machine)).mode & 0o777).toBe(0o600)
    expect(JSON.parse((await machine.run('context show prod --json')).stdout)).toMatchObject({ signedIn: true })
  })

  it('says what to do where the current context is gone', async () => {
    const machine = await makeMachine('sqlite')
    configured(machine, 'context = "gone"\n[contexts.old]\nserver = "http://old.example"\n')
    expect((await machine.run('boards list')).code).toBe(2)
    const { code, stderr } = await machine.run('context list')
    expect([code, flat(stderr)]).toEqual([0, expect.stringContaining('The current context "gone", from')])
    expect((await machine.run('context use old')).code).toBe(0)
    expect(await listed(machine)).toEqual(['old*'])
  })

  it.each([
    ['context add', 2, 'name'],
    ['context add prod', 2, 'Give --server URL or --data-dir FOLDER'],
    ['context add prod --server http://x.example --data-dir y', 2, 'not both'],
    ["context add 'a b' --server http://x.example", 2, 'cannot be the name of a context'],
    ['context add __proto__ --server http://x.example', 2, 'cannot be the name of a context'],
    [`context add ${'x'.repeat(65)} --server http://x.example`, 2, 'cannot be the name of a context'],
    ['context add ../up --server http://x.example', 2, 'cannot be the name of a context'],
    ['context add prod --server x.example', 2, 'must start with http://'],
    ['context add prod --server http://u:CANARY@x.example', 2, 'must not contain credentials'],
    ['context add prod --database-url postgres://u:CANARY@h/d', 2, 'can have a password'],
    ['context add old --server http://x.example', 2, 'There is a context "old" in'],
    ['context use odl', 3, 'There is no context "odl". Did you mean "old"? There are: old.'],
    ['context use', 2, 'Give the name of a context, or --none.'],
    ['context remove none', 3, 'There is no context "none".'],
    ['context protect old --off', 0, '"old" is not protected.'],
  ] as const)('%s exits with %i', async (line, code, message) => {
    const machine = await makeMachine('sqlite')
    configured(machine, FILE)
    const found = await machine.run(line)
    expect([found.code, flat(found.stderr)]).toEqual([code, expect.stringContaining(message)])
    expect(textOf(machine)).toBe(FILE)
  })

  it('leaves alone what it cannot change line by line', async () => {
    const machine = await makeMachine('sqlite')
    const text = 'contexts = { old = { server = "http://old.example" } }\n'
    configured(machine, text)
    for (const line of ['context remove old', 'context protect old', 'context add new --server http://x.example']) {
      const { code, stderr } = await machine.run(line)
      expect([code, flat(stderr)]).toEqual([2, expect.stringContaining('Change it by hand')])
    }
    expect(textOf(machine)).toBe(text)
  })

  it('completes names', async () => {
    const machine = await makeMachine('sqlite')
    configured(machine, FILE)
    for (const words of ['context use', 'context remove', 'boards list --context', 'boards list --confirm'])
      expect((await machine.run(`__complete -- ${words} ''`)).stdout).toBe('old\n')
  })

  it('draws a table of 80 columns', async () => {
    const machine = await makeMachine('sqlite')
    configured(machine, FILE)
    await machine.run('context use old')
    const { text } = await machine.terminal('context list --no-color').ended
    expect(text).toMatch(/NAME +CURRENT +SITE[^]*old +yes +http:\/\/old\.example/)
    expect(text.split('\n').every((line) => line.trimEnd().length <= 80)).toBe(true)
  })
})

describe('a protected site', () => {
  it.each(engines)('is changed only with its name, however it is reached, on %s', async (engine) => {
    const machine = await makeMachine(engine)
    const { run } = machine
    const token = await machine.setup()
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    await run(`context add prod --server ${url} --token-file - --protect`, { stdin: token })
    const refused = await run('boards create Ideas --context prod --json')
    expect([refused.code, JSON.parse(refused.stderr)]).toEqual([
      5,
      expect.objectContaining({
        code: 'CONFIRMATION_NEEDED',
        message: expect.stringContaining('--yes is not enough to change it. Pass --confirm prod.'),
        fix: 'feedbackctl boards create Ideas --context prod --json --confirm prod',
      }),
    ])
    expect((await run(`boards create Ideas --server ${url}/`)).code).toBe(5)
    expect((await run('api POST /boards -f name=Ideas --context prod')).code).toBe(5)
    expect((await run('boards create Ideas --context prod --confirm prdo')).stderr).toContain('--confirm is "prdo"')
    expect((await run('boards list -q --context prod')).stdout).toBe('')
    expect((await run('api GET /boards --context prod')).code).toBe(0)
    expect((await run('boards create Ideas --context prod --dry-run')).code).toBe(0)
    expect((await run('boards create Ideas --context prod --confirm prod')).code).toBe(0)
    expect((await run('boards delete ideas --yes --context prod')).code).toBe(5)
    expect((await run('boards list -q --context prod')).stdout).toBe('ideas\n')
  })

  it('is the data folder that the context names', async () => {
    const { run } = await makeMachine('sqlite')
    await run('context add mine --data-dir site --protect')
    for (const place of ['--context mine', '--data-dir site', '--data-dir ./other/../site'])
      expect((await run(`boards create Ideas ${place}`)).code).toBe(5)
    expect((await run('boards create Ideas --data-dir other')).code).toBe(0)
    expect((await run('boards create Ideas --data-dir other --confirm mine')).stderr).toContain('a site without a name')
  })

  it('asks for the name on a terminal', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('context add mine --data-dir site --protect')
    const answered = async (name: string) => {
      const screen = machine.terminal('boards create Ideas --context mine')
      await screen.sees(/"mine" is protected\. Type its name to change it:/)
      screen.type(`${name}\r`)
      return screen.ended
    }
    const wrong = await answered('yes')
    expect([wrong.code, wrong.text]).toEqual([5, expect.stringContaining('Cancelled. Nothing was changed.')])
    expect((await answered('mine')).code).toBe(0)
  })

  it('keeps its protection until its name is given', async () => {
    const machine = await makeMachine('sqlite')
    const { run } = machine
    await run('context add mine --data-dir site')
    expect((await run('context protect mine')).stderr).toContain('Protected context "mine" in')
    for (const line of ['context protect mine --off', 'context remove mine']) {
      expect((await run(line)).code).toBe(5)
      expect((await run(`${line} --confirm other`)).code).toBe(5)
    }
    expect((await run('context protect mine --off --confirm mine')).code).toBe(0)
    expect(textOf(machine)).not.toContain('protected')
    configured(machine, '[contexts.mine]\nprotected = "yes"\n[contexts.mine.data]\ndir = "site"\n')
    expect(flat((await run('boards create Ideas --context mine')).stderr)).toContain('is protected')
    expect(flat((await run('boards list --context mine')).stderr)).toContain('protected must be true or false')
  })

  /** They read, or they change no site that is there. */
  const WITHOUT_DRY_RUN = /^(login|logout|serve|demo|open|backup rehearse|config edit)$/

  it('is known by --dry-run, which every command has that changes something', async () => {
    const reading = /^(list|show|search|get|path|status|verify|validate|print|plan|export|facets|similar|history|count|preview|told|whoami|healthcheck|completion|duplicates|merged|followers|people|team|reported|sessions|permissions|profile|votes|comments|dashboard|blocked-domains|limits|check-(slug|name))$/ // prettier-ignore
    const others: string[] = []
    const walk = (command: Command, words: readonly string[]) => {
      const line = words.join(' ')
      if (command.commands.length > 0) for (const each of command.commands) walk(each, [...words, each.name()])
      else if (!command.options.some(({ long }) => long === '--dry-run') && !reading.test(words.at(-1) ?? ''))
        others.push(line)
    }
    for (const { name, load } of branches) {
      const command = new Command(name)
      ;(await load()).register(command, {} as never)
      walk(command, [name])
    }
    expect(others.filter((line) => !WITHOUT_DRY_RUN.test(line))).toEqual([])
  })
})
