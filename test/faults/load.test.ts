import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { makeMachine, requestsTo } from '../support/cli.js'
import { random } from '../support/random.js'
import { cleanup } from '../support/site.js'
import { amount, figures } from './amount.js'

const SECONDS = amount(15, 1800)
/** Of the load itself: requests at once, and the milliseconds that each waits before the next. */
const [CLIENTS, PAUSE] = [8, 25]
/** Descriptors that a server may open at first use and keep: connections of the database, files of its worker threads. */
const KEPT = 5

const SIGN_IN = ['POST /auth/login', { email: 'ada@example.org', password: 'correct horse battery' }] as const

it(
  `mixed load on sqlite: no error, no growth, and a server that answers at once`,
  async (context) => {
    const machine = await makeMachine('sqlite')
    const token = await machine.setup()
    const { child, says } = machine.start('serve')
    const [, url = ''] = await says(/listening on (http:\S+?)"/)
    const agent = new Agent({ keepAlive: true })
    const request = requestsTo(url, agent)
    const send = (line: string, body?: object) => request(line, { token, body })
    const posts: string[] = []
    for (let number = 0; number < 50; number++)
      posts.push((await send('POST /posts', { title: `seed ${number}` })).body.post.postId)
    await send('POST /boards', { name: 'Ideas' })
    await send('POST /roadmaps', { name: 'Next' })
    const share = random()
    const anyPost = () => posts[Math.floor(share() * posts.length)] ?? ''

    const reads: (() => [line: string, body?: object])[] = [
      () => ['GET /boards'],
      () => ['GET /boards/ideas'],
      () => ['GET /users/permissions'],
      () => ['GET /boards/get'],
      () => ['GET /roadmaps'],
      () => ['GET /roles'],
      () => ['GET /users'],
      () => ['GET /users/profile'],
      () => ['GET /settings/site'],
      () => ['GET /events'],
      () => [`GET /posts/${anyPost()}/votes`],
      () => [`GET /posts/${anyPost()}/activity`],
      () => ['POST /posts/get', { sort: ['newest', 'oldest'][Math.floor(share() * 2)] }],
      () => ['POST /posts/get', { page: 1 + Math.floor(share() * 5) }],
    ]
    const writes: (() => [line: string, body?: object])[] = [
      () => ['POST /posts', { title: `post ${share()}` }],
      () => ['POST /votes', { postId: anyPost() }],
      () => ['DELETE /votes', { postId: anyPost() }],
      () => [`POST /posts/${anyPost()}/comments`, { body: 'A comment' }],
    ]
    const statuses = new Map<string, number>()
    const durations: number[] = []
    const end = performance.now() + SECONDS * 1000
    const client = async () => {
      while (performance.now() < end) {
        const luck = share()
        const [line, body] = luck < 0.005 ? SIGN_IN : oneOf(luck < 0.2 ? writes : reads, share())()
        const began = performance.now()
        const { status } = await send(line, body).catch(() => ({ status: 'no response' }))
        const outcome = `${status} ${line.replace(/[\da-f-]{36}/, ':id')}`
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
        durations.push(performance.now() - began)
        await sleep(PAUSE * 2 * share())
      }
    }
    const handles = () => readdirSync(`/proc/${child.pid}/fd`).length
    const handlesBefore = handles()
    const memory: number[] = []
    const sampling = setInterval(() => memory.push(residentKilobytes(child.pid)), 500)
    cleanup(async () => clearInterval(sampling))
    const [{ latencies, reference }] = await Promise.all([
      probe(url, SECONDS),
      ...Array.from({ length: CLIENTS }, client),
    ])
    clearInterval(sampling)

    const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
    // Two clients vote for a post, or withdraw the vote, at once
    expect([...statuses.keys()].filter((outcome) => !/^20|^409 |^404 DELETE/.test(outcome))).toEqual([])
    expect(requests).toBeGreaterThan(SECONDS * 10)
    agent.destroy()
    await expect.poll(handles).toBeLessThanOrEqual(handlesBefore + KEPT)

    const [second, last] = [quarterOf(memory, 1), quarterOf(memory, 3)]
    const [slow, slowReference] = [latencies, reference].map((all) => all.filter((milliseconds) => milliseconds > 100).length) as [number, number] // prettier-ignore
    const longest = latencies.reduce((max, each) => Math.max(max, each), 0) // too many for the arguments of a call
    figures(
      context,
      `${SECONDS} s, ${requests} requests, memory ${Math.round(second / 1024)} then ${Math.round(last / 1024)} MiB, ` +
        `${slow} of ${latencies.length} probes above 100 ms, longest ${Math.round(longest)} ms`,
    )
    // The short version runs beside other tests, and ends before memory is warm
    expect(latencies.length).toBeGreaterThan(SECONDS * 5)
    expect(last).toBeLessThan(second * amount(2, 1.1))
    expect(last / 1024, 'MiB, of which Node itself needs 50').toBeLessThan(amount(Infinity, 140))
    // There the machine itself delays most: what answers at once takes no longer than what has work to do
    expect(middleOf(latencies)).toBeLessThan(2 * middleOf(durations))
    expect(slow).toBeLessThanOrEqual(slowReference + latencies.length * amount(Infinity, 0.001))
    expect(longest).toBeLessThan(amount(Infinity, 250))
  },
  (SECONDS + 60) * 1000,
)

const oneOf = <T>(list: T[], share: number): T => list[Math.floor(share * list.length)] as T

const middleOf = (all: number[]): number => all.toSorted((one, other) => one - other)[all.length >> 1] ?? NaN

const quarterOf = (samples: number[], number: number): number => {
  const part = samples.slice((samples.length * number) / 4, (samples.length * (number + 1)) / 4)
  return part.reduce((sum, sample) => sum + sample, 0) / part.length
}

const residentKilobytes = (pid = 0): number =>
  Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

interface Probed {
  latencies: number[]
  /** Of a server that does nothing, in the process that asks: what the machine itself delays. */
  reference: number[]
}

/** Asks for /healthz every 10 ms, from another process, and resolves with how many milliseconds each response took. */
async function probe(url: string, seconds: number): Promise<Probed> {
  const prober = spawn(process.execPath, ['-e', PROBER, `${url}/healthz`, String(seconds)])
  cleanup(async () => void prober.kill('SIGKILL'))
  let output = ''
  for await (const part of prober.stdout.setEncoding('utf8')) output += part
  return JSON.parse(output) as Probed
}

const PROBER = `
const { Agent, createServer, get } = require('node:http')
const [url, seconds] = process.argv.slice(1)
const agent = new Agent({ keepAlive: true })
const [latencies, reference] = [[], []]
const ask = (url, times) => {
  const since = performance.now()
  const note = () => times.push(performance.now() - since)
  get(url, { agent }, (response) => response.resume().on('end', note)).on('error', () => isOver || times.push(1e9)) // JSON has no Infinity
}
let isOver = false
const bare = createServer((request, response) => response.end()).listen(0, '127.0.0.1')
const asking = setInterval(() => {
  ask(url, latencies)
  ask('http://127.0.0.1:' + bare.address().port, reference)
}, 10)
setTimeout(() => {
  clearInterval(asking)
  isOver = true
  agent.destroy()
  bare.close()
  console.log(JSON.stringify({ latencies, reference }))
}, seconds * 1000)
`
