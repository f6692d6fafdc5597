import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net'
import pg from 'pg'
import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { migrate } from '../../src/db/migrate.js'
import { makeMachine } from '../support/cli.js'
import { ownPostgres } from '../support/postgres.js'
import { cleanup } from '../support/site.js'
import { amount, figures } from './amount.js'
import { startWriters, titlesOf } from './writers.js'

/** Writes that are acknowledged before each step. */
const WRITES = amount(20, 2000)

/** An address that can be moved from one database to another, as an operator's name or address of it. */
async function movableAddress(first: string) {
  const sockets = new Set<Socket>()
  let target = new URL(first)
  const server = createServer((from) => {
    const to = dial(Number(target.port), target.hostname)
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const)
      // prettier-ignore
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    sockets.add(from.on('close', () => sockets.delete(from)))
    from.pipe(to).pipe(from)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(first)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    move(to: string) {
      target = new URL(to)
      for (const socket of sockets) socket.destroy()
    },
  }
}

const valueOf = async (url: string, sql: string): Promise<unknown> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(sql)
  await client.end()
  return Object.values(rows[0] ?? {})[0]
}

it('three servers lose no write when one is stopped, PostgreSQL crashes, and its standby is promoted', async (context) => {
  const primary = await ownPostgres()
  cleanup(() => primary.remove())
  const standby = await primary.startStandby()
  const address = await movableAddress(primary.url)
  const machine = await makeMachine('sqlite')
  machine.databaseUrl = machine.env.FEEDBACKCTL_DATABASE_URL = address.url
  const db = await connect(address.url)
  await migrate(db)
  await db.destroy()
  const token = await machine.setup()
  const servers = await Promise.all(
    [1, 2, 3].map(async () => {
      const server = machine.start('serve --database-timeout 2')
      const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
      return { ...server, url }
    }),
  )
  let [turn, balanced] = [0, servers]
  const writers = startWriters(() => balanced[turn++ % balanced.length]?.url ?? '', token)
  cleanup(() => writers.stop())
  const writes = async () => {
    const before = writers.acknowledged.size
    await expect.poll(() => writers.acknowledged.size, { interval: 20 }).toBeGreaterThanOrEqual(before + WRITES)
  }
  await writes()
  // A balancer takes a server out before it is stopped
  const [stopped, ...others] = servers
  balanced = others
  expect(await stopped?.stop()).toMatchObject({ code: 0 })
  await writes()
  expect(await valueOf(standby, 'select pg_is_in_recovery()')).toBe(true)
  await primary.stop('SIGQUIT')
  await expect.poll(() => [...writers.refused.keys()]).toContain('503 DATABASE_UNREACHABLE')
  await primary.promoteStandby()
  await expect.poll(() => valueOf(standby, 'select pg_is_in_recovery()')).toBe(false)
  const [moved, before] = [performance.now(), writers.acknowledged.size]
  address.move(standby)
  await expect.poll(() => writers.acknowledged.size, { interval: 20 }).toBeGreaterThan(before)
  const back = Math.round(performance.now() - moved)
  await writes()
  await writers.stop()
  expect([...writers.refused.keys()]).toEqual(['503 DATABASE_UNREACHABLE'])
  const stored = await titlesOf(machine)
  expect(stored).toHaveLength(new Set(stored).size)
  expect([...writers.acknowledged].filter((title) => !stored.includes(title))).toEqual([])
  // Both servers that are left see the same site
  for (const { url } of others) {
    const answer = await fetch(`${url}/api/v1/posts/get`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(await answer.json()).toMatchObject({ total_count: stored.length })
  }
  figures(context, `${writers.acknowledged.size} acknowledged, 0 lost, writes again ${back} ms after the move`)
})
