import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/feedbackctl.js')

describe('what the words of a command may become', () => {
  it.each([
    ['post', ['posts']],
    ['posts l', ['list']],
    ['posts list --lim', ['--limit']],
    ['posts list --sort old', ['oldest']],
    ['posts list --sort=old', ['--sort=oldest']],
    ['posts list --sort = old', ['oldest']], // as bash splits it
    ['posts ls --sort old', ['oldest']],
    ['posts list --no-in', ['--no-input']],
    ['--output js', ['json', 'jsonl']],
    ['-o ya', ['yaml']],
    ['--data-dir x boards sh', ['show']],
    ['boards list --config ', [':files']],
    ['boards list --context ', ['prod']],
    ['serve --web-enabled ', ['true', 'false']],
    ['config get site.', ['site.url', 'site.language']],
    ['config unset site.l', ['site.language']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['completion bash ', []],
    ['help conf', ['config']],
    ['help exit', ['exit-codes']],
    ['restore ', [':files']],
    ['posts list -- --lim', []],
    ['nonsense ', []],
    ['posts nonsense ', []],
    ['__comp', []],
    ["'$(touch x)' \u001B[31m", []],
  ])('%j', async (line, expected) => {
    const machine = await makeMachine('sqlite')
    const folder = path.join(machine.folder, 'config/feedbackctl')
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'config.toml'), '[contexts.prod]\nserver = "http://x.example.org"\n', {
      mode: 0o600,
    })
    const { code, stdout, stderr } = await machine.run(`__complete -- ${line.replace(/ $/, " ''")}`)
    const words = stdout
      .split('\n')
      .filter(Boolean)
      .map((each) => each.split('\t')[0])
    expect([code, words, stderr]).toEqual([0, expected, ''])
  })

  it('has descriptions of one line, and no older names of options', async () => {
    const machine = await makeMachine('sqlite')
    const { stdout } = await machine.run('__complete -- posts list --')
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^--[a-z-]+(\t[^\t]+)?$/)
    expect(stdout).toContain('--data-dir\t')
    expect(stdout).not.toContain('--created\t')
  })
})

it('"completion bash" prints a script that bash completes with', async () => {
  const machine = await makeMachine('sqlite')
  const { code, stdout } = await machine.run('completion bash')
  expect(code).toBe(0)
  const script = path.join(machine.folder, 'completion.bash')
  writeFileSync(script, stdout)
  const completed = (...words: string[]) =>
    execFileSync(
      'bash',
      ['-c', `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _feedbackctl; printf '%s\\n' "\${COMPREPLY[@]}"`, 'bash', script, PROGRAM, ...words], // prettier-ignore
      { env: { ...machine.env, PATH: process.env.PATH }, encoding: 'utf8' },
    )
  expect(completed('boards', 'li')).toBe('list\n')
  expect(completed('boards', 'list', '--output', '=', 'js')).toBe('json\njsonl\n')
  expect(completed('boards', 'list', '')).toBe('\n')
})

it('refuses a shell that it has no script for', async () => {
  const machine = await makeMachine('sqlite')
  expect(await machine.run('completion csh')).toMatchObject({ code: 2, stdout: '' })
})
