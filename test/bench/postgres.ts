import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import pg from 'pg'
import { ended } from './processes.js'
import type { Size } from './rows.js'
import { seed } from './sites.js'

const SERVER = path.resolve(import.meta.dirname, '../support/postgres-server.js')

/** Starts PostgreSQL with a seeded database. It stops when this process ends, and is seeded anew for every run. */
export async function seededPostgres(size: Size): Promise<string> {
  const server = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', 'inherit'], detached: true }) // or Ctrl-C would end it before it can tidy up
  const [line] = (await Promise.race([once(server.stdout, 'data'), ended(server).then(() => Promise.reject(new Error('PostgreSQL did not start')))])) as [
    Buffer,
  ]
  const admin = new pg.Client({ connectionString: line.toString().trim() })
  await admin.connect()
  await admin.query('create database bench')
  await admin.end()
  const url = new URL(line.toString().trim())
  url.pathname = 'bench'
  console.error(`Seeding PostgreSQL with ${size.boards} boards, ${size.posts} posts, ${size.votes} votes.`)
  await seed(url.href, size)
  return url.href
}
