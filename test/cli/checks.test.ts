import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { NAMES } from '../../src/doctor/names.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { damaged, dataOf, doctor, filled, secretOf } from '../support/doctor.js'
import { engines } from '../support/site.js'

const databaseOf = (machine: Machine): string => path.join(dataOf(machine), 'feedback.db')

/** The environment of a program in which this runs first. */
function changed({ folder }: Machine, code: string): Record<string, string> {
  const file = path.join(folder, 'changed.cjs')
  writeFileSync(file, code)
  return { NODE_OPTIONS: `--require ${file}` }
}

const without = (module: string) => `
const { Module } = require('node:module')
const { _load } = Module
Module._load = function (name, ...rest) {
  if (name.includes(${JSON.stringify(module)})) throw new Error('The module was compiled against a different Node.js version')
  return _load.call(this, name, ...rest)
}
`
const disk = (figures: object) => `
const fs = require('node:fs')
const { statfsSync } = fs
fs.statfsSync = (...given) => ({ ...statfsSync(...given), ...${JSON.stringify(figures)} })
require('node:module').syncBuiltinESMExports()
`
const clock = (milliseconds: number) => `
const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + ${milliseconds}] : given))
  }
  static now() {
    return Real.now() + ${milliseconds}
  }
}
`

describe('each check of doctor finds what it is for', () => {
  it('runtime: modules that are missing, or of another Node', async () => {
    const machine = await filled('sqlite')
    expect((await doctor(machine, 'runtime', changed(machine, without('@node-rs/argon2')))).found).toMatchObject([
      {
        evidence: expect.stringMatching(/^Passwords cannot be checked: the module @node-rs\/argon2 does not load on /),
        fix: expect.stringContaining('npm ci'),
      },
    ])
    const { checks } = await doctor(machine, 'runtime database counters', changed(machine, without('better-sqlite3')))
    expect(checks).toMatchObject([
      { id: 'runtime', severity: 'error', evidence: expect.stringMatching(/^SQLite is not available: better-sqlite3 does not load with Node .*: The module was compiled against a different Node/), fix: expect.stringContaining('npm ci') }, // prettier-ignore
      { id: 'database', severity: 'error', fix: 'feedbackctl doctor runtime' },
      { id: 'counters', severity: 'skipped' },
    ])
  })

  it.each(['', '-wal', '.before-restore-20260101T000000Z', '.before-upgrade-20260101T000000Z'])(
    'files: a database%s that others can read, and --fix closes it',
    async (ending) => {
      const machine = await filled('sqlite')
      const file = `${databaseOf(machine)}${ending}`
      if (ending !== '') writeFileSync(file, '')
      chmodSync(file, 0o646)
      const { found } = await doctor(machine, 'files')
      expect(found).toMatchObject([
        { evidence: `Others on this machine can read and write ${file}.`, fix: `chmod 600 ${file}` },
      ])
      expect(await machine.run('doctor files --fix --yes')).toMatchObject({ code: 0 })
      expect(statSync(file).mode & 0o777).toBe(0o600)
    },
  )

  it('files: a data folder in which others can write, backups and tokens that they can read', async () => {
    const machine = await filled('sqlite')
    await machine.run('backup create')
    const tokens = path.join(machine.folder, 'config/feedbackctl/tokens.json')
    mkdirSync(path.dirname(tokens), { recursive: true })
    writeFileSync(tokens, '{}', { mode: 0o644 })
    chmodSync(dataOf(machine), 0o777)
    const { found } = await doctor(machine, 'files')
    expect(found.map(({ evidence }) => evidence)).toEqual([
      `Others on this machine can write ${dataOf(machine)}.`,
      `Others on this machine can read ${tokens}.`,
    ])
    expect(await machine.run('doctor files --fix --yes')).toMatchObject({ code: 0 })
  })

  it('files: a data folder in which its group can write, and a link that chmod would follow', async () => {
    const machine = await filled('sqlite')
    const victim = path.join(machine.folder, 'victim')
    writeFileSync(victim, '')
    chmodSync(victim, 0o666)
    const link = `${databaseOf(machine)}.before-restore-20260101T000000Z`
    symlinkSync(victim, link)
    chmodSync(dataOf(machine), 0o775)
    const { found } = await doctor(machine, 'files')
    expect(found).toMatchObject([
      { evidence: `The users of its group can write ${dataOf(machine)}.`, fix: `chmod 755 ${dataOf(machine)}` },
      { evidence: `Others on this machine can read and write ${link}.`, fix: expect.stringContaining(`Look at where ${link} leads.`) }, // prettier-ignore
    ])
    await machine.run('doctor files --fix --yes')
    expect([statSync(dataOf(machine)).mode & 0o777, statSync(victim).mode & 0o777]).toEqual([0o755, 0o666])
  })

  it('leftovers: copies of the database that nobody puts back any more; they are no matter of --fix', async () => {
    const machine = await filled('sqlite')
    const young = `${databaseOf(machine)}.before-upgrade-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
    writeFileSync(young, 'x', { mode: 0o600 })
    expect((await doctor(machine, 'leftovers')).checks).toMatchObject([
      { severity: 'ok', evidence: `None, except what was kept in the last 30 days: ${young} (1 B)` },
    ])
    const old = `${databaseOf(machine)}.before-restore-20260101T000000Z-2` // two in one second
    writeFileSync(old, 'x', { mode: 0o600 })
    expect((await doctor(machine, 'leftovers')).found).toMatchObject([
      { evidence: `${old} (1 B) has been kept since 2026-01-01 by "feedbackctl restore".`, fix: `If you do not need it: rm ${old}` }, // prettier-ignore
    ])
    expect((await machine.run('doctor leftovers --fix --yes')).code).toBe(9)
    expect(statSync(old).size).toBe(1)
  })

  it('leftovers: the command that removes one does nothing else, whatever its name', async () => {
    const machine = await filled('sqlite')
    const odd = path.join(machine.folder, "it's; touch PWNED #.export-deadbeef.part")
    mkdirSync(odd)
    utimesSync(odd, new Date(0), new Date(0))
    const [found] = (await doctor(machine, 'leftovers')).found
    expect(found?.fix).toContain(`it'\\''s; touch PWNED #.export-deadbeef.part'`)
    expect(spawnSync('sh', ['-c', found?.fix ?? ''], { cwd: machine.folder }).status).toBe(0)
    expect([existsSync(odd), existsSync(path.join(machine.folder, 'PWNED'))]).toEqual([false, false])
    const received = path.join(machine.folder, 'feedbackctl-import-aB3xYz') // where an export from a server was killed
    mkdirSync(received)
    utimesSync(received, new Date(0), new Date(0))
    expect((await doctor(machine, 'leftovers')).found).toMatchObject([{ fix: `rm -r ${received}` }])
  })

  it('disk: one that is full, has no room for files, or is of another machine', async () => {
    const machine = await filled('sqlite')
    const seen = async (figures: object) =>
      (await doctor(machine, 'disk', changed(machine, disk(figures)))).found.map(({ evidence }) => evidence)
    // One for each disk: the temporary folder may be on another
    const full = await seen({ bavail: 10, bsize: 4096, blocks: 1_000_000 })
    expect(full[0]).toMatch(/^The disk of .* is full: 41\.0 kB of 4\.1 GB are free\.$/)
    expect((await seen({ files: 1000, ffree: 3 }))[0]).toMatch(/^Only 3 more files fit on the disk of /)
    expect(await seen({ type: 0x6969 })).toEqual([expect.stringMatching(/is on a network file system \(NFS\)/)])
  })

  it.each(engines)('clock: one of the past, or another than that of the database, on %s', async (engine) => {
    const machine = await filled(engine)
    const seen = async (shift: number) =>
      (await doctor(machine, 'clock', changed(machine, clock(shift)))).found.map(({ evidence }) => evidence)
    const past = Date.parse('2001-01-01') - Date.now()
    const [own, database, newest] = ['The clock of this machine says 2001', 'The clock of the database is', 'The newest event is of'] // prettier-ignore
    const begins = (found: string[]) => found.map((each) => [own, database, newest].find((text) => each.startsWith(text ?? ''))) // prettier-ignore
    expect(begins(await seen(past))).toEqual(engine === 'postgres' ? [own, database, newest] : [own, newest])
    expect(begins(await seen(3_600_000))).toEqual(engine === 'postgres' ? [database] : [])
  })

  it.each(engines)('database: the schema of a newer program, on %s', async (engine) => {
    const machine = await filled(engine)
    await damaged(machine, (db) => sql`insert into kysely_migration (name, timestamp) values ('9999_later', '')`.execute(db)) // prettier-ignore
    expect((await doctor(machine, 'database counters')).checks).toMatchObject([
      { evidence: expect.stringMatching(/^The schema is 9999_later, of a newer feedbackctl/) },
      { severity: 'skipped' },
    ])
  })

  it('database: one that is gone, and one that does not answer', async () => {
    const machine = await filled('sqlite')
    rmSync(databaseOf(machine))
    expect((await doctor(machine, 'database')).found).toMatchObject([
      { fix: expect.stringContaining('feedbackctl restore FILE') },
    ])
    const env = { FEEDBACKCTL_DATABASE_URL: 'postgres://ada:geheim@127.0.0.1:9/feedback' }
    const { found } = await doctor(machine, 'database', env)
    expect(found).toMatchObject([{ fix: expect.stringMatching(/^Start the database, or check database\.url/) }])
    expect(JSON.stringify(found)).not.toContain('geheim')
  })

  it('integrity: a page of the file that was overwritten', async () => {
    const machine = await filled('sqlite')
    const read = sql<{
      rootpage: number
      size: number
    }>`select rootpage, (select page_size from pragma_page_size) as size from sqlite_master where name = 'votes'`
    let place = 0
    await damaged(machine, async (db) => {
      const [row] = (await read.execute(db)).rows
      place = ((row?.rootpage ?? 0) - 1) * (row?.size ?? 0)
    })
    const file = openSync(databaseOf(machine), 'r+')
    writeSync(file, Buffer.alloc(100, 0x55), 0, 100, place)
    closeSync(file)
    const { found } = await doctor(machine, 'database integrity')
    expect(found.at(-1)).toMatchObject({ id: 'integrity', evidence: expect.stringMatching(/^SQLite: |is damaged, or is not a SQLite database/) }) // prettier-ignore
    for (const each of found)
      expect(each).toMatchObject({ severity: 'error', fix: expect.stringContaining('feedbackctl restore FILE') })
  })

  it('secret: one that is too short', async () => {
    const machine = await filled('sqlite')
    writeFileSync(secretOf(machine), 'short\n')
    expect((await doctor(machine, 'secret')).found).toMatchObject([
      { evidence: expect.stringContaining(secretOf(machine)), fix: expect.stringContaining('feedbackctl secret new') },
    ])
  })

  it('servers: nobody serves a public site, and one that hides has the database open', async () => {
    const machine = await filled('sqlite')
    const env = { FEEDBACKCTL_SITE_URL: 'https://feedback.example.org' }
    expect((await doctor(machine, 'servers', env)).found).toMatchObject([
      { severity: 'warning', evidence: 'Nobody serves the site.', fix: 'feedbackctl serve' },
    ])
    const server = machine.start('serve', { env })
    await server.says(/listening on/)
    expect((await doctor(machine, 'servers', env)).found).toEqual([])
    await damaged(machine, (db) => db.deleteFrom('servers').execute())
    expect((await doctor(machine, 'servers', env)).found).toMatchObject([
      { evidence: `The process ${server.child.pid} has the database open, but does not say that it serves the site.` },
    ])
  })
})

it('suggests a check where there is none of that name', async () => {
  const machine = await makeMachine('sqlite')
  expect(await machine.run('doctor integrety')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no check "integrety". Did you mean "integrity"?'),
  })
  expect((await machine.run('doctor --help')).stdout).toMatch(/^Checks:\n +runtime +Node and the modules/m)
})

it('shows on a terminal which check runs, and nothing of it elsewhere', async () => {
  const machine = await filled('sqlite')
  const { text } = await machine.terminal('doctor', { env: { NO_COLOR: '1' } }).ended
  for (const id of Object.keys(NAMES).slice(0, 15)) expect(text).toMatch(new RegExp(`% ${id}`))
  expect((await machine.run('doctor')).stderr).toBe('No findings.\n')
})

it('keeps a command of its advice in one line, to be copied', async () => {
  const machine = await filled('sqlite')
  rmSync(secretOf(machine))
  const { text } = await machine.terminal('doctor secret --no-color').ended
  expect(text).toContain('"feedbackctl secret new"')
  writeFileSync(path.join(dataOf(machine), 'feedback.db'), 'no database'.repeat(100))
  const damaged = await machine.terminal('doctor database --no-color').ended
  expect(damaged.text).toContain('"feedbackctl backup list"')
  expect(damaged.text).toContain('"feedbackctl restore FILE"')
})
