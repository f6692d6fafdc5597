import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { startJobs, type Job, type Jobs } from '../../src/jobs/runner.js'
import { makeMachine } from '../support/cli.js'
import { makeGate } from '../support/gate.js'
import { cleanup } from '../support/site.js'

/** Starts jobs without a database, and keeps what they log. */
function running(...jobs: Job[]): Jobs & { logged: [fields: object, message: string][] } {
  const logged: [object, string][] = []
  const write = (fields: object, message: string) => void logged.push([fields, message])
  const log = { info: write, warn: write, error: write }
  const started = startJobs(jobs, { db: undefined as never, now: () => new Date(), log }, { backOff: 300 })
  cleanup(() => started.stop(1))
  return { ...started, logged }
}

it('a job never runs twice at once, and waits from the end of a run to the next', async () => {
  const runs: { began: number; ended: number }[] = []
  running({
    name: 'slow',
    every: 100,
    async run() {
      const began = performance.now()
      await pause(150)
      runs.push({ began, ended: performance.now() })
    },
  })
  await expect.poll(() => runs.length).toBe(3)
  for (const [index, { began }] of runs.slice(1).entries())
    expect(began - runs[index]!.ended).toBeGreaterThanOrEqual(95) // a timer may be early by a part of a millisecond
})

it('a job that has more to do runs again at once', async () => {
  let runs = 0
  running({ name: 'busy', every: 60_000, run: async () => (++runs < 5 ? 'more' : undefined) })
  await expect.poll(() => runs).toBe(5)
  await pause(50)
  expect(runs).toBe(5)
})

it('a run that fails is logged once with its cause, and tried again after a while; other jobs go on', async () => {
  const failed: number[] = []
  let others = 0
  const { logged } = running(
    {
      name: 'failing',
      every: 1,
      async run() {
        failed.push(performance.now())
        if (failed.length === 1) throw new Error('no disk')
      },
    },
    { name: 'other', every: 1, run: async () => void others++ },
  )
  await expect.poll(() => failed.length).toBeGreaterThan(2)
  expect(failed[1]! - failed[0]!).toBeGreaterThanOrEqual(295)
  await expect.poll(() => others).toBeGreaterThan(10)
  expect(logged).toEqual([
    [{ err: expect.objectContaining({ message: 'no disk' }), job: 'failing' }, 'a job failed, and will be tried again'],
  ])
})

it('stop aborts what runs, waits for it, starts nothing anew and logs no failure', async () => {
  let [began, cleaned] = [0, false]
  const jobs = running({
    name: 'long',
    every: 1,
    async run({ signal }) {
      began++
      try {
        await pause(60_000, undefined, { signal })
      } finally {
        await pause(100)
        cleaned = true
      }
    },
  })
  await expect.poll(() => began).toBe(1)
  await jobs.stop(5)
  expect(cleaned).toBe(true)
  await pause(50)
  expect([began, jobs.logged]).toEqual([1, []])
})

it('stop waits no longer than it is told for a run that does not end', async () => {
  let began = false
  const jobs = running({
    name: 'deaf',
    every: 1,
    run: () => {
      began = true
      return new Promise(() => {})
    },
  })
  await expect.poll(() => began).toBe(true)
  const ended: string[] = []
  await Promise.all([
    jobs.stop(0.1).then(() => ended.push('stop')),
    pause(1000).then(() => ended.push('a longer time')), // the time limit alone keeps no process alive
  ])
  expect(ended).toEqual(['stop', 'a longer time'])
})

it('many jobs wait for the end without a warning of Node', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error) => void warnings.push(name)
  process.on('warning', note)
  cleanup(async () => void process.off('warning', note))
  let runs = 0
  running(...Array.from({ length: 15 }, (_, at): Job => ({ name: `job ${at}`, every: 60_000, run: async () => void runs++ }))) // prettier-ignore
  await expect.poll(() => runs).toBe(15)
  await new Promise((resolve) => setImmediate(resolve)) // where Node says what it warns of
  expect(warnings).toEqual([])
})

it('jobs look one at a time whether they have work, and one that fails or waits long in its run holds no other up', async () => {
  const looked: string[] = []
  const ran: string[] = []
  let looking = 0
  const job = (name: string, run: Job['run']): Job => ({
    name,
    every: 60_000,
    async isDue() {
      expect(++looking).toBe(1)
      await pause(1)
      looking--
      looked.push(name)
      if (name === 'failing') throw new Error('no database')
      return true
    },
    run,
  })
  const { failures, logged } = running(
    job('long', ({ signal }) => pause(60_000, undefined, { signal })),
    job('failing', async () => void ran.push('failing')),
    job('last', async () => void ran.push('last')),
  )
  await expect.poll(() => ran).toEqual(['last'])
  expect(looked.slice(0, 3)).toEqual(['long', 'failing', 'last']) // the second looks again after a while
  expect([...failures.keys()]).toEqual(['failing'])
  expect(logged).toEqual([[expect.objectContaining({ job: 'failing' }), expect.any(String)]])
})

it('a job that waits for its turn to look does not begin once the server stops', async () => {
  const [began, ends] = [makeGate(), makeGate()]
  const looked: string[] = []
  const job = (name: string, isDue: () => Promise<boolean>): Job => ({
    name,
    every: 60_000,
    isDue: () => (looked.push(name), isDue()),
    run: async () => void looked.push('nothing'),
  })
  const jobs = running(
    job('first', async () => (began.open(), await ends.opened, false)),
    job('second', async () => true),
  )
  await began.opened
  const stopped = jobs.stop(5)
  ends.open()
  await stopped
  expect([looked, [...jobs.successes.keys()]]).toEqual([['first'], []])
})

it('a server that starts opens few of the ten connections to PostgreSQL that it may', async () => {
  const machine = await makeMachine('postgres')
  await machine.setup()
  const { says } = machine.start('serve')
  await says(/listening on/)
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  const { rows } = await sql`select pid from pg_stat_activity
    where datname = current_database() and application_name like 'feedbackctl%' and pid <> pg_backend_pid()`.execute(db)
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.length).toBeLessThan(8) // presence, the first checks, the cache, and requests for maintenance
})
