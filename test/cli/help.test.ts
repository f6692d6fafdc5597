import { describe, expect, it } from 'vitest'
import { branches } from '../../src/cli/tree.js'
import { topics } from '../../src/cli/help.js'
import { makeMachine } from '../support/cli.js'

describe('help', () => {
  it.each([60, 80, 200])('fits a terminal of %d columns', async (columns) => {
    const machine = await makeMachine('sqlite')
    for (const args of [
      '--help',
      'setup --help',
      'boards create --help',
      'posts list --help',
      'events list --help',
      ...Object.keys(topics).map((topic) => `help ${topic}`),
      'help options',
    ]) {
      const { text, code } = await machine.terminal(args, { columns }).ended
      expect(code).toBe(0)
      const long = text
        .split(/\r?\n/)
        .filter((line) => !line.startsWith('Documents: '))
        .filter((line) => line.length > Math.min(columns, 100))
      expect([args, long]).toEqual([args, []])
    }
  })

  it('shows usage with what is required, the description, examples, and the options in groups', async () => {
    const machine = await makeMachine('sqlite')
    const { stdout } = await machine.run('roles assign --help')
    const places = [
      'Usage: feedbackctl roles assign <role> <user...> [options]\n\n',
      'Give a role to a user; ',
      'Examples:\n  $ feedbackctl roles assign moderators eve@example.org bob@example.org\n  $ feedbackctl users list -q --since 7d | feedbackctl roles assign new -\n\n',
      'Options:\n',
      'Output:\n  -o, --output <format>',
      'Connection:\n',
      'More: feedbackctl help options',
      'Documents: ',
    ].map((part) => [part, stdout.indexOf(part)] as const)
    expect(places.filter(([, index]) => index === -1)).toEqual([])
    expect(places.map(([, index]) => index)).toEqual(places.map(([, index]) => index).toSorted((one, other) => one - other)) // prettier-ignore
    expect((await machine.run('boards create --help')).stdout).toMatch(/--private, --no-private .*\n? .*\(default:\s+--no-private\)/) // prettier-ignore
    expect((await machine.run('posts list --help')).stdout).toMatch(/--sort <text> .*\(newest, oldest, /s)
  })

  it('names no option that the command refuses, and only options that can be given together', async () => {
    const { run } = await makeMachine('sqlite')
    const local = [
      'mail test',
      'mail queue list',
      'mail queue show x',
      'mail queue retry x',
      'mail queue cancel x',
      'mail preview',
      'owner link',
      'serve',
      'doctor',
      'backup create',
      'backup list',
      'backup verify x',
      'backup rehearse',
      'backup prune',
      'restore x',
      'migrate',
      'rollback',
      'db copy x y',
      'secret new',
      'secret rotate',
    ]
    for (const args of local) {
      const { stdout } = await run(`${args} --help`)
      expect([args, stdout.includes('--data-dir'), stdout.includes('--server')]).toEqual([args, true, false])
      const { code, stderr } = await run(`${args} --server http://127.0.0.1:1`)
      expect([args, code, stderr]).toEqual([args, expect.any(Number), expect.stringContaining('works only on the machine of the site')]) // prettier-ignore
    }
    expect((await run('demo --help')).stdout).not.toContain('Connection:')
    expect((await run('account password --help')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Usage: feedbackctl account password --current-password-stdin --password-file <file> [options]',
    )
  })

  it('keeps the items of a list and the commands to copy in one piece', async () => {
    const { run } = await makeMachine('sqlite')
    expect((await run('help environment')).stdout).toMatch(/\n {2}2\. FEEDBACKCTL_MAIL_URL, .*\n {5}\S/)
    expect((await run('help formatting')).stdout).toContain(
      '  feedbackctl posts list -q --board ideas |\n    feedbackctl posts update - --roadmap planned\n',
    )
  })

  it('says that a port alone is for this machine only', async () => {
    const machine = await makeMachine('sqlite')
    expect((await machine.run('help options')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'PORT alone means 127.0.0.1, which only this machine can reach',
    )
    const server = machine.start('serve', { env: { FEEDBACKCTL_LISTEN: ':0' } })
    await server.says(/listening on http:\/\/127\.0\.0\.1:\d+/)
  })

  it('refuses what is neither a command nor a topic, and lists what is', async () => {
    const { run } = await makeMachine('sqlite')
    for (const [args, message, fix] of [
      ['help nosuch', 'Unknown command or topic "nosuch". Topics: ', 'help'],
      ['help envronment', 'Did you mean "environment"?', 'help environment'],
      ['help posts nosuch', 'Unknown command "posts nosuch". "posts" has: list, show, search, ', 'help'],
      ['posts lst', 'Unknown command "posts lst". Did you mean "list"? "posts" has: list, ', 'posts list'],
      ['posts frobnicate', 'Unknown command "posts frobnicate". "posts" has: list, ', 'posts --help'],
      ['posts', '"posts" needs a command: list, ', 'posts --help'],
    ] as const)
      expect([args, await run(args)]).toEqual([
        args,
        {
          code: 2,
          stdout: '',
          stderr: expect.stringMatching(
            new RegExp(`${message.replaceAll('?', String.raw`\?`)}[^]*fix   feedbackctl ${fix}\n`),
          ),
        },
      ])
  })

  it('leaves out commands that another replaced, which still work', async () => {
    const { run } = await makeMachine('sqlite')
    for (const noun of ['boards', 'roadmaps']) {
      expect((await run(`${noun} --help`)).stdout).not.toContain('search')
      expect((await run(noun)).stderr).not.toContain('search')
      expect((await run(`${noun} search --help`)).stdout).toContain(`Usage: feedbackctl ${noun} search`)
      expect((await run(`${noun} list --help`)).stdout).toContain('--query')
    }
  })

  it('says what each command is for, and shows an example of each', async () => {
    const { run } = await makeMachine('sqlite')
    for (const { name, summary } of branches) {
      const { stdout } = await run(`help ${name}`)
      expect(stdout).toContain(`Usage: feedbackctl ${name}`)
      expect(stdout).toContain(name === 'moderate' ? 'Decide about' : summary.slice(0, 20))
      const verbs = /\nCommands:\n([^]*?)\n\n/.exec(stdout)?.[1]?.match(/(?<=^ {2})[a-z]\S+/gm) ?? []
      for (const verb of verbs)
        expect((await run(`${name} ${verb} --help`)).stdout).toMatch(
          new RegExp(`^Usage: feedbackctl ${name} ${verb}[^]*\\$ feedbackctl ${name}`),
        )
      expect([name, verbs.length > 0 || /Examples:\n {2}\$ feedbackctl /.test(stdout)]).toEqual([name, true])
    }
  })
})
