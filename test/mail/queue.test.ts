import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { queueMail } from '../../src/delivery/mail.js'
import { LEASE_MS, type Attempt } from '../../src/delivery/queue.js'
import { openTransport, type Transport } from '../../src/mail/transport.js'
import { sendMails } from '../support/mails.js'
import { engines, makeSite, temporaryFolder, type TestSite } from '../support/site.js'
import { smtpHost } from '../support/smtp.js'

const LETTER = { recipient: 'bob@example.org', subject: 'Grüße', text: 'Hello', html: '<p>Hello</p>' }

const queued = (site: TestSite) => queueMail(site.db, site.clock.now, LETTER)
const later = (site: TestSite, milliseconds: number) =>
  void (site.clock.now = new Date(site.clock.now.getTime() + milliseconds))
const row = (site: TestSite) => site.db.selectFrom('deliveries').selectAll().executeTakeFirstOrThrow()

async function run(site: TestSite, transport: Transport): Promise<Attempt[]> {
  const done: Attempt[] = []
  for await (const attempt of sendMails(site, transport)) done.push(attempt)
  return done
}

const refusal = (message: string) =>
  Object.assign(new Error(message), { command: 'RCPT TO', responseCode: 550, permanent: true })
const to = (send: Transport['send']): Transport => ({ send, verify: async () => {}, close: () => {} })

/** A transport that holds each mail until it is released, and counts those under way. */
function holding() {
  const held: (() => void)[] = []
  const seen = { underWay: 0, most: 0 }
  const transport = to(async () => {
    seen.most = Math.max(seen.most, ++seen.underWay)
    await new Promise<void>((resolve) => held.push(resolve))
    seen.underWay--
  })
  const release = async (mail: number) => {
    await expect.poll(() => held.length).toBeGreaterThan(mail)
    held[mail]?.()
  }
  return { transport, seen, release }
}

const messageId = ({ text }: { text: string }) => /^Message-ID: (.*)$/m.exec(text)?.[1]

describe.each(engines)('the queue of mails on %s', (engine) => {
  it('sends each mail once and then deletes its text', async () => {
    const site = await makeSite(engine)
    await queued(site)
    const sent: string[] = []
    const transport = to(async (letter) => void sent.push(letter.text))
    expect(await run(site, transport)).toHaveLength(1)
    expect(await run(site, transport)).toHaveLength(0)
    expect(sent).toEqual(['Hello'])
    expect(await row(site)).toMatchObject({
      attempts: 1,
      sentAt: site.clock.now.toISOString(),
      dueAt: null,
      lease: null,
      text: '',
      html: '',
    })
  })

  it('sends each mail once with several processes', async () => {
    const site = await makeSite(engine)
    for (let count = 0; count < 20; count++) await queued(site)
    const sent: string[] = []
    const transport = to(async (letter) => void sent.push(letter.mailId))
    while (sent.length < 20) await Promise.all(Array.from({ length: 5 }, () => run(site, transport)))
    expect(new Set(sent).size).toBe(20)
    expect(sent).toHaveLength(20)
  })

  it('sends at most ten slow mails beside each other', async () => {
    const site = await makeSite(engine)
    for (let count = 0; count < 12; count++) await queued(site)
    const { transport, seen, release } = holding()
    const deliveries = sendMails(site, transport, 0)
    const first = deliveries.next()
    await expect.poll(() => seen.underWay).toBe(10)
    for (let query = 0; query < 50; query++) await row(site) // in which an eleventh could begin
    for (let mail = 0; mail < 12; mail++) {
      await release(mail)
      await (mail === 0 ? first : deliveries.next())
    }
    expect(seen.most).toBe(10)
  })

  it('tries one mail until one gets through, then sends five beside each other', async () => {
    const site = await makeSite(engine)
    for (let count = 0; count < 12; count++) await queued(site)
    const { transport, seen, release } = holding()
    const deliveries = sendMails(site, transport, 1e6)
    const first = deliveries.next()
    await expect.poll(() => seen.underWay).toBe(1)
    for (let query = 0; query < 50; query++) await row(site) // in which a second could begin
    expect(seen.most).toBe(1)
    await release(0)
    await first
    const second = deliveries.next()
    await expect.poll(() => seen.underWay).toBe(5)
    for (let mail = 1; mail < 12; mail++) {
      await release(mail)
      await (mail === 1 ? second : deliveries.next())
    }
    expect(seen.most).toBe(5)
  })

  it('counts a failed attempt, stores its reason, and waits longer each time', async () => {
    const site = await makeSite(engine)
    await queued(site)
    const refusing = to(async () => Promise.reject(refusal('550 no such box')))
    const waits: number[] = []
    for (let attempt = 1; attempt <= 7; attempt++) {
      expect(await run(site, refusing)).toMatchObject([{ error: { message: '550 no such box' } }])
      const { attempts, lastError, dueAt } = await row(site)
      expect([attempts, lastError]).toEqual([attempt, '550 no such box'])
      const wait = Date.parse(dueAt ?? '') - site.clock.now.getTime()
      waits.push(wait / 1000)
      later(site, wait - 1)
      expect(await run(site, refusing)).toHaveLength(0)
      later(site, 1)
    }
    expect(waits).toEqual([60, 300, 900, 3600, 14_400, 14_400, 14_400])
    await run(
      site,
      to(async () => {}),
    )
    expect(await row(site)).toMatchObject({ attempts: 8, lastError: null, sentAt: expect.any(String) })
  })

  it('waits less when the failure may be over soon', async () => {
    const site = await makeSite(engine)
    await queued(site)
    const deferring = to(async () => Promise.reject(new Error('connection closed')))
    const waits: number[] = []
    for (let attempt = 1; attempt <= 7; attempt++) {
      expect(await run(site, deferring)).toHaveLength(1)
      const wait = Date.parse((await row(site)).dueAt ?? '') - site.clock.now.getTime()
      waits.push(wait / 1000)
      later(site, wait)
    }
    expect(waits).toEqual([5, 15, 30, 60, 120, 300, 300])
  })

  it('counts no attempt, and tries no other mail, when the mail system is unreachable', async () => {
    const site = await makeSite(engine)
    for (let count = 0; count < 3; count++) await queued(site)
    const unreachable = async () => Promise.reject(new Error('connection refused'))
    const down: Transport = { send: unreachable, verify: unreachable, close: () => {} }
    expect(await run(site, down)).toMatchObject([{ isUnreachable: true }])
    expect(await site.db.selectFrom('deliveries').select(['attempts', 'lease']).distinct().execute()).toEqual([
      { attempts: 0, lease: null },
    ])
    expect(
      await run(
        site,
        to(async () => {}),
      ),
    ).toHaveLength(3)
  })

  it('gives up after twenty attempts, and keeps the mail for inspection', async () => {
    const site = await makeSite(engine)
    await queued(site)
    await site.db.updateTable('deliveries').set({ attempts: 19 }).execute()
    await run(
      site,
      to(async () => Promise.reject(refusal('no'))),
    )
    expect(await row(site)).toMatchObject({ attempts: 20, dueAt: null, sentAt: null, lastError: 'no', text: 'Hello' })
  })

  it('takes over a mail of a dead process when its lease has expired', async () => {
    const site = await makeSite(engine)
    await queued(site)
    const dying = sendMails(
      site,
      to(() => new Promise(() => {})),
    )
    void dying.next() // leases the mail and never finishes
    await expect.poll(async () => (await row(site)).lease).not.toBeNull()
    later(site, LEASE_MS - 1)
    expect(
      await run(
        site,
        to(async () => {}),
      ),
    ).toHaveLength(0)
    later(site, 1)
    expect(
      await run(
        site,
        to(async () => {}),
      ),
    ).toHaveLength(1)
    expect(await row(site)).toMatchObject({ attempts: 2, sentAt: expect.any(String) })
  })

  it('does not record the result of a process that has lost its lease', async () => {
    const site = await makeSite(engine)
    await queued(site)
    let finish = (_error: Error) => {}
    const slow = run(
      site,
      to(() => new Promise((_, reject) => (finish = reject))),
    )
    await expect.poll(async () => (await row(site)).lease).not.toBeNull()
    later(site, LEASE_MS)
    await run(
      site,
      to(async () => {}),
    )
    finish(new Error('too late'))
    await slow
    expect(await row(site)).toMatchObject({ sentAt: expect.any(String), lastError: null, dueAt: null })
  })
})

describe('transports', () => {
  it('SMTP: STARTTLS, an account, text and HTML part, one Message-ID for all attempts', async () => {
    const site = await makeSite('sqlite')
    const host = await smtpHost()
    const mailId = await queued(site)
    const transport = await openTransport({ url: host.url, from: 'Moonbase <noreply@example.org>' })
    await transport.verify()
    expect(await run(site, transport)).toEqual([{ delivery: expect.objectContaining({ deliveryId: mailId }) }])
    const [mail] = host.received
    expect(mail).toMatchObject({ from: 'noreply@example.org', to: ['bob@example.org'], user: 'board', secure: true })
    expect(mail?.text).toContain(`Message-ID: <${mailId}@example.org>`)
    expect(mail?.text).toMatch(/From: Moonbase <noreply@example\.org>/)
    expect(mail?.text).toMatch(/multipart\/alternative[^]*text\/plain[^]*Hello[^]*text\/html[^]*<p>Hello<\/p>/)
    transport.close()
  })

  it('SMTP: many mails share few connections', async () => {
    const site = await makeSite('sqlite')
    let connections = 0
    const host = await smtpHost({ onConnect: (_session, accept) => (connections++, accept()) })
    for (let count = 0; count < 60; count++) await queued(site)
    const transport = await openTransport({ url: host.url, from: 'noreply@example.org' })
    expect(await run(site, transport)).toHaveLength(60)
    transport.close()
    expect([new Set(host.received.map(messageId)).size, host.received.length]).toEqual([60, 60])
    expect(connections).toBeLessThanOrEqual(10)
  })

  it('SMTP: a server that takes one mail over each connection gets each mail once', async () => {
    const site = await makeSite('sqlite')
    const used = new Set<string>()
    const host = await smtpHost({
      onMailFrom: (_address, { id }, done) =>
        done(used.has(id) ? Object.assign(new Error('too many mails'), { responseCode: 421 }) : null),
      onRcptTo: (_address, { id }, done) => (used.add(id), done()),
    })
    for (let count = 0; count < 8; count++) await queued(site)
    const transport = await openTransport({ url: host.url, from: 'noreply@example.org' })
    const attempts = await run(site, transport)
    transport.close()
    expect(attempts.filter(({ error }) => error)).toEqual([])
    expect([new Set(host.received.map(messageId)).size, host.received.length]).toEqual([8, 8])
  })

  it('SMTP: a mail whose connection is cut in its text, or before the answer to it, is not sent again at once', async () => {
    const site = await makeSite('sqlite')
    const host = await smtpHost()
    for (let count = 0; count < 4; count++) await queued(site)
    let cuts = 0
    host.onMail = async ({ cut }) => {
      if (host.received.length === 2 && cuts++ === 0) cut()
    }
    const transport = await openTransport({ url: host.url, from: 'noreply@example.org' })
    const attempts = await run(site, transport)
    transport.close()
    expect(attempts.map(({ error }) => error !== undefined).filter(Boolean)).toHaveLength(1)
    expect(await site.db.selectFrom('deliveries').select('attempts').where('sentAt', 'is', null).execute()).toEqual([{ attempts: 1 }]) // prettier-ignore
  })

  it('SMTP: verify reports a wrong password and an unreachable server', async () => {
    const host = await smtpHost()
    const wrong = await openTransport({ url: host.url.replace('p%40ss', 'other'), from: 'a@example.org' })
    await expect(wrong.verify()).rejects.toThrow(/wrong account/)
    const nowhere = await openTransport({ url: 'smtp://127.0.0.1:1', from: 'a@example.org' })
    await expect(nowhere.verify()).rejects.toThrow(/ECONNREFUSED/)
  })

  it('SMTP over TLS from the start', async () => {
    const host = await smtpHost({ secure: true })
    const transport = await openTransport({ url: host.url.replace('smtp:', 'smtps:'), from: 'a@example.org' })
    await transport.send({ mailId: 'm1', ...LETTER })
    expect(host.received).toMatchObject([{ secure: true, user: 'board', to: ['bob@example.org'] }])
    transport.close()
  })

  it('sendmail: the program gets the recipient and the mail, and its failure rejects', async () => {
    const folder = temporaryFolder()
    const program = path.join(folder, 'sendmail')
    writeFileSync(program, `#!/bin/sh\necho "$@" > ${folder}/arguments\ncat > ${folder}/mail\n`, { mode: 0o755 })
    const transport = await openTransport({ url: `sendmail:${program}`, from: 'a@example.org' })
    await transport.send({ mailId: 'm1', ...LETTER })
    expect(readFileSync(path.join(folder, 'arguments'), 'utf8')).toContain('bob@example.org')
    expect(readFileSync(path.join(folder, 'mail'), 'utf8')).toContain('Message-ID: <m1@example.org>')
    writeFileSync(program, '#!/bin/sh\nexit 75\n')
    await expect(transport.send({ mailId: 'm2', ...LETTER })).rejects.toThrow(/75/)
  })

  it('folder: one private file per mail, which a second attempt replaces', async () => {
    const folder = path.join(temporaryFolder(), 'mail')
    const transport = await openTransport({ url: `folder:${folder}`, from: 'a@example.org' })
    for (let attempt = 0; attempt < 2; attempt++) await transport.send({ mailId: 'm1', ...LETTER })
    expect(readdirSync(folder)).toEqual(['m1.eml'])
    expect(readFileSync(path.join(folder, 'm1.eml'), 'utf8')).toMatch(
      /Subject: =\?UTF-8\?[^]*To: bob@example\.org|To: bob@example\.org[^]*Subject: =\?UTF-8\?/,
    )
    expect(statSync(path.join(folder, 'm1.eml')).mode & 0o777).toBe(0o600)
  })

  it('escapes user input in the HTML part', async () => {
    const site = await makeSite('sqlite')
    await site.http('POST /auth/setup', {
      body: { email: 'a@example.org', password: '12345678', name: '<b>x</b>', siteTitle: '"&<script>' },
    })
    const { html } = await row(site)
    expect(html).not.toMatch(/<b>|<script>/)
    expect(html).toContain('&lt;script&gt;')
  })

  it('a line break in a subject does not become a header', async () => {
    const site = await makeSite('sqlite')
    const host = await smtpHost()
    await queueMail(site.db, site.clock.now, { ...LETTER, subject: 'Hello\r\nBcc: eve@example.org' })
    const transport = await openTransport({ url: host.url, from: 'a@example.org' })
    await run(site, transport)
    expect(host.received[0]?.to).toEqual(['bob@example.org'])
    expect(host.received[0]?.text).not.toMatch(/^Bcc/im)
    transport.close()
  })
})
