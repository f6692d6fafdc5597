import { createReadStream, createWriteStream, statSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openSqlite } from '../../../src/db/sqlite/binding.js'
import type { Bench, Case, Row } from '../cases.js'
import { cpuBetween, cpuTimes, ended, folder, peakOf, start } from '../processes.js'
import { recordLines, type Load } from '../records.js'
import { get, page, SECRET } from '../requests.js'
import { PROGRAM, serve } from '../servers.js'
import { steadily, waited } from '../steady.js'

/** Of the goals: seconds, MB, and milliseconds of requests meanwhile. */
const [SECONDS, MEMORY, P99] = [60, 200, 100]
const WHOLE: Load = { people: 50_000, posts: 100_000, votes: 1_000_000, comments: 200_000 }
/** How often memory and CPU time are looked at, in milliseconds. */
const LOOK = 50

/** Records of another product that are imported while a server answers, beside the same lines in a bare table. */
export const imports = (): Case[] => [ofSize('import, a tenth', 10, false), ofSize('import, whole', 1, true)]

const ofSize = (name: string, part: number, long: boolean): Case => ({
  name,
  long,
  async run(_bench: Bench): Promise<Row[]> {
    const file = path.join(folder, 'records.jsonl')
    const entries = Object.entries(WHOLE).map(([what, count]) => [what, count / part])
    await pipeline(Readable.from(recordLines(Object.fromEntries(entries) as unknown as Load)), createWriteStream(file))
    const bare = await inBareTable(file)
    const at = ['--database-url', `sqlite:${path.join(folder, `imported-${part}.db`)}`]
    await done(['setup', '--email', 'ada@example.org', '--generate-password', '--no-mail', ...at])
    const server = await serve(at[1] ?? '')
    try {
      const reads = () => steadily(server, () => (Math.random() < 0.5 ? page('/', undefined) : get('/boards')))
      await waited(reads(), 3000)
      const before = await waited(reads(), 5000)
      const stop = reads()
      const { mb, cpu, seconds } = await done(['import', 'records', file, '--yes', ...at])
      const { p99, slowest, count } = await stop()
      return [
        { name: `${name}: CPU`, result: { value: cpu / bare, unit: 'x' }, note: `${(cpu / 1000).toFixed(0)} s, against ${(bare / 1000).toFixed(1)} s for the lines alone` },
        { name: `${name}: time`, result: { value: seconds * 1000, unit: 'ms', goal: { below: (SECONDS * 1000) / part } }, note: `${(statSync(file).size / 1e6).toFixed(0)} MB of records` },
        { name: `${name}: memory`, result: { value: mb, unit: 'MB', goal: { below: MEMORY } } },
        { name: `${name}: p99 meanwhile`, result: { value: p99, unit: 'ms', goal: { below: P99 } }, note: `of ${count} requests, the slowest ${slowest.toFixed(0)} ms; before ${before.p99.toFixed(0)} ms` },
      ] // prettier-ignore
    } finally {
      await server.stop()
    }
  },
})

/** Milliseconds of CPU for parsing each line, and inserting it under a text key, 2,000 in a transaction. */
async function inBareTable(file: string): Promise<number> {
  const database = openSqlite(path.join(folder, 'bare.db'))
  try {
    database.exec('pragma journal_mode = wal; create table if not exists lines (id text primary key, text text); delete from lines') // prettier-ignore
    const insert = database.prepare('insert into lines values (?, ?)')
    const before = process.cpuUsage()
    let at = 0
    database.exec('begin')
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const { type } = JSON.parse(line) as { type: string }
      insert.run(`${type} ${at}`, line)
      if ((at += 1) % 2000 === 0) database.exec('commit; begin')
    }
    database.exec('commit')
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  } finally {
    database.close()
  }
}

async function done(args: string[]): Promise<{ mb: number; cpu: number; seconds: number }> {
  const began = performance.now()
  const child = start(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env: { FEEDBACKCTL_SECRET: SECRET } }) // prettier-ignore
  const { pid = 0 } = child
  let [mb, cpu] = [0, 0]
  const before = cpuTimes([pid])
  const looking = setInterval(() => {
    mb = Math.max(mb, peakOf(pid))
    cpu = Math.max(cpu, cpuBetween(before, cpuTimes([pid])))
  }, LOOK)
  const code = await ended(child)
  clearInterval(looking)
  if (code !== 0) throw new Error(`feedbackctl ${args.join(' ')} ended with ${code}.`)
  return { mb, cpu, seconds: (performance.now() - began) / 1000 }
}
