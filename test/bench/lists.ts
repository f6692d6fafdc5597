/**
 * What a list costs the server in CPU, over HTTP, on a database of any size:
 *   npm run bench:lists -- --database-url sqlite:/tmp/large.db
 * The first row is the cheapest request there is, for comparison.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request as ask } from 'node:http'
import path from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { 'database-url': { type: 'string' }, requests: { type: 'string', default: '2000' }, connections: { type: 'string', default: '16' } },
})
if (!values['database-url']) throw new Error('Which database? Give --database-url, as for npm run seed')
const count = Number(values.requests)
const connections = Number(values.connections)

const CASES: [string, string, object?][] = [
  ['GET /healthz', '/healthz'],
  ['boards, page 1', '/api/v1/boards'],
  ['posts, newest', '/api/v1/posts/get', {}],
  ['posts, by votes', '/api/v1/posts/get', { sort: 'votes' }],
  ['posts of a board', '/api/v1/posts/get', { boardId: ['board-0'] }],
  ['posts of 5 boards by votes', '/api/v1/posts/get', { boardId: ['board-0', 'board-1', 'board-2', 'board-3', 'board-4'], sort: 'votes' }],
  ['posts of a roadmap', '/api/v1/posts/get', { roadmapId: 'roadmap-0' }],
  ['posts of a board and a roadmap', '/api/v1/posts/get', { boardId: ['board-0'], roadmapId: 'roadmap-0', sort: 'votes' }],
  ['posts of an author', '/api/v1/posts/get', { authorId: 'person_7' }],
  ['posts, page 1000', '/api/v1/posts/get', { page: 1000 }],
  ['a post by slug', '/api/v1/posts/slug', { id: '01900004-0000-7000-8000-000000000000' }],
  ['voters of the most liked post', '/api/v1/posts/01900004-0000-7000-8000-000000000000/votes'],
]

/** CPU time that a process has used, in milliseconds; the kernel counts in hundredths of a second. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const agent = new Agent({ keepAlive: true, maxSockets: connections })
const send = (base: string, url: string, body?: object): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = ask(base + url, { agent, method: body ? 'POST' : 'GET', ...(body && { headers: { 'content-type': 'application/json' } }) }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject).end(body && JSON.stringify(body))
  })

const server = spawn(
  process.execPath,
  [path.resolve(import.meta.dirname, '../../bin/feedbackctl.js'), 'serve', '--listen', '127.0.0.1:0', '--database-url', values['database-url']],
  { stdio: ['ignore', 'inherit', 'pipe'] },
)
const base = await new Promise<string>((resolve) => {
  let text = ''
  server.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    const found = /listening on (http:[^"\s]+)/.exec(text)?.[1]
    if (found) resolve(found)
  })
})
try {
  console.log(`${'case'.padEnd(34)}${'CPU ms'.padStart(8)}${'wall ms'.padStart(9)}`)
  for (const [name, url, body] of CASES) {
    for (let warm = 0; warm < 50; warm++) await send(base, url, body)
    const [cpu, wall] = [cpuOf(server.pid ?? 0), performance.now()]
    let left = count
    const client = async () => {
      while (left-- > 0) {
        const status = await send(base, url, body)
        if (status !== 200) throw new Error(`${name} was answered with ${status}`)
      }
    }
    await Promise.all(Array.from({ length: connections }, client))
    const each = (total: number) => (total / count).toFixed(2)
    console.log(`${name.padEnd(34)}${each(cpuOf(server.pid ?? 0) - cpu).padStart(8)}${each(performance.now() - wall).padStart(9)}`)
  }
} finally {
  agent.destroy()
  server.kill()
}
