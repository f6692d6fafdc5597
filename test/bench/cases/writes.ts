import { seededRandom } from '../../../src/core/random.js'
import type { Bench, Case, Row } from '../cases.js'
import { alternately, median, type Samples } from '../measure.js'
import { get, post, slugsOf, votes, write, type Request } from '../requests.js'
import { bareLike, reference, serve } from '../servers.js'
import { copyOf, type Site } from '../sites.js'
import { comparedRow, timesRow } from './compared.js'

/** More votes a second than are expected: nobody may vote for the same post twice. */
const MOST = 16_000

export const writes = (): Case[] => [
  mixed(),
  durable('POST /posts, durable', newPosts),
  { ...durable('POST /votes, durable', newVotes), long: true },
]

/**
 * Of 100 requests 25 ask for boards, 30 for the newest posts, 15 for posts by votes and 25 for a post, half of them
 * signed in; 5 are votes.
 */
const mixed = (name = '95 % reads, 5 % votes'): Case => ({
  name,
  async run(bench) {
    const site = await bench.site('large')
    const copy = copyOf(site)
    try {
      const requests = blend(site, bench)
      const server = await serve(copy.url)
      const bare = await bareLike(server, requests)
      const measured = await alternately(bench.plan, {
        ours: { servers: [server], requests },
        reference: { servers: [bare], requests },
      })
      return [comparedRow(name, measured, { least: 25 }), tailRow(`${name}: p99 over p50`, measured.ours)]
    } finally {
      copy.remove()
    }
  },
})

const tailRow = (name: string, samples: Samples): Row => ({
  name,
  result: { value: median(samples.map(({ p50, p99 }) => p99 / p50)), unit: 'x', goal: { most: 10 } },
})

/** Our server and one written by hand, each on a database of its own. */
const durable = (name: string, requestsOf: (site: Site, bench: Bench) => Request[]): Case => ({
  name,
  async run(bench) {
    const site = await bench.site('large')
    const copies = { ours: copyOf(site), reference: copyOf(site) }
    try {
      const requests = requestsOf(site, bench)
      const measured = await alternately(bench.plan, {
        ours: { servers: [await serve(copies.ours.url)], requests },
        reference: { servers: [await reference('raw', copies.reference.file)], requests },
      })
      return [timesRow(name, measured, { least: 2.5 })]
    } finally {
      for (const copy of Object.values(copies)) copy.remove()
    }
  },
})

const newPosts = (_site: Site, { tokens }: Bench): Request[] =>
  tokens.map((token, n) =>
    write(
      '/posts',
      { title: `Export of chart ${n}`, contentMarkdown: 'We need **export** with charts.', boardId: `board-${n % 9}` },
      token,
    ),
  )

const newVotes = (site: Site, { plan, tokens }: Bench): Request[] =>
  votes(site, tokens, MOST * (plan.warm + plan.rounds * plan.seconds))

function blend(site: Site, { plan, tokens }: Bench): Request[] {
  const next = seededRandom(13)
  const slugs = slugsOf(site)
  const cast = votes(site, tokens, (MOST / 20) * (plan.warm + plan.rounds * plan.seconds))
  const among = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]! // no list is empty
  const sometimes = () => (next() < 0.5 ? among(tokens) : undefined)
  const read = (): Request => {
    const dice = next() * 95
    if (dice < 25) return get('/boards')
    if (dice < 55) return post('/posts/get', {}, sometimes())
    return dice < 70
      ? post('/posts/get', { sort: 'votes' }, sometimes())
      : post('/posts/slug', { id: among(slugs).slug }, sometimes())
  }
  return cast.flatMap((vote) => [...Array.from({ length: 19 }, read), vote])
}
