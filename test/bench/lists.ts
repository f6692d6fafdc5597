/**
 * Measures what each list of a site costs that `npm run seed` has filled, and prints a table:
 *   npm run bench:lists -- --database-url postgres://… [--only WORD]
 * Makes the first person of the site its owner. Needs Linux, and the processes of PostgreSQL on this machine.
 */
import { parseArgs } from 'node:util'
import { connect, isPostgres } from '../../src/db/connect.js'
import { median } from './measure.js'
import { pidOf } from './postgres.js'
import { cpuBetween, cpuTimes } from './processes.js'
import { get, page, post, tokens, type Request } from './requests.js'
import { id, time, WORDS } from './rows.js'
import { answerOf, serve } from './servers.js'
import { openTarget } from './target.js'

const { values } = parseArgs({ options: { 'database-url': { type: 'string' }, only: { type: 'string', default: '' } } })
const url = values['database-url']
if (!url) throw new Error('Where? Give --database-url sqlite:PATH or postgres://…')

/** The numbers below `all`, spread. */
const spread = (n: number, all: number) => Math.floor(((n * 0.618_034) % 1) * all)

/** Requests of a list, each for another part of it; they are warmed up by as many of others. */
const REQUESTS = 30
const [HOT_ROUNDS, HOT] = [3, 100]
/** Milliseconds: a list that takes longer is not asked for again and again. */
const SLOW = 200

const target = await openTarget(url, isPostgres(url))
const rowsOf = (table: string) => target.number(`select count(*) from ${table}`)
const [users, boards, posts, votes] = [
  await rowsOf('users'),
  await rowsOf('boards'),
  await rowsOf('posts'),
  await rowsOf('votes'),
]
const roadmaps = await rowsOf('roadmaps')
await target.run(`update users set "isOwner" = 1 where "userId" = '${id('user', 0)}'`)
await target.close()
const db = await connect(url)
const some = await db
  .selectFrom('posts')
  .select(['postId', 'slug'])
  .where(
    'number',
    'in',
    Array.from({ length: 61 }, (_, n) => 1 + spread(n, posts)),
  )
  .where('display', '=', 1)
  .execute()
await db.destroy()

interface List {
  name: string
  /** The request for one part of the list; the same number gives the same request. */
  request(this: void, n: number): Request
}

const word = (n: number) => WORDS[n % WORDS.length]
const [owner = ''] = await tokens()
const authorization = { authorization: `Bearer ${owner}` }
const postsBy = (name: string, body: (n: number) => object): List => ({
  name: `posts, ${name}`,
  request: (n) => post('/posts/get', { votes: false, ...body(n) }),
})
const gets = (name: string, path: (n: number) => string, headers?: Record<string, string>): List => ({
  name,
  request: (n) => get(path(n), headers),
})
const pages = (name: string, path: (n: number) => string, token?: string): List => ({
  name: `page: ${name}`,
  request: (n) => page(path(n), token),
})
// Every tenth board is private.
const boardOf = (n: number) => `board-${spread(n, boards) - (spread(n, boards) % 10) + 1}`
const roadmapOf = (n: number) => `roadmap-${spread(n, roadmaps)}`
const someOf = (n: number) => some[n % some.length]
const slugOf = (n: number) => someOf(n)?.slug
const dayOf = (n: number) => time(spread(n, 1000) / 1000).slice(0, 10)

const LISTS: List[] = [
  postsBy('newest, with voters', (n) => ({ page: n + 1, votes: true })),
  postsBy('newest', (n) => ({ page: n + 1 })),
  postsBy('newest, page 1,000 and on', (n) => ({ page: n + 1000 })),
  postsBy('newest, from anywhere, by cursor', (n) => ({ first: 10, after: someOf(n)?.postId })),
  postsBy('oldest', (n) => ({ sort: 'oldest', page: n + 1 })),
  postsBy('by votes', (n) => ({ sort: 'votes', page: n + 1 })),
  postsBy('trending', (n) => ({ sort: 'trending', page: n + 1 })),
  postsBy('discussed', (n) => ({ sort: 'discussed', page: n + 1 })),
  postsBy('of a board', (n) => ({ boardId: [boardOf(n)], page: 1 + Math.floor(n / 7) })),
  postsBy('of a board, by votes', (n) => ({ boardId: [boardOf(n)], sort: 'votes', page: 1 + Math.floor(n / 7) })),
  postsBy('of a roadmap', (n) => ({ roadmapId: roadmapOf(n), page: n + 1 })),
  postsBy('of a person', (n) => ({ authorId: `person_${spread(n, users)}` })),
  postsBy('of a day, by votes', (n) => ({ since: dayOf(n), until: `${dayOf(n)}T20:00:00Z`, sort: 'votes' })),
  postsBy('with two words', (n) => ({ query: `${word(n)} ${word(n * 3 + 1)}`, page: 1 + Math.floor(n / 5) })),
  gets('search, a common word', (n) => `/search?query=${word(n)}&page=${1 + Math.floor(n / WORDS.length)}`),
  gets('search, a typing error', (n) => `/search?query=${word(n)?.slice(1)}x${word(n + 2)}`),
  gets('similar posts', (n) => `/posts/similar?title=${word(n)}+${word(n + 5)}+${word(n + 9)}`),
  gets('facets of posts', (n) => `/posts/facets?boardId=${boardOf(n)}`),
  gets('votes of a post', (n) => `/posts/${slugOf(n)}/votes`),
  gets('boards', (n) => `/boards?page=${(n % Math.ceil(boards / 24)) + 1}`),
  gets('people', (n) => `/users?page=${n + 1}`, authorization),
  gets('people, by a part of the name', (n) => `/users?query=rson+${n * 13}`, authorization),
  gets('what a person voted for', (n) => `/users/person_${spread(n, users)}/votes`, authorization),
  gets('events', (n) => `/events?page=${n + 1}`, authorization),
  pages('home', (n) => `/?page=${n + 1}`),
  pages('a board', (n) => `/boards/${boardOf(n)}?page=${1 + Math.floor(n / 7)}`),
  pages('a post', (n) => `/posts/${slugOf(n)}`),
  pages('roadmap', () => '/roadmaps'),
  pages('inbox', (n) => `/dashboard?days=${n + 1}`, owner),
  pages('table of posts', (n) => `/dashboard/posts?page=${n + 1}`, owner),
  pages('table of posts, by votes and status', (n) => `/dashboard/posts?roadmap=${roadmapOf(n)}&sort=votes&page=${n + 1}`, owner), // prettier-ignore
  pages('people of the team', (n) => `/dashboard/users?page=${n + 1}`, owner),
].filter(({ name }) => name.includes(values.only))

const pid = isPostgres(url) ? await pidOf(url) : undefined
const databases = pid === undefined ? [] : [pid]
const server = await serve(url, ['--limits-requests', 'off', '--limits-similar', 'off'])
const now = () => ({ own: cpuTimes([server.pid]), database: cpuTimes(databases), clock: performance.now() })
const failures: string[] = []
const answered = async (list: List, n: number) => {
  await answerOf(server.url, list.request(n)).catch((error: Error) => failures.push(`${list.name}: ${error.message}`))
}

console.log(`\n${posts} posts, ${votes} votes, ${users} people, ${boards} boards, ${roadmaps} roadmaps\n`)
console.log('| list | cold: server ms | database ms | by the clock ms | longest | hot: server µs |')
console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
try {
  for (const list of LISTS) for (let n = 0; n < REQUESTS; n++) await answered(list, REQUESTS + n)
  for (const list of LISTS) {
    const cold: { own: number; database: number; clock: number }[] = []
    for (let n = 0; n < REQUESTS; n++) {
      const before = now()
      await answered(list, n)
      const after = now()
      cold.push({ own: cpuBetween(before.own, after.own), database: cpuBetween(before.database, after.database), clock: after.clock - before.clock }) // prettier-ignore
    }
    const hot = []
    const isSlow = median(cold.map(({ clock }) => clock)) > SLOW
    for (let round = isSlow ? HOT_ROUNDS : 0; round < HOT_ROUNDS; round++) {
      const before = now()
      for (let n = 0; n < HOT; n++) await answered(list, 0)
      hot.push((cpuBetween(before.own, now().own) * 1000) / HOT)
    }
    const [own, database, clock] = (['own', 'database', 'clock'] as const).map((part) => median(cold.map((each) => each[part])).toFixed(1)) // prettier-ignore
    const longest = Math.max(...cold.map((each) => each.clock)).toFixed(0)
    console.log(
      `| ${list.name} | ${own} | ${database} | ${clock} | ${longest} | ${isSlow ? '' : median(hot).toFixed(0)} |`,
    )
  }
} finally {
  await server.stop()
}
for (const failure of failures) console.error(failure)
process.exitCode = failures.length > 0 ? 1 : 0
