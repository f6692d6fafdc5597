import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { queueMail } from '../../src/delivery/mail.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines, type Engine } from '../support/site.js'

/** Milliseconds that are left of a lease whose holder was killed. */
const LEFT_MS = 2000

const LETTER = { recipient: 'bob@example.org', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }

/** Two servers on one database, each with a mail folder of its own. */
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
  await start('second')
  const mailsOf = (name: string): number => {
    const folder = path.join(machine.folder, name)
    return existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.eml')).length : 0
  }
  return {
    db,
    first,
    mails: () => mailsOf('first') + mailsOf('second'),
    queue: () => queueMail(db, new Date(), LETTER),
  }
}

/** On both engines at once: most of it is waiting. */
const onEach = (work: (engine: Engine) => Promise<void>) => async () => {
  await Promise.all(engines.map(work))
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'mail leaves once, and by the other server when one of two ends by %s',
  async (signal) =>
    onEach(async (engine) => {
      const { db, first, mails, queue } = await twoServers(engine)
      await queue()
      await expect.poll(mails).toBe(1)
      await expect.poll(() => db.selectFrom('job_leases').select('name').execute()).toEqual([])
      await first.stop(signal)
      await queue()
      await expect.poll(mails).toBe(2)
    })(),
)

it(
  'a server that is killed while it delivers holds no mail back for longer than its lease',
  onEach(async (engine) => {
    const { db, mails, queue } = await twoServers(engine)
    const until = Date.now() + LEFT_MS
    await db
      .insertInto('job_leases')
      .values({ name: 'courier', holder: 'a killed server', until: new Date(until).toISOString() })
      .execute()
    await queue()
    await expect.poll(mails).toBe(1)
    expect(Date.now()).toBeGreaterThanOrEqual(until)
  }),
)
