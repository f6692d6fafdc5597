import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, type TestContext } from 'vitest'
import { groupedBy } from '../../src/core/grouped.js'
import { connect } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { queueMail } from '../../src/delivery/mail.js'
import { makeMachine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { cleanup, engines, type Engine } from '../support/site.js'
import { random } from '../support/random.js'
import { smtpHost, type MailHost } from '../support/smtp.js'
import { amount, figures } from './amount.js'

/** Without encryption: a test is about when mail arrives. */
const PLAIN = { authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'] }

/** Seconds for which the mail server is away. */
const OUTAGE = amount(1, 60)
const KILLS = amount(4, 100)
/** Milliseconds. Most of it is waiting, which is longer on a busy machine. */
const TIMEOUT = amount(240_000, 40 * 60_000)

/** On both engines at once: most of it is waiting. `work` returns its figures. */
const onEach = (work: (engine: Engine) => Promise<string>) => async (context: TestContext) => {
  const texts = await Promise.all(engines.map(async (engine) => `${engine}: ${await work(engine)}`))
  figures(context, texts.join('; '))
}

/** Ends the leases of a process that was killed, as time would. */
async function expireLeases(db: Db): Promise<void> {
  await db.deleteFrom('job_leases').execute()
  await db.updateTable('deliveries').set({ lease: null, leasedUntil: null }).where('lease', 'is not', null).execute()
}

/** A server that is set up and delivers to a port, and a function that queues mail. */
async function serving(engine: Engine, port: number) {
  const machine = await makeMachine(engine)
  const token = await machine.setup(machine.process) // tests of this file run at the same time
  const env = { FEEDBACKCTL_MAIL_URL: `smtp://127.0.0.1:${port}` }
  const start = async () => {
    const server = machine.start('serve', { env })
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    return { server, url }
  }
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  const queue = (name: string) =>
    queueMail(db, new Date(), { recipient: `${name}@example.org`, subject: name, text: name, html: name })
  const post = (url: string, title: string) =>
    fetch(`${url}/api/v1/posts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
      signal: AbortSignal.timeout(30_000), // a post that waits for the mail would wait until the test ends
    })
  return { machine, db, start, queue, post }
}

const recipients = (host: MailHost) => host.received.map(({ to: [address = ''] }) => address.split('@')[0] ?? '')

describe('a mail server', () => {
  it(
    'that is away delays mail, and nothing else; all of it leaves soon after it is back',
    onEach(async (engine) => {
      const port = await freePort()
      const { db, start, queue, post } = await serving(engine, port)
      const { server, url } = await start()
      const names = Array.from({ length: 10 }, (_, number) => `mail${number}`)
      for (const name of names) await queue(name)
      await server.says(/mail server cannot be reached/)
      for (let number = 0; number < 10; number++) expect((await post(url, `post ${number}`)).status).toBe(201)
      await sleep(OUTAGE * 1000)
      const host = await smtpHost({ ...PLAIN, port })
      const since = performance.now()
      await expect.poll(() => host.received.length).toBe(names.length)
      const seconds = (performance.now() - since) / 1000
      await expect
        .poll(() => db.selectFrom('deliveries').select('deliveryId').where('dueAt', 'is not', null).execute())
        .toEqual([])
      expect(recipients(host).toSorted()).toEqual(names)
      expect(server.output().stderr.match(/mail server cannot be reached/g)).toHaveLength(1)
      expect(
        await db.selectFrom('deliveries').select('attempts').where('subject', 'in', names).distinct().execute(),
      ).toEqual([{ attempts: 1 }])
      return `away ${OUTAGE} s, all delivered ${seconds.toFixed(1)} s after`
    }),
    TIMEOUT,
  )

  it(
    'that is slow with, refuses or cuts off some mails holds no other back',
    onEach(async (engine) => {
      const refuse = new Set(['refused', 'deferred'])
      const host = await smtpHost({
        ...PLAIN,
        onRcptTo({ address }, _session, done) {
          const [name = ''] = address.split('@')
          if (!refuse.has(name)) return done()
          done(Object.assign(new Error('not now'), { responseCode: name === 'refused' ? 550 : 451 }))
        },
      })
      let heal = () => {}
      const healed = new Promise<void>((resolve) => (heal = resolve))
      const cut = new Set(['cut', 'cut at the end'])
      host.onContent = ({ to, cut: cutOff }) => void (cut.has('cut') && to.startsWith('cut@') && cutOff())
      host.onMail = async ({ to, cut: cutOff }) => {
        if (to.startsWith('slow')) await healed
        if (to.startsWith('late@') && cut.delete('cut at the end')) cutOff()
      }
      const { db, start, queue, post } = await serving(engine, host.port)
      const { url } = await start()
      const bad = ['slow1', 'slow2', 'slow3', 'refused', 'deferred', 'cut', 'late']
      for (const name of bad) await queue(name)
      const good = Array.from({ length: 20 }, (_, number) => `good${number}`)
      for (const name of good) await queue(name)
      const since = performance.now()
      for (let number = 0; number < 10; number++) expect((await post(url, `post ${number}`)).status).toBe(201)
      const goodOnes = () => recipients(host).filter((name) => name.startsWith('good'))
      await expect.poll(() => goodOnes().length).toBe(good.length)
      const seconds = (performance.now() - since) / 1000
      cut.clear()
      refuse.delete('deferred')
      heal()
      const waiting = async () =>
        (await db.selectFrom('deliveries').select('subject').where('dueAt', 'is not', null).execute()).map(
          ({ subject }) => subject,
        )
      await expect.poll(waiting).toEqual(['refused'])
      expect(goodOnes().toSorted()).toEqual(good.toSorted())
      expect(
        recipients(host)
          .filter((name) => name.startsWith('slow'))
          .toSorted(),
      ).toEqual(['slow1', 'slow2', 'slow3'])
      expect(recipients(host)).toEqual(expect.arrayContaining(['deferred', 'cut', 'late']))
      return `7 bad of 27, the others delivered after ${seconds.toFixed(1)} s`
    }),
    TIMEOUT,
  )

  it(
    'gets each mail once, or a second time with the same Message-ID if serve was killed as it left',
    onEach(async (engine) => {
      const host = await smtpHost(PLAIN)
      const share = random()
      const arrivals: { run: number; id: string }[] = []
      let run = 0
      const { db, start, queue } = await serving(engine, host.port)
      const idOf = (text: string) => /^Message-ID: <(.+)@/im.exec(text)?.[1] ?? ''
      const queued: string[] = []
      for (; run < KILLS; run++) {
        while (queued.length < host.received.length + 30) queued.push(await queue('bob'))
        const { server } = await start()
        const before = host.received.length
        await expect.poll(() => host.received.length, { interval: 5 }).toBeGreaterThan(before)
        await sleep(share() * 300)
        await server.stop('SIGKILL')
        for (const { text } of host.received.slice(arrivals.length)) arrivals.push({ run, id: idOf(text) })
        await expireLeases(db)
      }
      const { server } = await start()
      await expect
        .poll(() => db.selectFrom('deliveries').select('deliveryId').where('dueAt', 'is not', null).execute(), {
          timeout: 200_000,
        })
        .toEqual([])
      await server.stop()
      for (const { text } of host.received.slice(arrivals.length)) arrivals.push({ run, id: idOf(text) })
      const seen = new Map<string, number>()
      const twice: number[] = []
      for (const { run: at, id } of arrivals) {
        const earlier = seen.get(id)
        if (earlier !== undefined) twice.push(earlier)
        seen.set(id, at)
      }
      expect(queued.filter((id) => !seen.has(id))).toEqual([])
      const together = [...groupedBy(twice, (killed) => killed).values()].map((each) => each.length)
      expect(together.filter((count) => count > 5)).toEqual([]) // so many leave beside each other
      expect(twice.every((killed) => killed < KILLS)).toBe(true)
      return `${KILLS} kills, ${queued.length} mails, 0 missing, ${twice.length} twice`
    }),
    TIMEOUT,
  )
})
