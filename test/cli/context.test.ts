import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'

function place(machine: Machine, text: string, name = 'config/feedbackctl/config.toml'): void {
  const file = path.join(machine.folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o600 })
}

/** Where a command would work, and with which token. */
const SITE = ['server', 'token', 'data.dir', 'context']

describe('--context', () => {
  it('works with the server that the configuration file names, and with its login', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    place(machine, `[contexts.prod]\nserver = "${url}"\n\n[contexts.empty.data]\ndir = "../../other"\n`)
    const login = 'login --context prod --email ada@example.org --password-stdin'
    expect(await machine.run(login, { stdin: 'correct horse battery' })).toMatchObject({ code: 0 })
    expect(await machine.run('boards create Ideas --context prod')).toMatchObject({ code: 0 })
    const env = { FEEDBACKCTL_CONTEXT: 'prod' }
    expect(JSON.parse((await machine.run('whoami --json', { env })).stdout).user.email).toBe('ada@example.org')
    const other = await machine.run('boards list --context empty')
    expect([other.code, other.stderr]).toEqual([3, expect.stringContaining(path.join(machine.folder, 'other'))])
  })

  it('lets nothing of another site through', async () => {
    const machine = await makeMachine('sqlite')
    place(
      machine,
      'server = "http://default.example"\ntoken = "DEFAULT-TOKEN"\n[contexts.prod]\nserver = "http://prod.example"\n[contexts.here.data]\ndir = "here"\n',
    )
    const { run } = machine
    const listed = async (args: string, env: Record<string, string> = {}) => {
      const { stdout } = await run(`config list --json --show-origin ${args}`, { env })
      const found = JSON.parse(stdout) as Record<string, { value: string; origin: string }>
      return SITE.map((key) => (found[key]?.origin === 'default' ? 'default' : found[key]?.value.replace(machine.folder, '~'))) // prettier-ignore
    }
    const token = { FEEDBACKCTL_TOKEN: 'OTHER-TOKEN', FEEDBACKCTL_SERVER: 'http://env.example' }
    const chosen = { FEEDBACKCTL_CONTEXT: 'prod' }
    expect(await listed('')).toEqual(['http://default.example', '***', 'default', undefined])
    expect(await listed('--context prod')).toEqual(['http://prod.example', undefined, 'default', 'prod'])
    expect(await listed('--context prod', token)).toEqual(['http://prod.example', undefined, 'default', 'prod'])
    expect(await listed('', { ...chosen, FEEDBACKCTL_TOKEN: 'MINE' })).toEqual(['http://prod.example', '***', 'default', 'prod']) // prettier-ignore
    const here = '~/config/feedbackctl/here'
    expect(await listed('--context here', token)).toEqual([undefined, undefined, here, 'here'])
    expect((await listed('--server http://flag.example', chosen)).slice(0, 1)).toEqual(['http://flag.example'])
    expect((await listed('--data-dir mine', { ...chosen }))[3]).toBeUndefined()
  })

  it.each([
    ['boards list --context prd', {}, 'Unknown context "prd". Did you mean "prod"? Contexts: prod.'],
    [
      'boards list --context prod --server http://x.example',
      {},
      'Both --context and --server say which site is meant.',
    ],
    ['boards list', { FEEDBACKCTL_CONTEXT: 'prod', FEEDBACKCTL_DATA_DIR: '/tmp' }, 'Both FEEDBACKCTL_CONTEXT and FEEDBACKCTL_DATA_DIR'], // prettier-ignore
    ['migrate --context prod', {}, 'without the server, which comes from'],
  ] as const)('%s is an error of usage', async (line, env, message) => {
    const machine = await makeMachine('sqlite')
    place(machine, '[contexts.prod]\nserver = "http://prod.example"\n')
    const { code, stderr } = await machine.run(line, { env })
    expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(message)])
  })

  it('is not obeyed from the current folder, and a wrong table is an error', async () => {
    const machine = await makeMachine('sqlite')
    place(machine, 'context = "prod"\n[contexts.prod]\nserver = "http://bad.example"\n', 'feedbackctl.toml')
    const { code, stdout, stderr } = await machine.run('config list --json')
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('bad.example')])
    expect(stderr).toMatch(/Ignored context in [^]*Ignored contexts in/)
    expect((await machine.run('boards list --context prod')).stderr.replace(/\s+/g, ' ')).toMatch(
      /Unknown context "prod"\. No context is set: "feedbackctl context add NAME --server URL" adds one, as a table \[contexts\.NAME\] of \S*config\.toml or \/etc\/feedbackctl\/config\.toml/,
    )
    for (const [text, message] of [
      [
        '[contexts.prod]\nservr = "x"\n',
        /\[contexts\.prod\] has an unknown key "servr" in line 2\. Did you mean "server"/,
      ],
      ['contexts = 3\n', /contexts must be tables/],
      ['[contexts."a b"]\n', /context "a b" that is not valid/],
    ] as const) {
      place(machine, text)
      const found = await machine.run('boards list')
      expect([found.code, found.stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringMatching(message)])
    }
  })

  it('is for sites that are set up, and serve starts its workers with it', async () => {
    const machine = await makeMachine('sqlite')
    place(machine, '[contexts.here.data]\ndir = "here"\n')
    const refused = await machine.run('setup --no-input --context here')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('setup makes no site in a context')])
    const server = machine.start('serve --workers 2 --context here')
    await server.says(/listening on (http:\S+?)"/)
    const { code } = await server.stop('SIGTERM')
    expect([0, 143]).toContain(code)
  })
})
