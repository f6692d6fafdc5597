import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { seededRandom } from '../../../src/core/random.js'
import type { Bench, Case } from '../cases.js'
import { alternately, median, medians, type Samples } from '../measure.js'
import { publicBoards } from '../plan.js'
import { post, votes, type Request } from '../requests.js'
import { serve } from '../servers.js'
import { copyOf, type Site } from '../sites.js'
import { comparedRow } from './compared.js'

/** Loads on PostgreSQL of a site of the usual size. */
export const mix = (): Case[] => [
  onBothEngines('the mix, PostgreSQL against SQLite'),
  byTwoServers('the mix, two servers on one PostgreSQL'),
  besideWrites(`PostgreSQL, newest posts, hot, ${WRITES} writes a second to another database`),
]

const CONNECTIONS = 32

/** A second, to a database that the measured server does not use. */
const WRITES = 200

/** So many people are signed in. */
const READERS = 20

/** One request in so many is a vote. */
const EVERY = 20

/** More votes than any case sends. */
const VOTES = 20_000

const onBothEngines = (name: string): Case => ({
  name,
  async run(bench) {
    const [site, postgres] = [await bench.site('usual'), await bench.postgres()]
    const [file, database] = [copyOf(site), await postgres.copyOf('usual')]
    try {
      const load = { requests: listsAndVotes(site, bench), connections: CONNECTIONS, warmUp: bench.plan.mixed }
      const { ours, reference } = await alternately(bench.plan, {
        ours: { servers: [await serve(database.url)], ...load, postgres: postgres.pid },
        reference: { servers: [await serve(file.url)], ...load },
      })
      const share = median(ours.map(({ rate }, round) => rate / (reference[round]?.rate ?? rate)))
      return [
        {
          name,
          ours: medians(ours),
          reference: medians(reference),
          result: { value: 100 * share, unit: '%', goal: { least: 50 } },
          note: ofPostgres(ours),
        },
      ]
    } finally {
      file.remove()
      await database.remove()
    }
  },
})

const byTwoServers = (name: string): Case => ({
  name,
  long: true,
  async run(bench) {
    const [site, postgres] = [await bench.site('usual'), await bench.postgres()]
    const databases = { ours: await postgres.copyOf('usual'), reference: await postgres.copyOf('usual') }
    try {
      const load = {
        requests: listsAndVotes(site, bench),
        connections: CONNECTIONS,
        warmUp: bench.plan.mixed,
        postgres: postgres.pid,
      }
      const { url } = databases.ours
      const { ours, reference } = await alternately(bench.plan, {
        ours: { servers: [await serve(url), await serve(url)], ...load },
        reference: { servers: [await serve(databases.reference.url)], ...load },
      })
      return [
        {
          name,
          ours: medians(ours),
          reference: medians(reference),
          result: {
            value: median(ours.map(({ cpu }, round) => cpu / (reference[round]?.cpu ?? cpu))),
            unit: 'x',
            goal: { most: 1.15 },
          },
          note: `CPU of a request; ${ofPostgres(ours)}, with one server ${ofPostgres(reference)}`,
        },
      ]
    } finally {
      for (const database of Object.values(databases)) await database.remove()
    }
  },
})

const besideWrites = (name: string): Case => ({
  name,
  long: true,
  async run(bench) {
    const postgres = await bench.postgres()
    const other = await postgres.copyOf()
    try {
      const requests = bench.tokens.slice(0, READERS).map((token) => post('/posts/get', {}, token))
      const load = { servers: [await serve(await postgres.seeded('usual'))], requests, postgres: postgres.pid }
      const { ours, reference } = await alternately(bench.plan, {
        ours: { ...load, beside: () => writing(other.url) },
        reference: load,
      })
      const row = comparedRow(name, { ours, reference }, { least: 95 })
      return [{ ...row, note: 'reference: without the writes' }]
    } finally {
      await other.remove()
    }
  },
})

/** Commits `WRITES` transactions a second; stopped, it fails if there were much fewer. */
async function writing(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table if not exists written (at timestamptz)')
  const started = performance.now()
  const stop = new AbortController()
  let written = 0
  const due = () => ((performance.now() - started) * WRITES) / 1000
  const running = (async () => {
    while (!stop.signal.aborted) {
      for (; written < due(); written++) await client.query('insert into written values (now())')
      await pause(1)
    }
  })()
  return async () => {
    stop.abort()
    await running
    const share = written / due()
    await client.end()
    if (share < 0.9) throw new Error(`Only ${Math.round(share * WRITES)} writes a second were committed.`)
  }
}

const ofPostgres = (samples: Samples): string => {
  const { database } = medians(samples)
  return Number.isNaN(database) ? 'PostgreSQL runs elsewhere' : `PostgreSQL itself ${database.toFixed(0)} µs`
}

/**
 * 19 lists of posts, half of them of people signed in, then a vote. Of the lists 40 % are the newest posts, 15 % one of the
 * next nine pages, 20 % the first pages by votes, 25 % the first pages of a board.
 */
function listsAndVotes(site: Site, { tokens }: Bench): Request[] {
  const next = seededRandom(29)
  const below = (count: number) => Math.floor(next() * count)
  const boards = site.rows<{ url: string }>('select url from boards where display = 1 order by createdAt')
  const list = (): object => {
    const dice = next() * 100
    if (dice < 40) return {}
    if (dice < 55) return { page: 2 + below(9) }
    if (dice < 75) return { sort: 'votes', page: 1 + below(5) }
    return { boardId: [boards[below(publicBoards(site.size))]?.url], page: 1 + below(3) }
  }
  const read = (): Request => post('/posts/get', list(), next() < 0.5 ? tokens[below(READERS)] : undefined)
  const cast = votes(site, tokens, VOTES)
  return cast.flatMap((vote) => [...Array.from({ length: EVERY - 1 }, read), vote])
}
