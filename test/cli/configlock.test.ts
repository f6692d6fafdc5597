import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { prepareChange, prepareSettings, prepareText, replaceFile } from '../../src/cli/lib/settings/configfile.js'
import { prepareContext } from '../../src/cli/lib/settings/contextfile.js'
import { makeMachine } from '../support/cli.js'

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

it.runIf(process.getuid?.() === 0)('root changes no configuration that it would not obey', async () => {
  const machine = await makeMachine('sqlite')
  const folder = path.join(machine.folder, 'config/feedbackctl')
  mkdirSync(folder, { recursive: true })
  chownSync(folder, 12_345, 12_345)
  for (const args of ["alias set one 'posts list'", 'context add one --server https://one.example'])
    expect(await machine.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to another user (uid 12345)') }) // prettier-ignore
  expect(existsSync(path.join(folder, 'config.toml'))).toBe(false)
  expect(statSync(folder).uid).toBe(12_345)
})
