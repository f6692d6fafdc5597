import { isPostgres } from '../../src/db/connect.js'
import type { Row } from './cases.js'
import { median } from './measure.js'
import { cpuBetween, cpuTimes } from './processes.js'
import { get, page, post, tokens, type Request } from './requests.js'
import { id, type Size } from './rows.js'
import { answerOf, serve } from './servers.js'
import { openTarget } from './target.js'

/** 100,000 public boards. */
export const DASHBOARD: Size = { users: 50_000, boards: 111_111, roadmaps: 6, posts: 1_000_000, votes: 2_000_000 }

/** Posts of the last week, and posts with an open report. */
const [NEW, REPORTED] = [2000, 300]

/** Requests of a kind that are measured, each for something else, after others of all kinds: less, and V8 still compiles. */
const REQUESTS = 20
const [WARM, ROUNDS] = [40, 3]
const BULKS = 10

interface Measured {
  engine: string
  /** The first process of PostgreSQL. */
  pid?: number | undefined
}

/** Its queue has what a busy week would leave, and its first person is the owner. */
async function prepare(url: string): Promise<void> {
  const target = await openTarget(url, isPostgres(url))
  const now = Date.now()
  const newest = DASHBOARD.posts - NEW
  const time = (minutes: string) =>
    isPostgres(url)
      ? `to_char(to_timestamp(${now / 1000} - (${minutes}) * 60) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : `strftime('%Y-%m-%dT%H:%M:%fZ', ${now / 1000} - (${minutes}) * 60, 'unixepoch')`
  await target.run(`update users set "isOwner" = 1 where "userId" = '${id('user', 0)}'`)
  await target.run(`update posts set "createdAt" = ${time(`(${DASHBOARD.posts} - number) * 5`)}, "updatedAt" = ${time(`(${DASHBOARD.posts} - number) * 5`)} where number > ${newest}`) // prettier-ignore
  await target.run(`update posts set is_spam = 1, display = 0 where number % 997 = 3 and number <= ${newest}`)
  await target.insert(
    'reports',
    Array.from({ length: REPORTED }, (_, n) => ({
      reportId: id('vote', 20_000_000 + n),
      postId: id('post', n * 3000 + 7),
      commentId: null,
      userId: id('user', n + 1),
      reason: 'An advertisement',
      isOpen: 1,
      createdAt: new Date(now - n * 60_000).toISOString(),
    })),
  )
  await target.close()
}

/** Addresses that each ask for something else: `n` counts up. */
const kinds = (token: string): { name: string; request(this: void, n: number): Request }[] => {
  const shown = (name: string, address: (n: number) => string) => ({ name, request: (n: number) => page(address(n), token) }) // prettier-ignore
  const facets = (name: string, query: (n: number) => string) => ({
    name,
    request: (n: number) => get(`/posts/facets${query(n)}`, { authorization: `Bearer ${token}` }),
  })
  return [
    shown('inbox', (n) => `/dashboard?days=${n + 1}`),
    shown('inbox, reported', (n) => `/dashboard?reason=reported&days=${n + 1}`),
    shown('table, newest', (n) => `/dashboard/posts?page=${n + 1}`),
    shown(
      'table, by votes and status',
      (n) => `/dashboard/posts?roadmap=none&roadmap=roadmap-1&sort=votes&page=${n + 1}`,
    ),
    shown('table, of a board', (n) => `/dashboard/posts?board=board-${n * 7}`),
    shown('table, of a person', (n) => `/dashboard/posts?author=person_${n}&sort=votes`),
    shown('table, of a day', (n) => `/dashboard/posts?since=2024-03-01&until=2024-0${(n % 8) + 2}-${String((n % 28) + 1).padStart(2, '0')}&sort=votes`), // prettier-ignore
    shown('table, spam', (n) => `/dashboard/posts?spam=true&sort=discussed&page=${(n % 20) + 1}`),
    shown(
      'table, a common word',
      (n) => `/dashboard/posts?q=${['dark', 'mode', 'export'][n % 3]}&page=${(n % 20) + 1}`,
    ),
    shown('people', (n) => `/dashboard/users?page=${n + 1}`),
    shown('people, by a part of the name', (n) => `/dashboard/users?q=rson+${n * 13}`),
    shown('people, by posts', (n) => `/dashboard/users?sort=posts&page=${n + 1}`),
    shown('boards', (n) => `/dashboard/boards?page=${n + 1}`),
    facets('facets, all', (n) => `?boardId=board-${n}&boardId=board-${n + 1}`),
    facets('facets, of a person', (n) => `?authorId=person_${n}`),
    facets('facets, of a common word', (n) => `?query=${['dark', 'mode', 'export', 'chart', 'share'][n % 5]}&boardId=board-${n}`), // prettier-ignore
    facets('facets, spam', (n) => `?spam=true&boardId=board-${n}`),
  ]
}

/** The CPU of one request at a time, of the server and of PostgreSQL, and how long bulks of 100 take. */
export async function measured(url: string, { engine, pid }: Measured): Promise<Row[]> {
  await prepare(url)
  const [token = ''] = await tokens()
  const server = await serve(url)
  const databases = pid === undefined ? [] : [pid]
  const rows: Row[] = []
  const timed = async (request: Request) => {
    const before = { server: cpuTimes([server.pid]), databases: cpuTimes(databases), clock: performance.now() }
    await answerOf(server.url, request)
    const clock = performance.now() - before.clock
    const own = cpuBetween(before.server, cpuTimes([server.pid]))
    const database = cpuBetween(before.databases, cpuTimes(databases))
    return { cpu: own + database, database, clock }
  }
  const ofDatabase = (times: { database: number }[]) =>
    pid === undefined ? '' : `PostgreSQL itself ${median(times.map(({ database }) => database)).toFixed(1)} ms; `
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const { request } of kinds(token))
        for (let n = 0; n < WARM; n++) await answerOf(server.url, request(REQUESTS + n))
    for (const { name, request } of kinds(token)) {
      const times = []
      for (let n = 0; n < REQUESTS; n++) times.push(await timed(request(n)))
      const cpu = times.map((each) => each.cpu)
      rows.push({
        name: `the dashboard, ${engine}, CPU: ${name}`,
        result: { value: median(cpu), unit: 'ms', goal: { most: 20 } },
        note: `${Math.min(...cpu).toFixed(1)} to ${Math.max(...cpu).toFixed(1)}; ${ofDatabase(times)}by the clock ${median(times.map(({ clock }) => clock)).toFixed(1)} ms`, // prettier-ignore
      })
    }
    const newest = (bulk: number) =>
      Array.from({ length: 100 }, (_, n) => id('post', DASHBOARD.posts - 1 - bulk * 100 - n))
    const bulks: [name: string, (bulk: number) => Request][] = [
      ['100 posts get a status', (n) => post('/posts/move', { ids: newest(n), roadmapId: `roadmap-${n % 5}` }, token)],
      ['100 posts get a board', (n) => post('/posts/move', { ids: newest(n), boardId: `board-${n * 20}` }, token)],
      ['100 posts are marked as spam', (n) => post('/moderation', { ids: newest(n), decision: 'spam' }, token)],
    ]
    for (const [name, request] of bulks) {
      const times = []
      for (let n = 0; n < BULKS; n++) times.push(await timed(request(n)))
      const clock = times.map((each) => each.clock)
      rows.push({
        name: `the dashboard, ${engine}, a bulk: ${name}`,
        result: { value: median(clock), unit: 'ms', goal: { most: 300 } },
        note: `${Math.min(...clock).toFixed(0)} to ${Math.max(...clock).toFixed(0)}; CPU ${median(times.map(({ cpu }) => cpu)).toFixed(0)} ms`, // prettier-ignore
      })
    }
    return rows
  } finally {
    await server.stop()
  }
}
