import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { LEASE_MS } from '../../src/jobs/lease.js'
import { queueMail } from '../../src/mail/outbox.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines, type Engine } from '../support/site.js'

const LETTER = { recipient: 'bob@example.org', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }

/** Two servers on one database, each with a mail folder of its own; the first holds the lease. */
async function twoServers(engine: Engine) {
  const machine = await makeMachine(engine)
  const start = async (name: string) => {
    const server = machine.start('serve', { env: { FEEDBACKCTL_MAIL_URL: `folder:${machine.folder}/${name}` } })
    await server.says(/listening on/)
    return server
  }
  const first = await start('first')
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  await expect.poll(() => db.selectFrom('job_leases').select('name').execute()).toEqual([{ name: 'courier' }])
  await start('second')
  const mailsOf = (name: string): number => {
    const folder = path.join(machine.folder, name)
    return existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.eml')).length : 0
  }
  return { first, mailsOf, queue: () => queueMail(db, new Date(), LETTER) }
}

/** On both engines at once: most of it is waiting. */
const onEach = (work: (engine: Engine) => Promise<void>) => async () => {
  await Promise.all(engines.map(work))
}

it(
  'mail leaves by another server when the one that delivers is killed, once its lease has run out',
  onEach(async (engine) => {
    const { first, mailsOf, queue } = await twoServers(engine)
    await queue()
    await expect.poll(() => mailsOf('first'), { timeout: 3000 }).toBe(1)
    await first.stop('SIGKILL')
    await queue()
    await expect.poll(() => mailsOf('second'), { timeout: LEASE_MS + 2000 }).toBe(1) // within a second, and one more on a busy machine
    expect(mailsOf('first')).toBe(1)
  }),
  60_000,
)

it(
  'mail leaves by another server at once when the one that delivers is stopped',
  onEach(async (engine) => {
    const { first, mailsOf, queue } = await twoServers(engine)
    expect((await first.stop()).code).toBe(0)
    await queue()
    await expect.poll(() => mailsOf('second'), { timeout: 2000 }).toBe(1) // far less than a lease lasts
    expect(mailsOf('first')).toBe(0)
  }),
  60_000,
)
