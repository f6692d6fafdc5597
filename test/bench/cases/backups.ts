import { statSync } from 'node:fs'
import path from 'node:path'
import { seededRandom } from '../../../src/core/random.js'
import type { Bench, Case, Row } from '../cases.js'
import { ended, folder, peakOf, start } from '../processes.js'
import { get, page, post, slugsOf, votes, type Request } from '../requests.js'
import { PROGRAM, serve } from '../servers.js'
import { copyOf, type Copy, type Site } from '../sites.js'
import { steadily, type Times } from '../steady.js'

/** A site of the largest size: backed up while it is served, then read, restored, rehearsed and copied. */
export const backups = (): Case[] => [
  ofSite('backup of a large site, SQLite', async ({ site }) => copyOf(await site('large'))),
  ofSite('backup of a large site, PostgreSQL', async ({ postgres }) => (await postgres()).copyOf('large')),
]

/** MB that commands may need, and milliseconds that requests may take meanwhile. */
const [MEMORY, P99] = [150, 150]

const ofSite = (
  name: string,
  copyFrom: (bench: Bench) => Promise<Pick<Copy, 'url'> & { remove(): unknown }>,
): Case => ({
  name,
  long: true,
  async run(bench) {
    const requests = modest(await bench.site('large'), bench)
    const copy = await copyFrom(bench)
    const file = path.join(folder, 'large.backup')
    const at = ['--database-url', copy.url]
    const memoryOf = (verb: string, { mb, seconds }: Done, note = ''): Row => ({
      name: `${name}: ${verb}`,
      result: { value: mb, unit: 'MB', goal: { below: MEMORY } },
      note: `${seconds.toFixed(0)} s${note}`,
    })
    try {
      const server = await serve(copy.url)
      await waited(steadily(server, requests), 5000)
      const before = await waited(steadily(server, requests), 15_000)
      const [made, during] = await beside(server, requests, ['backup', 'create', file, ...at])
      const [streamed, meanwhile] = await beside(server, requests, ['backup', 'create', '-', ...at])
      await server.stop()
      const rows = [
        memoryOf('backup create FILE', made, `, ${Math.round(statSync(file).size / 1e6)} MB`),
        timesRow(`${name}: p99 meanwhile`, during, before),
        memoryOf('backup create -', streamed),
        timesRow(`${name}: p99 meanwhile`, meanwhile, before),
      ]
      for (const [verb, ...args] of [
        ['backup verify', 'backup', 'verify', file],
        ['restore into a new folder', 'restore', file, '--into', path.join(folder, 'restored')],
        ['backup rehearse', 'backup', 'rehearse', file],
        ['db copy --verify', 'db', 'copy', copy.url, `sqlite:${path.join(folder, 'copied.db')}`, '--verify'],
      ] as [string, ...string[]][])
        rows.push(
          memoryOf(verb, await command([...args, '--yes'].slice(0, verb.startsWith('restore') ? undefined : -1))),
        )
      return rows
    } finally {
      await copy.remove()
    }
  },
})

const timesRow = (name: string, { p99, slowest, count }: Times, before: Times): Row => ({
  name,
  result: { value: p99, unit: 'ms', goal: { below: P99 } },
  note: `of ${count} requests, the slowest ${slowest.toFixed(0)} ms; without a backup ${before.p99.toFixed(0)} ms`,
})

/** What a command has used: its peak memory, and seconds. */
interface Done {
  mb: number
  seconds: number
}

/** How often memory is looked at, in milliseconds; the kernel keeps the peak. */
const LOOK = 20

async function command(args: string[]): Promise<Done> {
  const began = performance.now()
  const child = start(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout?.resume()
  let mb = 0
  const looking = setInterval(() => (mb = Math.max(mb, peakOf(child.pid ?? 0))), LOOK)
  const code = await ended(child)
  clearInterval(looking)
  if (code !== 0) throw new Error(`feedbackctl ${args.join(' ')} ended with ${code}.`)
  return { mb, seconds: (performance.now() - began) / 1000 }
}

async function beside(server: { url: string }, requests: () => Request, args: string[]): Promise<[Done, Times]> {
  const stop = steadily(server, requests)
  const done = await command(args)
  return [done, await stop()]
}

async function waited(stop: () => Promise<Times>, ms: number): Promise<Times> {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return stop()
}

/** More than are sent: nobody may vote for the same post twice. */
const VOTES = 16_000

/**
 * Of ten requests one is a vote. The others ask for lists of posts, boards and posts, half of them signed in, three for
 * pages. Few of them are in a cache.
 */
function modest(site: Site, { tokens }: Bench): () => Request {
  const next = seededRandom(31)
  const below = (count: number) => Math.floor(next() * count)
  const slugs = slugsOf(site)
  const read = (): Request => {
    const dice = next() * 18
    const token = next() < 0.5 ? tokens[below(tokens.length)] : undefined
    if (dice < 5) return post('/posts/get', { page: 1 + below(200) }, token)
    if (dice < 8) return post('/posts/get', { sort: 'votes', page: 1 + below(50) }, token)
    if (dice < 12) return get(`/boards?page=${1 + below(1000)}`)
    if (dice < 15) return page('/', token)
    return post('/posts/slug', { id: slugs[below(slugs.length)]?.slug ?? '' }, token)
  }
  const cast = votes(site, tokens, VOTES)
  let sent = 0
  return () => (++sent % 10 === 0 ? cast.pop() : undefined) ?? read()
}
