import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { leaseOf } from '../../src/jobs/lease.js'
import { queueMail } from '../../src/delivery/mail.js'
import { makeMachine, serve } from '../support/cli.js'
import { sendMails } from '../support/mails.js'
import { cleanup, engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const HOUR = 3_600_000
const LETTER = { recipient: 'bob@example.org', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }

const shift = (site: TestSite, milliseconds: number) =>
  void (site.clock.now = new Date(site.clock.now.getTime() + milliseconds))

const isSession = async (site: TestSite, token: string): Promise<boolean> =>
  (await site.http('GET /users/profile', { token })).status === 200

/** Delivers what is due, and returns how many mails that were. */
async function delivered(site: TestSite): Promise<number> {
  let count = 0
  const transport = { send: async () => void count++, verify: async () => {}, close: () => {} }
  for await (const { error } of sendMails(site, transport)) expect(error).toBeUndefined()
  return count
}

describe.each(engines)('a clock that jumps, on %s', (engine) => {
  it('an hour back: sessions and links in mails go on working, and lists and ids stay in order', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const write = async (title: string): Promise<string> => {
      const { status, body } = await site.http('POST /posts', { token, body: { title } })
      expect(status).toBe(201)
      return body.post.postId
    }
    const ids = [await write('one'), await write('two')]
    await site.http('POST /auth/password/reset', { body: { email: OWNER.email } })
    const link = await site.mailedToken(OWNER.email)
    shift(site, -HOUR)
    expect(await isSession(site, token)).toBe(true)
    ids.push(await write('three'))
    shift(site, 2 * HOUR)
    ids.push(await write('four'))
    expect(ids.toSorted()).toEqual(ids)
    const titles: string[] = []
    for (let after = ''; ;) {
      const { body } = await site.http('POST /posts/get', {
        body: { limit: 1, created: 'asc', ...(after && { after }) },
      })
      if (body.posts.length === 0) break
      titles.push(body.posts[0].title)
      after = body.posts[0].postId
    }
    expect(titles).toEqual(['three', 'one', 'two', 'four']) // by the time that each shows
    shift(site, -HOUR)
    const body = { token: link, password: 'another good one' }
    expect((await site.http('POST /auth/password/set', { body })).status).toBe(200)
  })

  it('three days forward: sessions and links in mails have expired; signing in again works', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    await site.http('POST /auth/password/reset', { body: { email: OWNER.email } })
    const link = await site.mailedToken(OWNER.email)
    shift(site, 72 * HOUR)
    expect(await isSession(site, token)).toBe(false)
    const used = await site.http('POST /auth/password/set', { body: { token: link, password: 'another good one' } })
    expect(used.body).toMatchObject({ code: 'INVALID_TOKEN' })
    const { email, password } = OWNER
    const { body } = await site.http('POST /auth/login', { body: { email, password } })
    expect(await isSession(site, body.user.authToken)).toBe(true)
    shift(site, -72 * HOUR) // corrected: what was issued in between is still a session
    expect(await isSession(site, body.user.authToken)).toBe(true)
    expect(await isSession(site, token)).toBe(true)
  })

  it('an hour back: a mail that was never tried leaves at once', async () => {
    const site = await makeSite(engine)
    await queueMail(site.db, site.clock.now, LETTER)
    shift(site, -HOUR)
    expect(await delivered(site)).toBe(1)
  })

  it('three days back: a mail that waits for its next attempt leaves at once', async () => {
    const site = await makeSite(engine)
    await queueMail(site.db, site.clock.now, LETTER)
    const failing = { send: async () => Promise.reject(new Error('no')), verify: async () => {}, close: () => {} }
    for await (const { error } of sendMails(site, failing)) expect(error).toBeDefined()
    expect(await delivered(site)).toBe(0)
    shift(site, -72 * HOUR)
    expect(await delivered(site)).toBe(1)
  })

  it('an hour back: the lease of a killed process does not last for that hour', async () => {
    const site = await makeSite(engine)
    await queueMail(site.db, site.clock.now, LETTER)
    const hanging = { send: () => new Promise<void>(() => {}), verify: async () => {}, close: () => {} }
    void sendMails(site, hanging).next()
    const leased = () => site.db.selectFrom('deliveries').select('lease').executeTakeFirst()
    await expect.poll(async () => (await leased())?.lease ?? null).not.toBeNull()
    const lease = () => {
      const stopping = new AbortController().signal
      const opened = leaseOf('courier', { db: site.db, now: () => site.clock.now, stopping })
      cleanup(() => opened.release())
      return opened
    }
    expect(await lease().acquire()).toBeDefined()
    expect(await lease().acquire()).toBeUndefined()
    shift(site, -HOUR)
    expect(await lease().acquire()).toBeDefined()
    expect(await delivered(site)).toBe(1)
  })
})

it('a server whose clock goes an hour back and then three days ahead serves, and delivers mail', async () => {
  const machine = await makeMachine('sqlite')
  const [file, shifted] = [path.join(machine.folder, 'clock.cjs'), path.join(machine.folder, 'shift')]
  const set = (milliseconds: number) => writeFileSync(shifted, String(milliseconds))
  set(0)
  writeFileSync(file, shiftedClock(shifted))
  const send = await serve(machine, { NODE_OPTIONS: `--require ${file}`, FEEDBACKCTL_MAIL_URL: 'folder:mail' })
  const { body } = await send('POST /auth/setup', { body: OWNER })
  const token: string = body.user.authToken
  const mails = () => {
    const folder = path.join(machine.folder, 'mail')
    return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.eml')).length : 0
  }
  await expect.poll(mails).toBe(1)
  const { email, password } = OWNER
  const ids: string[] = []
  for (const [index, [jump, isValid]] of (
    [
      [-HOUR, true],
      [72 * HOUR, false],
    ] as const
  ).entries()) {
    set(jump)
    expect((await send('GET /users/profile', { token })).status).toBe(isValid ? 200 : 401)
    const { body: session } = await send('POST /auth/login', { body: { email, password } })
    const created = await send('POST /posts', { token: session.user.authToken, body: { title: `post ${index}` } })
    expect(created.status).toBe(201)
    expect(Math.abs(Date.parse(created.body.post.createdAt) - Date.now() - jump)).toBeLessThan(60_000)
    ids.push(created.body.post.postId)
    await send('POST /auth/password/reset', { body: { email } })
    await expect.poll(mails).toBe(2 + index)
  }
  expect(ids.toSorted()).toEqual(ids)
  expect((await send('POST /posts/get', { body: {} })).body.posts).toHaveLength(2)
})

/** A program that shifts `Date` by the milliseconds in a file, which it reads again all the time. */
const shiftedClock = (file: string) => `
const { readFileSync } = require('node:fs')
const Real = Date
const shift = () => Number(readFileSync(${JSON.stringify(file)}, 'utf8'))
globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + shift()] : given))
  }
  static now() {
    return Real.now() + shift()
  }
}
`
