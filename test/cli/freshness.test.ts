import pg from 'pg'
import { expect, it } from 'vitest'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { amount } from '../faults/amount.js'
import { makeMachine, serve } from '../support/cli.js'
import { cleanup } from '../support/site.js'

/** A write and at least one read each; half as many on PostgreSQL, where both take longer. */
const ROUNDS = Number(process.env.FEEDBACKCTL_TEST_ROUNDS ?? amount(2500, 10_000))
/** How late a visitor may see a change on PostgreSQL, in milliseconds. */
const STALENESS = 50
/** Writers on PostgreSQL at the same time, each with a board of its own. */
const LANES = 4

interface Check {
  path?: string
  token?: string
  staleness?: number
}

it('a server on SQLite gives no stale answer in thousands of writes of another process and reads in turn', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  await machine.run('boards create Ideas')
  const http = await serve(machine)
  const shown = async (path: string, signedIn?: string) =>
    /Round \d+/.exec((await http(`GET ${path}`, { token: signedIn })).text)?.[0]

  const database = openSqlite(machine.databaseUrl.slice('sqlite:'.length))
  cleanup(async () => void database.close())
  database.pragma('synchronous = OFF') // visibility does not depend on it, and ten thousand disk syncs take long
  const writes = ['update settings set title = ?', 'update boards set name = ?'].map((sql) => database.prepare(sql))
  const reads = [['/settings/site'], ['/boards', '/boards/ideas']]
  const stale: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const name = `Round ${round}`
    writes[round % 2]?.run(name)
    const [path = '', other = path] = reads[round % 2] ?? []
    // In every other pair of rounds, several requests are concurrent, on separate connections.
    const concurrent = round % 4 < 2 ? [shown(other, token), shown(path), shown(other)] : []
    for (const read of await Promise.all([shown(path), ...concurrent]))
      if (read !== name) stale.push(`${read} in round ${round}`)
  }
  expect(stale).toEqual([])
}, 600_000)

it('two servers on PostgreSQL give nobody who is signed in a stale answer, and visitors none older than 50 ms, in thousands of writes and reads in turn', async () => {
  const machine = await makeMachine('postgres')
  const token = await machine.setup()
  for (let lane = 0; lane < LANES; lane++) await machine.run(`boards create Lane${lane}`)
  const servers = [await serve(machine), await serve(machine)]
  const database = new pg.Pool({ connectionString: machine.databaseUrl, max: LANES })
  cleanup(() => database.end())
  const { rows } = await database.query<{ boardId: string }>('select "boardId" from boards order by url')

  const stale: string[] = []
  let late = 0
  const run = async (lane: number, boardId: string) => {
    const acknowledged: number[] = [] // when, of each round's write
    /** Checks what a server shows, where a change of the last `staleness` milliseconds may be missing. */
    const check = async (server: number, { path = '/boards', token: signedIn, staleness = 0 }: Check) => {
      const sent = performance.now()
      const response = await servers[server]?.(`GET ${path}`, { token: signedIn })
      const shown = Number(new RegExp(`Lane ${lane} round (\\d+)`).exec(response?.text ?? '')?.[1])
      const missed = acknowledged[shown + 1]
      if (missed !== undefined) late++
      if (Number.isNaN(shown) || (missed !== undefined && sent - missed >= staleness))
        stale.push(`Lane ${lane}: ${shown} after ${acknowledged.length - 1}, ${sent - (missed ?? 0)} ms late`)
    }
    for (let round = 0; round < ROUNDS / 2 / LANES; round++) {
      const name = `Lane ${lane} round ${round}`
      const writer = round % 10 // a server, the other, or another process
      if (writer < 2) await servers[writer]?.('PATCH /boards', { body: { boardId, name, partial: true }, token })
      else
        await database.query({
          name: 'write',
          text: 'update boards set name = $1 where "boardId" = $2',
          values: [name, boardId],
        })
      acknowledged.push(performance.now())
      const path = `/boards/lane${lane}`
      if (writer < 2) {
        // Whoever wrote on a server sees it there, signed in or not.
        await Promise.all([check(writer, {}), check(1 - writer, { path, token })])
      } else if (Math.floor(round / 100) % 2 === 0) await check(round % 2, { path, token })
      else await check(round % 2, { path, staleness: STALENESS })
    }
  }
  await Promise.all(rows.map(({ boardId }, lane) => run(lane, boardId)))
  expect(stale).toEqual([])
  expect(late).toBeGreaterThan(0) // or visitors do not share a look, and the above shows nothing
}, 600_000)
