import { Command } from 'commander'
import { expect, it } from 'vitest'
import { API_ROOT } from '../../src/core/wire.js'
import { buildProgram } from '../../src/cli/program.js'
import { branches } from '../../src/cli/tree.js'
import { documents } from '../../src/cli/version.js'
import { topics } from '../../src/cli/help.js'
import type { Terminal } from '../../src/cli/lib/terminal/terminal.js'
import { openapi } from '../../src/http/api/openapi.js'
import { operations } from '../../src/service/index.js'

// Changes of the API and the help are visible as a diff. "npm run golden" updates the files.

it('the API document', async () => {
  await expect(`${JSON.stringify(openapi(operations, API_ROOT), null, 2)}\n`).toMatchFileSnapshot('openapi.json')
})

it('the help of every command and topic', async () => {
  const written: string[] = []
  const stream = {
    columns: 80,
    isTTY: false,
    write: (text: string) => written.push(text) > 0,
  } as unknown as NodeJS.WriteStream
  const terminal: Terminal = {
    env: { FEEDBACKCTL_CONFIG: '/dev/null', FEEDBACKCTL_DATA_DIR: '/nowhere' },
    cwd: '/',
    args: [],
    stdin: process.stdin,
    stdout: stream,
    stderr: stream,
    now: () => new Date(0),
  }
  const lines = async (args: string[]) => {
    written.length = 0
    const { program } = buildProgram(terminal)
    await program.parseAsync(args, { from: 'user' }).catch((error: { exitCode?: number }) => {
      if (error.exitCode !== 0) throw error // commander throws an error with exit code 0 after it prints help
    })
    const text = written.join('').replace(documents, '/usr/lib/node_modules/feedbackctl/docs')
    return `$ feedbackctl ${args.join(' ')}\n${text}`
  }
  const calls: string[][] = [[], ['--help']]
  for (const branch of branches) {
    calls.push(['help', branch.name])
    const { register } = await branch.load()
    const command = new Command(branch.name)
    register(command, {} as never)
    for (const verb of command.commands) {
      calls.push([branch.name, verb.name(), '--help'])
      for (const inner of verb.commands) calls.push([branch.name, verb.name(), inner.name(), '--help'])
    }
  }
  calls.push(...[...Object.keys(topics), 'options'].map((topic) => ['help', topic]))
  const texts: string[] = []
  for (const call of calls) texts.push(await lines(call))
  await expect(texts.join('\n')).toMatchFileSnapshot('help.txt')
  const untrue = texts.filter((text) => {
    const [usage = ''] = /^Usage: [^]*?\n\n/m.exec(text) ?? []
    const rows = text.split(/\n(?= {2}\S|\n)/)
    return (usage.match(/--[\w-]+/g) ?? []).some((flag) => rows.some((row) => row.includes(`${flag} `) && row.includes('(default:'))) // prettier-ignore
  })
  expect(untrue).toEqual([]) // a usage line names no option that has a default
})

it('every operation has its id, path and status once, and says what it needs', () => {
  expect(new Set(operations.map((op) => op.id)).size).toBe(operations.length)
  expect(new Set(operations.map((op) => op.http.replace(/ \d+$/, '').replaceAll(/:\w+/g, ':'))).size).toBe(
    operations.length,
  )
  for (const op of operations) {
    expect(op.summary).toMatch(/^[A-Z][^.]*$/)
    expect(Object.keys(op).length).toBeLessThanOrEqual(12)
  }
})
