import { sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/postgres.js'
import { engines } from '../support/site.js'
import { amount, figures } from './amount.js'
import { startWriters, titlesOf } from './writers.js'

const KILLS = amount(5, 50)

describe.each(engines)('kill -9 on %s', (engine) => {
  it.for([1, 2])('of serve with %i workers loses no acknowledged post', async (workers, context) => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const writers = startWriters(() => url, token)
    for (let kill = 0; kill < KILLS; kill++) {
      const before = writers.acknowledged.size
      const server = machine.start(`serve --workers ${workers} --listen 127.0.0.1:${port}`)
      await expect.poll(() => writers.acknowledged.size, { timeout: 20_000 }).toBeGreaterThan(before + 10)
      await sleep(Math.random() * 100)
      await server.stop('SIGKILL')
    }
    await writers.stop()
    const stored = await titlesOf(machine)
    expect(stored).toHaveLength(new Set(stored).size)
    expect([...writers.acknowledged].filter((title) => !stored.includes(title))).toEqual([])
    expect(await wrongCounts(machine)).toEqual([])
    figures(context, `${KILLS} kills, ${writers.acknowledged.size} acknowledged, 0 lost`)
  })
})

/** Counters that differ from the rows they count. */
async function wrongCounts(machine: Machine): Promise<unknown[]> {
  const db = await connect(machine.databaseUrl)
  try {
    const { rows } = await sql`
      select 'votesCount' as what from posts where "votesCount" <> (select count(*) from votes where votes."postId" = posts."postId")
      union all select 'post_count' from users where post_count <> (select count(*) from posts where posts."userId" = users."userId")
      union all select 'vote_count' from users where vote_count <> (select count(*) from votes where votes."userId" = users."userId")
      union all select 'post_counts' where (select coalesce(sum(value), 0) from post_counts where board = '*' and roadmap = '*') <> (select count(*) from posts)
      union all select 'users' where (select value from counters where name = 'users') <> (select count(*) from users)
      union all select 'boards' where (select value from counters where name = 'boards') <> (select count(*) from boards)
      union all select 'post without its vote' from posts where not exists (select 1 from votes where votes."postId" = posts."postId")`.execute(
      db,
    )
    return rows
  } finally {
    await db.destroy()
  }
}
