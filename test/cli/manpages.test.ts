import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { paragraph, roff } from '../../src/cli/lib/texts/roff.js'
import { branches } from '../../src/cli/tree.js'
import { makeMachine } from '../support/cli.js'

const FOLDER = path.resolve(import.meta.dirname, '../../dist/man')
const pages = () => readdirSync(FOLDER).map((name) => [name, gunzipSync(readFileSync(path.join(FOLDER, name))).toString()] as const) // prettier-ignore

/** What a checker says about every page; nothing where this machine does not have it. */
const saidBy = (command: string, ...args: string[]): string =>
  readdirSync(FOLDER)
    .map((name) =>
      spawnSync(command, [...args, path.join(FOLDER, name)], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', MANWIDTH: '80' },
      }),
    ) // prettier-ignore
    .map(({ error, stdout, stderr }) => (error ? '' : `${command === 'man' ? '' : stdout}${stderr}`))
    .join('')

describe('the manual pages', () => {
  it('name every command, its options and its examples', async () => {
    const { run } = await makeMachine('sqlite')
    const { stdout } = await run('help posts --json')
    const { commands } = JSON.parse(stdout) as {
      commands: { name: string; options: { flags: string }[]; examples: string[] }[]
    }
    const text = pages().find(([name]) => name === 'feedbackctl-posts.1.gz')?.[1] ?? ''
    const lines = text.split('\n')
    for (const { name, options, examples } of commands.filter(({ examples: some }) => some.length > 0)) {
      expect(text).toContain(roff(name))
      for (const { flags } of options) expect(lines).toContain(`.B ${roff(flags)}`)
      for (const example of examples) expect(lines).toContain(roff(`$ ${example}`))
    }
    const [, program = ''] = pages().find(([name]) => name === 'feedbackctl.1.gz') ?? []
    for (const { name } of branches) expect(program).toContain(`.BR ${roff(`feedbackctl-${name}`)} (1)`)
  })

  it('are plain roff: ASCII, and only requests that every man knows', () => {
    for (const [name, text] of pages()) {
      expect([name, text.match(/[^\n\x20-\x7E]/g)]).toEqual([name, null])
      const requests = text.split('\n').filter((line) => /^[.']/.test(line))
      expect([name, requests.filter((line) => !/^\.(TH|SH|SS|PP|TP|B|BR|I|nf|fi)\b/.test(line))]).toEqual([name, []])
    }
  })

  it('are accepted without a warning by man and mandoc', () => {
    expect(saidBy('mandoc', '-Tlint', '-W', 'warning')).toBe('')
    expect(saidBy('man', '--warnings', '-l')).toBe('')
  })

  it('hold any text', () => {
    expect(roff('.SH "x" \\fB -- it\'s `a` ^ ~ … 💡 ü')).toBe(
      String.raw`\&.SH \(dqx\(dq \efB \-\- it\(aqs \(gaa\(ga \(ha \(ti ... \[u00FC]`,
    )
    expect(paragraph("'a\n.b c. d")).toEqual(['.PP', String.raw`\(aqa`, '.PP', String.raw`\&.b c.`, 'd'])
  })
})

describe('help', () => {
  it('--all shows every command below the one named', async () => {
    const { run } = await makeMachine('sqlite')
    const { stdout } = await run('help config --all')
    const usages = [...stdout.matchAll(/^Usage: feedbackctl (config \w+)/gm)].map(([, words]) => words)
    expect(usages).toEqual(['config list', 'config get', 'config set', 'config unset', 'config edit', 'config path', 'config validate']) // prettier-ignore
    const all = await run('help --all')
    for (const { name } of branches) expect(all.stdout).toMatch(new RegExp(`^Usage: feedbackctl ${name}\\b`, 'm'))
  })

  it('--json describes the commands for programs', async () => {
    const { run } = await makeMachine('sqlite')
    const { commands } = JSON.parse((await run('help --json')).stdout) as { commands: { name: string }[] }
    expect(commands.map(({ name }) => name)).toEqual([...branches.map(({ name }) => name), 'help'].map((name) => `feedbackctl ${name}`)) // prettier-ignore
    const remove = JSON.parse((await run('help posts delete --json')).stdout)
    expect(remove).toMatchObject({
      usage: 'feedbackctl posts delete <post...> [options]',
      aliases: ['rm'],
      arguments: [{ name: 'post', required: true, several: true }],
      local: false,
    })
    expect(await run('help exit-codes --json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no JSON'),
    })
    expect(await run('help nonsense --json')).toMatchObject({ code: 2 })
  })
})
