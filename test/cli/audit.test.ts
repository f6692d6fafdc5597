import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'

it('"audit verify" finds what was changed in the events that serve has sealed, and exits with 9', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  expect(await machine.run('audit verify')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^1 event checked\. Nothing was changed or removed\. Head: 1:/), // setup sealed it
  })
  const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const verify = async (flags = '') => machine.run(`audit verify ${flags}`)
  await expect.poll(async () => JSON.parse((await verify('--json')).stdout).unsealed).toBe(0)
  const { head, ...sound } = JSON.parse((await verify('--json')).stdout)
  expect(sound).toEqual({ findings: [], checked: 1, unsealed: 0, next: null })
  expect((await verify(`--expect ${head}`)).code).toBe(0)
  expect(await verify('--expect x')).toMatchObject({ code: 2 })
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  await db.updateTable('events').set({ origin: 'http' }).execute()
  for (const env of [{}, { FEEDBACKCTL_SERVER: server, FEEDBACKCTL_TOKEN: token }])
    expect(await machine.run('audit verify', { env })).toMatchObject({
      code: 9,
      stdout: expect.stringMatching(/^0\t1\tAn event of this block was changed/),
      stderr: expect.stringContaining('AUDIT_FINDINGS (exit 9)'),
    })
})

describe.each(engines)('the event log on %s', (engine) => {
  it('is sealed to its end when a server stops', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const verify = async () => JSON.parse((await machine.run('audit verify --json')).stdout)
    await expect.poll(async () => (await verify()).checked).toBe(1)
    const created = await fetch(`${url}/api/v1/boards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ideas' }),
    })
    expect(created.status).toBe(201)
    expect((await server.stop()).code).toBe(0)
    expect(await verify()).toMatchObject({ findings: [], checked: 2, unsealed: 0 })
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    const event = { action: 'site.updated', subject_id: 'site', origin: 'cli:x', created_at: new Date().toISOString() }
    await db.insertInto('events').values(event).execute() // by a command that was killed
    const { checks } = JSON.parse((await machine.run('doctor audit --offline --json')).stdout)
    expect(checks).toMatchObject([{ severity: 'ok', evidence: expect.stringContaining('Not sealed yet: 1 event at most.') }]) // prettier-ignore
    await machine.run('boards create Bugs')
    expect(await verify()).toMatchObject({ findings: [], checked: 4, unsealed: 0 })
  })

  it('is sealed by commands where no server runs, by two at once too, and not by those that change nothing', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const verify = async () => JSON.parse((await machine.run('audit verify --json')).stdout)
    const names = ['Ideas', 'Bugs', 'Plans', 'Wishes']
    await Promise.all(names.map((name) => machine.process(`boards create ${name}`)))
    await machine.run('boards create Last')
    expect(await verify()).toMatchObject({ findings: [], checked: 6, unsealed: 0 })
    const { head } = await verify()
    for (const args of ['boards list', 'boards create Dry --dry-run', 'boards delete nope --yes'])
      await machine.run(args)
    expect((await verify()).head).toBe(head)
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    await db.updateTable('events').set({ subject: 'Forged' }).where('subject', '=', 'Bugs').execute()
    expect((await machine.run('audit verify')).code).toBe(9)
  })

  it('that was emptied with its hashes is found out by the owner of the site', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    for (const table of ['events', 'event_seals'] as const) await db.deleteFrom(table).execute()
    if (engine === 'sqlite') await sql`delete from sqlite_sequence where name = 'events'`.execute(db)
    await machine.run('boards create Ideas') // what is written afterwards hides nothing
    expect(await machine.run('audit verify')).toMatchObject({
      code: 9,
      stdout: expect.stringMatching(/^0\t1\tThe event of the setup is missing, although the site has an owner/),
    })
    const { checks } = JSON.parse((await machine.run('doctor audit --offline --json')).stdout)
    expect(checks).toMatchObject([{ severity: 'error', evidence: expect.stringContaining('The event of the setup') }])
  })
})
