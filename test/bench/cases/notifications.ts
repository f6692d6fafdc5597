import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Case, Row } from '../cases.js'
import { peakOfAll, start } from '../processes.js'
import { get, page, post, type Request } from '../requests.js'
import { id, tablesOf } from '../rows.js'
import { answerOf, serve, type Server } from '../servers.js'
import { copyOf } from '../sites.js'
import { steadily, waited, type Times } from '../steady.js'
import { openTarget, type Target } from '../target.js'

/** A post that many people follow gets another status: how long it takes to tell them all, and what others feel of it. */
export const notifications = (): Case[] => [
  telling('10,000 followers are told, SQLite', async ({ site }) => copyOf(await site('usual'))),
  telling('10,000 followers are told, PostgreSQL', async ({ postgres }) => (await postgres()).copyOf('usual')),
]

const FOLLOWERS = 10_000

/** The newest posts of the seed: the first has all the followers, the others as many as the seed gave them. */
const FOLLOWED = 29_999
/** Changes of a post with few followers, which a change of one with many is compared with. */
const FEW = 20

const telling = (name: string, copyFrom: (bench: Bench) => Promise<{ url: string; remove(): unknown }>): Case => ({
  name,
  long: true,
  async run(bench) {
    const { size } = await bench.site('usual')
    const copy = await copyFrom(bench)
    const target = await openTarget(copy.url, copy.url.startsWith('postgres'))
    const mails = await mailServer()
    try {
      const people = size.users + FOLLOWERS
      await target.run(`update users set "isOwner" = 1 where "userId" = '${id('user', 0)}'`)
      await target.run(`update posts set roadmap_id = '${id('roadmap', 0)}' where number > ${FOLLOWED - FEW}`)
      await target.insert('users', [...tablesOf({ ...size, users: people }, 'rowid').users ?? []].slice(size.users)) // prettier-ignore
      await target.insert('votes', followers(size.users, people))
      const server = await serve(copy.url, ['--mail-url', mails.url, '--mail-from', 'board@example.org'])
      await waited(steadily(server, reads(bench)), 3000)
      const before = await waited(steadily(server, reads(bench)), 5000)
      const memory = peakOfAll(server.pid)
      const few = await timesOf(FEW, (n) => change(server, bench, FOLLOWED - 1 - n))
      await pause(2000)
      const told = await countOf(target)
      const reading = steadily(server, reads(bench))
      const [many] = await timesOf(1, () => change(server, bench, FOLLOWED))
      const rows = await secondsUntil(async () => (await countOf(target)) >= told + FOLLOWERS)
      await target.run(`update notifications set "mailAt" = '2000-01-01T00:00:00.000Z' where "mailAt" is not null`)
      const { mails: early } = await mails.state()
      const seconds = await secondsUntil(async () => (await mails.state()).mails >= early + FOLLOWERS, 600)
      const during = await reading()
      const { twice } = await mails.state()
      const grown = peakOfAll(server.pid) - memory
      await server.stop()
      const median = few.toSorted((one, other) => one - other)[FEW / 2] ?? NaN
      return [
        { name: `${name}: the request`, result: { value: (many ?? NaN) - median, unit: 'ms', goal: { below: 50 } }, note: `more than the median of ${FEW} with few followers, ${median.toFixed(0)} ms` }, // prettier-ignore
        { name: `${name}: all rows`, result: { value: rows * 1000, unit: 'ms', goal: { below: 10_000 } } },
        { name: `${name}: all mails`, result: { value: seconds * 1000, unit: 'ms', goal: { below: 180_000 } }, note: `${Math.round(FOLLOWERS / seconds)} a second; ${twice} came twice` }, // prettier-ignore
        { name: `${name}: p99 meanwhile`, result: { value: during.p99, unit: 'ms', goal: { below: 50 } }, note: timesNote(during, before) }, // prettier-ignore
        { name: `${name}: memory`, result: { value: grown, unit: 'MB', goal: { most: 20 } }, note: 'more than before' },
      ] satisfies Row[]
    } finally {
      mails.stop()
      await target.close()
      await copy.remove()
    }
  },
})

const timesNote = ({ count, slowest }: Times, before: Times): string =>
  `of ${count} requests, the slowest ${slowest.toFixed(0)} ms; before ${before.p99.toFixed(0)} ms`

function* followers(from: number, to: number) {
  for (let n = from; n < to; n++)
    yield { voteId: id('vote', 10_000_000 + n), userId: id('user', n), postId: id('post', FOLLOWED), createdAt: new Date().toISOString() } // prettier-ignore
}

/** Gives a post another status, and returns the milliseconds that the answer took. */
async function change(server: Server, { tokens }: Bench, number: number): Promise<void> {
  const { path: target, headers, body } = post('/posts', { id: id('post', number), partial: true, roadmapId: id('roadmap', 1) }, tokens[0]) // prettier-ignore
  await answerOf(server.url, { method: 'PATCH' as 'POST', path: target, headers, body })
}

async function timesOf(count: number, run: (n: number) => Promise<void>): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const began = performance.now()
    await run(n)
    times.push(performance.now() - began)
  }
  return times
}

async function countOf(target: Target): Promise<number> {
  return target.number('select count(*) from notifications')
}

async function secondsUntil(isDone: () => Promise<boolean>, most = 120): Promise<number> {
  const began = performance.now()
  const passed = () => (performance.now() - began) / 1000
  while (!(await isDone())) {
    if (passed() > most) throw new Error(`This takes more than ${most} s.`)
    await pause(100)
  }
  return passed()
}

/** Pages and lists, half of them signed in. */
function reads({ tokens }: Bench): () => Request {
  let sent = 0
  return () => {
    const token = ++sent % 2 === 0 ? tokens[sent % tokens.length] : undefined
    const turn = sent % 4
    if (turn === 0) return page('/', token)
    return turn === 1 ? get('/boards') : post('/posts/get', { page: 1 + (sent % 50) }, token)
  }
}

interface MailServer {
  url: string
  state(this: void): Promise<{ mails: number; people: number; twice: number }>
  stop(this: void): void
}

async function mailServer(): Promise<MailServer> {
  const child = start(process.execPath, [path.resolve(import.meta.dirname, '../load/smtp.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (!child.stdin || !child.stdout) throw new Error('The mail server has no pipes.')
  const lines = createInterface({ input: child.stdout })
  const [port] = (await once(lines, 'line')) as [string]
  const { stdin } = child
  return {
    url: `smtp://127.0.0.1:${port}`,
    async state() {
      stdin.write('\n')
      const [line] = (await once(lines, 'line')) as [string]
      return JSON.parse(line)
    },
    stop: () => void child.kill(),
  }
}
