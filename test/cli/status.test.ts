import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { NEWEST } from '../../src/db/schema.js'
import { version } from '../../src/cli/version.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'

describe.each(engines)('status on %s', (engine) => {
  it('says which site this is, who serves it, and how much is in it', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate')
    await machine.setup()
    await machine.run('boards create Ideas')
    await machine.run('posts create Dark --board ideas --body x')
    const idle = await machine.run('status')
    expect(idle.stderr).toContain('Run "feedbackctl serve" to serve the site.\n')

    const server = machine.start('serve --workers 2')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const state = async () => JSON.parse((await machine.run('status --json')).stdout) as Record<string, unknown>
    await expect
      .poll(async () => (await state()).servers)
      .toEqual([
        {
          url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
          version,
          workers: 2,
          pid: server.child.pid,
          host: expect.any(String),
          startedAt: expect.stringMatching(/^\d{4}-/),
        },
      ])
    expect(await state()).toMatchObject({
      title: 'Feedback',
      isSetup: true,
      schemaState: 'current',
      people: 1,
      boards: 1,
      posts: 1,
      mailWaiting: expect.any(Number),
      origin: engine === 'sqlite' ? 'default' : 'FEEDBACKCTL_DATABASE_URL',
    })
    const screen = await machine.terminal('status', { env: { NO_COLOR: '1' } }).ended
    expect(screen.text).toMatch(/^SERVED BY +http:\/\/127\.0\.0\.1:\d+, started just now\r\n {14}version \S+, 2 workers, pid \d+ on /m) // prettier-ignore
    // Other tests may have servers on this machine
    expect(screen.text).not.toContain(`Warning: the server with pid ${server.child.pid} `)

    const remote = await machine.run(`status --server ${url}`)
    expect(remote).toMatchObject({ code: 0, stderr: `Not signed in to ${url}. Only the owner sees more.\n` })
    await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, {
      stdin: 'correct horse battery\n',
    })
    expect(JSON.parse((await machine.run(`status --json --server ${url}`)).stdout)).toMatchObject({
      data: url,
      people: 1,
      posts: 1,
      schemaState: null,
    })

    await server.stop()
    expect(await state()).toMatchObject({ servers: [] })
  })

  it('does not name a server that was killed', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate')
    await machine.setup()
    const server = machine.start('serve')
    await server.says(/listening on/)
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    const rows = () => db.selectFrom('servers').selectAll().execute()
    await expect.poll(rows).toHaveLength(1)
    await server.stop('SIGKILL')
    expect(await rows()).toHaveLength(1)
    expect(JSON.parse((await machine.run('status --json')).stdout)).toMatchObject({ servers: [] })
  })
})

describe('status', () => {
  it('creates nothing where there is no site, says where it looked, and exits with 3', async () => {
    const machine = await makeMachine('sqlite')
    const before = readdirSync(machine.folder)
    const { code, stdout, stderr } = await machine.run('status')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain(path.join(machine.folder, 'data/feedbackctl/feedback.db'))
    expect(readdirSync(machine.folder).filter((name) => name !== '.cache')).toEqual(before)
  })

  // Systems without /proc do not tell which files a process has open, and status then says nothing.
  it.skipIf(!existsSync('/proc/self/fd'))(
    'warns of a server on this machine that uses other data (needs /proc)',
    async () => {
      const machine = await makeMachine('sqlite')
      await machine.setup()
      const server = machine.start('serve')
      await server.says(/listening on/)
      const other = `${machine.folder}/other`
      const elsewhere = await machine.run(`status --data-dir ${other}`)
      expect(elsewhere.code).toBe(3)
      expect(elsewhere.stderr).toContain('Warning: this machine also serves other sites.\n')
      // Of many only the four that started last are listed, and other tests start servers too
      const listed = async () => (await machine.run(`status --data-dir ${other}`)).stderr
      await expect
        .poll(listed)
        .toContain(`\n  pid ${server.child.pid}  ${machine.folder}/data/feedbackctl/feedback.db\n`)
      expect(elsewhere.stderr).toContain('Add --data-dir with the folder of a database to run commands on that.\n')
      expect((await machine.run('status')).stderr).not.toContain(`pid ${server.child.pid}`)
      const second = await makeMachine('sqlite')
      await second.setup()
      expect((await second.run('status')).stderr).toBe('Run "feedbackctl serve" to serve the site.\n') // a site of its own
    },
  )

  it('says that the schema is older, and does not update it', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    const migrations = db as unknown as import('kysely').Kysely<{ kysely_migration: { name: string } }>
    await migrations.deleteFrom('kysely_migration').where('name', '=', NEWEST).execute()
    const { stdout, stderr, code } = await machine.run('status --json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ schemaState: 'outdated', people: null })
    expect(stderr).toContain('The next command that opens the site updates the schema. Make a backup first.\n')
    const { stderr: plan } = await machine.run('migrate --dry-run')
    expect(plan).toMatch(/^Would keep the database as it is: \S+\.\nWould apply \w+\.\n$/)
    expect(plan).toContain(`Would apply ${NEWEST}.\n`)
    expect(await migrations.selectFrom('kysely_migration').select('name').where('name', '=', NEWEST).execute()).toEqual([]) // prettier-ignore
  })
})
