import { cpus } from 'node:os'
import { seededRandom } from '../../../src/core/random.js'
import type { Bench, Case } from '../cases.js'
import { alternately } from '../measure.js'
import { publicBoards, type Plan } from '../plan.js'
import { get, post, slugsOf, type Request } from '../requests.js'
import { serve } from '../servers.js'
import type { Site } from '../sites.js'
import { comparedRow, timesRow } from './compared.js'

/** Several workers, another engine, several servers: each compared with one server on SQLite, or on PostgreSQL. */
export const several = (plan: Plan): Case[] => [
  workers('serve --workers 2, one of 400 posts, anybody', eachOnce, 1.7),
  { ...workers('serve --workers 2, boards', () => [get('/boards')]), long: true },
  onPostgres('PostgreSQL, boards', () => [get('/boards')]),
  ...[
    onPostgres(`PostgreSQL, boards, page ${lastPage(plan).toLocaleString('en')}, hot`, () => [
      get(`/boards?page=${lastPage(plan)}`),
    ]),
    onPostgres('PostgreSQL, posts by votes, signed in', (_site, { tokens }) =>
      tokens.map((token) => post('/posts/get', { sort: 'votes' }, token)),
    ),
    onPostgres('PostgreSQL, one of 400 posts, signed in', (site, { tokens }) =>
      slugsOf(site).map(({ slug, person }) => post('/posts/slug', { id: slug }, tokens[person])),
    ),
  ].map((one) => ({ ...one, long: true })),
  onPostgres('PostgreSQL, newest posts, hot, signed in', newest),
  twoServers('PostgreSQL, two servers, newest posts, hot, signed in', newest),
]

const lastPage = (plan: Plan): number => publicBoards(plan.sites.large) / 10

type RequestsOf = (site: Site, bench: Bench) => Request[]

const newest: RequestsOf = (_site, { tokens }) => tokens.map((token) => post('/posts/get', {}, token))

/**
 * Each request once, so that no response is cached: the load generator then needs much less CPU than the servers.
 */
const eachOnce: RequestsOf = (site, { tokens }) => {
  const next = seededRandom(23)
  return slugsOf(site)
    .flatMap(({ slug }) =>
      tokens.map((token) => ({ place: next(), request: post('/posts/slug', { id: slug }, token) })),
    )
    .toSorted((one, other) => one.place - other.place)
    .map(({ request }) => request)
}

const workers = (name: string, requestsOf: RequestsOf, least?: number): Case => ({
  name,
  async run(bench) {
    const site = await bench.site('large')
    const requests = requestsOf(site, bench)
    const url = `sqlite:${site.file}`
    const measured = await alternately(bench.plan, {
      ours: { servers: [await serve(url, ['--workers', '2'])], requests },
      reference: { servers: [await serve(url)], requests },
    })
    return [timesRow(name, measured, least === undefined ? undefined : { least })]
  },
})

const onPostgres = (name: string, requestsOf: RequestsOf): Case => ({
  name,
  async run(bench) {
    const site = await bench.site('large')
    const url = await (await bench.postgres()).seeded('large')
    const requests = requestsOf(site, bench)
    const measured = await alternately(bench.plan, {
      ours: { servers: [await serve(url)], requests },
      reference: { servers: [await serve(`sqlite:${site.file}`)], requests },
    })
    return [comparedRow(name, measured, { least: 50 })]
  },
})

/** For two servers, PostgreSQL and the load. */
const CORES = 4

const twoServers = (name: string, requestsOf: RequestsOf): Case => ({
  name,
  async run(bench) {
    const site = await bench.site('large')
    const url = await (await bench.postgres()).seeded('large')
    const requests = requestsOf(site, bench)
    const measured = await alternately(bench.plan, {
      ours: { servers: [await serve(url), await serve(url)], requests },
      reference: { servers: [await serve(url)], requests },
    })
    const cores = cpus().length
    const row = timesRow(name, measured, cores < CORES ? undefined : { least: 1.7 })
    return [cores < CORES ? { ...row, note: `${cores} cores, none to spare: no goal` } : row]
  },
})
