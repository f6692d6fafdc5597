import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { groupedBy } from '../../src/core/grouped.js'
import { newId } from '../../src/core/ids.js'
import { connect, transaction } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { newUser } from '../../src/service/lib/people.js'
import { makeMachine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { random } from '../support/random.js'
import { cleanup, engines, type Engine } from '../support/site.js'
import { smtpHost, type MailHost } from '../support/smtp.js'
import { amount, figures } from './amount.js'

const KILLS = amount(3, 50)
const FOLLOWERS = amount(40, 200)
/** Without encryption: the test is about who gets a mail. */
const PLAIN = { authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'] }
/** Mails that leave beside each other: so many come twice after a kill. */
const TOGETHER = 5

it.for(engines)(
  'one of two servers is killed while they tell followers: each is told once of each post, on %s',
  { timeout: amount(240_000, 40 * 60_000) },
  async (engine, context) => {
    const { host, servers, start, db, ship } = await twoServers(engine)
    const share = random()
    const people = await follow(db, FOLLOWERS)
    const titles: string[] = []
    let told = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const [one] = servers
      if (!one) throw new Error('no server runs')
      const title = `wish${String(kill).padStart(3, '0')}x`
      titles.push(title)
      await ship(one.url, { title, people })
      if (kill % 2 === 0) await rowsAreMade(db, told + 1)
      else await mailsLeave(db, host, told + FOLLOWERS)
      await sleep(share() * 100)
      const victim = servers.splice(share() < 0.5 ? 0 : 1, 1)[0]
      await victim?.server.stop('SIGKILL')
      await leasesPass(db)
      servers.push(await start())
      told += FOLLOWERS
      await expect.poll(() => countOf(db)).toBe(told)
    }
    await fiveMinutesPass(db)
    const waiting = async () =>
      (await db.selectFrom('notifications').select('eventId').where('mailAt', 'is not', null).execute()).length +
      (await db.selectFrom('deliveries').select('deliveryId').where('dueAt', 'is not', null).execute()).length
    await expect.poll(waiting, { timeout: amount(100_000, 300_000) }).toBe(0)
    for (const { server } of servers) await server.stop()

    const mails = groupedBy(host.received, ({ text }) => /^Message-ID: (.*)$/m.exec(text)?.[1] ?? '')
    const news = [...mails.values()].flatMap(([mail]) =>
      [...new Set(mail?.text.match(/wish\d{3}x/g))].map((title) => `${mail?.to[0]} ${title}`),
    )
    const expected = titles.flatMap((title) => people.map(({ email }) => `${email} ${title}`))
    expect(news.toSorted()).toEqual(expected.toSorted())
    const twice = host.received.length - mails.size
    expect(twice).toBeLessThanOrEqual(KILLS * TOGETHER)
    figures(context, `${KILLS} kills, ${expected.length} told, 0 forgotten, ${twice} mails sent again`)
  },
)

async function twoServers(engine: Engine) {
  const host = await smtpHost(PLAIN)
  const machine = await makeMachine(engine)
  const token = await machine.setup(machine.process)
  const start = async () => {
    const listen = `127.0.0.1:${await freePort()}`
    const server = machine.start(`serve --listen ${listen}`, { env: { FEEDBACKCTL_MAIL_URL: `smtp://127.0.0.1:${host.port}` } }) // prettier-ignore
    await server.says(/listening on/)
    return { server, url: `http://${listen}` }
  }
  const servers = [await start(), await start()]
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  const api = async (url: string, method: string, path: string, body: object) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const { roadmap } = (await api(servers[0]?.url ?? '', 'POST', '/roadmaps', { name: 'Done', display: true })) as { roadmap: { id: string } } // prettier-ignore
  await expect.poll(async () => (await db.selectFrom('event_cursors').selectAll().execute()).length).toBe(1)

  /** A post that these people voted for gets a status. */
  async function ship(url: string, { title, people }: { title: string; people: { userId: string }[] }) {
    const { post } = (await api(url, 'POST', '/posts', { title })) as { post: { postId: string } }
    const votes = people.map(({ userId }) => ({ voteId: newId(), userId, postId: post.postId, createdAt: new Date().toISOString() })) // prettier-ignore
    await db.insertInto('votes').values(votes).execute()
    await api(url, 'PATCH', '/posts', { id: post.postId, roadmapId: roadmap.id, partial: true })
  }
  return { host, servers, start, db, ship }
}

async function follow(db: Db, count: number) {
  const people = Array.from({ length: count }, (_, n) => ({
    ...newUser(new Date(), { email: `person${n}@example.org`, name: `Person ${n}`, password: '!' }),
    isVerified: 1,
  }))
  for (const person of people) await db.insertInto('users').values(person).execute()
  return people
}

async function countOf(db: Db): Promise<number> {
  const { count } = await db.selectFrom('notifications').select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow() // prettier-ignore
  return count
}

async function rowsAreMade(db: Db, least: number) {
  await expect.poll(() => countOf(db), { interval: 5 }).toBeGreaterThanOrEqual(least)
}

async function mailsLeave(db: Db, host: MailHost, rows: number) {
  await rowsAreMade(db, rows)
  const before = host.received.length
  await fiveMinutesPass(db)
  await expect.poll(() => host.received.length, { interval: 5 }).toBeGreaterThan(before)
}

/** As time would. It locks the same rows as the servers, in another order, so it may have to run again. */
const fiveMinutesPass = (db: Db) =>
  transaction(db, (tx) =>
    tx.updateTable('notifications').set({ mailAt: new Date().toISOString() }).where('mailAt', 'is not', null).execute(),
  )

/** Ends the leases of a process that was killed, as time would. */
async function leasesPass(db: Db): Promise<void> {
  await db.deleteFrom('job_leases').execute()
  await transaction(db, (tx) =>
    tx.updateTable('deliveries').set({ lease: null, leasedUntil: null }).where('lease', 'is not', null).execute(),
  )
}
