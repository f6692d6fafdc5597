import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'

/** A machine with a protected context. Its table is in the configuration file. */
async function protecting(table: string): Promise<Machine> {
  const machine = await makeMachine('sqlite')
  const file = path.join(machine.folder, 'config/feedbackctl/config.toml')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `[contexts.prod]\nprotected = true\n${table}\n`)
  chmodSync(file, 0o600)
  return machine
}

/** Whether a command needs the name of the protected site, and whether it can be given. */
async function asks({ run }: Machine, line: string, env: Record<string, string> = {}): Promise<boolean> {
  const { stderr } = await run(line, { env })
  const isAsked = stderr.includes('"prod" is protected')
  const named = await run(`${line} --confirm prod`, { env })
  expect([line, env, named.stderr.includes('CONFIRMATION_NEEDED')]).toEqual([line, env, !isAsked])
  return isAsked
}

describe('a protected database', () => {
  it('is known through links to its folder, a folder above it, or the file alone', async () => {
    const machine = await protecting('data.dir = "../../real/site"')
    const at = (name: string) => path.join(machine.folder, name)
    mkdirSync(at('real'))
    symlinkSync('real', at('above'))
    const changing = (place: string) => asks(machine, `boards create Ideas ${place}`)
    expect(await changing('--data-dir above/site'), 'a folder that is not there yet').toBe(true)
    mkdirSync(at('real/site'), { recursive: true })
    symlinkSync('real/site', at('linked'))
    for (const name of ['onlyfile', 'dangling', 'hard', 'other']) mkdirSync(at(name))
    symlinkSync('../linked/feedback.db', at('dangling/feedback.db'))
    expect(await changing('--data-dir dangling'), 'a link to a file that is not there yet').toBe(true)
    expect((await machine.run('boards create First --context prod --confirm prod')).code).toBe(0)
    symlinkSync('../real/site/feedback.db', at('onlyfile/feedback.db'))
    linkSync(at('real/site/feedback.db'), at('hard/feedback.db'))
    for (const folder of ['above/site', 'linked', 'onlyfile', 'dangling', 'hard', './other/../real//site/'])
      expect([folder, await changing(`--data-dir ${folder}`)]).toEqual([folder, true])
    expect(await changing('--data-dir other')).toBe(false)
  })

  it('is known where the context names a link', async () => {
    const machine = await protecting('database.url = "sqlite:link.db"')
    symlinkSync('../../data/site/feedback.db', path.join(machine.folder, 'config/feedbackctl/link.db'))
    mkdirSync(path.join(machine.folder, 'data/site'), { recursive: true })
    expect(await asks(machine, 'boards create Ideas --data-dir data/site')).toBe(true)
    expect(await asks(machine, 'boards create Ideas --data-dir data/other')).toBe(false)
  })

  it('is known by the address of its database, where the context names the folder', async () => {
    const machine = await protecting('data.dir = "../../site"')
    const url = `sqlite:${path.join(machine.folder, 'site/feedback.db')}`
    for (const place of ['sqlite:site/feedback.db', 'sqlite:./site//feedback.db', url])
      expect([place, await asks(machine, `boards create Ideas --database-url ${place}`)]).toEqual([place, true])
    for (const name of ['FEEDBACKCTL_DATABASE_URL', 'DATABASE_URL'])
      expect([name, await asks(machine, 'boards create Bugs', { [name]: url })]).toEqual([name, true])
    expect(await asks(machine, `boards create Ideas --database-url '${url} '`), 'a space that the driver drops').toBe(
      true,
    )
    expect(await asks(machine, 'boards create Ideas --database-url sqlite:site/other.db')).toBe(false)
  })

  // Nothing listens there: a command that is not asked for the name cannot connect
  it.each([
    ['postgres://ada@127.0.0.1:1/site', 'postgresql://ada@127.0.0.1:1/site'],
    ['postgres://ada@127.0.0.1:1/site', 'postgres://bob:x@localhost:1/site?connect_timeout=3'],
    ['postgresql://127.0.0.1:1/site?sslmode=disable', 'postgres://LOCALHOST.:1/site'],
    ['postgres://localhost:1/site', 'postgres://127.8.9.10:1/site'],
    ['postgres://localhost:1/site', 'postgres://127.1:1/site'],
    ['postgres://localhost:1/site', 'postgres://[::1]:1/site'],
    ['postgres://localhost:1/site', 'postgres://0.0.0.0:1/site'],
    ['postgres://localhost:1/site', 'postgres://%2Fnone:1/site'],
    ['postgres://localhost:1/site', 'postgres:///site?host=/none&port=1'],
    ['postgres://localhost:1/site', 'postgres://db.invalid:2/site?host=127.0.0.1&port=1'],
    ['postgres://localhost:1/site', 'postgres://localhost:1/s%69te'],
    ['postgres://DB.invalid/site', 'postgres://db.invalid.:5432/site'],
    ['postgres://ada@localhost:1', 'postgres://bob@localhost:1/ada'],
  ])('%s is %s', async (held, given) => {
    const machine = await protecting(`database.url = "${held}"`)
    expect(await asks(machine, 'boards create Ideas', { FEEDBACKCTL_DATABASE_URL: given })).toBe(true)
  })

  it.each([
    ['postgres://ada@localhost:1/site', 'postgres://ada@localhost:2/site'],
    ['postgres://ada@localhost:1/site', 'postgres://ada@localhost:1/Site'],
    ['postgres://ada@localhost:1/site', 'postgres://ada@db.invalid:1/site'],
    ['postgres://ada@db.invalid:1/site', 'postgres://ada@db2.invalid:1/site'],
  ])('%s is not %s', async (held, given) => {
    const machine = await protecting(`database.url = "${held}"`)
    expect(await asks(machine, 'boards create Ideas', { FEEDBACKCTL_DATABASE_URL: given })).toBe(false)
  })
})

describe('a protected server', () => {
  it.each([
    ['http://127.0.0.1:1', 'http://localhost:1'],
    ['http://127.0.0.1:1', 'http://[::1]:1/'],
    ['http://127.0.0.1:1', 'http://0.0.0.0:1'],
    ['http://127.0.0.1:1', 'http://127.8.9.10:1//api/v1'],
    ['http://localhost:1/board', 'HTTP://LocalHost.:1//board///api/v1//'],
    ['http://feedback.invalid', 'http://FEEDBACK.invalid.:80//api/v1'],
  ])('%s is %s', async (held, given) => {
    const machine = await protecting(`server = "${held}"`)
    expect(await asks(machine, `boards create Ideas --server ${given}`)).toBe(true)
  })

  it.each([
    ['http://127.0.0.1:1', 'http://127.0.0.1:2'],
    ['http://127.0.0.1:1', 'https://127.0.0.1:1'],
    ['http://127.0.0.1:1', 'http://127.0.0.1:1/board'],
    ['http://feedback.invalid', 'http://feedback2.invalid'],
  ])('%s is not %s', async (held, given) => {
    const machine = await protecting(`server = "${held}"`)
    expect(await asks(machine, `boards create Ideas --server ${given}`)).toBe(false)
  })
})

describe('a command that names the site it changes', () => {
  it('db copy asks for the name of TO, and not of the configured site', async () => {
    const machine = await protecting('data.dir = "../../site"')
    const { folder, run } = machine
    expect((await run('boards create Ideas --data-dir from')).code).toBe(0)
    expect((await run('boards create Ideas --context prod --confirm prod')).code).toBe(0)
    symlinkSync('site', path.join(folder, 'link'))
    writeFileSync(path.join(folder, 'to.toml'), 'data.dir = "link"\n', { mode: 0o600 })
    for (const to of ['site', 'link', 'sqlite:site/feedback.db', 'env:TO', 'to.toml'])
      expect([to, await asks(machine, `db copy from ${to}`, { TO: 'sqlite:link/feedback.db' })]).toEqual([to, true])
    expect(await asks(machine, 'db copy from sqlite:site/feedback.db --context prod')).toBe(true)
    const wrong = await run('db copy site sqlite:to1.db --context prod --confirm prod')
    expect([wrong.code, wrong.stderr]).toEqual([5, expect.stringContaining('a site without a name')])
    expect(await run('db copy site sqlite:to1.db --context prod')).toMatchObject({ code: 0 })
    expect(await run('db copy site sqlite:to2.db --data-dir site')).toMatchObject({ code: 0 })
    expect(await run('db copy site nothing')).toMatchObject({ code: 2, stderr: expect.stringContaining('TO is sqlite:PATH') }) // prettier-ignore
  })

  it('restore --into asks for the name of that folder, and not of the configured site', async () => {
    const machine = await protecting('data.dir = "../../site"')
    const { run } = machine
    expect((await run('boards create Ideas --data-dir from')).code).toBe(0)
    expect((await run('backup create saved.backup --data-dir from')).code).toBe(0)
    symlinkSync('.', path.join(machine.folder, 'link'))
    const refused = await run('restore saved.backup --into link/site --yes --json')
    expect([refused.code, JSON.parse(refused.stderr)]).toEqual([
      5,
      expect.objectContaining({ fix: 'feedbackctl restore saved.backup --into link/site --yes --json --confirm prod' }),
    ])
    expect((await run('restore saved.backup --into link/site --confirm prod')).code).toBe(0)
    expect((await run('restore saved.backup --yes --data-dir site')).code).toBe(5)
    expect((await run('restore saved.backup --into new --data-dir site')).code).toBe(0)
    expect((await run('restore saved.backup --into newer --context prod')).code).toBe(0)
  })
})
