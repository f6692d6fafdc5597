import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { queueMail } from '../../src/delivery/mail.js'
import { RateWindow } from '../../src/delivery/rate.js'
import { carrierOf, mail } from '../../src/delivery/mail.js'
import { deliver, isAnyDue } from '../../src/delivery/queue.js'
import type { Transport } from '../../src/mail/transport.js'
import * as mails from '../../src/service/mails.js'
import { couriers } from '../../src/jobs/courier.js'
import { engines, makeSite, temporaryFolder, type TestSite } from '../support/site.js'

const log = { info: () => {}, warn: () => {}, error: () => {} }

const to = (send: Transport['send']): Transport => ({ send, verify: async () => {}, close: () => {} })
const refusal = (command: 'RCPT TO' | 'DATA', responseCode = 550, words = 'no') =>
  Object.assign(new Error(`${responseCode} ${words}`), {
    command,
    response: `${responseCode} ${words}`,
    responseCode,
    permanent: responseCode >= 500,
  })
const later = (site: TestSite, ms: number) => void (site.clock.now = new Date(site.clock.now.getTime() + ms))
const HOUR = 3_600_000

async function queue(site: TestSite, recipient: string, priority: number, headers?: Record<string, string>) {
  return queueMail(site.db, site.clock.now, { recipient, subject: 'News', text: 'x', html: 'x' }, { priority, ...(headers && { headers }) }) // prettier-ignore
}

async function run(site: TestSite, send: Transport['send'], rate?: RateWindow): Promise<void> {
  for await (const _ of deliver(site.db, { kind: mail, carrier: carrierOf(to(send)), now: () => site.clock.now, ...(rate && { rate }) })); // prettier-ignore
}

describe.each(engines)('addresses that refuse mail on %s', (engine) => {
  async function world() {
    const site = await makeSite(engine)
    await site.owner()
    await site.db.deleteFrom('deliveries').execute()
    const { userId } = await site.member([], { email: 'bea@example.org' })
    const suppressed = async () => (await site.call(mails.suppressed, {})).suppressed
    return { site, userId, suppressed }
  }

  it('stops notifications after three refusals of the address, and says why', async () => {
    const { site, userId, suppressed } = await world()
    await queue(site, 'bea@example.org', 1)
    const signIn = await queue(site, 'bea@example.org', 0)
    const tries: string[] = []
    const refuse = async ({ mailId }: { mailId: string }) => {
      tries.push(mailId)
      throw refusal('RCPT TO')
    }
    await run(site, refuse)
    expect(await suppressed()).toEqual([])
    later(site, HOUR)
    await run(site, refuse)
    expect(await suppressed()).toMatchObject([{ userId, email: 'bea@example.org', reason: '550 no' }])
    const rows = await site.db.selectFrom('deliveries').select(['deliveryId', 'cancelledAt']).execute()
    expect(rows.filter(({ cancelledAt }) => cancelledAt === null)).toEqual([{ deliveryId: signIn, cancelledAt: null }])
    const before = tries.length
    later(site, HOUR)
    await run(site, refuse)
    expect(tries.slice(before)).toEqual([signIn]) // somebody waits for it, so it is tried on
  })

  it('begins again when the server accepts a mail to it, or the owner says so', async () => {
    const { site, userId, suppressed } = await world()
    const row = { userId, bounces: 3, reason: '550', bouncedAt: site.clock.now.toISOString() }
    const stop = () =>
      site.db
        .insertInto('mail_bounces')
        .values({ ...row, suppressedAt: row.bouncedAt })
        .execute()
    await stop()
    await queue(site, 'bea@example.org', 0)
    await run(site, async () => {})
    expect(await suppressed()).toEqual([])
    await stop()
    await site.call(mails.unsuppress, { user: 'bea@example.org' })
    expect(await suppressed()).toEqual([])
    await expect(site.call(mails.unsuppress, { user: 'bea@example.org' })).rejects.toMatchObject({
      code: 'MAIL_NOT_SUPPRESSED',
    })
  })

  it('counts neither what the letter says, nor what may be over soon', async () => {
    const { site } = await world()
    await queue(site, 'bea@example.org', 1)
    for (const error of [refusal('DATA'), refusal('RCPT TO', 450), refusal('DATA'), refusal('DATA')]) {
      await run(site, async () => Promise.reject(error))
      later(site, 5 * HOUR)
    }
    expect(await site.db.selectFrom('mail_bounces').selectAll().execute()).toEqual([])
  })

  it.each([
    [550, '5.1.1 no such user', true],
    [550, '5.2.1 mailbox disabled', true],
    [554, 'delivery error: no account', true],
    [550, '5.7.1 Service unavailable; Client host [203.0.113.9] blocked', false],
    [554, '5.7.1 <bea@example.org>: Relay access denied', false],
    [530, '5.7.0 Authentication required', false],
    [554, '5.5.1 Error: no valid recipients', false],
    [550, '5.3.0 the system is closed', false],
  ])('takes %i %s as a word about the address: %s', async (code, words, expected) => {
    const { site, suppressed } = await world()
    await queue(site, 'bea@example.org', 1)
    for (let time = 0; time < 3; time++) {
      await run(site, async () => Promise.reject(refusal('RCPT TO', code, words)))
      later(site, 5 * HOUR)
    }
    expect((await suppressed()).length).toBe(expected ? 1 : 0)
  })

  it('is for the owner alone', async () => {
    const { site } = await world()
    const { token } = await site.member(['settings:read', 'settings:update', 'user:read'])
    expect(await site.http('GET /mails/suppressed', { token })).toMatchObject({ status: 403 })
    expect(await site.http('DELETE /mails/suppressed/bea@example.org', { token })).toMatchObject({ status: 403 })
  })
})

describe.each(engines)('the rate of mails on %s', (engine) => {
  it('bounds what leaves in a minute, and holds nothing back that somebody waits for', async () => {
    const site = await makeSite(engine)
    for (let count = 0; count < 5; count++) await queue(site, `n${count}@example.org`, 1)
    const rate = new RateWindow({ points: 2, seconds: 60 })
    const sent: string[] = []
    const send = async ({ recipient }: { recipient: string }) => void sent.push(recipient)
    await run(site, send, rate)
    expect(sent).toEqual(['n0@example.org', 'n1@example.org'])
    expect(await isAnyDue(site.db, mail, site.clock.now, rate)).toBe(false)
    later(site, 30_000)
    await queue(site, 'ada@example.org', 0)
    expect(await isAnyDue(site.db, mail, site.clock.now, rate)).toBe(true)
    await run(site, send, rate)
    expect(sent.slice(2)).toEqual(['ada@example.org'])
    later(site, 30_001)
    await run(site, send, rate)
    expect(sent.slice(3)).toEqual(['n2@example.org']) // the mail to Ada counts
    later(site, -HOUR) // a clock that is set back stops nothing
    await run(site, send, rate)
    expect(sent.slice(4)).toEqual(['n3@example.org', 'n4@example.org'])
  })

  it('counts those that are under way', async () => {
    const site = await makeSite(engine)
    for (let count = 0; count < 9; count++) await queue(site, `n${count}@example.org`, 1)
    let sent = 0
    const send = () => new Promise<void>((done) => setImmediate(() => done(void sent++)))
    await run(site, send, new RateWindow({ points: 3, seconds: 60 }))
    expect(sent).toBe(3)
  })

  it('bounds what two servers send together', async () => {
    const site = await makeSite(engine)
    const folder = temporaryFolder()
    const server = () => {
      const [job] = couriers({ mail: { url: `folder:${folder}`, from: 'board@example.org' } }, { mail: { points: 2, seconds: 60 } }) // prettier-ignore
      return async () => void (await job?.run({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })) // prettier-ignore
    }
    const [one, other] = [server(), server()]
    await queue(site, 'n0@example.org', 1)
    await one()
    await queue(site, 'n1@example.org', 1)
    await other()
    for (let count = 2; count < 6; count++) await queue(site, `n${count}@example.org`, 1)
    await one()
    await other()
    expect(readdirSync(folder)).toHaveLength(2)
    later(site, 60_001)
    await one()
    await other()
    expect(readdirSync(folder)).toHaveLength(4)
  })

  it('sends the headers of a mail, and erases them then', async () => {
    const site = await makeSite(engine)
    const given = { 'List-Id': '<notifications.example.org>' }
    await queue(site, 'ada@example.org', 0, given)
    let headers: object | undefined
    await run(site, async (letter) => void (headers = letter.headers))
    expect(headers).toEqual(given)
    expect(await site.db.selectFrom('deliveries').select('headers').execute()).toEqual([{ headers: null }])
  })
})
