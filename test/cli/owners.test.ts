import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, lchownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs' // prettier-ignore
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { json, makeOlder } from '../support/backups.js'
import { makeMachine, PROGRAM, signedAnew, type Machine } from '../support/cli.js'
import { cleanup, temporaryFolder } from '../support/site.js'
import { prepareSettings } from '../../src/cli/lib/settings/configfile.js'
import { atomicFile, replaceFile } from '../../src/core/atomicfile.js'
import { createFile, makeFolder } from '../../src/core/files.js'
import { requestMaintenance } from '../../src/db/sqlite/maintenance.js'
import { PNG } from '../support/images.js'

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

const PASSWORD = 'correct horse battery'

/** Every command that writes, in an order in which it works, and what it says where it needs the token of a mail. */
const WRITES: Record<string, { args: string; code?: number; stdin?: string }> = {
  'boards create': { args: 'Ideas' },
  'boards update': { args: 'ideas --color 1d4ed8' },
  'images upload': { args: 'PICTURE' },
  'images delete': { args: 'x --yes', code: 3 },
  'tags create': { args: 'Phone' },
  'tags update': { args: 'phone --color 1d4ed8' },
  'roadmaps create': { args: 'Planned' },
  'roadmaps create-usual': { args: '' },
  'roadmaps update': { args: 'planned --color 1d4ed8' },
  'roadmaps move': { args: 'planned --position 1' },
  'users create': { args: 'grace@example.org' },
  'users update': { args: 'grace@example.org --name Grace' },
  'users block': { args: 'grace@example.org --yes' },
  'users unblock': { args: 'grace@example.org' },
  'users sign-out': { args: 'grace@example.org --yes' },
  'users reset-totp': { args: 'grace@example.org', code: 5 },
  'invitations create': { args: 'hopper@example.org' },
  'invitations resend': { args: 'hopper@example.org' },
  'invitations revoke': { args: 'hopper@example.org --yes' },
  'roles create': { args: 'Helpers' },
  'roles update': { args: 'Helpers --name Team' },
  'roles assign': { args: 'Team --user grace@example.org' },
  'roles unassign': { args: 'Team --user grace@example.org' },
  'roles delete': { args: 'Team --yes' },
  'posts create': { args: 'Other --board ideas' },
  import: { args: 'records RECORDS --yes' },
  'import runs cancel': { args: '01a202e3-3cc8-735d-91d8-dbcd6073c7b2', code: 3 },
  'posts update': { args: 'POST --board ideas' },
  'posts move': { args: 'POST --roadmap planned' },
  'posts tag': { args: 'POST --add phone' },
  'tags merge': { args: 'x --into phone --yes', code: 3 },
  'posts merge': { args: 'POST --into x', code: 3 },
  'posts unmerge': { args: 'POST', code: 5 },
  undo: { args: '1 --yes', code: 5 },
  'posts undo': { args: 'x', code: 3 },
  'boards follow': { args: 'ideas' },
  'boards unfollow': { args: 'ideas' },
  'posts follow': { args: 'POST' },
  'posts unfollow': { args: 'POST' },
  'notifications read': { args: '' },
  'posts report': { args: 'POST --as grace@example.org' },
  'moderate spam': { args: 'POST' },
  'moderate reopen': { args: 'POST' },
  'moderate snooze': { args: 'POST --until 1d' },
  'moderate wake': { args: 'POST' },
  'moderate keep': { args: 'POST' },
  'moderate decide': { args: 'keep POST' },
  'moderate undo': { args: 'x', code: 3 },
  'views create': { args: 'triage --roadmap none' },
  'views update': { args: 'triage --shared' },
  'views delete': { args: 'triage --yes' },
  'comments create': { args: 'POST --body Yes' },
  'comments update': { args: 'x --body No', code: 3 },
  'comments answer': { args: 'x', code: 3 },
  'comments unanswer': { args: 'x', code: 3 },
  'comments report': { args: 'x', code: 3 },
  'comments delete': { args: 'x --yes', code: 3 },
  'votes delete': { args: 'POST' },
  'votes add': { args: 'POST' },
  'keys create': { args: 'ci' },
  'keys revoke': { args: 'ci --yes' },
  'sessions end': { args: 'x', code: 3 },
  'sessions end-all': { args: '--yes' },
  'settings update': { args: '--title Feedback' },
  'settings notifications': { args: '--reply page' },
  'legal set': { args: 'terms --text Terms' },
  'settings block-domains': { args: 'example.net' },
  'settings unblock-domains': { args: 'example.net' },
  'config set': { args: 'log.level warn' },
  'config unset': { args: 'log.level' },
  'context add': { args: 'lab --server http://127.0.0.1:9' },
  'context use': { args: '--none' },
  'context protect': { args: 'lab' },
  'context remove': { args: 'lab --confirm lab' },
  'alias set': { args: 'mine whoami' },
  'alias remove': { args: 'mine' },
  'labs update': { args: '--vote-on-behalf' },
  'account signup': { args: 'eve@example.org --password-stdin', stdin: PASSWORD },
  'account rename': { args: 'Ada' },
  'account profile': { args: '--no-show-votes' },
  'account language': { args: 'de' },
  'account notifications': { args: '--reply page' },
  'account password': { args: '--current-password-stdin --generate-password', stdin: PASSWORD },
  'account reset-password': { args: 'ada@example.org' },
  'account verify': { args: '' },
  'account validate': { args: 'x', code: 4 },
  'account set-password': { args: 'x --password-stdin', code: 4, stdin: PASSWORD },
  'account check-token': { args: 'x', code: 4 },
  'totp begin': { args: '' },
  'totp enable': { args: '000000', code: 4 },
  'totp recovery-codes': { args: '', code: 5 },
  'totp disable': { args: '', code: 5 },
  'mail test': { args: '--to ada@example.org' },
  'mail queue retry': { args: '--all' },
  'mail queue cancel': { args: 'x --yes', code: 3 },
  'mail suppressed remove': { args: 'grace@example.org', code: 5 },
  'owner link': { args: '' },
  'owner reset': { args: '--password-stdin', stdin: PASSWORD },
  'owner promote': { args: 'grace@example.org --yes' },
  'posts delete': { args: 'POST --yes' },
  'boards delete': { args: 'ideas --yes' },
  'tags delete': { args: 'phone --yes' },
  'roadmaps delete': { args: 'planned --yes' },
  'users delete': { args: 'eve@example.org --yes' },
  'account request-deletion': { args: '', code: 5 },
  'identities unlink': { args: 'x --yes', code: 3 },
  'account delete': { args: '--password-stdin --yes', code: 5, stdin: PASSWORD },
  'backup create': { args: 'BACKUP' },
  'backup rehearse': { args: 'BACKUP' },
  'backup prune': { args: '--yes' },
  'users tag': { args: 'grace@example.org --add customer' },
  'users merge': { args: 'grace@example.org --into ada@example.org --yes', code: 5 },
  'workspace apply': { args: 'WORKSPACE --yes' },
  api: { args: 'POST /boards -f name=Bugs -f display=true' },
  doctor: { args: '--offline --fix --yes --report report.json' },
  'db copy': { args: 'DATABASE COPY', code: 5 },
  'secret new': { args: '--yes' },
  'secret rotate': { args: '' },
  restore: { args: '--yes BACKUP' },
}

/** Runs the program as the user of the service, to whom all but the configuration of root then belongs. */
function asService(machine: Machine) {
  for (const file of all(machine.folder))
    if (file.startsWith(path.join(machine.folder, 'config')))
      chmodSync(file, lstatSync(file).isDirectory() ? 0o755 : 0o644) // prettier-ignore
    else lchownSync(file, STRANGER, STRANGER)
  const start = (args: string) => {
    const child = spawn(process.execPath, [PROGRAM, ...args.split(' ')], {
      cwd: machine.folder,
      env: machine.env,
      uid: STRANGER,
      gid: STRANGER,
    })
    cleanup(async () => void child.kill('SIGKILL'))
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdout.resume()
    const ended = new Promise<string | number>((resolve) => child.once('close', (code) => resolve(code === 0 ? 0 : `${code}: ${stderr}`))) // prettier-ignore
    return { child, ended, stderr: () => stderr }
  }
  return {
    run: (args: string) => start(args).ended,
    serve() {
      const { child, ended, stderr } = start('serve')
      const listening = () => /listening on (http:\S+?)"/.exec(stderr())?.[1] ?? ''
      return {
        url: (async () => {
          await expect.poll(listening).not.toBe('')
          return listening()
        })(),
        stop() {
          child.kill()
          return ended
        },
      }
    },
  }
}

// Only root can act as root and as others: CI runs as root, and the report of other users lists these as skipped.
describe.runIf(isRoot)('root beside the service of another user (needs root)', () => {
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

  it('leaves the service as it was, with any command that writes', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    give(machine)
    const service = asService(machine)
    const server = service.serve()
    const url = await server.url
    const isSignedWithFile = async () => {
      const answer = await fetch(`${url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
      })
      const { user } = (await answer.json()) as { user?: { authToken: string } }
      return user !== undefined && signedAnew(user.authToken, path.join(dataOf(machine), 'secret')) === user.authToken
    }
    const { stdout } = await machine.run("posts create 'Dark mode' -q")
    const names = {
      POST: stdout.trim(),
      RECORDS: path.join(machine.folder, 'records.jsonl'),
      PICTURE: path.join(machine.folder, 'picture.png'),
      WORKSPACE: path.join(machine.folder, 'site.yaml'),
      BACKUP: path.join(dataOf(machine), 'backups/one.backup'),
      DATABASE: machine.databaseUrl,
      COPY: `sqlite:${path.join(dataOf(machine), 'copy.db')}`,
    }
    writeFileSync(names.PICTURE, PNG)
    writeFileSync(names.WORKSPACE, 'format: feedbackctl-workspace/1\nblockedDomains: [spam.example]\n')
    writeFileSync(names.RECORDS, '{"type":"post","sourceId":"1","title":"New"}\n')
    const wrong: unknown[] = []
    for (const [command, { args, code = 0, stdin = '' }] of Object.entries(WRITES)) {
      const line = `${command} ${args}`
        .replaceAll(
          /\b(?:POST|BACKUP|DATABASE|COPY|RECORDS|PICTURE|WORKSPACE)\b(?! \/)/g,
          (name) => names[name as keyof typeof names],
        )
        .trim()
      const done = await machine.run(line, { stdin })
      if (done.code !== code || unusable(machine).length > 0)
        wrong.push([line, done.code, done.stderr.split('\n')[0], unusable(machine)])
    }

    expect(wrong).toEqual([])

    // The server reads the secret of root
    await expect.poll(isSignedWithFile).toBe(true)
    expect(await service.run('backup create')).toBe(0)
    expect(await service.run('doctor files secret --offline')).toBe(0)
    expect(await server.stop()).toBe(0)
    expect((await machine.run(`db copy ${names.DATABASE} ${names.COPY}`)).code).toBe(0)
    expect(unusable(machine)).toEqual([])
    const next = service.serve()
    expect((await fetch(`${await next.url}/readyz`)).status).toBe(200)
    expect(await next.stop()).toBe(0)
    expect(unusable(machine)).toEqual([])
  })

  it('has every command that writes in that list', () => {
    const help = readFileSync(path.join(import.meta.dirname, '../golden/help.txt'), 'utf8')
    const sections = help.split(/^\$ feedbackctl (?:help )?/m).filter((text) => /^ +--dry-run/m.test(text))
    const writing = sections.map((text) => (text.split('\n')[0] ?? '').replace(/ --help$/, ''))
    expect(writing.length).toBeGreaterThan(60)
    const elsewhere = ['setup', 'migrate', 'rollback', 'service install', 'service uninstall'] // other tests run these
    expect(writing.filter((command) => !(command in WRITES) && !elsewhere.includes(command))).toEqual([])
  })

  it('migrates and rolls back', async () => {
    const machine = await makeMachine('sqlite')
    await makeOlder(machine, '0020_own_comments', 'Before')
    give(machine)
    expect(await machine.run('migrate')).toMatchObject({ code: 0 })
    expect(unusable(machine)).toEqual([])
    await json(machine, 'rollback --yes')
    expect(unusable(machine)).toEqual([])
    const service = asService(machine)
    expect(await service.run('migrate')).toBe(0)
    const server = service.serve()
    expect((await fetch(`${await server.url}/readyz`)).status).toBe(200)
    expect(await server.stop()).toBe(0)
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

// Only root can make files of another user.
describe.runIf(isRoot)('leftovers of another user (needs root)', () => {
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

/** Replaces a link to its own folder by one to another folder, and back, again and again. */
const SWAPS = `
const { renameSync, symlinkSync } = require('node:fs')
const put = (to, name) => { symlinkSync(to, name); renameSync(name, 'data') }
const swap = () => { for (let count = 0; count < 100; count++) { put('own', 'one'); put('../root', 'two') } setImmediate(swap) }
swap()
`

// Only root can give files away.
it.runIf(isRoot)(
  'root gives nothing away in a folder of its own, whatever a link leads to meanwhile (needs root)',
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-test-'))
    cleanup(async () => rmSync(folder, { recursive: true, force: true }))
    chmodSync(folder, 0o755)
    const [ours, theirs] = [path.join(folder, 'root'), path.join(folder, 'site')]
    for (const each of [ours, theirs, path.join(theirs, 'own')]) mkdirSync(each)
    for (const each of [theirs, path.join(theirs, 'own')]) chownSync(each, STRANGER, STRANGER)
    const child = spawn(process.execPath, ['-e', SWAPS], { cwd: theirs, uid: STRANGER, gid: STRANGER })
    cleanup(async () => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    await expect.poll(() => existsSync(path.join(theirs, 'data'))).toBe(true)
    const isIn = (where: string, name: string) => existsSync(path.join(where, name))
    const counts = { ours: 0, theirs: 0 }
    const failures = new Set<string | undefined>()
    for (let count = 0; counts.ours < 1000 || counts.theirs < 1000; count++) {
      const names = [`file${count}`, `folder${count}`]
      for (const [index, make] of [createFile, makeFolder].entries())
        try {
          make(path.join(theirs, 'data', names[index] ?? ''))
        } catch (error) {
          failures.add((error as { code?: string }).code)
        }
      for (const name of names)
        if (isIn(ours, name)) counts.ours++
        else if (isIn(path.join(theirs, 'own'), name)) counts.theirs++
    }
    child.kill()
    await ended
    expect([...failures].filter((code) => code !== 'ENOENT')).toEqual([]) // it may fail, but give nothing away
    const ownersIn = (where: string) => [
      ...new Set(readdirSync(where).map((name) => lstatSync(path.join(where, name)).uid)),
    ]
    expect([ownersIn(ours), ownersIn(path.join(theirs, 'own'))]).toEqual([[0], [STRANGER]])
  },
)

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

it('what is no file, such as a device or a socket, is not replaced by one', async () => {
  const { folder } = await makeMachine('sqlite')
  const socket = path.join(folder, 'socket')
  const listening = createServer().listen(socket)
  cleanup(() => void listening.close())
  await once(listening, 'listening')
  expect(() => replaceFile(socket, 'x')).toThrow(/not a regular file/)
  symlinkSync('/dev/null', path.join(folder, 'link'))
  expect(() => prepareSettings(path.join(folder, 'link'), { 'mail.url': 'sendmail:' })).toThrow(
    /Cannot write .*: not a file\./,
  )
  expect(lstatSync(socket).isSocket()).toBe(true)
  expect(readdirSync(folder).filter((name) => /^(socket|link)\./.test(name))).toEqual([])
})

it('a file that cannot be written leaves neither a temporary file nor a folder behind', async () => {
  const { folder } = await makeMachine('sqlite')
  const before = readdirSync(folder)
  const tooLong = path.join(folder, 'new', `${'x'.repeat(248)}.toml`) // with the ending of a temporary file
  expect(() => prepareSettings(tooLong, { 'mail.url': 'sendmail:' })).toThrow(/Cannot write .*: its name is too long\./)
  const taken = path.join(folder, 'taken')
  mkdirSync(taken)
  const fresh = atomicFile(path.join(taken, 'file'))
  fresh.write('new')
  mkdirSync(path.join(taken, 'file')) // someone was faster
  expect(fresh.replace).toThrow(/EISDIR/)
  expect(fresh.create).toThrow(/EEXIST/)
  fresh.discard()
  expect(readdirSync(taken)).toEqual(['file'])
  expect(readdirSync(folder)).toEqual([...before, 'taken'].toSorted())
})

it('a mark of a restore is not written through a link', async () => {
  const machine = await makeMachine('sqlite')
  const victim = path.join(machine.folder, 'victim')
  writeFileSync(victim, 'whole')
  utimesSync(victim, LONG_AGO, LONG_AGO)
  symlinkSync(victim, path.join(machine.folder, 'feedback.db.aside'))
  const release = requestMaintenance(path.join(machine.folder, 'feedback.db'), new Date())
  expect(readFileSync(victim, 'utf8')).toBe('whole')
  expect(lstatSync(path.join(machine.folder, 'feedback.db.aside')).isFile()).toBe(true)
  await release()
  expect(readdirSync(machine.folder)).toEqual(['victim'])
})

it('a file is written although another process removes its empty folder again and again', async () => {
  const folder = path.join(temporaryFolder(), 'made', 'deep')
  const toggle = `const fs = require('node:fs'), turn = new Int32Array(new SharedArrayBuffer(4))
    for (;;) { try { fs.mkdirSync(process.argv[1], { recursive: true }); fs.rmdirSync(process.argv[1]) } catch {} ; Atomics.wait(turn, 0, 0, 1) }`
  const other = spawn(process.execPath, ['-e', toggle, folder], { stdio: 'ignore' })
  cleanup(() => void other.kill('SIGKILL'))
  await expect.poll(() => existsSync(path.dirname(folder)), { interval: 1 }).toBe(true)
  for (let round = 0; round < 5000; round++) {
    const fresh = atomicFile(path.join(folder, 'config.toml'))
    fresh.write('[mail]\n')
    expect(readFileSync(fresh.temporary, 'utf8')).toBe('[mail]\n')
    fresh.discard()
  }
})
