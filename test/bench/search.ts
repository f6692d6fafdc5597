import { indexTokens, indexTokensWithBeginnings } from '../../src/core/search/words.js'
import { isPostgres } from '../../src/db/connect.js'
import type { Row } from './cases.js'
import { median } from './measure.js'
import { cpuBetween, cpuTimes } from './processes.js'
import { get, post, tokens, type Request } from './requests.js'
import { id } from './rows.js'
import { answerOf, serve, type Server } from './servers.js'
import { openTarget } from './target.js'
import { textOf, titleOf, VOCABULARY, wordOf, write, type Written } from './texts.js'

/** Requests of a kind that are measured, each for something else, after others of all kinds. */
const [REQUESTS, WARM, ROUNDS] = [100, 40, 3]
/** Posts that are written, at a time and in all, and rounds of that. */
const [AT_ONCE, POSTS, TURNS] = [16, 800, 3]
/** Voters of each of two posts that become one, of whom half voted for both, and how often. */
const [VOTERS, MERGES] = [10_000, 5]

interface Measured {
  engine: string
  size: Written
  /** The first process of PostgreSQL. */
  pid?: number | undefined
}

/** A post in words, or in signs without spaces. */
const spread = (n: number, { posts }: Written, isSigns: boolean): number =>
  (Math.floor((n * 7919) % (posts / 10)) * 10 + (isSigns ? 4 : 1)) % posts

/** Searches that each ask for something else: `n` counts up. */
const kinds = (size: Written): { name: string; query(this: void, n: number): string }[] => [
  { name: 'a common word', query: (n) => wordOf(n) },
  { name: 'a rare word', query: (n) => wordOf(VOCABULARY - 1 - n * 37) },
  { name: 'two common words', query: (n) => `${wordOf(n)} ${wordOf(n * 3 + 7)}` },
  {
    name: 'three words of a text',
    query: (n) =>
      textOf(spread(n, size, false))
        .split(' ')
        .slice(4, 7)
        .join(' '),
  },
  {
    name: 'a phrase',
    query: (n) =>
      `"${textOf(spread(n, size, false))
        .split(' ')
        .slice(8, 10)
        .join(' ')}"`,
  },
  { name: 'three CJK letters', query: (n) => textOf(spread(n, size, true)).slice(5, 8) },
  { name: 'two letters', query: (n) => wordOf(n * 7).slice(0, 2) },
  { name: 'three letters', query: (n) => wordOf(n * 7).slice(0, 3) },
  { name: 'a typing error', query: (n) => wordOf(12_000 + n * 41).replace(/(?<=^...)./u, 'x') },
]

const quantile = (numbers: number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? NaN

/** Searches of a large site, what its index takes, and what a merge of two posts with many voters does. */
export async function measured(url: string, { engine, size, pid }: Measured): Promise<Row[]> {
  const name = `search of ${size.posts.toLocaleString('en')} posts, ${engine}`
  const bytes = await write(url, size)
  const index = await indexBytes(url)
  const rows: Row[] = [
    { name: `${name}: index against text`, result: { value: index / bytes, unit: 'x', goal: { most: 1.5 } }, note: `${(index / 1e6).toFixed(0)} of ${(bytes / 1e6).toFixed(0)} MB` },
  ] // prettier-ignore
  const databases = pid === undefined ? [] : [pid]
  const inServer = async <Result>(use: (server: Server) => Promise<Result>): Promise<Result> => {
    const server = await serve(url, ['--limits-requests', 'off'])
    try {
      return await use(server)
    } finally {
      await server.stop()
    }
  }
  await inServer(async (server) => {
    const ask = (query: string) => answered(server, get(`/search?query=${encodeURIComponent(query)}`))
    for (let round = 0; round < ROUNDS; round++)
      for (const { query } of kinds(size)) for (let n = 0; n < WARM; n++) await ask(query(REQUESTS + round * WARM + n))
    for (const { name: kind, query } of kinds(size)) {
      const [cpu, clock, hits] = [[] as number[], [] as number[], [] as number[]]
      for (let n = 0; n < REQUESTS; n++) {
        const before = { server: cpuTimes([server.pid]), databases: cpuTimes(databases), clock: performance.now() }
        const { body } = await ask(query(n))
        clock.push(performance.now() - before.clock)
        cpu.push(cpuBetween(before.server, cpuTimes([server.pid])) + cpuBetween(before.databases, cpuTimes(databases)))
        hits.push((JSON.parse(body.toString()) as { hits: unknown[] }).hits.length)
      }
      const shown = (times: number[]) => `p50 ${median(times).toFixed(1)}, slowest ${Math.max(...times).toFixed(0)} ms`
      rows.push({
        name: `${name}: ${kind}, p99`,
        result: { value: quantile(clock, 0.99), unit: 'ms', goal: { below: pid === undefined && !isPostgres(url) ? 30 : 50 } }, // prettier-ignore
        note: `${shown(clock)}; CPU p99 ${quantile(cpu, 0.99).toFixed(1)}, ${shown(cpu)}; hits ${median(hits)}`,
      })
    }
  })
  rows.push(...(await merging(url, name, inServer)))
  // Last, as it takes the index away
  const indexed = await inServer((server) => writing(server, databases))
  await withoutIndex(url)
  const bare = (await inServer((server) => writing(server, databases))) - inWords(url)
  rows.push({ name: `${name}: writing a post, CPU`, result: { value: indexed / bare, unit: 'x', goal: { most: 1.3 } }, note: `${indexed.toFixed(0)} µs, without the index ${bare.toFixed(0)} µs` }) // prettier-ignore
  return rows
}

async function answered(server: Server, request: Request) {
  const answer = await answerOf(server.url, request)
  if (answer.status >= 400) throw new Error(`${request.path}: ${answer.status} ${answer.body.toString()}`)
  return answer
}

/** What the words of posts and comments take, with what leads to them. */
async function indexBytes(url: string): Promise<number> {
  const postgres = isPostgres(url)
  const target = await openTarget(url, postgres)
  try {
    return await target.number(
      postgres
        ? `select pg_total_relation_size('post_search') + pg_total_relation_size('comment_search') + pg_total_relation_size('indexed_comments')`
        : // A number in a row of comments takes four bytes
          `select sum(pgsize) + (select 4 * count(number) from comments) from dbstat where aggregate = true and (name like 'post_search%' or name like 'comment_search%' or name = 'comments_by_number')`,
    )
  } finally {
    await target.close()
  }
}

const NEW = (n: number) => ({ title: titleOf(n), contentMarkdown: textOf(n) })

/** Microseconds of CPU of a new post, of the server and of PostgreSQL. */
async function writing(server: Server, databases: number[]): Promise<number> {
  const signed = await tokens()
  const each: number[] = []
  for (let turn = 0; turn <= TURNS; turn++) {
    const before = { server: cpuTimes([server.pid]), databases: cpuTimes(databases) }
    for (let at = 0; at < POSTS; at += AT_ONCE)
      await Promise.all(
        Array.from(
          { length: AT_ONCE },
          (_, n) =>
          answered(server, post('/posts', { ...NEW(at + n), boardId: `board-${n % 9}` }, signed[(at + n) % signed.length] ?? '')), // prettier-ignore
        ),
      )
    const cpu = cpuBetween(before.server, cpuTimes([server.pid])) + cpuBetween(before.databases, cpuTimes(databases))
    if (turn > 0) each.push((cpu * 1000) / POSTS) // the first compiles
  }
  return median(each)
}

/** Microseconds of CPU for the words of a post alone. */
function inWords(url: string): number {
  const tokensOf = isPostgres(url) ? indexTokens : indexTokensWithBeginnings
  const posts = Array.from({ length: POSTS }, (_, n) => NEW(n))
  let each = 0
  for (let turn = 0; turn <= TURNS; turn++) {
    const before = process.cpuUsage()
    for (const { title, contentMarkdown } of posts) tokensOf(contentMarkdown, title).join(' ')
    const { user, system } = process.cpuUsage(before)
    each = (user + system) / POSTS // the last turn counts, with compiled code
  }
  return each
}

/** New posts get into an index that keeps nothing. */
async function withoutIndex(url: string): Promise<void> {
  const postgres = isPostgres(url)
  const target = await openTarget(url, postgres)
  await target.run(
    postgres
      ? `create function keep_nothing() returns trigger language plpgsql as 'begin return null; end';
         create trigger keep_nothing before insert on post_search for each row execute function keep_nothing()`
      : `drop table post_search; create table post_search (words text);
         create trigger keep_nothing before insert on post_search begin select raise(ignore); end`,
  )
  await target.close()
}

/** The time of a merge of a post with many voters into another. */
async function merging(
  url: string,
  name: string,
  inServer: <Result>(use: (server: Server) => Promise<Result>) => Promise<Result>,
): Promise<Row[]> {
  const target = await openTarget(url, isPostgres(url))
  const at = new Date().toISOString()
  const vote = (pair: number, side: number, n: number) => ({
    voteId: id('vote', 900_000_000 + (pair * 2 + side) * VOTERS + n),
    userId: id('user', 1 + n + (side * VOTERS) / 2),
    postId: id('post', pair * 2 + side),
    createdAt: at,
  })
  for (let pair = 0; pair < MERGES; pair++)
    for (const side of [0, 1])
      await target.insert('votes', Array.from({ length: VOTERS }, (_, n) => vote(pair, side, n))) // prettier-ignore
  await target.close()
  const [token = ''] = await tokens()
  const times = await inServer(async (server) => {
    const found = []
    for (let pair = 0; pair < MERGES; pair++) {
      const began = performance.now()
      await answered(server, post('/posts/merge', { ids: [id('post', pair * 2)], into: id('post', pair * 2 + 1) }, token)) // prettier-ignore
      found.push(performance.now() - began)
    }
    return found
  })
  return [
    { name: `${name}: 10,000 voters into 10,000`, result: { value: median(times), unit: 'ms', goal: { below: 1000 } }, note: `of ${MERGES} merges, ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms` },
  ] // prettier-ignore
}
