import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { migrate } from '../../src/db/migrate.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { ownPostgres, withDatabase, type OwnPostgres } from '../support/postgres.js'
import { random } from '../support/random.js'
import { cleanup } from '../support/site.js'
import { amount, figures } from './amount.js'
import { startWriters, titlesOf, type Writers } from './writers.js'

const CUTS_MS = amount(1000, 60_000)
const STOPPED_MS = amount(1000, 20_000)
const CRASHES = amount(2, 15)
const FROZEN_MS = amount(3000, 20_000)

let postgres: OwnPostgres
let databases = 0
beforeAll(async () => {
  postgres = await ownPostgres()
})
afterAll(() => postgres.remove())

/** A site on the PostgreSQL of these tests, with a server and writers. */
async function makeLoad({ workers = 1, timeout = 2, prepare = true } = {}) {
  const machine = await onPostgres(postgres)
  const token = await machine.setup()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = machine.start(
    `serve --workers ${workers} --listen 127.0.0.1:${port} --database-timeout ${timeout} --database-prepare ${prepare}`,
  )
  await server.says(/listening on/)
  const writers = startWriters(() => url, token)
  cleanup(() => writers.stop())
  await grows(writers)
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers })
  return { machine, server, writers, get, token }
}

type Load = Awaited<ReturnType<typeof makeLoad>>

async function onPostgres({ url }: OwnPostgres): Promise<Machine> {
  const name = `feedback_${++databases}`
  await asAdmin(url, `create database ${name}`)
  const machine = await makeMachine('sqlite')
  machine.databaseUrl = machine.env.FEEDBACKCTL_DATABASE_URL = withDatabase(url, name)
  const db = await connect(machine.databaseUrl)
  await migrate(db)
  await db.destroy()
  return machine
}

async function asAdmin(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/**
 * Milliseconds: until writes work again, that a request waits at most where `timeout` is 1, and for a cached response.
 * They hold where nothing else runs, as in `npm run test:faults`; beside other tests only the order counts.
 */
const [SOON, WAIT, HIT] = [amount(Infinity, 1000), amount(Infinity, 1800), amount(Infinity, 700)]

const CUT = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'feedbackctl%'`

/** Milliseconds until another write is acknowledged. */
async function grows({ acknowledged }: Writers): Promise<number> {
  const [began, before] = [performance.now(), acknowledged.size]
  await expect.poll(() => acknowledged.size, { interval: 20 }).toBeGreaterThan(before)
  return performance.now() - began
}

/**
 * Lets PostgreSQL go away once the list of boards is cached, and returns what brings it back. Beside other work the server
 * may not know in time how new the list is, and then does not cache it.
 */
async function leaveCached(load: Load, leave: () => Promise<() => unknown>): Promise<() => unknown> {
  for (;;) {
    await load.get('/api/v1/boards')
    const back = await leave()
    try {
      if ((await load.get('/api/v1/boards')).status === 200) return back
    } catch (error) {
      await back()
      throw error
    }
    await back()
    await grows(load.writers)
  }
}

const refusals = ({ refused }: Writers): number => [...refused.values()].reduce((sum, count) => sum + count, 0)

/** Checks that the server lives, that all refusals were 503, and that each acknowledged write is there once. */
async function isWhole({ machine, server, writers }: Load): Promise<string> {
  await writers.stop()
  expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null])
  expect([...writers.refused.keys()].filter((outcome) => outcome !== '503 DATABASE_UNREACHABLE')).toEqual([])
  expect(writers.uncertain.size).toBe(0)
  const stored = await titlesOf(machine)
  expect(stored).toHaveLength(new Set(stored).size)
  expect([...writers.acknowledged].filter((title) => !stored.includes(title))).toEqual([])
  return `${writers.acknowledged.size} acknowledged, 0 lost, ${refusals(writers)} times 503, slowest ${Math.round(writers.slowest())} ms`
}

describe('PostgreSQL under writes', () => {
  it.for([1, 2])('cuts all connections again and again, with %i workers', async (workers, context) => {
    const load = await makeLoad({ workers })
    let cuts = 0
    for (const end = performance.now() + CUTS_MS; performance.now() < end; cuts++) {
      await asAdmin(postgres.url, CUT)
      await sleep(100)
    }
    expect(await grows(load.writers)).toBeLessThan(SOON)
    figures(context, `${cuts} cuts, ${await isWhole(load)}`)
  })

  it('is stopped and started', async (context) => {
    const load = await makeLoad()
    const cached = await load.get('/api/v1/boards')
    expect([cached.status, cached.headers.get('cache-status')]).toEqual([200, null])
    const start = await leaveCached(load, async () => {
      await postgres.stop()
      return () => postgres.start()
    })
    const until = performance.now() + STOPPED_MS
    await expect.poll(async () => (await load.get('/readyz')).status).toBe(503)
    const refused = await load.get('/readyz')
    expect(await refused.json()).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    expect(refused.headers.get('retry-after')).toBe('2')
    let reads = 0
    for (; performance.now() < until; reads++) {
      const kept = await load.get('/api/v1/boards')
      expect([kept.status, kept.headers.get('cache-status')]).toEqual([
        200,
        'feedbackctl; hit; detail=DATABASE_UNREACHABLE',
      ])
      expect((await load.get('/healthz')).status).toBe(200)
      await sleep(20)
    }
    await start()
    const back = await grows(load.writers)
    expect(back).toBeLessThan(SOON)
    await expect.poll(async () => (await load.get('/api/v1/boards')).headers.get('cache-status')).toBe(null)
    expect((await load.get('/readyz')).status).toBe(200)
    figures(
      context,
      `${STOPPED_MS / 1000} s, ${reads} cached reads, back after ${Math.round(back)} ms, ${await isWhole(load)}`,
    )
  })

  it('crashes', async (context) => {
    const load = await makeLoad()
    const share = random()
    for (let crash = 0; crash < CRASHES; crash++) {
      await postgres.stop('SIGQUIT')
      await sleep(share() * 300)
      await postgres.start()
      expect(await grows(load.writers)).toBeLessThan(SOON)
    }
    figures(context, `${CRASHES} crashes, ${await isWhole(load)}`)
  })

  it('freezes', async (context) => {
    const load = await makeLoad({ timeout: 1 })
    const resume = await leaveCached(load, async () => postgres.freeze())
    try {
      const until = performance.now() + FROZEN_MS
      const reads: number[] = []
      while (performance.now() < until) {
        const began = performance.now()
        expect((await load.get('/api/v1/boards')).status).toBe(200)
        reads.push(performance.now() - began)
        expect((await load.get('/healthz')).status).toBe(200)
        expect(performance.now() - began).toBeLessThan(WAIT)
        await sleep(50)
      }
      // Only the read of `leaveCached` may wait to find out
      expect(reads.filter((milliseconds) => milliseconds > HIT)).toEqual([])
      expect((await load.get('/readyz')).status).toBe(503)
    } finally {
      await resume()
    }
    expect(await grows(load.writers)).toBeLessThan(SOON)
    expect(load.writers.slowest()).toBeLessThan(WAIT)
    figures(context, `${FROZEN_MS / 1000} s, ${await isWhole(load)}`)
  })

  it('becomes read-only', async (context) => {
    const load = await makeLoad()
    const database = `feedback_${databases}`
    await asAdmin(postgres.url, `alter database ${database} set default_transaction_read_only = on`, CUT)
    await expect.poll(async () => (await load.get('/readyz')).status).toBe(503)
    // A read, too, may have been on a connection that was cut
    await expect.poll(async () => (await load.get('/api/v1/boards')).status).toBe(200)
    expect((await load.get('/readyz')).status).toBe(503)
    const [before, refused] = [load.writers.acknowledged.size, refusals(load.writers)]
    await expect.poll(() => refusals(load.writers)).toBeGreaterThan(refused + 5)
    expect(load.writers.acknowledged.size).toBe(before)
    await asAdmin(postgres.url, `alter database ${database} reset default_transaction_read_only`)
    expect(await grows(load.writers)).toBeLessThan(SOON)
    // An idle connection of before is still read-only, until it is used and closed
    await expect.poll(async () => (await load.get('/readyz')).status).toBe(200)
    figures(context, await isWhole(load))
  })

  it.for([true, false])('has a table locked, with database.prepare = %s', async (prepare, context) => {
    const load = await makeLoad({ timeout: 1, prepare })
    const [locking, watching] = [1, 2].map(() => new pg.Client({ connectionString: load.machine.databaseUrl })) as [pg.Client, pg.Client] // prettier-ignore
    for (const client of [locking, watching]) {
      await client.connect()
      cleanup(() => client.end()) // also where the test fails: a server that stops would end the connection
    }
    await locking.query('begin; lock table posts in access exclusive mode')
    // Of transactions: without prepared statements, the server itself ends the wait of other statements. The look is on a
    // connection of its own, as a transaction sees the same pg_stat_activity throughout.
    const waiting = async () => {
      const { rows } = await watching.query<{ statement: string }>(
        `select pid || ' since ' || query_start as statement from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and xact_start < query_start`,
      )
      return rows.map(({ statement }) => statement)
    }
    let first: string[] = []
    await expect.poll(async () => (first = await waiting()).length).toBeGreaterThan(0)
    await expect.poll(() => refusals(load.writers)).toBeGreaterThan(0)
    // PostgreSQL ends what nobody waits for any more, while the table is still locked
    await expect.poll(async () => (await waiting()).filter((statement) => first.includes(statement))).toEqual([])
    await locking.query('rollback')
    expect(await grows(load.writers)).toBeLessThan(SOON)
    expect(load.writers.refused.size).toBe(1)
    expect(load.writers.slowest()).toBeLessThan(WAIT)
    figures(context, await isWhole(load))
  })
})

describe('PostgreSQL and the start of serve', () => {
  it('is away: serve waits for it, with one worker and with two', async (context) => {
    const machine = await onPostgres(postgres)
    const token = await machine.setup()
    await postgres.stop()
    const servers = [1, 2].map((workers) => machine.start(`serve --workers ${workers}`))
    for (const server of servers) await server.says(/waiting for the database/)
    await sleep(amount(1500, 300_000))
    for (const server of servers) expect(server.output().stderr.match(/waiting for the database/g)).toHaveLength(1)
    await postgres.start()
    const began = performance.now()
    const waited: number[] = []
    for (const server of servers) {
      const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
      waited.push(Math.round(performance.now() - began))
      const response = await fetch(`${url}/api/v1/posts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title: 'first' }),
      })
      expect(response.status).toBe(201)
    }
    figures(context, `they listen ${waited.join(' and ')} ms after PostgreSQL`)
  })

  it('is away: SIGTERM ends the wait', async () => {
    const machine = await makeMachine('sqlite')
    machine.env.FEEDBACKCTL_DATABASE_URL = `postgres://someone@127.0.0.1:${await freePort()}/feedback`
    const server = machine.start('serve')
    await server.says(/waiting for the database/)
    expect((await server.stop()).code).toBe(0)
  })

  it('refuses the user or has no such database: serve exits', async () => {
    const machine = await makeMachine('postgres')
    for (const [part, value] of [
      ['pathname', '/nothing'],
      ['password', 'wrong'],
    ] as const) {
      const url = new URL(machine.databaseUrl)
      url[part] = value
      const refused = await machine.run('serve', { env: { FEEDBACKCTL_DATABASE_URL: url.href } })
      expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('CONFIG_INVALID') })
    }
  })
})

it('an older server goes on while a newer one has migrated, and does not start again', async () => {
  const machine = await makeMachine('postgres')
  const token = await machine.setup()
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const writers = startWriters(() => url, token)
  await grows(writers)
  await asAdmin(
    machine.databaseUrl,
    'begin; alter table posts add column mood text; alter table users add column mood text; ' +
      "insert into kysely_migration values ('9999_newer', '2030-01-01'); commit",
  )
  const migrated = writers.acknowledged.size
  await expect.poll(() => writers.acknowledged.size).toBeGreaterThan(migrated + 20)
  await writers.stop()
  expect([...writers.refused.keys()]).toEqual([])
  expect(writers.uncertain.size).toBe(0)
  expect(await (await fetch(`${url}/api/v1/boards`)).json()).toMatchObject({ total_count: 0 })
  expect((await server.stop()).code).toBe(0)
  expect(await machine.run('serve')).toMatchObject({ code: 78, stderr: expect.stringContaining('DATABASE_NEWER') })
})

it('a database that goes away just after the start ends no server', async () => {
  const machine = await onPostgres(postgres)
  await machine.setup()
  const database = `feedback_${databases}`
  const locking = new pg.Client({ connectionString: machine.databaseUrl })
  await locking.connect()
  await locking.query('begin; lock table users in access exclusive mode')
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const waiting = `select from pg_stat_activity where datname = '${database}' and wait_event_type = 'Lock'`
  const admin = new pg.Client({ connectionString: postgres.url })
  await admin.connect()
  await expect.poll(async () => (await admin.query(waiting)).rowCount).toBeGreaterThan(0) // it looks whether to warn of a site without an owner
  await admin.query(`alter database ${database} allow_connections false`)
  await admin.query(CUT)
  await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(0) // else it could have the lock after all
  await locking.end()
  await expect.poll(() => admin.query(`alter database ${database} rename to ${database}_away`).catch(String)).toMatchObject({ command: 'ALTER' }) // prettier-ignore
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503)
  await server.says(/cannot warn about the site/)
  await admin.query(`alter database ${database}_away allow_connections true`)
  await admin.query(`alter database ${database}_away rename to ${database}`)
  await admin.end()
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
  expect((await server.stop()).code).toBe(0)
})

it('another PostgreSQL takes the place of the one that was cached', async () => {
  const port = await freePort()
  const [title, elsewhere] = ['Moonbase', 'Elsewhere']
  const first = await ownPostgres({ port })
  cleanup(() => first.remove())
  const machine = await onPostgres(first)
  await machine.setup()
  const burn = Array.from({ length: 200 }, () => 'select pg_current_xact_id()')
  await asAdmin(machine.databaseUrl, `update settings set title = '${title}'`, ...burn)
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const shown = async () => {
    const { settings } = (await (await fetch(`${url}/api/v1/settings/site`)).json()) as { settings: { title: string } }
    return settings.title
  }
  expect(await shown()).toBe(title)
  await sleep(amount(0, 12_000)) // pg closes a connection that is idle for 10 s, if it may
  await first.stop()
  const second = await ownPostgres({ port })
  cleanup(() => second.remove())
  databases-- // the name of the one on the first
  await onPostgres(second)
  await asAdmin(machine.databaseUrl, `update settings set title = '${elsewhere}'`)
  await expect.poll(shown).toBe(elsewhere)
})

it('the connection of the cache fails alone: nobody gets what was cached before', async () => {
  const machine = await onPostgres(postgres)
  const role = `site_${databases}`
  await asAdmin(
    machine.databaseUrl,
    `create role ${role} login password 'secret'`,
    `grant all on all tables in schema public to ${role}`,
    `grant all on all sequences in schema public to ${role}`,
  )
  const url = new URL(machine.databaseUrl)
  Object.assign(url, { username: role, password: 'secret' })
  machine.env.FEEDBACKCTL_DATABASE_URL = url.href
  const token = await machine.setup()
  const [, server = ''] = await machine.start('serve').says(/listening on (http:\/\/[\d.:]+)/)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const name = async () => {
    const response = await fetch(`${server}/api/v1/users/profile`, { headers })
    return ((await response.json()) as { user: { name: string } }).user.name
  }
  for (let time = 0; time < 3; time++) expect(await name()).toBe('Ada')
  // Opens enough connections for requests and jobs, as the server gets no more after this
  await Promise.all(Array.from({ length: 20 }, name))
  await asAdmin(
    machine.databaseUrl,
    `alter role ${role} connection limit 0`,
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}' and application_name = 'feedbackctl cache'`,
  )
  const body = JSON.stringify({ name: 'Grace' })
  expect((await fetch(`${server}/api/v1/users/profile`, { method: 'PATCH', headers, body })).status).toBe(200)
  for (let time = 0; time < 10; time++) {
    expect(await name()).toBe('Grace')
    await sleep(200)
  }
})
