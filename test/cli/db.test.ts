import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { clear } from '../../src/db/load.js'
import { filled, json, rowsOf } from '../support/backups.js'
import { makeMachine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'

/** The address of an empty database. */
async function emptyDatabase(engine: Engine): Promise<string> {
  const { databaseUrl } = await makeMachine(engine)
  if (engine === 'sqlite') return databaseUrl
  const db = await connect(databaseUrl)
  await clear(db)
  await db.destroy()
  return databaseUrl
}

// Each test starts some twenty processes
describe.each(engines)('db copy of %s', (engine) => {
  it.each(engines)('into %s has every row, and the balance adds up', async (other) => {
    const machine = await filled(engine)
    const to = await emptyDatabase(other)
    const run = (flags: string) => machine.run(`db copy ${machine.databaseUrl} ${to} ${flags}`)
    const server = machine.start('serve')
    await server.says(/listening on/)
    expect(await run('--verify')).toMatchObject({ code: 5, stderr: expect.stringContaining('DATABASE_IN_USE') })
    await server.stop()
    expect(await run('--dry-run')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Would copy the database.'),
    })
    const before = await rowsOf(machine)
    const { code, stdout } = await run('--verify --json')
    expect(code).toBe(0)
    const { tables, differ } = JSON.parse(stdout) as { tables: { table: string; from: object; there: object }[]; differ: string[] } // prettier-ignore
    expect(differ).toEqual([])
    for (const { from, there } of tables) expect(there).toEqual(from)
    expect(tables.find(({ table }) => table === 'posts')?.there).toMatchObject({ rows: 2 })
    expect(await rowsOf({ databaseUrl: to })).toEqual(before)
    expect(await rowsOf(machine)).toEqual(before)
    expect(await run('')).toMatchObject({ code: 5, stderr: expect.stringContaining('BACKUP_EXISTS') })
    const next = `posts create 'Next one' --board ideas --database-url ${to}`
    expect(await json(machine, next)).toMatchObject({ post: { number: 4 } })
  })
})

it('db copy takes the address from a variable, a data folder or a configuration, and warns of a password', async () => {
  const machine = await filled('sqlite')
  const to = await emptyDatabase('postgres')
  const env = { TARGET: to }
  const { password } = new URL(to)
  expect(password).not.toBe('')
  const quiet = await machine.run('db copy data/feedbackctl env:TARGET --dry-run --json', { env })
  expect(quiet).toMatchObject({ code: 0, stderr: 'Would copy the database. Both sides fit.\n' })
  expect(JSON.parse(quiet.stdout)).toEqual({ tables: [], differ: [] })
  const open = await machine.run(`db copy data/feedbackctl ${env.TARGET} --dry-run`)
  expect(open.stderr).toMatch(/^Warning: the password in TO is visible .*env:NAME\.\nWould copy/)
  writeFileSync(path.join(machine.folder, 'site.toml'), `database.url = "${machine.databaseUrl}"\n`, { mode: 0o600 })
  const copied = await machine.run('db copy site.toml env:TARGET --verify', { env })
  expect(copied).toMatchObject({ code: 0, stderr: expect.stringContaining('Both sides are equal.') })
  for (const [args, why] of [
    ['env:NOBODY env:TARGET', 'FROM is "env:NOBODY", but that variable is not set'],
    ['data/feedbackctl mysql://ada:geheim@db/x', 'TO must be sqlite:PATH'],
    ['data/nothing env:TARGET', 'There is no folder or configuration file "data/nothing". FROM is sqlite:PATH'],
    ['nothing.toml env:TARGET', 'nothing.toml'],
  ] as const) {
    const { code, stderr } = await machine.run(`db copy ${args}`, { env })
    expect([args, code, stderr.includes(why), stderr.includes('geheim')]).toEqual([args, 2, true, false])
  }
  for (const { stdout, stderr } of [quiet, open, copied]) expect(stdout + stderr).not.toContain(`:${password}@`)
})

it('db copy exits with 9 where the copy is not equal, and leaves what is wrong to see', async () => {
  const machine = await filled('sqlite')
  const db = await connect(machine.databaseUrl)
  // The rows of the copy are in another order
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_master where name = 'counters'`.execute(db)
  await sql`drop table counters`.execute(db)
  await sql.raw(`${rows[0]?.sql.replace('"name" text', '"name" text collate nocase')}`).execute(db)
  await sql`insert into counters (name, value) values ('b', 1), ('C', 2)`.execute(db)
  await db.destroy()
  const to = await emptyDatabase('sqlite')
  const { code, stderr } = await machine.run(`db copy ${machine.databaseUrl} ${to} --verify`)
  expect(stderr).toMatch(/differs in counters\.[^]*COPY_DIFFERS/)
  expect({ code, there: existsSync(to.slice('sqlite:'.length)) }).toEqual({ code: 9, there: true })
})

it('db copy makes no file where there is no database to copy', async () => {
  const machine = await makeMachine('sqlite')
  const folder = path.join(machine.folder, 'empty')
  mkdirSync(folder)
  for (const from of ['empty', 'sqlite:empty/other.db'])
    for (const flag of ['--dry-run', ''])
      expect(await machine.run(`db copy ${from} sqlite:to.db ${flag}`)).toMatchObject({
        code: 5,
        stderr: expect.stringMatching(/There is no database .*empty/),
      })
  expect(readdirSync(folder)).toEqual([])
})

it('--database-url warns of a password in an argument, and no other source does', async () => {
  const { databaseUrl, ...machine } = await makeMachine('postgres')
  const { password } = new URL(databaseUrl)
  expect(password).not.toBe('')
  const WARNING =
    'Warning: other users of this machine can see the password of --database-url in "ps". Use --database-url-file, or set FEEDBACKCTL_DATABASE_URL.\n'
  await machine.run('migrate')
  const stderrOf = async (args: string, env: Record<string, string> = {}, code = 0) => {
    const done = await machine.run(`boards list ${args}`, { env: { FEEDBACKCTL_DATABASE_URL: '', ...env } })
    expect([args, done.code]).toEqual([args, code])
    expect(done.stderr).not.toContain(`:${password}@`)
    return done.stderr
  }
  const usual = await stderrOf('', { FEEDBACKCTL_DATABASE_URL: databaseUrl })
  expect(await stderrOf(`--database-url ${databaseUrl}`)).toBe(WARNING + usual)
  expect(await stderrOf(`--database-url=${databaseUrl}`)).toBe(WARNING + usual)
  const [start = ''] = databaseUrl.split('?')
  const parameter = `${start.replace(`:${password}@`, '@')}?password=${password}`
  expect(await stderrOf(`--database-url ${parameter}`)).toBe(WARNING + usual)
  writeFileSync(path.join(machine.folder, 'url'), databaseUrl, { mode: 0o600 })
  expect(await stderrOf('--database-url-file url')).toBe(usual)
  writeFileSync(path.join(machine.folder, 'site.toml'), `database.url = "${databaseUrl}"\n`, { mode: 0o600 })
  expect(await stderrOf('--config site.toml')).toBe(usual)
  expect(await stderrOf('--database-url postgres://me@127.0.0.1:1/none', {}, 6)).not.toContain('Warning')
  const { stdout } = await machine.run('config list --database-url postgres://me@127.0.0.1:1/none')
  expect(stdout, 'a user is no secret').toContain('database.url\tpostgres://me@127.0.0.1:1/none\n')
})

it('--mail-url warns of a password in an argument, and no other source does', async () => {
  const machine = await makeMachine('sqlite')
  const url = 'smtp://ada:geheim@127.0.0.1:1'
  const stderrOf = async (args: string, env: Record<string, string> = {}) => {
    const { stderr, code } = await machine.run(`config list ${args}`, { env })
    expect([args, code, stderr.includes('geheim')]).toEqual([args, 0, false])
    return stderr
  }
  const WARNING =
    'Warning: other users of this machine can see the password of --mail-url in "ps". Use --mail-url-file, or set FEEDBACKCTL_MAIL_URL.\n'
  expect(await stderrOf(`--mail-url ${url}`)).toBe(WARNING)
  expect(await stderrOf(`--mail-url=${url}`)).toBe(WARNING)
  expect(await stderrOf('--mail-url smtp://ada@127.0.0.1:1')).toBe('')
  expect(await stderrOf('', { FEEDBACKCTL_MAIL_URL: url })).toBe('')
  writeFileSync(path.join(machine.folder, 'url'), url, { mode: 0o600 })
  expect(await stderrOf('--mail-url-file url')).toBe('')
})
