import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { Migrator, sql, type Kysely } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { countDue, leaseDelivery } from '../../src/db/deliveries.js'
import { migrate } from '../../src/db/migrate.js'
import { migrations } from '../../src/db/migrations/index.js'
import type { Db } from '../../src/db/tables.js'
import { mail, queueMail } from '../../src/delivery/mail.js'
import { LEASE_MS, momentOf } from '../../src/delivery/queue.js'
import { json, makeOlder } from '../support/backups.js'
import { makeMachine } from '../support/cli.js'
import { untilLocked } from '../support/locks.js'
import { sendMails } from '../support/mails.js'
import { cleanup, engines, makeDatabase, temporaryFolder, type Engine } from '../support/site.js'

/** The schema before the table `deliveries`. */
const BEFORE = '0030_event_details'

/** The table of the schema before, and since then a view. */
interface Outbox {
  mailId: string
  recipient: string
  subject: string
  text: string
  html: string
  createdAt: string
  dueAt: string | null
  attempts: number
  leasedUntil: string | null
  lease: string | null
  lastError: string | null
  sentAt: string | null
  cancelledAt: string | null
}
const formerly = (db: Db) => db as unknown as Kysely<{ outbox: Outbox }>

const NOW = new Date('2026-11-24T12:00:00.000Z')
const at = (ms: number): string => new Date(NOW.getTime() + ms).toISOString()

const mailOf = (mailId: string, rest: Partial<Outbox> = {}): Outbox => ({
  mailId,
  recipient: `${mailId}@example.org`,
  subject: `Grüße ${mailId}`,
  text: 'https://example.org/?token=x',
  html: '<p>x</p>',
  createdAt: at(-60_000),
  dueAt: at(-60_000),
  attempts: 0,
  leasedUntil: null,
  lease: null,
  lastError: null,
  sentAt: null,
  cancelledAt: null,
  ...rest,
})

const MAILS: Outbox[] = [
  mailOf('cancelled', { text: '', html: '', dueAt: null, cancelledAt: at(-1) }),
  mailOf('failed', { attempts: 20, dueAt: null, lastError: '550 no such box' }),
  mailOf('leased', { attempts: 1, lease: 'another server', leasedUntil: at(LEASE_MS) }),
  mailOf('queued'),
  mailOf('sent', { text: '', html: '', attempts: 1, dueAt: null, sentAt: at(-1) }),
  mailOf('waiting', { attempts: 2, dueAt: at(60_000), lastError: '450 later' }),
]

async function open(url: string): Promise<Db> {
  const db = await connect(url)
  cleanup(() => db.destroy())
  return db
}

/** A database of the schema before, with a mail in each state. */
async function before(engine: Engine): Promise<{ url: string; db: Db }> {
  const url = await makeDatabase(engine, temporaryFolder(), { bare: true })
  const db = await open(url)
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo(BEFORE)
  expect(error).toBeUndefined()
  await formerly(db).insertInto('outbox').values(MAILS).execute()
  return { url, db }
}

/** The recipients of what leaves at a time. */
async function leaving(db: Db, now: Date): Promise<string[]> {
  const sent: string[] = []
  const transport = { send: async ({ mailId }: { mailId: string }) => void sent.push(mailId), verify: async () => {}, close: () => {} } // prettier-ignore
  for await (const { error } of sendMails({ db, clock: { now } }, transport)) expect(error).toBeUndefined()
  return sent
}

/** As the version before chose and leased the mail that had been due longest. */
const leaseFormerly = (db: Db, lease: string, now: Date): Promise<Outbox | undefined> => {
  const isFree = sql<boolean>`("leasedUntil" is null or "leasedUntil" <= ${now.toISOString()})`
  return formerly(db)
    .updateTable('outbox')
    .set((eb) => ({
      lease,
      leasedUntil: new Date(now.getTime() + LEASE_MS).toISOString(),
      attempts: eb('attempts', '+', 1),
    })) // prettier-ignore
    .where('mailId', '=', (eb) =>
      eb
        .selectFrom('outbox')
        .select('mailId')
        .where('dueAt', 'is not', null)
        .where((either) =>
          either.or([
            either('dueAt', '<=', now.toISOString()),
            either('attempts', '=', 0),
            either('leasedUntil', 'is not', null),
          ]),
        ) // prettier-ignore
        .where(isFree)
        .orderBy('dueAt')
        .limit(1),
    )
    .where(isFree)
    .where('dueAt', 'is not', null)
    .returningAll()
    .executeTakeFirst()
}

const leaseNow = (db: Db, lease: string, now: Date) =>
  leaseDelivery(db, { ...momentOf(mail, now), lease, until: new Date(now.getTime() + LEASE_MS).toISOString() })

describe.each(engines)('the outbox of an earlier schema on %s', (engine) => {
  it('becomes deliveries with every mail as it was, and each leaves once', async () => {
    const { db } = await before(engine)
    await migrate(db)
    const rows = await db.selectFrom('deliveries').selectAll().orderBy('deliveryId').execute()
    expect(rows).toEqual(
      MAILS.map(({ mailId, ...rest }) => ({ deliveryId: mailId, kind: 'mail', priority: 0, headers: null, ...rest })),
    )
    expect(await countDue(db, 'mail')).toBe(3)
    expect(await leaving(db, NOW)).toEqual(['queued'])
    expect((await leaving(db, new Date(at(60_000)))).toSorted()).toEqual(['leased', 'waiting'])
    expect(await leaving(db, new Date(at(600_000)))).toEqual([])
  })

  it('is restored from a backup of that schema, as is a copy of it, and the mails go on', async () => {
    const machine = await makeMachine(engine)
    await makeOlder(machine, BEFORE, 'Older')
    const old = await connect(machine.databaseUrl)
    await formerly(old).insertInto('outbox').values(MAILS).execute()
    await old.destroy()
    const { file } = await json(machine, 'backup create')
    expect((await machine.run(`backup verify ${file}`)).code).toBe(0)
    for (const to of engines) {
      const other = await makeMachine(to)
      expect(await other.run(`restore ${file} --yes`)).toMatchObject({ code: 0 })
      const db = await open(other.databaseUrl)
      const rows = await db.selectFrom('deliveries').selectAll().orderBy('deliveryId').execute()
      expect(rows).toEqual(
        MAILS.map(({ mailId, ...rest }) => ({ deliveryId: mailId, kind: 'mail', priority: 0, headers: null, ...rest })),
      )
    }
    const { file: redacted } = await json(machine, 'backup create --redact')
    const without = await makeMachine(engine)
    expect(await without.run(`restore ${redacted} --yes`)).toMatchObject({ code: 0 })
    expect(await (await open(without.databaseUrl)).selectFrom('deliveries').selectAll().execute()).toEqual([])
  })
})

it('a server of the version before on SQLite still reads the mails by their former name', async () => {
  const { db } = await before('sqlite')
  await migrate(db)
  expect(await formerly(db).selectFrom('outbox').selectAll().orderBy('mailId').execute()).toEqual(MAILS)
  await expect(formerly(db).insertInto('outbox').values(mailOf('new')).execute()).rejects.toThrow(/view/)
})

describe('a server of the version before on PostgreSQL', () => {
  const both = async () => {
    const { url, db } = await before('postgres')
    await migrate(db)
    await formerly(db).deleteFrom('outbox').execute()
    return { url, db, older: await open(url) }
  }

  it('reads, queues and sends mails, and sees nothing of another kind', async () => {
    const { db, older } = await both()
    const { mailId, recipient, subject, text, html, createdAt, dueAt } = mailOf('new')
    await sql`insert into outbox ("mailId", recipient, subject, text, html, "createdAt", "dueAt") values (${mailId}, ${recipient}, ${subject}, ${text}, ${html}, ${createdAt}, ${dueAt})`.execute(older) // prettier-ignore
    const webhook = { deliveryId: 'webhook', kind: 'webhook' as 'mail', recipient: 'https://example.org', subject: '', text: '', html: '', createdAt: at(-90_000), dueAt: at(-90_000) } // prettier-ignore
    await db.insertInto('deliveries').values(webhook).execute()
    expect(await formerly(older).selectFrom('outbox').selectAll().execute()).toEqual([mailOf('new')])
    expect(await leaseFormerly(older, 'older', NOW)).toMatchObject({ mailId: 'new', attempts: 1, text })
    expect(await leaving(db, NOW)).toEqual([])
    await formerly(older).updateTable('outbox').set({ sentAt: at(0), dueAt: null, lease: null, leasedUntil: null, text: '', html: '' }).where('mailId', '=', 'new').execute() // prettier-ignore
    expect(await leaving(db, new Date(at(600_000)))).toEqual([])
    expect(await leaseFormerly(older, 'older', NOW)).toBeUndefined()
    expect(await db.selectFrom('deliveries').select(['deliveryId', 'sentAt', 'attempts']).orderBy('deliveryId').execute()).toEqual([
      { deliveryId: 'new', sentAt: at(0), attempts: 1 },
      { deliveryId: 'webhook', sentAt: null, attempts: 0 },
    ]) // prettier-ignore
  })

  it('takes over the mail of a server that was killed, of either version', async () => {
    const { db, older } = await both()
    const mailId = await queueMail(db, NOW, { recipient: 'x@example.org', subject: 'x', text: 'x', html: 'x' })
    expect(await leaseNow(db, 'newer', NOW)).toMatchObject({ deliveryId: mailId })
    expect(await leaseFormerly(older, 'older', new Date(at(LEASE_MS - 1)))).toBeUndefined()
    expect(await leaseFormerly(older, 'older', new Date(at(LEASE_MS)))).toMatchObject({ mailId, attempts: 2 })
    expect(await leaving(db, new Date(at(2 * LEASE_MS - 1)))).toEqual([])
    expect(await leaving(db, new Date(at(2 * LEASE_MS)))).toEqual([mailId])
  })

  it.each(['older', 'newer'] as const)(
    'leases no mail that the other version leases at that moment: %s first',
    async (first) => {
      // prettier-ignore
      const { url, db, older } = await both()
      const watching = await open(url) // a transaction sees the same pg_stat_activity throughout
      await queueMail(db, NOW, { recipient: 'x@example.org', subject: 'x', text: 'x', html: 'x' })
      const lease = { older: () => leaseFormerly(older, 'older', NOW), newer: () => leaseNow(db, 'newer', NOW) }
      const second = first === 'older' ? 'newer' : 'older'
      let late: Promise<unknown> = Promise.resolve()
      const holder = first === 'older' ? older : db
      await holder.transaction().execute(async (inside) => {
        const leased = await (first === 'older' ? leaseFormerly(inside, 'older', NOW) : leaseNow(inside, 'newer', NOW))
        expect(leased).toMatchObject({ attempts: 1 })
        await untilLocked('postgres', watching, () => (late = lease[second]()))
      })
      expect(await late).toBeUndefined()
      expect(await db.selectFrom('deliveries').select(['lease', 'attempts']).execute()).toEqual([{ lease: first, attempts: 1 }]) // prettier-ignore
    },
  )
})

it.each(engines)(
  'a site of the earlier schema on %s is upgraded, and "serve" sends what was queued',
  async (engine) => {
    const machine = await makeMachine(engine)
    await makeOlder(machine, BEFORE, 'Older')
    const db = await connect(machine.databaseUrl)
    await formerly(db).insertInto('outbox').values([mailOf('queued'), mailOf('sent', { text: '', html: '', dueAt: null, sentAt: at(-1) })]).execute() // prettier-ignore
    await db.destroy()
    expect(await machine.run('migrate')).toMatchObject({ code: 0 })
    const folder = path.join(machine.folder, 'letters')
    const server = machine.start('serve', { env: { FEEDBACKCTL_MAIL_URL: `folder:${folder}` } })
    await server.says(/mail delivered/)
    expect(existsSync(folder) && readdirSync(folder)).toEqual(['queued.eml'])
  },
)
