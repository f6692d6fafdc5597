import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { queueMail } from '../../src/delivery/mail.js'
import type { Mail, MailShown } from '../../src/service/mailqueue.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup, engines, type Engine } from '../support/site.js'

const LINK = 'https://feedback.example.org/password-reset/confirm/?token=s3cret-t0ken'

async function filled(engine: Engine, names: readonly string[] = ['bob']) {
  const machine = await makeMachine(engine)
  await machine.setup()
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  await db.deleteFrom('deliveries').execute()
  const ids: string[] = []
  for (const name of names) ids.push(await queued(db, name))
  return { machine, run: machine.run, db, ids }
}

const queued = (db: Db, name: string): Promise<string> =>
  queueMail(db, new Date(), {
    recipient: `${name}@example.org`,
    subject: 'Choose a password',
    text: `Hello\n\n${LINK}\n`,
    html: `<a href="${LINK}">x</a>`,
  })

const refuse = (db: Db) =>
  db.updateTable('deliveries').set({ attempts: 20, dueAt: null, lastError: '550 no such mailbox' }).execute()

const listed = async (run: Machine['run'], args = ''): Promise<Mail[]> =>
  (JSON.parse((await run(`mail queue list --json ${args}`)).stdout) as { mails: Mail[] }).mails

const delivered = ({ folder }: Machine): string[] => readdirSync(path.join(folder, 'mail')).toSorted()

const events = async (run: Machine['run']) =>
  (
    JSON.parse((await run('events list --json')).stdout) as {
      events: { action: string; subject_id: string; subject: unknown }[]
    }
  ).events // prettier-ignore
    .filter(({ action }) => action.startsWith('mail.'))

describe.each(engines)('the mail queue on %s', (engine) => {
  it('is listed with the last error of each mail, newest first', async () => {
    const { machine, run, db, ids } = await filled(engine, ['bob', 'eve'])
    await refuse(db)
    const later = await queued(db, 'joe')
    expect((await listed(run)).map(({ mailId, state, lastError, attempts }) => [mailId, state, lastError, attempts])).toEqual([
      [later, 'waiting', null, 0],
      [ids[1], 'failed', '550 no such mailbox', 20],
      [ids[0], 'failed', '550 no such mailbox', 20],
    ]) // prettier-ignore
    expect(await run('mail queue list -o table')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/bob@example\.org +failed +20 +550 no such mailbox/),
      stderr: '2 mails: 550 no such mailbox\n',
    })
    expect(JSON.parse((await run('mail queue list --limit 1 --json')).stdout)).toMatchObject({
      total: 3,
      total_pages: 3,
    })
    const { text } = await machine.terminal('mail queue list --limit 1 --no-color', { columns: 120 }).ended
    expect(text).toContain('Page 1 of 3 · 1 of 3 · next: feedbackctl mail queue list --limit 1 --no-color --page 2')
    expect(await run('mail queue list --limit 0')).toMatchObject({ code: 2 })
    await db.deleteFrom('deliveries').execute()
    for (const args of ['mail queue list', 'mail queue list --all']) {
      expect(await run(args)).toEqual({ code: 0, stdout: '', stderr: '' })
      expect((await machine.terminal(args).ended).text).toMatch(/^No mail waits\.\s*$/)
    }
  })

  it('is listed with --all on every page, and with --sent those that were cancelled too', async () => {
    const { run, db } = await filled(
      engine,
      Array.from({ length: 102 }, (_, index) => `a${index}`),
    )
    await refuse(db)
    const gone = await queued(db, 'gone')
    expect(await run(`mail queue cancel ${gone} --yes`)).toMatchObject({ code: 0 })
    const all = async (args: string) =>
      JSON.parse((await run(`mail queue list --all --json ${args}`)).stdout) as { mails: Mail[] }
    expect(await all('')).toMatchObject({ mails: { length: 102 }, total: 102, total_count: 102 })
    expect(await all('--sent')).toMatchObject({ mails: { length: 103 }, total: 103, total_count: 103 })
    expect((await run('mail queue list --all -o table')).stderr).toBe('102 mails: 550 no such mailbox\n')
    expect((await run('mail queue list --all -q')).stderr).toBe('')
  })

  it('shows a mail without its links, unless it is told to', async () => {
    const { run, ids } = await filled(engine)
    const [id = ''] = ids
    for (const format of ['', '--json', '-o table', '-o yaml', '-o csv', '--fields text']) {
      const { code, stdout, stderr } = await run(`mail queue show ${id.slice(0, 8)} ${format}`)
      expect([format, code]).toEqual([format, 0])
      expect(stdout).toContain('https://feedback.example.org/password-reset/confirm/?…')
      expect(stdout + stderr).not.toContain('s3cret')
    }
    const { text } = JSON.parse((await run(`mail queue show ${id} --links --json`)).stdout) as MailShown
    expect(text).toContain(LINK)
    expect((await run('mail queue list -o wide')).stdout).not.toContain('s3cret')
    expect(await run('mail queue show 0000')).toMatchObject({ code: 3, stderr: expect.stringContaining('mail queue list') }) // prettier-ignore
  })

  it('a server sends a failed mail that was retried, and no other', async () => {
    const { machine, run, db, ids } = await filled(engine, ['bob', 'eve'])
    await refuse(db)
    await machine.start('serve').says(/listening on/)
    const dry = await run(`mail queue retry ${ids[0]} --dry-run`)
    expect([dry.code, dry.stderr]).toEqual([0, 'Would retry the mail to bob@example.org.\n'])
    expect((await listed(run)).map(({ state }) => state)).toEqual(['failed', 'failed'])
    const answer = await run(`mail queue retry ${ids[0]} --json`)
    expect(JSON.parse(answer.stdout)).toMatchObject({ mailId: ids[0], state: 'waiting', attempts: 0 })
    await expect
      .poll(() => listed(run, '--sent'))
      .toMatchObject([
        { recipient: 'eve@example.org', state: 'failed' },
        { recipient: 'bob@example.org', state: 'sent', attempts: 1, lastError: null },
      ])
    expect(delivered(machine)).toContain(`${ids[0]}.eml`)
    expect(delivered(machine)).not.toContain(`${ids[1]}.eml`)
    expect(await events(run)).toMatchObject([{ action: 'mail.retried', subject_id: ids[0], subject: null }])
    expect(await run(`mail queue retry ${ids[0]}`)).toMatchObject({ code: 5, stderr: expect.stringContaining('was sent') }) // prettier-ignore
  })

  it('retries all at once', async () => {
    const { run, db } = await filled(engine, ['bob', 'eve', 'joe'])
    await refuse(db)
    const { stdout, code } = await run('mail queue retry --all --json')
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as Mail[]).map(({ recipient, state }) => [recipient, state])).toEqual([
      ['bob@example.org', 'waiting'],
      ['eve@example.org', 'waiting'],
      ['joe@example.org', 'waiting'],
    ])
    await db.deleteFrom('deliveries').execute()
    expect(await run('mail queue retry --all --json')).toEqual({ code: 0, stdout: '[]\n', stderr: 'No mail waits.\n' })
    expect(await run('mail queue retry')).toMatchObject({ code: 2 })
    expect(await run('mail queue retry --all abcd')).toMatchObject({ code: 2 })
  })

  it('a mail that was cancelled is never sent, and its text is gone', async () => {
    const { machine, run, db, ids } = await filled(engine, ['bob', 'eve'])
    const [bob = '', eve = ''] = ids
    expect(await run(`mail queue cancel ${bob}`)).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/"Choose a password" to bob@example\.org[^]*CONFIRMATION_NEEDED/),
    })
    expect((await run(`mail queue cancel ${bob} --dry-run`)).stderr).toBe('Would cancel the mail to bob@example.org.\n')
    expect(await db.selectFrom('deliveries').selectAll().where('cancelledAt', 'is not', null).execute()).toEqual([])
    expect(await run(`mail queue cancel ${bob} --yes`)).toMatchObject({ code: 0 })
    await machine.start('serve').says(/mail delivered/)
    expect(delivered(machine)).toContain(`${eve}.eml`)
    expect(delivered(machine)).not.toContain(`${bob}.eml`)
    expect(await db.selectFrom('deliveries').selectAll().where('deliveryId', '=', bob).execute()).toMatchObject([
      { text: '', html: '', dueAt: null, sentAt: null },
    ])
    expect(await events(run)).toMatchObject([{ action: 'mail.cancelled', subject_id: bob }])
    for (const verb of ['retry', 'cancel']) // nobody is asked first
      expect(await run(`mail queue ${verb} ${bob}`)).toMatchObject({ code: 5, stderr: expect.stringMatching(/was cancelled[^]*MAIL_NOT_WAITING/) }) // prettier-ignore
    expect((await listed(run)).length).toBe(0)
  })

  it('a mail that is being sent is left alone, and what a dead process held is not', async () => {
    const { run, db, ids } = await filled(engine)
    const lease = (ms: number) =>
      db
        .updateTable('deliveries')
        .set({ lease: 'x', leasedUntil: new Date(Date.now() + ms).toISOString() })
        .execute()
    await lease(15_000)
    expect(await listed(run)).toMatchObject([{ state: 'sending' }])
    for (const verb of ['retry', 'cancel --yes'])
      expect(await run(`mail queue ${verb} ${ids[0]}`)).toMatchObject({ code: 5, stderr: expect.stringContaining('is being sent') }) // prettier-ignore
    await lease(-1)
    expect(await run(`mail queue cancel - --yes`, { stdin: `${ids[0]}\n0000\n` })).toMatchObject({ code: 7 })
    const late = await db.updateTable('deliveries').set({ dueAt: 'x' }).where('lease', '=', 'x').executeTakeFirst()
    expect(late.numUpdatedRows).toBe(0n) // the process that comes back cannot record anything
  })
})

it('the queue is of this machine, and says which words it knows', async () => {
  const { run } = await filled('sqlite')
  for (const args of ['mail queue list', 'mail queue retry --all'])
    expect(await run(`${args} --server https://feedback.example.org`)).toMatchObject({ code: 2, stderr: expect.stringContaining('only on the machine of the site') }) // prettier-ignore
  expect(await run('mail queue')).toMatchObject({ code: 2, stderr: expect.stringMatching(/"mail queue" needs a command: list, show, retry, cancel\.\n.*fix   feedbackctl mail queue --help/) }) // prettier-ignore
  expect(await run('mail queue lst')).toMatchObject({ code: 2, stderr: expect.stringContaining('Unknown command "mail queue lst". Did you mean "list"?') }) // prettier-ignore
})
