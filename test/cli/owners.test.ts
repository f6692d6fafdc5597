import { chmodSync, chownSync, lchownSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs' // prettier-ignore
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { json, makeOlder } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup } from '../support/site.js'
import { askAside } from '../../src/db/sqlite/aside.js'

/** The user of a service, or somebody else on the machine. Only root can make files of another user. */
const STRANGER = 65_534
const isRoot = process.getuid?.() === 0
const LONG_AGO = new Date(Date.now() - 2 * 60 * 60 * 1000)

const all = (folder: string): string[] => [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name))] // prettier-ignore

const dataOf = (machine: Machine) => path.dirname(machine.databaseUrl.slice('sqlite:'.length))

/** Files below the data folder that the service could not use, or that others can. */
const unusable = (machine: Machine): string[] =>
  all(dataOf(machine)).flatMap((file) => {
    const { uid, gid, mode } = lstatSync(file)
    return uid === STRANGER && gid === STRANGER && (mode & 0o077) === 0 ? [] : [`${file} ${uid} ${(mode & 0o777).toString(8)}`] // prettier-ignore
  })

describe.runIf(isRoot)('root beside the service of another user', () => {
  const give = (machine: Machine) => {
    for (const file of all(dataOf(machine))) lchownSync(file, STRANGER, STRANGER)
  }

  it('sets a site up in its folder', async () => {
    const machine = await makeMachine('sqlite')
    mkdirSync(dataOf(machine), { recursive: true, mode: 0o700 })
    chownSync(dataOf(machine), STRANGER, STRANGER)
    await machine.setup(machine.run)
    expect(unusable(machine)).toEqual([])
  })

  it('leaves no file that the service cannot use, with any command that writes one', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    give(machine)
    const server = machine.start('serve')
    await server.says(/listening on/)
    const commands = [
      'boards create Ideas',
      'secret rotate',
      'secret new --yes',
      'owner link',
      'users create grace@example.org',
      'backup create',
      'backup rehearse',
      'backup prune --yes',
      'doctor --offline --fix --yes --report report.json',
    ]
    for (const command of commands) {
      const { code, stderr } = await machine.run(command)
      expect([command, code, unusable(machine), stderr]).toEqual([command, 0, [], expect.anything()])
    }
    const [backup = ''] = readdirSync(path.join(dataOf(machine), 'backups'))
    expect(await machine.run(`restore --yes ${path.join(dataOf(machine), 'backups', backup)}`)).toMatchObject({
      code: 0,
    })
    expect(unusable(machine)).toEqual([])
    expect(await server.stop()).toMatchObject({ code: 0 })
  })

  it('migrates and rolls back', async () => {
    const machine = await makeMachine('sqlite')
    await makeOlder(machine, '0020_own_comments', 'Before')
    give(machine)
    expect(await machine.run('migrate')).toMatchObject({ code: 0 })
    expect(unusable(machine)).toEqual([])
    await json(machine, 'rollback --yes')
    expect(unusable(machine)).toEqual([])
  })

  it('is told by doctor which files the service cannot use, those of the folder of backups too', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    give(machine)
    const backups = path.join(dataOf(machine), 'backups')
    mkdirSync(backups, { mode: 0o700 })
    chownSync(path.join(dataOf(machine), 'secret'), 0, 0)
    const { checks } = JSON.parse((await machine.run('doctor files --offline --json')).stdout)
    expect(checks.map(({ severity, fix }: { severity: string; fix: string }) => [severity, fix])).toEqual([
      ['error', `chown --reference=${dataOf(machine)} ${backups}`],
      ['error', `chown --reference=${dataOf(machine)} ${path.join(dataOf(machine), 'secret')}`],
    ])
  })
})

describe.runIf(isRoot)('leftovers of another user', () => {
  const rehearsal = path.join(tmpdir(), `feedbackctl-rehearsal-test${process.pid}`)
  const old = (file: string) => utimesSync(file, LONG_AGO, LONG_AGO)

  const strangers = (victim: string) => {
    mkdirSync(victim)
    writeFileSync(path.join(victim, 'shadow'), 'secret')
    mkdirSync(path.join(rehearsal, 'sub'), { recursive: true })
    writeFileSync(path.join(rehearsal, 'sub', 'shadow'), '')
    for (const file of all(rehearsal).toReversed()) {
      chownSync(file, STRANGER, STRANGER)
      old(file)
    }
    cleanup(async () => rmSync(rehearsal, { recursive: true, force: true }))
  }

  it('are not removed, and neither is what their links lead to', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    await json(machine, 'backup create')
    const victim = path.join(machine.folder, 'victim')
    strangers(victim)
    const backups = path.join(dataOf(machine), 'backups')
    const part = path.join(backups, 'x.backup.0123abcd.part')
    writeFileSync(part, '')
    chownSync(part, STRANGER, STRANGER)
    old(part)
    const link = path.join(backups, 'y.backup.0123abcd.part')
    symlinkSync(victim, link)
    renameSync(path.join(rehearsal, 'sub'), path.join(rehearsal, 'sub2'))
    symlinkSync(victim, path.join(rehearsal, 'sub'))
    for (const command of ['backup rehearse', 'backup create --output other.backup', 'doctor --offline --fix --yes'])
      await machine.run(command)
    expect(readFileSync(path.join(victim, 'shadow'), 'utf8')).toBe('secret')
    expect(readdirSync(rehearsal).toSorted()).toEqual(['sub', 'sub2'])
    expect(readdirSync(backups)).toContain('x.backup.0123abcd.part')
  })
})

it('doctor --fix changes the mode of no file behind a link', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const elsewhere = path.join(machine.folder, 'elsewhere')
  writeFileSync(elsewhere, '', { mode: 0o666 })
  chmodSync(elsewhere, 0o666)
  symlinkSync(elsewhere, `${machine.databaseUrl.slice('sqlite:'.length)}.before-upgrade-20260101T000000Z`)
  chmodSync(machine.databaseUrl.slice('sqlite:'.length), 0o666)
  await machine.run('doctor files --offline --fix --yes')
  expect(lstatSync(elsewhere).mode & 0o777).toBe(0o666)
  expect(lstatSync(machine.databaseUrl.slice('sqlite:'.length)).mode & 0o777).toBe(0o600)
  const { stdout } = await machine.run('doctor files --offline --json')
  expect(JSON.parse(stdout).checks).toMatchObject([{ evidence: expect.stringContaining('before-upgrade-') }])
})

it('a mark of a restore is not written through a link', async () => {
  const machine = await makeMachine('sqlite')
  const victim = path.join(machine.folder, 'victim')
  writeFileSync(victim, 'whole')
  utimesSync(victim, LONG_AGO, LONG_AGO)
  symlinkSync(victim, path.join(machine.folder, 'feedback.db.aside'))
  const release = askAside(path.join(machine.folder, 'feedback.db'), new Date())
  expect(readFileSync(victim, 'utf8')).toBe('whole')
  expect(lstatSync(path.join(machine.folder, 'feedback.db.aside')).isFile()).toBe(true)
  await release()
  expect(readdirSync(machine.folder)).toEqual(['victim'])
})
