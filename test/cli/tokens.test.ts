import { execFile } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, PROGRAM, type Machine } from '../support/cli.js'

const folderOf = ({ folder }: Machine): string => path.join(folder, 'config/feedbackctl')
const fileOf = (machine: Machine): string => path.join(folderOf(machine), 'tokens.json')
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

async function withFolder(): Promise<Machine> {
  const machine = await makeMachine('sqlite')
  mkdirSync(folderOf(machine), { recursive: true })
  return machine
}

const COMMANDS = [
  'boards list --server http://127.0.0.1:1',
  'logout --server http://127.0.0.1:1',
  'login --server http://127.0.0.1:1 --email ada@example.org --password-stdin',
  'context add prod --server http://127.0.0.1:1 --token-file -',
]

describe('saved tokens that cannot be read', () => {
  it.each([
    ['broken JSON', '{"http://feedback.example.org": "CANARY', /its text is not what/],
    ['an empty file', '', /its text is not what/],
    ['a list', '["CANARY"]', /its text is not what/],
    ['values that are no text', '{"http://feedback.example.org": 7}', /its text is not what/],
  ])('%s is an error, and stays as it is', async (_, text, why) => {
    const machine = await withFolder()
    writeFileSync(fileOf(machine), text, { mode: 0o600 })
    for (const line of COMMANDS) {
      const { code, stdout, stderr } = await machine.run(line, { stdin: 'secret\n' })
      expect([line, code, flat(stderr)]).toEqual([line, 2, expect.stringMatching(why)])
      expect(flat(stderr)).toContain(`${fileOf(machine)}: `)
      expect(flat(stderr)).toContain('Correct the file, or move it away and sign in again.')
      expect(stdout + stderr).not.toContain('CANARY')
    }
    expect(readFileSync(fileOf(machine), 'utf8')).toBe(text)
    expect(existsSync(path.join(folderOf(machine), 'config.toml')), 'the context is not added without its token').toBe(false) // prettier-ignore
  })

  it.each([
    ['a folder', (file: string) => mkdirSync(file), /it is a folder/],
    ['a link to itself', (file: string) => symlinkSync('tokens.json', file), /ELOOP/],
    ['a link to nothing', (file: string) => symlinkSync('/none/tokens.json', file), /it does not exist/],
  ])('%s is an error, and stays as it is', async (_, make, why) => {
    const machine = await withFolder()
    make(fileOf(machine))
    const before = lstatSync(fileOf(machine)).ino
    for (const line of COMMANDS) {
      const { code, stderr } = await machine.run(line, { stdin: 'secret\n' })
      expect([line, code, flat(stderr)]).toEqual([line, 2, expect.stringMatching(why)])
    }
    expect(lstatSync(fileOf(machine)).ino).toBe(before)
  })

  // Root may read everything, so the program runs as nobody
  it('a file of another user is an error', async () => {
    const machine = await withFolder()
    const isRoot = process.getuid?.() === 0
    writeFileSync(fileOf(machine), '{}', { mode: isRoot ? 0o600 : 0o000 })
    for (const folder of [machine.folder, path.dirname(folderOf(machine)), folderOf(machine)]) chmodSync(folder, 0o755)
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {}
    const stderr = await new Promise<string>((resolve) => {
      execFile(process.execPath, [PROGRAM, 'boards', 'list', '--server', 'http://127.0.0.1:1'], { cwd: '/', env: machine.env, ...user }, (_error, _stdout, text) => resolve(text)) // prettier-ignore
    })
    expect(flat(stderr)).toContain('this user is not allowed to read it')
  })
})

it('a server has one token, however its address is spelled', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const server = machine.start('serve')
  const [, port = ''] = await server.says(/listening on http:\S+:(\d+)"/)
  const { run } = machine
  const tokens = () => Object.keys(JSON.parse(readFileSync(fileOf(machine), 'utf8')))
  const login = (url: string) => run(`login --server ${url} --email ada@example.org --password-stdin`, { stdin: 'correct horse battery' }) // prettier-ignore
  expect((await login(`http://127.0.0.1:${port}`)).code).toBe(0)
  expect((await login(`http://127.1:${port}//`)).code).toBe(0)
  expect(tokens()).toHaveLength(1)
  for (const url of [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port}/api/v1/`, `http://127.0.0.1.:${port}`])
    expect([url, (await run(`whoami --server ${url}`)).code]).toEqual([url, 0])
  // As earlier versions wrote it
  const [token] = Object.values(JSON.parse(readFileSync(fileOf(machine), 'utf8')))
  writeFileSync(fileOf(machine), JSON.stringify({ [`http://127.0.0.1:${port}/api/v1`]: token }), { mode: 0o600 })
  expect((await run(`whoami --server http://127.0.0.1:${port}`)).code).toBe(0)
  expect((await run(`logout --server http://127.0.0.1:${port}/`)).stderr).toContain('Signed out of')
  expect(tokens()).toEqual([])
})
