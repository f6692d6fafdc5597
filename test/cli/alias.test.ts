import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { shellWords } from '../../src/cli/lib/texts/shellwords.js'
import { branches } from '../../src/cli/tree.js'
import { makeMachine, type Machine } from '../support/cli.js'

const fileOf = (machine: Machine): string => path.join(machine.folder, 'config/feedbackctl/config.toml')

function configured(machine: Machine, text: string, file = fileOf(machine)): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o600 })
}

describe('alias', () => {
  it('stands for a command line, to which what follows is added', async () => {
    const machine = await makeMachine('sqlite')
    const { run } = machine
    configured(machine, '# mine\n[site] # the site\nlanguage = "de"\n')
    await run('boards create Ideas')
    await run('boards create Bugs')
    expect(await run("alias set oldest 'feedbackctl boards list --sort oldest'")).toEqual({
      code: 0,
      stdout: 'oldest\tboards list --sort oldest\n',
      stderr: `Set alias "oldest" in ${fileOf(machine)}.\n`,
    })
    expect(readFileSync(fileOf(machine), 'utf8')).toBe(
      '# mine\n[site] # the site\nlanguage = "de"\n\n[aliases]\noldest = "boards list --sort oldest"\n',
    )
    expect((await run('oldest -q')).stdout).toBe('ideas\nbugs\n')
    expect((await run('oldest -q --limit 1')).stdout).toBe('ideas\n')
    expect(await run('oldest --nonsense')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('boards list --help'),
    })
    expect(JSON.parse((await run('alias list --json')).stdout)).toEqual({
      aliases: [{ name: 'oldest', command: 'boards list --sort oldest' }],
    })
    expect((await run("alias set oldest 'boards list'")).stderr).toContain('It stood for: boards list --sort oldest')
    expect((await run("alias set oldest 'boards list'")).stderr).toContain('stands for that already')
    expect((await run('alias remove oldest --dry-run')).stderr).toMatch(/^Would remove/)
    expect((await run('alias remove oldest')).code).toBe(0)
    expect(await run('oldest')).toMatchObject({ code: 2, stderr: expect.stringContaining('Unknown command "oldest"') })
    expect((await run('alias remove oldest')).code).toBe(3)
  })

  it('is in help and in completion', async () => {
    const { run } = await makeMachine('sqlite')
    await run("alias set bl 'boards list'")
    expect((await run('help')).stdout).toMatch(/\nAliases:\n {2}bl +boards list\n$/)
    expect((await run('')).stdout).toMatch(/\nAliases:\n {2}bl +boards list\n/)
    expect(await run('help bl')).toMatchObject({
      stdout: expect.stringMatching(/^Usage: feedbackctl boards list /),
      stderr: 'bl is an alias: feedbackctl boards list\n',
    })
    expect((await run('__complete -- bl')).stdout).toBe('bl\tboards list\n')
    expect((await run("__complete -- bl --sort ''")).stdout).toContain('oldest')
    expect((await run("__complete -- alias remove ''")).stdout).toBe('bl\tboards list\n')
  })

  it('hides no command, and stands for no alias', async () => {
    const machine = await makeMachine('sqlite')
    const { run } = machine
    for (const { name } of [...branches, { name: 'help' }])
      expect((await run(`alias set ${name} 'posts list'`)).stderr).toContain('is a command, which an alias cannot hide')
    configured(machine, '[aliases]\nboards = "posts list"\na = "b"\nb = "a"\nself = "self"\n')
    expect((await run('boards create Ideas -q')).stdout).toBe('ideas\n')
    for (const name of ['a', 'self'])
      expect(await run(name)).toMatchObject({ code: 2, stderr: expect.stringContaining('must begin with a command') })
  })

  it.each([
    ["alias set x 'nonsense list'", 'must begin with a command; "nonsense" is none.'],
    ["alias set x ''", 'must begin with a command'],
    [`alias set x 'boards "create'`, 'has a quotation mark without another'],
    ["alias set 'a b' 'boards list'", 'cannot be the name of an alias'],
    ["alias set __proto__ 'boards list'", 'cannot be the name of an alias'],
    [`alias set ${'x'.repeat(33)} 'boards list'`, 'cannot be the name of an alias'],
    [`alias set x 'boards list ${'y'.repeat(1000)}'`, 'one line of at most 1000 characters'],
    ['alias set x boards list', 'not 3'],
  ])('%s is refused', async (line, message) => {
    const { run } = await makeMachine('sqlite')
    const { code, stderr } = await run(line)
    expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(message)])
  })

  it('is not taken from the current folder, and must be a text', async () => {
    const machine = await makeMachine('sqlite')
    configured(machine, '[aliases]\nbl = "boards delete ideas --yes"\n', path.join(machine.folder, 'feedbackctl.toml'))
    expect(await machine.run('bl')).toMatchObject({ code: 2, stderr: expect.stringContaining('Unknown command "bl"') })
    expect((await machine.run('config list')).stderr).toContain('Ignored aliases in')
    configured(machine, '[aliases]\nbl = 3\n')
    expect((await machine.run('boards list')).stderr.replaceAll(/\s+/g, ' ')).toContain('the alias "bl" must be a text')
  })

  it('is split as a shell splits a line', () => {
    expect(shellWords(String.raw`a 'b  c' "d \"e\" $f" g\ h'i'"j"  '' 💡`)).toEqual([
      'a',
      'b  c',
      'd "e" $f',
      'g hij',
      '',
      '💡',
    ])
    for (const open of ["'a", '"a', 'a\\', '"a\\"']) expect(shellWords(open)).toBeUndefined()
    expect(shellWords('  ')).toEqual([])
  })
})
