import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { LEASE_MS, leaseOf, type Lease } from '../../src/jobs/lease.js'
import { startJobs, type Job } from '../../src/jobs/runner.js'
import { cleanup, engines, makeDatabase, temporaryFolder } from '../support/site.js'

// Leases are renewed by these alone
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

const RENEW = LEASE_MS / 3
const silent = { info: () => {}, warn: () => {}, error: () => {} }

describe.each(engines)('leases of jobs on %s', (engine) => {
  /** Two connections to one database, and a clock that stands still. */
  const open = async () => {
    const url = await makeDatabase(engine, temporaryFolder())
    const connection = async () => {
      const db = await connect(url)
      cleanup(() => db.destroy())
      return db
    }
    const clock = { now: new Date('2026-03-02T10:00:00.000Z') }
    const later = (milliseconds: number) => void (clock.now = new Date(clock.now.getTime() + milliseconds))
    const lease = (db: Db, name = 'courier'): Lease => {
      const opened = leaseOf(name, { db, now: () => clock.now, stopping: new AbortController().signal })
      cleanup(() => opened.release())
      return opened
    }
    return { one: await connection(), other: await connection(), now: () => clock.now, later, lease }
  }
  const until = async (db: Db) => (await db.selectFrom('job_leases').select('until').executeTakeFirst())?.until

  it('one of many that try at once gets it; a lease of another job is another lease', async () => {
    const { one, other, lease } = await open()
    const leases = Array.from({ length: 20 }, (_, number) => lease(number % 2 ? one : other))
    const got = await Promise.all(leases.map((each) => each.acquire()))
    expect(got.filter((signal) => signal !== undefined)).toHaveLength(1)
    expect(await lease(other, 'pruner').acquire()).toBeDefined()
  })

  it('is the next one’s at once when it is released, and only its holder can release it', async () => {
    const { one, other, lease } = await open()
    const [first, second] = [lease(one), lease(other)]
    const signal = await first.acquire()
    expect(await second.acquire()).toBeUndefined()
    await second.release()
    expect(await second.acquire()).toBeUndefined()
    await first.release()
    expect(signal?.aborted).toBe(true)
    expect(await second.acquire()).toBeDefined()
    expect(await first.acquire()).toBeUndefined()
  })

  it('ends after its time when its holder is not heard of', async () => {
    const { one, other, later, lease } = await open()
    const [first, second] = [lease(one), lease(other)]
    await first.acquire()
    later(LEASE_MS - 1)
    expect(await second.acquire()).toBeUndefined()
    later(1)
    expect(await second.acquire()).toBeDefined()
    expect(await first.acquire()).toBeUndefined()
  })

  it('counts although the clock of its holder is ahead, but not if a clock went back by far', async () => {
    const { one, other, later, lease } = await open()
    const [first, second] = [lease(one), lease(other)]
    await first.acquire()
    later(-LEASE_MS)
    expect(await second.acquire()).toBeUndefined()
    later(-1)
    expect(await second.acquire()).toBeDefined()
  })

  it('is renewed while it is held', async () => {
    const { one, other, now, later, lease } = await open()
    const [first, second] = [lease(one), lease(other)]
    const signal = await first.acquire()
    for (let round = 0; round < 4; round++) {
      later(RENEW)
      vi.advanceTimersByTime(RENEW)
      await expect.poll(() => until(other)).toBe(new Date(now().getTime() + LEASE_MS).toISOString())
    }
    expect(await second.acquire()).toBeUndefined()
    expect(signal?.aborted).toBe(false)
  })

  it('tells a holder that slept for too long that it lost it', async () => {
    const { one, other, later, lease } = await open()
    const [first, second] = [lease(one), lease(other)]
    const signal = await first.acquire()
    later(LEASE_MS)
    const taken = await second.acquire()
    vi.advanceTimersByTime(RENEW)
    await expect.poll(() => signal?.aborted).toBe(true)
    expect(taken?.aborted).toBe(false)
  })

  it('lets one server at a time run an exclusive job, and the other go on when one fails or stops', async () => {
    const { one, other, now } = await open()
    const ran: string[] = []
    let [running, most] = [0, 0]
    const faults = new Set<string>()
    const server = (name: string, db: Db) => {
      const job: Job = {
        name: 'courier',
        every: 10,
        exclusive: true,
        async run() {
          if (faults.delete(name)) throw new Error('no mail server')
          running++
          most = Math.max(most, running)
          await new Promise(setImmediate)
          running--
          ran.push(name)
        },
      }
      const jobs = startJobs([job], { db, now, log: silent }, { backOff: 1000 })
      cleanup(() => jobs.stop(5))
      return jobs
    }
    const runsOf = (name: string) => ran.filter((each) => each === name).length
    const first = server('first', one)
    await expect.poll(() => runsOf('first')).toBeGreaterThan(0)
    const second = server('second', other)
    const before = runsOf('first')
    await expect.poll(() => runsOf('first') + runsOf('second')).toBeGreaterThan(before + 10)
    faults.add('first')
    await expect.poll(() => runsOf('second')).toBeGreaterThan(0)
    await second.stop(5)
    const after = runsOf('first')
    await expect.poll(() => runsOf('first')).toBeGreaterThan(after)
    await first.stop(5)
    expect(await until(other)).toBeUndefined()
    expect(most).toBe(1)
  })
})
