import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeMachine, PROGRAM } from '../support/cli.js'
import { temporaryFolder } from '../support/site.js'

const ROOT = path.resolve(PROGRAM, '../..')
const isBinding = (name: string) => name.startsWith('better-sqlite3')

describe('better-sqlite3', () => {
  let modules: string
  let program: string

  /** The program beside a node_modules that can be changed. */
  beforeEach(() => {
    const folder = temporaryFolder()
    modules = path.join(folder, 'node_modules')
    program = path.join(folder, 'bin/feedbackctl.js')
    for (const name of ['bin', 'dist', 'package.json'])
      cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true })
    mkdirSync(modules)
    for (const name of readdirSync(path.join(ROOT, 'node_modules'))) {
      const [from, to] = [path.join(ROOT, 'node_modules', name), path.join(modules, name)]
      if (isBinding(name)) cpSync(from, to, { recursive: true, filter: (file) => !/\/(deps|obj)$/.test(file) })
      else symlinkSync(from, to)
    }
  })

  const bindings = () => readdirSync(modules).filter(isBinding)

  it('of another version than the bundled one is loaded as it is installed', async () => {
    for (const name of bindings()) {
      const file = path.join(modules, name, 'package.json')
      const about = JSON.parse(readFileSync(file, 'utf8')) as object
      writeFileSync(file, JSON.stringify({ ...about, version: '99.0.0' }))
    }
    const machine = await makeMachine('sqlite', { program })
    expect(await machine.run('boards create Ideas')).toMatchObject({ code: 0 })
  })

  it('that is missing is named, with what to do, and leaves no empty database', async () => {
    for (const name of bindings()) rmSync(path.join(modules, name), { recursive: true })
    const machine = await makeMachine('sqlite', { program })
    const { code, stderr } = await machine.run('boards create Ideas')
    expect(stderr).toContain(`no better-sqlite3 is installed for Node ${process.versions.node}`)
    expect(stderr).toContain('Install again with --foreground-scripts')
    expect(code).toBe(1)
    expect(readdirSync(machine.folder)).not.toContain('data')
  })

  it.each(['demo', 'serve', 'serve --workers 2'])('that is missing ends %s', async (command) => {
    for (const name of bindings()) rmSync(path.join(modules, name), { recursive: true })
    const machine = await makeMachine('sqlite', { program })
    const temporary = path.join(machine.folder, 'tmp')
    mkdirSync(temporary)
    const { code, stderr } = await machine.run(command, { env: { TMPDIR: temporary } })
    expect(stderr).toContain('no better-sqlite3 is installed')
    expect(code).toBe(1)
    expect(readdirSync(temporary)).toEqual([])
  })
})
