import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeMachine, PROGRAM, type Machine } from '../support/cli.js'

/** The program as it is installed by a Node that did not build it: without a cache of its own. */
let program: string

beforeAll(() => {
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-start-'))
  const root = path.resolve(PROGRAM, '../..')
  for (const name of ['bin', 'dist', 'package.json']) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  rmSync(path.join(folder, 'dist/cache'), { recursive: true })
  program = path.join(folder, 'bin/feedbackctl.js')
  return () => rmSync(folder, { recursive: true })
})

describe('compiled code', () => {
  it('is kept by the first run, for its owner only, and used by the next', async () => {
    const machine = await makeMachine('sqlite', program)
    const first = await machine.run('boards create Ideas')
    const made = kept(machine)
    expect(made.length).toBeGreaterThan(5)
    for (const file of [path.dirname(made[0] ?? ''), ...made]) expect(statSync(file).mode & 0o077).toBe(0)
    const times = made.map((file) => statSync(file).mtimeMs)
    const second = await machine.run('boards create Ideas')
    expect([first.code, second.code]).toEqual([0, 0])
    expect(kept(machine)).toEqual(made)
    expect(made.map((file) => statSync(file).mtimeMs)).toEqual(times)
  })

  it.each<[string, (whole: Buffer, other: Buffer) => Buffer]>([
    ['empty', () => Buffer.alloc(0)],
    ['half written', (whole) => whole.subarray(0, whole.length / 2)],
    ['no cache at all', () => Buffer.from('not what it was\n'.repeat(500))],
    ['damaged in one place', (whole) => Buffer.from(whole.map((byte, index) => (index === whole.length >> 1 ? byte ^ 0xff : byte)))],
    ['that of another file', (_, other) => other],
  ])('costs only time, and is made anew, where it is %s', async (_, spoil) => {
    const machine = await makeMachine('sqlite', program)
    await machine.run('boards create Ideas')
    const right = await machine.run('boards list')
    const files = kept(machine)
    const whole = files.map((file) => readFileSync(file))
    const spoilt = whole.map((data, index) => spoil(data, whole.at(index - 1) ?? data))
    for (const [index, file] of files.entries()) writeFileSync(file, spoilt[index] ?? '')
    expect(await machine.run('boards list')).toEqual(right)
    const run = files.findIndex((file) => path.basename(file).startsWith('run-')) // every command loads it
    expect(readFileSync(files[run] ?? '').equals(spoilt[run] ?? Buffer.alloc(0))).toBe(false)
    expect(await machine.run('boards list')).toEqual(right)
  })

  it('costs only time where it cannot be kept', async () => {
    const machine = await makeMachine('sqlite', program)
    const file = path.join(machine.folder, 'file')
    writeFileSync(file, '')
    for (const home of [file, '/dev/null', '/proc'])
      expect(await machine.run('boards create Ideas -q', { env: { XDG_CACHE_HOME: home } })).toMatchObject({ code: 0, stderr: '' })
    expect(await machine.run('boards list -q', { env: { XDG_CACHE_HOME: 'relative' } })).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(path.join(machine.folder, 'relative'))).toBe(false)
  })

  it('is whole after two first runs at once, and nothing else is left', async () => {
    const machine = await makeMachine('sqlite', program)
    await machine.run('boards create Ideas', { env: { NODE_DISABLE_COMPILE_CACHE: '1' } })
    expect(kept(machine)).toEqual([])
    const runs = await Promise.all(Array.from({ length: 4 }, () => machine.run('boards list')))
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
    expect(kept(machine).every((file) => file.endsWith('.js'))).toBe(true)
    expect(await machine.run('boards list')).toEqual(runs[0])
  })

  it('of the build serves whoever has none', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('--help')
    await machine.run('boards list')
    expect(kept(machine)).toEqual([])
  })
})

it('shows where an error came from, by source maps too', async () => {
  const machine = await makeMachine('sqlite')
  const plain = await machine.run('boards show none --debug')
  expect(plain.stderr).toMatch(/^ {4}at .*dist\/cli\/chunk-\w+\.js:\d+:\d+/m)
  const mapped = await machine.run('boards show none --debug', { env: { NODE_OPTIONS: '--enable-source-maps' } })
  expect(mapped.stderr).toMatch(/^ {4}at .*src\/service\/boards\.ts:\d+:\d+/m)
})

/** The files of the cache of this machine. */
function kept({ folder }: Machine): string[] {
  const home = path.join(folder, '.cache/feedbackctl')
  mkdirSync(home, { recursive: true })
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(home, name))
    .filter((file) => statSync(file).isFile())
    .toSorted()
}
