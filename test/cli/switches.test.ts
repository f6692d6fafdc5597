import { Command, type Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '../../src/cli/program.js'
import { branches } from '../../src/cli/tree.js'
import { assertNoSwitchValues } from '../../src/cli/lib/flags/switchvalues.js'
import { isSwitchOfField } from '../../src/cli/lib/flags/switches.js'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

describe.each(engines)('a value after a switch on %s', (engine) => {
  it('is refused before anything is done, with the command that was meant', async () => {
    const { run } = await makeMachine(engine)
    await run('boards create Ideas')
    await run('boards create Bugs')
    const before = (await run('boards list --json')).stdout
    for (const [args, message, fix] of [
      ['boards update ideas --private no', '--private must be true or false; "no" is not.', 'boards update ideas --no-private'], // prettier-ignore
      ['boards update ideas --private off --json=1', '--private must be true or false; "off" is not.', 'boards update ideas --no-private --json=1'], // prettier-ignore
      ['boards update ideas --private=no', '--private must be true or false; "no" is not.', 'boards update ideas --no-private'], // prettier-ignore
      ['boards update ideas --private=ON -q', '--private must be true or false; "ON" is not.', 'boards update ideas --private -q'], // prettier-ignore
      ['boards update ideas --private=maybe', '--private must be true or false; "maybe" is not.', 'boards update --help'], // prettier-ignore
      ['boards update ideas --private Yes', '--private must be true or false; "Yes" is not.', 'boards update ideas --private'], // prettier-ignore
      [
        'boards update ideas --private maybe',
        '--private must be true or false; "maybe" is not.',
        'boards update --help',
      ],
      ['boards update ideas --no-private bugs', '--no-private takes no value, and "bugs" follows it.', 'boards update ideas bugs --no-private'], // prettier-ignore
      ['boards update --private ideas bugs', '--private must be true or false; "ideas" is not.', 'boards update ideas --private bugs'], // prettier-ignore
      ['boards create X --private no', '--private must be true or false; "no" is not.', 'boards create X --no-private'],
      [
        'boards delete ideas --dry-run false',
        '--dry-run takes no value, and "false" follows it.',
        'boards delete ideas',
      ],
      ['boards delete ideas --yes bugs', '--yes takes no value, and "bugs" follows it.', 'boards delete ideas bugs --yes'], // prettier-ignore
      ['boards delete ideas -qy no', '--yes takes no value, and "no" follows it.', 'boards delete --help'],
      ['boards delete --yes no ideas', '--yes takes no value, and "no" follows it.', 'boards delete --help'],
      ['boards list --all no', '--all takes no value, and "no" follows it.', 'boards list'],
      ['boards list --all=true', '--all takes no value.', 'boards list --all'],
      ['boards list -q --all=False', '--all takes no value.', 'boards list -q'],
      ['doctor disk --offline no', '--offline takes no value, and "no" follows it.', 'doctor disk'],
      ['boards list --no-input off', '--no-input takes no value, and "off" follows it.', 'boards list --help'],
    ] as const) {
      const { code, stdout, stderr } = await run(args)
      expect([args, code, stdout, stderr]).toEqual([
        args,
        2,
        '',
        `✗ ${message}\n  fix   feedbackctl ${fix}\n  code  USAGE (exit 2)\n`,
      ])
    }
    expect((await run('boards list --json')).stdout).toBe(before)
  })

  it('is an argument where the command still needs one', async () => {
    const { run } = await makeMachine(engine)
    expect((await run('boards create --private Ideas -q')).stdout).toBe('ideas\n')
    expect((await run('--json boards create Bugs --private false')).code).toBe(0)
    expect((await run('boards delete --yes --quiet ideas bugs')).stdout).toBe('ideas\nbugs\n')
    expect((await run('boards create --private -- no')).code).toBe(0)
    expect((await run('boards update no --private --help no')).stdout).toContain('Usage: ')
  })
})

it('every switch of every command refuses a value', async () => {
  const stream = { columns: 80, isTTY: false, write: () => true } as unknown as NodeJS.WriteStream
  const terminal = { env: {}, cwd: '/', args: [], stdin: process.stdin, stdout: stream, stderr: stream, now: () => new Date(0) } // prettier-ignore
  const { program } = buildProgram(terminal)
  const isSwitch = ({ required, optional, long }: Option) => !required && !optional && long !== undefined
  const leaves = (command: Command, path: string[]): [string[], Command][] =>
    command.commands.length === 0
      ? [[path, command]]
      : command.commands.flatMap((each) => leaves(each, [...path, each.name()]))
  let checked = 0
  for (const { name } of branches) {
    await program.parseAsync([name, '--help'], { from: 'user' }).catch(() => {})
    const branch = program.commands.find((each) => each.name() === name) as Command
    for (const [path, leaf] of leaves(branch, [name])) {
      const given = leaf.registeredArguments.map((_, index) => `a${index}`)
      for (const option of [...program.options, ...leaf.options].filter(isSwitch))
        for (const word of ['no', 'off', 'maybe', ...(isSwitchOfField(option) ? [] : ['true', 'false'])]) {
          if (option.long === '--version') continue
          const args = [...path, ...given, option.long as string, word]
          expect(() => assertNoSwitchValues(program, args)).toThrow(`${option.long} `)
          checked += 1
        }
    }
  }
  expect(checked).toBeGreaterThan(3000)
})
