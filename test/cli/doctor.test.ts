import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { NEWEST } from '../../src/db/schema.js'
import { writeWords } from '../../src/db/search.js'
import { NAMES } from '../../src/doctor/names.js'
import { makeMachine, serve, type Machine } from '../support/cli.js'
import { damaged, dataOf, doctor, filled, secretOf } from '../support/doctor.js'
import { engines } from '../support/site.js'

/** All files of a machine, without the compiled code that any command keeps. */
const filesOf = ({ folder }: Machine): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('.cache'))
    .toSorted()

describe.each(engines)('doctor on %s', (engine) => {
  it('finds nothing wrong with a new site, whether it is served or not, and changes nothing', async () => {
    const machine = await filled(engine)
    const before = filesOf(machine)
    const { checks } = await doctor(machine)
    expect([...new Set(checks.map(({ id }) => id))]).toEqual(
      Object.entries(NAMES)
        .filter(([, title]) => !title.startsWith('with --url'))
        .map(([id]) => id),
    )
    expect(checks.filter(({ severity }) => severity !== 'ok')).toEqual([])
    expect(filesOf(machine)).toEqual(before)
    const server = machine.start('serve')
    await server.says(/listening on/)
    expect((await doctor(machine)).found).toEqual([])
    expect(await machine.run('doctor')).toMatchObject({ code: 0, stderr: 'No findings.\n' })
  })

  it('says that there is no site, and makes none', async () => {
    const machine = await makeMachine(engine)
    const before = filesOf(machine)
    const { found } = await doctor(machine)
    expect(found).toMatchObject([
      {
        id: 'database',
        evidence: expect.stringContaining(engine === 'sqlite' ? 'There is no site here' : 'The site is not set up'),
        fix: expect.stringContaining('feedbackctl setup'),
      },
      { id: 'mail', severity: 'warning', fix: 'feedbackctl help mail-url' },
    ])
    expect(filesOf(machine)).toEqual(before)
  })

  it('runs only the checks that are named', async () => {
    const machine = await filled(engine)
    const { checks } = await doctor(machine, 'secret files')
    expect(checks.map(({ id }) => id)).toEqual(['files', 'secret'])
    expect(await machine.run('doctor nope')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no check "nope"'),
    })
  })

  it('finds a secret that others can read', async () => {
    const machine = await filled(engine)
    chmodSync(secretOf(machine), 0o644)
    const { found } = await doctor(machine)
    expect(found).toMatchObject([
      {
        id: 'files',
        severity: 'error',
        evidence: `Others on this machine can read ${secretOf(machine)}.`,
        fix: `chmod 600 ${secretOf(machine)}`,
      },
    ])
    expect((await machine.run('doctor --fix --yes')).code).toBe(0)
    expect(statSync(secretOf(machine)).mode & 0o777).toBe(0o600)
  })

  it('finds a secret that is lost, or another one', async () => {
    const machine = await filled(engine)
    const env = { FEEDBACKCTL_SECRET: 'an other secret than before' }
    expect((await doctor(machine, '', env)).found).toMatchObject([
      { id: 'secret', evidence: expect.stringContaining('set up with another secret') },
    ])
    rmSync(secretOf(machine))
    const { found } = await doctor(machine)
    expect(found).toMatchObject([{ id: 'secret', evidence: expect.stringContaining('is missing') }])
    expect(existsSync(secretOf(machine))).toBe(false)
  })

  it('finds counts that are not those of the rows', async () => {
    const machine = await filled(engine)
    await damaged(machine, async (db) => {
      await sql`update posts set "votesCount" = 7, "commentsCount" = 3`.execute(db)
      await sql`update boards set post_count = 4`.execute(db)
      await sql`update users set vote_count = 4, post_count = 5`.execute(db)
      await sql`update counters set value = 12 where name in ('boards', 'boards.public', 'roadmaps', 'roadmaps.public', 'users')`.execute(db) // prettier-ignore
      await sql`update post_counts set value = 12 where board = '*' and value > 0`.execute(db)
    })
    const { found } = await doctor(machine)
    expect(found.every(({ id, fix }) => id === 'counters' && fix === 'feedbackctl doctor counters --fix')).toBe(true)
    expect(found.map(({ evidence }) => evidence)).toEqual([
      '1 stored count of votes of posts is wrong, such as 7 for 1 row.',
      '1 stored count of comments of posts is wrong, such as 3 for 0 rows.',
      '1 stored count of posts of boards is wrong, such as 4 for 1 row.',
      '1 stored count of posts of users is wrong, such as 5 for 1 row.',
      '1 stored count of votes of users is wrong, such as 4 for 1 row.',
      '1 stored count of boards is wrong, such as 12 for 1 row.',
      '1 stored count of public boards is wrong, such as 12 for 1 row.',
      '1 stored count of roadmaps is wrong, such as 12 for 1 row.',
      '1 stored count of public roadmaps is wrong, such as 12 for 1 row.',
      '1 stored count of users is wrong, such as 12 for 1 row.',
      '2 stored counts of posts in lists are wrong, such as 12 for 1 row.',
    ])

    // A server has the wrong counts in its cache, and shows the right ones at once
    const http = await serve(machine)
    const comments = async () => (await http('POST /posts/get', { body: {} })).body.posts[0].commentsCount
    expect(await comments()).toBe(3)
    const dry = await machine.run('doctor --fix --dry-run')
    expect(dry).toMatchObject({ code: 9, stderr: expect.stringContaining('Would recount all rows.\n') })
    expect(await machine.run('doctor --fix')).toMatchObject({ code: 5, stderr: expect.stringContaining('--yes') })
    expect((await doctor(machine)).found).toHaveLength(11)
    expect(await machine.run('doctor --fix --yes')).toMatchObject({
      code: 0,
      stderr: 'Done: recount all rows.\nNo findings.\n',
    })
    expect((await doctor(machine)).found).toEqual([])
    expect(await comments()).toBe(0)
  })

  it('finds an older schema, and does not update it', async () => {
    const machine = await filled(engine)
    await damaged(machine, (db) => sql`delete from kysely_migration where name = ${NEWEST}`.execute(db))
    for (let round = 0; round < 2; round++)
      expect((await doctor(machine)).found).toMatchObject([
        { id: 'database', evidence: expect.stringContaining('older than this program'), fix: expect.stringContaining('feedbackctl migrate') }, // prettier-ignore
      ])
  })

  it('finds rows and parts of the database that are damaged', async () => {
    const machine = await filled(engine)
    await damaged(machine, async (db) => {
      if (engine === 'postgres') return sql`alter table votes disable trigger votes_added`.execute(db)
      await sql`pragma foreign_keys = off`.execute(db)
      return sql`update posts set "roadmap_id" = 'gone'`.execute(db)
    })
    const { found } = await doctor(machine, 'integrity')
    expect(found).toMatchObject([
      {
        id: 'integrity',
        evidence:
          engine === 'postgres'
            ? 'The trigger votes_added of votes is switched off.'
            : 'Rows of posts that name rows of roadmaps which do not exist: 1.',
        fix: expect.stringContaining('feedbackctl restore FILE'),
      },
    ])
  })

  it('finds posts that search does not, and puts them into the index', async () => {
    const machine = await filled(engine)
    await damaged(machine, (db) => sql`update counters set value = 10001 where name = 'post_numbers'`.execute(db))
    const skipped = async (args = '') => JSON.parse((await machine.run(`doctor --offline ${args} --json`)).stdout).checks.flatMap(({ id, severity }: { id: string; severity: string }) => (severity === 'skipped' ? [id] : [])) // prettier-ignore
    expect(await skipped()).toEqual(['integrity', 'counters', 'search'])
    expect(await skipped('--deep')).toEqual([])
    expect(await skipped('counters search')).toEqual([])
    await damaged(machine, (db) => sql`delete from post_search`.execute(db))
    expect((await doctor(machine, 'search')).found).toMatchObject([
      { evidence: 'Search does not find 1 post: their words are not in the index.' },
    ])
    expect((await machine.run('posts search dark')).stdout).toBe('')
    expect((await machine.run('doctor search --fix --yes')).code).toBe(0)
    expect((await machine.run('posts search dark')).stdout).toContain('Dark')
    await damaged(machine, (db) => writeWords(db, 'post_search', [{ number: 1, words: ['light'] }, { number: 900, words: ['gone'] }])) // prettier-ignore
    expect((await doctor(machine, 'search')).found).toMatchObject([
      { evidence: 'Search finds 1 post by other words than they have. The search index has words of 1 deleted post.' },
    ])
    expect((await machine.run('doctor search --fix --yes')).code).toBe(0)
    expect((await machine.run('posts search light')).stdout).toBe('')
  })

  it('finds an event that was changed', async () => {
    const machine = await filled(engine)
    const server = machine.start('serve')
    await server.says(/listening on/)
    const sealed = async () => JSON.parse((await machine.run('audit verify --json')).stdout).unsealed as number
    await expect.poll(sealed).toBe(0)
    await server.stop()
    await damaged(machine, (db) => sql`update events set action = 'post.deleted' where id = 2`.execute(db))
    expect((await doctor(machine, 'audit')).found).toMatchObject([
      { id: 'audit', evidence: expect.stringMatching(/^Event 2: An event of this block was changed/) },
    ])
  })

  it('finds a clock that is behind the newest event', async () => {
    const machine = await filled(engine)
    const time = '2999-01-01T00:00:00.000Z'
    await damaged(machine, (db) =>
      db
        .insertInto('events')
        .values({ action: 'site.set_up', subject_id: 'site', origin: 'cli:x', created_at: time })
        .execute(),
    )
    expect((await doctor(machine, 'clock')).found).toMatchObject([
      { evidence: expect.stringContaining(`The newest event is of ${time}, but it is`) },
    ])
  })

  it('finds a mail server that does not answer, unless offline, and mail that waits', async () => {
    const machine = await filled(engine)
    const env = { FEEDBACKCTL_MAIL_URL: 'smtp://lovelace%40example.org:geheim@127.0.0.1:9' }
    const { found } = await doctor(machine, 'mail', env)
    expect(found).toMatchObject([
      { evidence: expect.stringMatching(/^The mail server 127\.0\.0\.1:9 does not take mail: /) },
    ])
    expect(JSON.stringify(found)).not.toContain('geheim')
    expect((await doctor(machine, 'mail --offline', env)).found).toEqual([])
    await damaged(machine, (db) =>
      db
        .updateTable('deliveries')
        .set({ sentAt: null, createdAt: '2020-01-01T00:00:00.000Z', lastError: '550 no' })
        .execute(),
    )
    expect((await doctor(machine, 'mail --offline', env)).found).toMatchObject([
      {
        evidence: '1 mail should have been sent more than an hour ago. The last failure: 550 no',
        fix: 'feedbackctl mail queue list',
      },
    ])
    const nobody = { FEEDBACKCTL_SITE_URL: 'https://feedback.example.org' }
    expect((await doctor(machine, 'mail --offline', nobody)).found).toMatchObject([
      { evidence: expect.stringContaining('reaches nobody') },
      { severity: 'warning' },
    ])
    await damaged(machine, async (db) => {
      const { userId } = await db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
      const at = '2020-01-01T00:00:00.000Z'
      await db.insertInto('mail_bounces').values({ userId, bounces: 3, reason: '550 no', bouncedAt: at, suppressedAt: at }).execute() // prettier-ignore
      await db.deleteFrom('deliveries').execute()
    })
    expect((await doctor(machine, 'mail --offline', env)).found).toMatchObject([
      {
        severity: 'warning',
        evidence: 'Mail to 1 account came back: no notification is mailed there.',
        fix: 'feedbackctl mail suppressed list',
      },
    ])
  })

  it('finds that there is no backup, that the newest is old, and that the schedule fails', async () => {
    const machine = await filled(engine)
    const born = (time: string) =>
      damaged(machine, (db) => db.updateTable('events').set({ created_at: time }).execute())
    await born('2020-01-01T00:00:00.000Z')
    expect((await doctor(machine, 'backups')).found).toMatchObject([
      { evidence: `There is no backup in ${path.join(dataOf(machine), 'backups')}.` },
    ])
    await machine.run('backup create')
    expect((await doctor(machine, 'backups')).found).toEqual([])
    const [file = ''] = readdirSync(path.join(dataOf(machine), 'backups'))
    const backup = path.join(dataOf(machine), 'backups', file)
    const bytes = readFileSync(backup, 'latin1')
    writeFileSync(backup, bytes.replace(/"createdAt":"\d{4}/, '"createdAt":"2021'), 'latin1')
    expect((await doctor(machine, 'backups')).found).toMatchObject([
      { evidence: expect.stringMatching(/^The newest backup is \d{4} days old: /) },
    ])
    await damaged(machine, (db) =>
      db.insertInto('job_runs').values({ name: 'backups', done_at: null, failed_at: null, error: 'ENOSPC' }).execute(),
    )
    expect((await doctor(machine, 'backups')).found).toMatchObject([
      { severity: 'error', evidence: 'The last scheduled backup failed: ENOSPC' },
    ])
  })

  it('finds servers of another version, and on another machine', async () => {
    const machine = await filled(engine)
    const seen_at = new Date().toISOString()
    await damaged(machine, (db) =>
      db
        .insertInto('servers')
        .values({
          host: 'elsewhere',
          pid: 7,
          worker: 0,
          url: 'http://x',
          version: '0.0.1',
          started_at: seen_at,
          seen_at,
        })
        .execute(),
    )
    expect((await doctor(machine, 'servers')).found.map(({ evidence }) => evidence)).toEqual([
      expect.stringContaining('The server with pid 7 on elsewhere runs version 0.0.1.'),
      ...(engine === 'sqlite' ? ['A server on another machine uses this SQLite file: pid 7 on elsewhere.'] : []),
    ])
  })

  it('finds settings that are not valid, and files that killed commands left', async () => {
    const machine = await filled(engine)
    const { found } = await doctor(machine, 'config', { FEEDBACKCTL_LOG_LEVEL: 'loud', FEEDBACKCTL_LOG_LEVLE: 'info' })
    expect(found).toMatchObject([
      { severity: 'error', evidence: expect.stringContaining('log.level must be one of') },
      { severity: 'warning', evidence: expect.stringContaining('FEEDBACKCTL_LOG_LEVLE') },
    ])
    const [old, young] = ['secret.12.0123abcd', 'secret.13.0123abcd'].map((name) => path.join(dataOf(machine), name))
    for (const file of [old, young]) writeFileSync(file ?? '', 'x', { mode: 0o600 })
    utimesSync(old ?? '', 0, 0)
    expect((await doctor(machine)).found).toMatchObject([{ id: 'leftovers', fix: `rm ${old}` }])
    expect((await machine.run('doctor --fix --yes')).code).toBe(0)
    expect([old, young].map((file) => existsSync(file ?? ''))).toEqual([false, true])
  })
})

it('finds a disk with less room than a copy of the database needs', async () => {
  const machine = await filled('sqlite')
  // A file may be longer than its disk: it has holes
  truncateSync(path.join(dataOf(machine), 'feedback.db'), 2 ** 43)
  expect((await doctor(machine, 'disk')).found[0]).toMatchObject({
    evidence: expect.stringMatching(/^The disk of .* free\. A backup or an update may need 8\.8 TB\.$/),
  })
})

it('writes a report without secrets and addresses, once', async () => {
  const machine = await filled('sqlite')
  const env = { FEEDBACKCTL_MAIL_URL: 'smtp://ada:geheim@127.0.0.1:9', FEEDBACKCTL_MAIL_FROM: 'Ada <ada@example.org>' }
  const first = await machine.run('doctor --report bug.json', { env })
  expect(first).toMatchObject({ code: 9, stderr: expect.stringContaining('bug.json. Read it before you send it') })
  const file = path.join(machine.folder, 'bug.json')
  const text = readFileSync(file, 'utf8')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(text)).toMatchObject({
    node: process.versions.node,
    settings: { 'mail.url': { origin: 'FEEDBACKCTL_MAIL_URL' } },
    checks: expect.arrayContaining([expect.objectContaining({ id: 'mail', severity: 'error' })]),
  })
  for (const secret of ['geheim', 'ada@', 'lovelace', readFileSync(secretOf(machine), 'utf8').trim()])
    expect(text).not.toContain(secret)
  for (const [name, why] of [
    ['bug.json', 'exists. Name a new file.'],
    ['none/bug.json', 'there is no folder'],
  ] as const)
    // prettier-ignore
    expect(await machine.run(`doctor --report ${name}`)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(why),
    })
})

it('finds a Node that is too old', async () => {
  const machine = await filled('sqlite')
  const hook = path.join(machine.folder, 'old.cjs')
  writeFileSync(hook, `Object.defineProperty(process.versions, 'node', { value: '18.20.1' })`)
  expect((await doctor(machine, 'runtime', { NODE_OPTIONS: `--require ${hook}` })).found).toMatchObject([
    { evidence: expect.stringContaining('This is Node 18.20.1.') },
  ])
})

it('finds a file that is no database', async () => {
  const machine = await filled('sqlite')
  writeFileSync(path.join(dataOf(machine), 'feedback.db'), 'this is not a database at all, but text')
  const { found } = await doctor(machine)
  expect(found).toMatchObject([
    { id: 'database', evidence: expect.stringContaining('is damaged, or is not a SQLite database'), fix: expect.stringContaining('restore FILE') }, // prettier-ignore
  ])
})

it('breaks lines at the width of the terminal, with and without colour', async () => {
  const machine = await filled('sqlite')
  chmodSync(secretOf(machine), 0o644)
  const shown = async (env: Record<string, string>) => {
    const { text } = await machine.terminal('doctor runtime files', { env, columns: 60 }).ended
    // oxlint-disable-next-line no-control-regex -- the line that shows progress, until it is cleared
    return text.replace(/^[^]*\r\u001b\[2K/, '')
  }
  const plain = await shown({ NO_COLOR: '1' })
  expect(plain).toMatch(/^✓ runtime +feedbackctl /m)
  expect(plain).toMatch(/^✗ files +Others on this machine can/m)
  const colored = await shown({})
  // oxlint-disable-next-line no-control-regex -- the escapes of colours
  expect(colored.replaceAll(/\u001b\[[\d;]*m/g, '')).toBe(plain)
  expect(colored).toContain('\u001b[31m✗')
})
