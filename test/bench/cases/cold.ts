import { Agent } from 'node:http'
import type { Case, Goal } from '../cases.js'
import { median } from '../measure.js'
import { publicBoards, type SiteName } from '../plan.js'
import { cpuBetween, cpuTimes, type CpuTimes } from '../processes.js'
import { get, post, type Request } from '../requests.js'
import { answerOf, serve } from '../servers.js'

/** What a page costs that is in no cache. */
export const cold = (): Case[] => [
  pagesMadeAnew({
    name: 'POST /posts/get newest, cold',
    site: 'usual',
    request: (page) => post('/posts/get', { page }),
    most: { sqlite: 500, postgres: 600, database: 600 },
  }),
  pagesMadeAnew({
    name: 'GET /boards?page=N, cold',
    site: 'large',
    request: (page) => get(`/boards?page=${page}`),
    most: { sqlite: 120, postgres: 120, database: 150 },
  }),
]

/** The pages that are measured. */
export const PAGES = 100

/** The server is warmed up with the pages from there to this one, so many times: less, and V8 still compiles. */
const LAST = 2700
const WARM_UPS = 2

interface Pages {
  name: string
  site: SiteName
  request(this: void, page: number): Request
  /** Goals in microseconds a request: of our server on each engine, and of PostgreSQL itself. */
  most: Record<'sqlite' | 'postgres' | 'database', number>
}

/** In every sweep each engine has a server that was just started, which is asked for each page once. */
const pagesMadeAnew = ({ name, site: siteName, request, most }: Pages): Case => ({
  name,
  long: true,
  async run({ plan, site: siteOf, postgres: open }) {
    const [{ file, size }, postgres] = [await siteOf(siteName), await open()]
    const urls = { sqlite: `sqlite:${file}`, postgres: await postgres.seeded(siteName) }
    const last = Math.min(LAST, siteName === 'large' ? publicBoards(size) / 10 : LAST)
    const pages = Array.from({ length: last }, (_, index) => request(index + 1))
    const times = { sqlite: [] as number[], postgres: [] as number[], database: [] as number[] }
    for (let sweep = 0; sweep < plan.sweeps; sweep++)
      for (const engine of ['sqlite', 'postgres'] as const) {
        const used = await sweepOver(urls[engine], pages, engine === 'postgres' ? postgres.pid : undefined)
        times[engine].push(used.server)
        if (engine === 'postgres') times.database.push(used.database)
      }
    const row = (what: string, measured: number[], goal: Goal) => ({
      name: `${name}: ${what}`,
      result: { value: median(measured), unit: 'µs' as const, goal },
      note: `${Math.min(...measured).toFixed(0)} to ${Math.max(...measured).toFixed(0)}`,
    })
    return [
      row('CPU of the server, SQLite', times.sqlite, { most: most.sqlite }),
      row('CPU of the server, PostgreSQL', times.postgres, { most: most.postgres }),
      postgres.pid === undefined
        ? { name: `${name}: CPU of PostgreSQL itself`, note: 'PostgreSQL runs on another machine' }
        : row('CPU of PostgreSQL itself', times.database, { most: most.database }),
    ]
  },
})

/** Microseconds of CPU for one of the first pages, after all others have warmed up the server. */
export async function sweepOver(
  url: string,
  pages: readonly Request[],
  postgres: number | undefined,
): Promise<{ server: number; database: number }> {
  const server = await serve(url)
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const askAll = (requests: readonly Request[]) =>
    Promise.all(requests.map((request) => answerOf(server.url, request, agent)))
  const measured = { server: [server.pid], database: postgres === undefined ? [] : [postgres] }
  const now = () => ({ server: cpuTimes(measured.server), database: cpuTimes(measured.database) })
  const perPage = (before: CpuTimes, after: CpuTimes) => (cpuBetween(before, after) * 1000) / PAGES
  try {
    for (let round = 0; round < WARM_UPS; round++) await askAll(pages.slice(PAGES))
    const before = now()
    await askAll(pages.slice(0, PAGES))
    const after = now()
    return {
      server: perPage(before.server, after.server),
      database: perPage(before.database, after.database),
    }
  } finally {
    agent.destroy()
    await server.stop()
  }
}
