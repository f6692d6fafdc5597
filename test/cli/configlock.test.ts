import { execFile, execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { prepareChange, prepareSettings, prepareText, replaceFile } from '../../src/cli/lib/settings/configfile.js'
import { prepareContext } from '../../src/cli/lib/settings/contextfile.js'
import { makeMachine, PROGRAM } from '../support/cli.js'
import { temporaryFolder } from '../support/site.js'

it('changes of the configuration that are made at once are all kept', async () => {
  const machine = await makeMachine('sqlite')
  const file = path.join(machine.folder, 'config.toml')
  writeFileSync(file, '# mine\n')
  const prepared = [
    prepareContext(file, 'one', { server: 'https://one.example' }),
    prepareContext(file, 'two', { server: 'https://two.example' }),
    prepareSettings(file, { 'log.level': 'warn' }),
    prepareChange(file, (text) => `${text}# end\n`),
  ]
  const edited = prepareText(file, 'other\n', '# mine\n')
  for (const { commit } of prepared) commit()
  const text = readFileSync(file, 'utf8')
  for (const part of ['# mine\n', '[contexts.one]', '[contexts.two]', 'level = "warn"', '# end\n'])
    expect(text).toContain(part)
  expect(edited.commit).toThrow('Another command has changed')
  expect(existsSync(edited.temporary)).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe(text)
  const other = path.join(machine.folder, 'new.json')
  replaceFile(other, () => 'whole\n')
  expect(readFileSync(other, 'utf8')).toBe('whole\n')

  const args = ['context add a --server https://a.example', "alias set b 'posts list'", 'config set log.level error', 'context add c --server https://c.example', "alias set d 'posts list'"] // prettier-ignore
  const ended = await Promise.all(args.map((each) => machine.process(each)))
  expect(ended.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual(args.map(() => 0))
  const own = readFileSync(path.join(machine.folder, 'config/feedbackctl/config.toml'), 'utf8')
  for (const part of ['[contexts.a]', '[contexts.c]', 'b = "posts list"', 'd = "posts list"', 'level = "error"']) expect(own).toContain(part) // prettier-ignore
})

it('a command waits for one that changes the file, but not for one that was killed', async () => {
  const machine = await makeMachine('sqlite')
  const file = path.join(machine.folder, 'config/feedbackctl/config.toml')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(`${file}.lock`, String(2 ** 30)) // no process has this id
  expect(await machine.run("alias set one 'posts list'")).toMatchObject({ code: 0 })
  expect(existsSync(`${file}.lock`)).toBe(false)
  writeFileSync(`${file}.lock`, String(process.pid))
  const waiting = machine.process("alias set two 'posts list'")
  expect((await machine.process('alias list')).stdout).toBe('one\tposts list\n')
  expect(readFileSync(file, 'utf8')).not.toContain('two')
  rmSync(`${file}.lock`)
  expect((await waiting).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toContain('two')
})

it('a lock that is empty for long, or has the id of this very process, was left behind', () => {
  const file = path.join(temporaryFolder(), 'config.toml')
  const lock = `${file}.lock`
  const hourAgo = new Date(Date.now() - 3_600_000)
  writeFileSync(lock, '')
  utimesSync(lock, hourAgo, hourAgo)
  prepareChange(file, (text) => `${text}# one\n`).commit()
  writeFileSync(lock, String(process.pid)) // as in a container, where each command is process 1
  prepareChange(file, (text) => `${text}# two\n`).commit()
  expect(readFileSync(file, 'utf8')).toBe('# one\n# two\n')
  expect(readdirSync(path.dirname(file))).toEqual(['config.toml'])
})

it('a command in another container waits too, although it sees no process with the id in the lock', async () => {
  const machine = await makeMachine('sqlite')
  const file = path.join(machine.folder, 'config/feedbackctl/config.toml')
  const lock = `${file}.lock`
  const write = (text: string) => {
    writeFileSync(lock, text)
    utimesSync(lock, future, future) // so that it does not become old here
  }
  const future = new Date(Date.now() + 3_600_000)
  let held = ''
  const { commit } = prepareChange(file, (text) => {
    if (existsSync(lock)) held = readFileSync(lock, 'utf8')
    return `${text}# more\n`
  })
  writeFileSync(file, '# changed\n') // so that the change is made again, under the lock
  commit()
  const inside = (name: string) =>
    promisify(execFile)('unshare', ['--map-root-user', '--pid', '--fork', process.execPath, PROGRAM, 'alias', 'set', name, 'posts list'], { env: machine.env }) // prettier-ignore
  // A process of this machine, and one of yet another container, which has the id that the command itself gets
  const texts = { one: held, two: held.replace(/^\d+/, '1').replace(/\S+$/, 'elsewhere') }
  for (const [name, text] of Object.entries(texts)) {
    write(text)
    const waiting = inside(name)
    await expect.poll(() => readdirSync(path.dirname(file)).length).not.toBe(2) // it is about to take the lock
    await machine.process('alias list')
    expect(readFileSync(lock, 'utf8')).toBe(text)
    rmSync(lock)
    await waiting
    expect(readFileSync(file, 'utf8')).toContain(`${name} =`)
  }
  writeFileSync(lock, '1 0123456789abcdef elsewhere')
  utimesSync(lock, new Date(0), new Date(0)) // its container was killed
  await inside('three')
  expect(readFileSync(file, 'utf8')).toContain('three')
  expect(existsSync(lock)).toBe(false)
})

it('a change whose lock was removed and taken by another command changes nothing, and leaves that lock', () => {
  const file = path.join(temporaryFolder(), 'config.toml')
  const lock = `${file}.lock`
  writeFileSync(file, '# mine\n')
  const { commit } = prepareChange(file, (text) => {
    if (existsSync(lock)) {
      rmSync(lock)
      writeFileSync(lock, `${process.ppid} other`)
    }
    return `${text}# end\n`
  })
  writeFileSync(file, '# changed\n') // so that the change is made again, under the lock
  expect(commit).toThrow(`Another command has removed ${lock} meanwhile. Nothing was changed.`)
  expect(readFileSync(lock, 'utf8')).toBe(`${process.ppid} other`)
  expect(readFileSync(file, 'utf8')).toBe('# changed\n')
  expect(readdirSync(path.dirname(file)).toSorted()).toEqual(['config.toml', 'config.toml.lock'])
})

it('what is no lock ends a change with an error that names it, and the change leaves no file', async () => {
  const machine = await makeMachine('sqlite')
  const folder = path.join(machine.folder, 'config/feedbackctl')
  const lock = path.join(folder, 'config.toml.lock')
  mkdirSync(folder, { recursive: true })
  const plants = [
    () => execFileSync('mkfifo', [lock]),
    () => symlinkSync('/dev/zero', lock),
    () => symlinkSync('missing', lock),
    () => mkdirSync(lock),
  ]
  for (const plant of plants) {
    plant()
    expect(await machine.process("alias set one 'posts list'")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${lock} is a link, a folder or a pipe, not the lock of a command. Nothing was changed.`), // prettier-ignore
    })
    expect(readdirSync(folder)).toEqual(['config.toml.lock'])
    rmSync(lock, { recursive: true })
  }
})

// Only root can act as another user.
it.runIf(process.getuid?.() === 0)('root changes no configuration that it would not obey (needs root)', async () => {
  const machine = await makeMachine('sqlite')
  const folder = path.join(machine.folder, 'config/feedbackctl')
  mkdirSync(folder, { recursive: true })
  chownSync(folder, 12_345, 12_345)
  for (const args of ["alias set one 'posts list'", 'context add one --server https://one.example'])
    expect(await machine.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to another user (uid 12345)') }) // prettier-ignore
  expect(existsSync(path.join(folder, 'config.toml'))).toBe(false)
  expect(statSync(folder).uid).toBe(12_345)
})
