import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeMachine, PROGRAM, type Machine } from '../support/cli.js'

/** The program without its built cache, as for a Node that did not build it. */
let program: string

beforeAll(() => {
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-launcher-'))
  const root = path.resolve(PROGRAM, '../..')
  for (const name of ['bin', 'dist', 'package.json'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  rmSync(path.join(folder, 'dist/cache'), { recursive: true })
  program = path.join(folder, 'bin/feedbackctl.js')
  return () => rmSync(folder, { recursive: true })
})

describe('the code cache', () => {
  it('is written by the first run, for its owner only, and used by the next', async () => {
    const machine = await makeMachine('sqlite', { program })
    const first = await machine.process('boards create Ideas')
    const written = cacheFiles(machine)
    expect(written.length).toBeGreaterThan(2)
    for (const file of [path.dirname(written[0] ?? ''), ...written]) expect(statSync(file).mode & 0o077).toBe(0)
    const times = written.map((file) => statSync(file).mtimeMs)
    const second = await machine.process('boards create Ideas')
    expect([first.code, second.code]).toEqual([0, 0])
    expect(cacheFiles(machine)).toEqual(written)
    expect(written.map((file) => statSync(file).mtimeMs)).toEqual(times)
  })

  it.each<[string, (whole: Buffer, other: Buffer) => Buffer]>([
    ['empty', () => Buffer.alloc(0)],
    ['half written', (whole) => whole.subarray(0, whole.length / 2)],
    ['no cache at all', () => Buffer.from('not what it was\n'.repeat(500))],
    [
      'damaged in one place',
      (whole) => Buffer.from(whole.map((byte, index) => (index === whole.length >> 1 ? byte ^ 0xff : byte))),
    ],
    ['that of another file', (_, other) => other],
  ])('costs only time, and is written again, where it is %s', async (_, spoil) => {
    const machine = await makeMachine('sqlite', { program })
    await machine.process('boards create Ideas')
    const right = await machine.process('boards list')
    const files = cacheFiles(machine)
    const whole = files.map((file) => readFileSync(file))
    const spoilt = whole.map((data, index) => spoil(data, whole.at(index - 1) ?? data))
    for (const [index, file] of files.entries()) writeFileSync(file, spoilt[index] ?? '')
    expect(await machine.process('boards list')).toEqual(right)
    const run = files.indexOf(packOf(machine, 'run-')) // every command loads it
    expect(readFileSync(files[run] ?? '').equals(spoilt[run] ?? Buffer.alloc(0))).toBe(false)
    expect(await machine.process('boards list')).toEqual(right)
  })

  it('costs only time where it cannot be written', async () => {
    const machine = await makeMachine('sqlite', { program })
    const file = path.join(machine.folder, 'file')
    writeFileSync(file, '')
    for (const home of [file, '/dev/null', '/proc'])
      expect(await machine.process('boards create Ideas -q', { env: { XDG_CACHE_HOME: home } })).toMatchObject({
        code: 0,
        stderr: '',
      })
    expect(await machine.process('boards list -q', { env: { XDG_CACHE_HOME: 'relative' } })).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(existsSync(path.join(machine.folder, 'relative'))).toBe(false)
  })

  it('is whole after two first runs at once, and nothing else is left', async () => {
    const machine = await makeMachine('sqlite', { program })
    await machine.process('boards create Ideas', { env: { NODE_DISABLE_COMPILE_CACHE: '1' } })
    expect(cacheFiles(machine)).toEqual([])
    const runs = await Promise.all(Array.from({ length: 4 }, () => machine.process('boards list')))
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
    expect(cacheFiles(machine).every((file) => file.endsWith('.js'))).toBe(true)
    expect(await machine.process('boards list')).toEqual(runs[0])
  })

  it('of the build is used without a user cache, and is readable by all', async () => {
    const machine = await makeMachine('sqlite')
    await machine.process('--help')
    await machine.process('boards list')
    expect(cacheFiles(machine)).toEqual([])
    const cache = path.resolve(PROGRAM, '../../dist/cache')
    for (const entry of [
      cache,
      ...readdirSync(cache, { recursive: true, encoding: 'utf8' }).map((name) => path.join(cache, name)),
    ]) {
      const is = statSync(entry)
      expect(is.mode & 0o777).toBe(is.isDirectory() ? 0o755 : 0o644)
    }
  })

  it.each(['--max-old-space-size=512', '--max-semi-space-size=16', '--stack-trace-limit=50'])(
    'is written once where V8 runs with %s',
    async (flag) => {
      const machine = await makeMachine('sqlite')
      const env = { NODE_OPTIONS: flag }
      await machine.process('boards list', { env })
      const written = cacheFiles(machine)
      // From Node 24 on V8 takes the cache of the build under another heap size too, and none is written.
      const isHeapSize = flag.includes('-space-size=')
      expect(written.length > 2).toBe(!isHeapSize || Number(process.versions.node.split('.')[0]) < 24)
      const times = written.map((file) => statSync(file).mtimeMs)
      await machine.process('boards list', { env })
      await machine.process('boards list') // uses the built cache
      expect(cacheFiles(machine)).toEqual(written)
      expect(written.map((file) => statSync(file).mtimeMs)).toEqual(times)
    },
  )
})

describe('a code cache that another user may have written', () => {
  it.each<[string, (home: string, own: string) => void]>([
    ['the cache home is open to others', (home) => chmodSync(home, 0o777)],
    ['the folder is open to a group', (home) => chmodSync(path.join(home, 'feedbackctl'), 0o770)],
    ['the folder of this Node is open to others', (_, own) => chmodSync(own, 0o702)],
    ['the cache home is a link', (home) => moveAndLink(home)],
    ['the folder is a link', (home) => moveAndLink(path.join(home, 'feedbackctl'))],
    ['the folder of this Node is a link', (_, own) => moveAndLink(own)],
  ])('is neither run nor replaced where %s', async (_, open) => {
    const { machine, home, file } = await poisoned()
    const missing = cacheFiles(machine).find((other) => other !== file) ?? ''
    rmSync(missing)
    const poison = readFileSync(file)
    open(home, path.dirname(file))
    expect(await machine.process('boards list -q')).toMatchObject({ code: 0, stdout: '' })
    expect(readFileSync(file).equals(poison)).toBe(true)
    expect(existsSync(missing)).toBe(false)
  })

  it.each<[string, (file: string) => void]>([
    ['is open to others', (file) => chmodSync(file, 0o666)],
    ['is a link', moveAndLink],
  ])('is not run, and written again, where the file %s', async (_, open) => {
    const { machine, file } = await poisoned()
    const poison = readFileSync(file)
    open(file)
    expect(await machine.process('boards list -q')).toMatchObject({ code: 0, stdout: '' })
    expect(readFileSync(file).equals(poison)).toBe(false)
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
  })

  it('is run where no other user can write it, so that the tests above would notice', async () => {
    const { machine } = await poisoned()
    expect(await machine.process('boards list -q')).toMatchObject({ code: 3, stdout: 'poisoned\n' })
  })
})

it('has only ASCII in what is loaded: it is read as Latin-1, which is one byte a character', () => {
  const folder = path.resolve(PROGRAM, '../../dist/cli')
  const beyond = readdirSync(folder).filter(
    (name) => name.endsWith('.js') && /[^\0-\x7F]/.test(readFileSync(path.join(folder, name), 'utf8')),
  )
  expect(beyond).toEqual([])
})

it('loads a chunk again that threw, instead of returning half of it', async () => {
  const folder = mkdtempSync(path.join(path.dirname(program), '../again-'))
  for (const name of ['bin', 'dist/cli/launcher.js', 'dist/package.json'])
    cpSync(path.resolve(program, '../..', name), path.join(folder, name), { recursive: true })
  const cli = path.join(folder, 'dist/cli')
  writeFileSync(path.join(cli, 'packs.json'), '{ "packed.js": "pack.js" }')
  writeFileSync(path.join(cli, 'broken.js'), 'throw new Error("broken")')
  writeFileSync(path.join(cli, 'pack.js'), '({ "packed.js"() { throw new Error("broken in a pack") } })')
  writeFileSync(
    path.join(cli, 'main.js'),
    'for (const name of ["broken", "broken", "packed", "packed"]) try { console.log(require(`./${name}.js`)) } catch (error) { console.log(error.message) }',
  )
  const machine = await makeMachine('sqlite', { program: path.join(folder, 'bin/feedbackctl.js') })
  expect((await machine.process('')).stdout).toBe('broken\nbroken\nbroken in a pack\nbroken in a pack\n')
})

it('shows where an error came from, by source maps too', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const plain = await machine.process('boards show none --debug')
  expect(plain.stderr).toMatch(/^ {4}at .*dist\/cli\/pack-\w+\.js:\d+:\d+/m)
  const mapped = await machine.process('boards show none --debug', { env: { NODE_OPTIONS: '--enable-source-maps' } })
  expect(mapped.stderr).toMatch(/^ {4}at .*src\/service\/boards\.ts:\d+:\d+/m)
})

/** The files of the user cache. */
function cacheFiles({ folder }: Machine): string[] {
  const home = path.join(folder, '.cache/feedbackctl')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(home, name))
    .filter((file) => statSync(file).isFile())
    .toSorted()
}

/** The file of the user cache that holds a chunk. */
function packOf(machine: Machine, start: string): string {
  const packs = JSON.parse(readFileSync(path.resolve(program, '../../dist/cli/packs.json'), 'utf8')) as Record<
    string,
    string
  >
  const name = Object.keys(packs).find((chunk) => chunk.startsWith(start)) ?? ''
  return cacheFiles(machine).find((file) => path.basename(file) === packs[name]) ?? ''
}

/**
 * A machine whose user cache has other code for a chunk that every command loads. V8 checks only the length of the
 * source.
 */
async function poisoned(): Promise<{ machine: Machine; home: string; file: string }> {
  const machine = await makeMachine('sqlite', { program })
  await machine.setup()
  await machine.process('boards list')
  const file = packOf(machine, 'run-')
  const poison = `
    const { readFileSync, writeFileSync } = require('node:fs')
    const [chunk, file] = process.argv.slice(1)
    const script = new (require('node:vm').Script)('console.log("poisoned");process.exit(3)'.padEnd(readFileSync(chunk).length))
    const data = script.createCachedData()
    writeFileSync(file, Buffer.concat([data, data]))`
  execFileSync(process.execPath, ['-e', poison, path.resolve(program, '../../dist/cli', path.basename(file)), file], {
    env: {},
  })
  return { machine, home: path.join(machine.folder, '.cache'), file }
}

function moveAndLink(name: string): void {
  renameSync(name, `${name}.moved`)
  symlinkSync(`${name}.moved`, name)
}

it('starts for a user without a home, as of systemd and of containers: there packages that ask for it throw as they load', async () => {
  const machine = await makeMachine('sqlite')
  const { HOME: _, ...env } = machine.env
  const homeless = path.join(machine.folder, 'homeless.cjs')
  // As libuv for a user that is in no list of users
  writeFileSync(
    homeless,
    `const os = require('node:os')
    os.homedir = () => { if (process.env.HOME) return process.env.HOME; throw new Error('uv_os_homedir returned ENOENT') }
    require('node:module').syncBuiltinESMExports()`,
  )
  const stdout = execFileSync(process.execPath, ['--require', homeless, PROGRAM, 'config', 'get', 'data.dir'], { cwd: machine.folder, env: { ...env, XDG_DATA_HOME: '', STATE_DIRECTORY: '/var/lib/board' }, encoding: 'utf8' }) // prettier-ignore
  expect(stdout).toBe('/var/lib/board\n')
})
