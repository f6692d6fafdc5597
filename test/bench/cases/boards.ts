import { seededRandom } from '../../../src/core/random.js'
import type { Case, Row } from '../cases.js'
import { alternately, medians, type Sample, type Samples, type Target } from '../measure.js'
import { publicBoards, SITES_BY_BOARDS, type Plan } from '../plan.js'
import { boardAt, get, type Request } from '../requests.js'
import { answerOf, bareLike, serve } from '../servers.js'
import type { Site } from '../sites.js'
import { againstBare, comparedRow } from './compared.js'

export function boards(plan: Plan): Case[] {
  const sizes = SITES_BY_BOARDS.map((site) => ({
    site,
    of: count(publicBoards(plan.sites[site])),
  }))
  const all = publicBoards(plan.sites.large)
  const pages = [1, all / 1000, all / 10].map((page) => ({
    name: `GET /boards?page=${count(page)}, hot`,
    request: () => get(`/boards?page=${page}`),
  }))
  const depths = [10, all / 10, all * 0.99].map((depth) => ({
    name: `GET /boards?first=10&after= depth ${count(depth)}`,
    request: (site: Site) => get(`/boards?first=10&after=${boardAt(site, depth)}`),
  }))
  return [
    ...sizes.map(({ site, of }) =>
      againstBare({
        name: `GET /boards, ${of} boards`,
        site,
        long: site === 'middle',
        goal: 75,
        requests: () => [get('/boards')],
      }),
    ),
    ...sizes.map(({ site, of }) =>
      againstBare({
        name: `GET /boards, ${of} boards, If-None-Match`,
        site,
        long: site !== 'large',
        goal: 80,
        requests: async (_site, _bench, url) => [await unchanged(url)],
      }),
    ),
    flat('GET /boards?page=N, hot, slowest of fastest', pages),
    { ...flat('GET /boards?first=10&after=, slowest of fastest', depths), long: true },
    againstBare({
      name: 'GET /boards?page=N at random',
      site: 'large',
      long: true,
      requests: () => randomPages(all / 10),
    }),
  ]
}

const count = (number: number): string => number.toLocaleString('en')

/** The request of a client that already has the current response. */
async function unchanged(url: string): Promise<Request> {
  const { headers } = await answerOf(url, get('/boards'))
  return get('/boards', { 'if-none-match': headers.etag ?? '' })
}

interface Place {
  name: string
  request(this: void, site: Site): Request
}

/** Places take turns more often than other targets, so that a slow second of the machine matters less. */
const FINER = 3

/**
 * Places in one list, each against bare `node:http`, all in turn; a line more says how far the slowest is behind the
 * fastest.
 */
const flat = (name: string, places: Place[]): Case => ({
  name,
  async run({ plan, site: siteOf }) {
    const site = await siteOf('large')
    const targets: Record<string, Target> = {}
    const server = await serve(`sqlite:${site.file}`) // one for all: processes differ more than places
    for (const place of places) {
      const requests = [place.request(site)]
      targets[place.name] = { servers: [server], requests }
      targets[`bare ${place.name}`] = { servers: [await bareLike(server, requests)], requests }
    }
    const seconds = Math.max(1, plan.seconds / FINER)
    const measured = await alternately(
      { ...plan, seconds, rounds: Math.round((plan.rounds * plan.seconds) / seconds) },
      targets,
    )
    const of = (target: string): Samples => measured[target]! // a target for each place
    const rows: Row[] = places.map((place) =>
      comparedRow(place.name, { ours: of(place.name), reference: of(`bare ${place.name}`) }, { least: 50 }),
    )
    return [
      ...rows,
      {
        name,
        result: {
          value: 100 * flatness(places.map((place) => medians(of(place.name)))),
          unit: '%',
          goal: { least: 90 },
        },
      },
    ]
  },
})

function flatness(samples: Sample[]): number {
  const slowest = (of: (sample: Sample) => number) => Math.min(...samples.map(of)) / Math.max(...samples.map(of))
  return Math.min(
    slowest(({ rate }) => rate),
    slowest(({ cpu }) => cpu),
  )
}

function randomPages(pages: number): Request[] {
  const next = seededRandom(3)
  return Array.from({ length: 20_000 }, () => get(`/boards?page=${1 + Math.floor(next() * pages)}`))
}
