import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { BACKED_UP, NOT_BACKED_UP } from '../../src/db/carried.js'
import { NEWEST } from '../../src/db/schema.js'
import { backupsOf, definitionsOf, filled, json, makeOlder, rowsOf, secretOf } from '../support/backups.js'
import { makeMachine, PROGRAM, type Machine } from '../support/cli.js'
import { cleanup, engines, temporaryFolder, type Engine } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/

async function opened({ databaseUrl }: Pick<Machine, 'databaseUrl'>) {
  const db = await connect(databaseUrl)
  cleanup(() => db.destroy())
  return db
}

it.each(engines)('every table of %s is carried by a backup or left out on purpose', async (engine) => {
  const machine = await makeMachine(engine)
  await machine.run('migrate')
  const db = await opened(machine)
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  const names = tables
    .filter(({ name, isView }) => !isView || name === 'indexed_comments') // a view on SQLite
    .map(({ name }) => name)
    .filter((name) => !/^(?:post|comment)_search_|^sqlite_/.test(name))
  expect([...BACKED_UP, ...NOT_BACKED_UP].toSorted()).toEqual(names.toSorted())
})

// Each test starts some thirty processes
describe.each(engines)('a backup of %s', (engine) => {
  it.each(engines)('restores into %s with every row as it was, and the site goes on', async (to) => {
    const machine = await filled(engine)
    const made = await json(machine, 'backup create')
    expect(statSync(made.file).mode & 0o777).toBe(0o600)
    expect((await machine.run('backup verify nowhere')).code).toBe(3)
    expect((await machine.run(`backup verify ${made.file}`)).code).toBe(0)
    copyFileSync(made.file, `${made.file}.part`) // as one that is being written
    expect((await json(machine, 'backup list')).backups).toMatchObject([{ file: made.file, engine }])
    const { stdout, stderr: said } = await machine.run('backup list -o table')
    expect(stdout).toMatch(/^FILE +SIZE +CREATED/)
    expect(stdout).toContain(`${path.basename(made.file)}  `)
    expect(said).toBe(`1 backup in ${path.dirname(made.file)}\n`)
    expect((await machine.run(`backup verify ${path.basename(made.file)}`)).code).toBe(0)
    expect((await machine.run(`restore ${path.basename(made.file)} --dry-run`)).code).toBe(0)

    const other = await makeMachine(to)
    const dry = await other.run(`restore ${made.file} --dry-run`)
    expect(dry).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^(Would keep what the database has as a backup in backup\.dir\.\n)?Would replace the site with the backup of 2\S+: \d+ users?, .*\d+ posts?.*\.\nWould write the secret of the backup\.\n/,
      ),
    })
    expect(existsSync(secretOf(other))).toBe(false)
    const { stderr, code } = await other.run(`restore ${made.file} --yes`)
    expect({ stderr, code }).toMatchObject({ code: 0 })
    expect(await rowsOf(other)).toEqual(await rowsOf(machine))
    const empty = await makeMachine(to)
    await empty.run('migrate')
    expect(await definitionsOf(other)).toEqual(await definitionsOf(empty))
    expect(readFileSync(secretOf(other), 'utf8')).toBe(readFileSync(secretOf(machine), 'utf8'))

    // Numbers, counts, search and the event log go on where they were
    expect(await json(other, "posts create 'Next one' --board ideas")).toMatchObject({ post: { number: 4 } })
    expect((await json(other, 'posts search night')).posts).toHaveLength(1)
    expect(JSON.stringify(await json(other, 'boards show ideas'))).toMatch(/"post_count":"?2/)
    expect((await other.run('posts delete 1 --yes')).code).toBe(0)
    expect((await json(other, 'audit verify')).findings).toEqual([])
    const [, url = ''] = await other.start('serve').says(LISTENING)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  it('is one moment of a site that is written to, with everything acknowledged before', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    await machine.run('boards create Ideas')
    const { boardId } = (await json(machine, 'boards show ideas')).board
    const [, url = ''] = await machine.start('serve').says(LISTENING)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const acknowledged: string[] = []
    const writing = { isOn: true }
    const writer = async (name: number) => {
      for (let number = 0; writing.isOn; number++) {
        const body = JSON.stringify({ title: `Post ${name} ${number}`, contentMarkdown: 'x'.repeat(2000), boardId })
        const answer = await fetch(`${url}/api/v1/posts`, { method: 'POST', headers, body })
        if (answer.status !== 201) throw new Error(await answer.text())
        const { post } = (await answer.json()) as { post: { postId: string } }
        acknowledged.push(post.postId)
      }
    }
    const writers = [1, 2, 3, 4].map(writer)
    await expect.poll(() => acknowledged.length).toBeGreaterThanOrEqual(80)
    const before = [...acknowledged]
    const { file } = await json(machine, 'backup create')
    const during = acknowledged.length - before.length
    writing.isOn = false
    await Promise.all(writers)
    expect(during, 'nothing was written meanwhile').toBeGreaterThan(0)

    const other = await makeMachine(engine)
    expect((await other.run(`restore ${file} --yes`)).code).toBe(0)
    const ids = async (of: Machine) =>
      (await json(of, 'posts list --all')).posts.map((post: { postId: string }) => post.postId) as string[]
    const [restored, all] = [new Set(await ids(other)), new Set(await ids(machine))]
    expect(before.filter((id) => !restored.has(id))).toEqual([])
    expect([...restored].filter((id) => !all.has(id))).toEqual([])
    expect(restored.size).toBeLessThan(all.size)
    // Counts, votes and the event log are of the same moment
    const numbers = await json(other, 'boards show ideas')
    expect(Number(numbers.board.post_count)).toBe(restored.size)
    expect((await json(other, 'events list --action post.created -L 1')).events).toHaveLength(1)
    expect(await other.run('doctor counters integrity')).toMatchObject({ code: 0 })
    expect((await json(other, 'audit verify')).findings).toEqual([])
  })

  it('with an older schema restores, and is updated', async () => {
    const machine = await makeMachine(engine)
    await makeOlder(machine, '0021_post_moves', 'Older')
    const { file } = await json(machine, 'backup create')
    const other = await makeMachine(engine)
    expect((await other.run(`restore ${file} --yes`)).code).toBe(0)
    expect(await json(other, 'status')).toMatchObject({ title: 'Older', schema: NEWEST, schemaState: 'current' })
  })

  it('replaces what is there, which is kept, unless another process uses it', async () => {
    const machine = await filled(engine)
    const { file } = await json(machine, 'backup create')
    const before = await rowsOf(machine)
    await machine.run("posts create 'After the backup' --board ideas")
    const other = await connect(machine.databaseUrl)
    await other.selectFrom('boards').select('name').execute()
    expect(await machine.run(`restore ${file} --yes`)).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/feedbackctl serve[^]*DATABASE_IN_USE/),
    })
    await other.destroy()
    const later = await rowsOf(machine)
    expect(await machine.run(`restore ${file}`)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CONFIRMATION_NEEDED'),
    })
    expect(await rowsOf(machine)).toEqual(later)
    const { kept } = await json(machine, `restore ${file} --yes`)
    expect(await rowsOf(machine)).toEqual(before)
    if (engine === 'postgres') await machine.run(`restore ${kept} --yes`)
    const old = engine === 'postgres' ? machine : { databaseUrl: `sqlite:${kept}` }
    expect(await rowsOf(old)).toEqual(later)
  })
})

/** A name, whether it has come for a restore of this process, and whether the new site is there then. */
type Moment = [string, (pid: number, inode: number) => boolean | Promise<boolean>, boolean]

/** The moments of a restore, in their order. */
async function momentsOf(engine: Engine, machine: Machine, file: string): Promise<Moment[]> {
  const reads = (pid: number) => openFiles(pid).includes(file)
  const first: Moment = ['it reads the backup', reads, false]
  if (engine === 'sqlite') {
    const database = machine.databaseUrl.slice('sqlite:'.length)
    const bytes = (pid: number) =>
      readdirSync(path.dirname(database))
        .filter((name) => name.includes(`.restoring-${pid}-`) && !/-(wal|shm|journal)$/.test(name))
        .map((name) => statSync(path.join(path.dirname(database), name), { throwIfNoEntry: false })?.size ?? 0)[0]
    return [
      first,
      ['it makes a new file', (pid) => bytes(pid) !== undefined, false],
      ['the new file has tables', (pid) => (bytes(pid) ?? 0) > 0, false],
      ['the new file has the name of the old one', (_, inode) => statSync(database).ino !== inode, true],
    ]
  }
  const client = new pg.Client({ connectionString: machine.databaseUrl })
  await client.connect()
  cleanup(() => client.end())
  const holds = (mode: string) => async () => {
    const { rowCount } = await client.query(
      `select from pg_locks where database = (select oid from pg_database where datname = current_database())
        and locktype = 'relation' and granted and mode = $1 and pid <> pg_backend_pid()`,
      [mode],
    )
    return rowCount !== 0
  }
  const isRestored = async () => {
    const { rowCount } = await client.query(`select from posts where title = 'After the backup'`)
    return rowCount === 0
  }
  return [
    first,
    ['it lets nobody else write', holds('ExclusiveLock'), false],
    ['it removes tables', holds('AccessExclusiveLock'), false],
    ['it has committed', isRestored, true],
  ]
}

/** None where the process has ended. */
function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  } catch {
    return [] // also where one was closed meanwhile
  }
}

it.each(engines)('killed at any moment, a restore on %s leaves the old site or the new one', async (engine) => {
  const machine = await filled(engine)
  const file = path.join(machine.folder, 'old.backup')
  expect((await machine.run(`backup create ${file}`)).code).toBe(0)
  const { posts: before } = await rowsOf(machine)
  await machine.run("posts create 'After the backup'")
  const { posts: after } = await rowsOf(machine)
  const present = path.join(machine.folder, 'new.backup')
  expect((await machine.run(`backup create ${present}`)).code).toBe(0)
  const inode = () => (engine === 'sqlite' ? statSync(machine.databaseUrl.slice('sqlite:'.length)).ino : 0)
  for (const [moment, isNow, isNew] of await momentsOf(engine, machine, file))
    // Moments are short: on a busy machine this process may sleep through one. Then the old site is made again.
    for (let tries = 1, isCaught = false; !isCaught; tries++) {
      if (tries > 1) await machine.run(`restore ${present} --yes`)
      expect({ moment, tries, ...(await rowsOf(machine)) }).toMatchObject({ posts: after, tries: expect.toSatisfy((count: number) => count < 20) }) // prettier-ignore
      const old = inode()
      const restore = machine.start(`restore ${file} --yes`)
      const isOver = () => restore.child.exitCode !== null
      let hasCome = false
      while (!hasCome && !isOver()) {
        hasCome = await isNow(restore.child.pid ?? 0, old)
        if (!hasCome) await setImmediate()
      }
      await restore.stop('SIGKILL')
      const { posts } = await rowsOf(machine)
      expect([before, after]).toContainEqual(posts)
      isCaught = (hasCome || isNew) && isDeepStrictEqual(posts, isNew ? before : after)
      expect(await machine.run('posts list')).toMatchObject({ code: 0 })
    }
  expect(await machine.run(`restore ${file} --yes`)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('restored'),
  })
  expect((await rowsOf(machine)).posts).toEqual(before)
})

it('a restore removes what killed ones have left, and nothing that one in another container may still write', async () => {
  const machine = await filled('sqlite')
  const { file } = await json(machine, 'backup create')
  const database = machine.databaseUrl.slice('sqlite:'.length)
  const names = ['1073741824-0123abcd', '1073741825-0123abcd', '1073741825-0123abcd-wal', '1073741826-0123abcd', '1073741826-0123abcd-wal'].map((each) => `${database}.restoring-${each}`) // prettier-ignore
  for (const each of names) writeFileSync(each, '')
  const [fresh = '', written = '', log = '', left = '', itsLog = ''] = names
  for (const each of [written, left, itsLog]) utimesSync(each, new Date(0), new Date(0))
  expect((await machine.run(`restore ${file} --yes`)).code).toBe(0)
  expect(names.filter((each) => existsSync(each))).toEqual([fresh, written, log])
})

describe('a backup file', () => {
  it('is refused wherever one bit of it is flipped, or its end is missing', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const passphrase = { FEEDBACKCTL_BACKUP_PASSPHRASE: 'open sesame please' }
    const plain = await json(machine, 'backup create plain.backup')
    const sealed = await json(machine, 'backup create sealed.backup', passphrase)
    const { verifyBackup } = await import('../../src/backup/verify.js')
    for (const { file } of [plain, sealed]) {
      const whole = readFileSync(file)
      const bad = path.join(temporaryFolder(), 'bad.backup')
      const config = { get: () => passphrase.FEEDBACKCTL_BACKUP_PASSPHRASE, origin: () => '' } as never
      const verdict = () => verifyBackup(config, bad).then(() => 'whole', (error) => String(error.code)) // prettier-ignore
      writeFileSync(bad, whole)
      expect(await verdict()).toBe('whole')
      // Every byte of the first line and of the end, and some of what is between
      const isEdge = (at: number) => at < 400 || at > whole.length - 60
      for (let at = 0; at < whole.length; at += isEdge(at) ? 1 : 9) {
        const changed = Buffer.from(whole)
        changed[at] = (whole[at] ?? 0) ^ (1 << (at % 8))
        writeFileSync(bad, changed)
        expect(await verdict(), `byte ${at}`).toBe('BACKUP_DAMAGED')
      }
      for (const length of [0, 10, 500, whole.length - 33, whole.length - 1]) {
        writeFileSync(bad, whole.subarray(0, length))
        expect(await verdict()).toBe('BACKUP_DAMAGED')
      }
    }
    const changed = readFileSync(plain.file)
    changed[700] = (changed[700] ?? 0) ^ 1
    writeFileSync(plain.file, changed)
    const before = await rowsOf(machine)
    for (const args of [`backup verify ${plain.file}`, `restore ${plain.file} --yes`])
      expect(await machine.run(args)).toMatchObject({ code: 9, stderr: expect.stringContaining('BACKUP_DAMAGED') })
    expect(await rowsOf(machine)).toEqual(before)
  })

  it('is encrypted with a passphrase, and opens with no other', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const secret = readFileSync(secretOf(machine), 'utf8').trim()
    const env = { FEEDBACKCTL_BACKUP_PASSPHRASE: 'open sesame please' }
    const { file } = await json(machine, 'backup create', env)
    for (const [code, given] of [
      [2, {}],
      [2, { FEEDBACKCTL_BACKUP_PASSPHRASE: 'another passphrase' }],
      [0, env],
    ] as const) {
      // prettier-ignore
      const { stderr, ...done } = await machine.run(`restore ${file} --into elsewhere`, { env: given })
      expect(done).toMatchObject({ code })
      expect(stderr.includes('PASSPHRASE_WRONG')).toBe(code !== 0)
      expect(existsSync(path.join(machine.folder, 'elsewhere/feedback.db'))).toBe(code === 0)
    }
    const folder = path.join(machine.folder, 'elsewhere')
    rmSync(folder, { recursive: true })
    const { stderr } = await machine.run(`restore ${file} --into elsewhere`, { env })
    // On a busy machine, signs of progress come before it
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      `The site is restored. Start "feedbackctl serve --data-dir ${folder}".`,
    )
    expect(readFileSync(path.join(machine.folder, 'elsewhere/secret'), 'utf8').trim()).toBe(secret)
    expect(statSync(path.join(machine.folder, 'elsewhere/secret')).mode & 0o777).toBe(0o600)
    expect(await machine.run(`restore ${file} --into elsewhere`, { env })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('BACKUP_EXISTS'),
    })
  })

  it('takes the place of a damaged database, which is kept', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const { file } = await json(machine, 'backup create')
    const before = await rowsOf(machine)
    const database = machine.databaseUrl.slice('sqlite:'.length)
    writeFileSync(database, 'not a database '.repeat(1000))
    expect(await machine.run('boards list')).toMatchObject({ stderr: expect.stringContaining('DATABASE_UNUSABLE') })
    const { kept } = await json(machine, `restore ${file} --yes`)
    expect(readFileSync(kept, 'utf8')).toMatch(/^not a database/)
    expect(await rowsOf(machine)).toEqual(before)
  })

  it('has the configuration file, which a restore writes where no command reads it', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const own = path.join(machine.folder, 'config/feedbackctl/config.toml')
    const text = '[site]\nurl = "https://feedback.example.org"\n[mail]\nurl = "smtp://ada:geheim@mail.example.org"\n'
    mkdirSync(path.dirname(own), { recursive: true })
    writeFileSync(own, text, { mode: 0o600 })
    const { file } = await json(machine, 'backup create')
    const other = await makeMachine('sqlite')
    const beside = path.join(path.dirname(secretOf(other)), 'config.toml.from-backup')
    expect(await json(other, `restore ${file} --dry-run`)).toMatchObject({ config: beside })
    expect(existsSync(beside)).toBe(false)
    const restored = await other.run(`restore ${file} --yes`)
    expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining('CONFIG') })
    expect([readFileSync(beside, 'utf8'), statSync(beside).mode & 0o777]).toEqual([text, 0o600])
    const settings = await other.run('config list')
    expect(settings.stdout).toMatch(/^data\.dir\t/m)
    expect(settings.stdout).not.toContain('mail.example.org')
    // What is the same is not written again, and a redacted backup has none
    expect(await json(machine, `restore ${file} --yes`)).toMatchObject({ config: null })
    const redacted = await json(machine, `backup create ${temporaryFolder()}/ --redact`)
    expect(await json(other, `restore ${redacted.file} --yes`)).toMatchObject({ config: null, secret: 'none' })
  })

  it('has no secret where it is redacted', async () => {
    const machine = await makeMachine('sqlite')
    const token = await machine.setup()
    const secret = readFileSync(secretOf(machine), 'utf8').trim()
    const db = await opened(machine)
    const { password } = await db.selectFrom('users').select('password').executeTakeFirstOrThrow()
    const { gunzipSync } = await import('node:zlib')
    const lines = async (flags: string) => {
      const { file } = await json(machine, `backup create ${temporaryFolder()}/ ${flags}`)
      const bytes = readFileSync(file)
      return gunzipSync(bytes.subarray(bytes.indexOf(10) + 1, -32)).toString()
    }
    expect(await lines('')).toContain(secret)
    expect(await lines('')).toContain(password)
    const redacted = await lines('--redact')
    for (const hidden of [secret, password, token]) expect(redacted).not.toContain(hidden)
    expect(redacted).toContain('ada@example.org')
  })

  it('is no folder: which backups are in it is said', async () => {
    const machine = await filled('sqlite')
    await machine.run('backup create')
    const folder = backupsOf(machine)
    for (const command of ['backup verify', 'backup rehearse', 'restore --yes']) {
      const { code, stdout, stderr } = await machine.run(`${command} ${folder}`)
      expect([command, code, stdout]).toEqual([command, 3, ''])
      expect(stderr).toContain(`${folder} is a folder. Name a backup in it: "feedbackctl backup list ${folder}"`)
    }
    expect((await machine.run(`backup list ${folder}`)).stdout).toContain('.backup')
  })

  it('is made in a process that is nice already, as cron jobs are', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const { status, stderr } = spawnSync('nice', ['-n', '15', process.execPath, PROGRAM, 'backup', 'create'], {
      cwd: machine.folder,
      env: machine.env,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, expect.stringContaining('Backed up')])
  })

  it('is whole or not there, and overwrites nothing', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const dry = await machine.run('backup create --dry-run -o table')
    expect([dry.code, dry.stdout]).toEqual([0, expect.not.stringMatching(/SIZE|ROWS/)])
    expect(existsSync(backupsOf(machine))).toBe(false)
    writeFileSync(path.join(machine.folder, 'there.backup'), 'mine')
    expect(await machine.run('backup create there.backup')).toMatchObject({ code: 5 })
    expect(readFileSync(path.join(machine.folder, 'there.backup'), 'utf8')).toBe('mine')
    for (const length of [250, 300]) // too long with the ending of an unfinished file, or without
      expect(await machine.run(`backup create ${'x'.repeat(length)}`)).toMatchObject({ code: 2, stderr: expect.stringContaining('too long') }) // prettier-ignore
    expect(await machine.run('backup create /proc/none/x.backup')).toMatchObject({ code: 1, stderr: expect.stringContaining('BACKUP_FAILED') }) // prettier-ignore
    expect(readdirSync(machine.folder).filter((name) => name.endsWith('.part'))).toEqual([])
    const files = []
    for (let count = 0; count < 4; count++) files.push((await json(machine, 'backup create')).file)
    expect(new Set(files).size, 'some were made in the same second').toBe(4)
    rmSync(path.join(machine.folder, 'data/feedbackctl/feedback.db'))
    expect(await machine.run('backup create')).toMatchObject({ code: 5, stderr: expect.stringContaining('DATABASE_MISSING') }) // prettier-ignore
  })
})
