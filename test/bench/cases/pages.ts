import type { Case } from '../cases.js'
import { alternately, median, medians } from '../measure.js'
import { page, post, type Request } from '../requests.js'
import { serve } from '../servers.js'
import type { Site } from '../sites.js'
import { PAGES, sweepOver } from './cold.js'
import { againstBare } from './compared.js'

/** What people see in a browser. */
export const pages = (): Case[] => [
  againstBare({ name: 'GET /, a page, visitors', site: 'large', goal: 60, requests: () => [page('/')] }),
  madeAnew('the home page of a board, a page, cold', (site) =>
    column(site, 'select url as path from boards where display = 1 order by createdAt, boardId limit ?').map((url) =>
      page(`/?board=${url}`),
    ),
  ),
  madeAnew('a board, a page, cold', (site) =>
    column(site, 'select url as path from boards where display = 1 order by createdAt desc limit ?').map((url) =>
      page(`/boards/${url}`),
    ),
  ),
  madeAnew('a post, a page, cold', (site) =>
    column(site, 'select slug as path from posts where display = 1 order by createdAt desc limit ?').map((slug) =>
      page(`/posts/${encodeURIComponent(slug)}`),
    ),
  ),
  {
    name: 'newest posts, a page, signed in, hot: CPU of the API',
    async run({ plan, site, tokens }) {
      const servers = [await serve(`sqlite:${(await site('large')).file}`)]
      const { ours, reference } = await alternately(plan, {
        ours: { servers, requests: tokens.map((token) => pageOf(token)) },
        reference: { servers, requests: tokens.map((token) => listOf(token)) },
      })
      const ratios = ours.map((sample, round) => sample.cpu / (reference[round] ?? sample).cpu)
      return [
        {
          name: 'newest posts, a page, signed in, hot: CPU of the API',
          ours: medians(ours),
          reference: medians(reference),
          result: { value: median(ratios), unit: 'x', goal: { most: 2 } },
        },
      ]
    },
  },
  {
    name: 'newest posts, a page, signed in, cold: CPU of the API',
    long: true,
    async run({ plan, site, tokens }) {
      const url = `sqlite:${(await site('large')).file}`
      /** A hundred people who look at the first page, after all have looked at others. */
      const asked = (request: typeof pageOf) =>
        Array.from({ length: LAST }, (_, index) =>
          request(tokens[index % tokens.length], Math.floor(index / tokens.length) + 1),
        )
      const measured: { ours: number; reference: number }[] = []
      for (let sweep = 0; sweep < plan.sweeps; sweep++)
        measured.push({
          ours: (await sweepOver(url, asked(pageOf), undefined)).server,
          reference: (await sweepOver(url, asked(listOf), undefined)).server,
        })
      const middle = (of: 'ours' | 'reference') => median(measured.map((sample) => sample[of])).toFixed(0)
      return [
        {
          name: 'newest posts, a page, signed in, cold: CPU of the API',
          result: {
            value: median(measured.map(({ ours, reference }) => ours / reference)),
            unit: 'x',
            goal: { most: 2 },
          },
          note: `${middle('ours')} of ${middle('reference')} µs`,
        },
      ]
    },
  },
]

/** Requests of a sweep; the first are measured. */
const LAST = 2700

/** The same twenty posts, as a page and over the API. */
const pageOf = (token?: string, number = 1): Request => page(`/?sort=newest&page=${number}`, token)
const listOf = (token?: string, number = 1): Request => post('/posts/get', { limit: 20, page: number }, token)

const column = (site: Site, sql: string): string[] => site.rows<{ path: string }>(sql, LAST).map(({ path }) => path)

/** Pages that nobody asked for before, of a site with 100,000 boards and 1,000,000 posts: CPU of the server for one. */
const madeAnew = (name: string, requests: (site: Site) => Request[]): Case => ({
  name,
  long: true,
  async run({ plan, site: siteOf }) {
    const site = await siteOf('large')
    const asked = requests(site)
    if (asked.length < 2 * PAGES) throw new Error(`${name} has ${asked.length} pages`)
    const times: number[] = []
    for (let sweep = 0; sweep < plan.sweeps; sweep++)
      times.push((await sweepOver(`sqlite:${site.file}`, asked, undefined)).server)
    return [
      {
        name,
        result: { value: median(times), unit: 'µs', goal: { most: 1000 } },
        note: `${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)}`,
      },
    ]
  },
})
