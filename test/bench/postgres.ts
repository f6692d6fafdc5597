import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import pg from 'pg'
import { ended } from './processes.js'
import type { Size } from './rows.js'
import { hashOf, seed } from './sites.js'

/**
 * Seeds a database on a PostgreSQL that is started for this run and stops with it, or on the one that
 * FEEDBACKCTL_TEST_POSTGRES names, where it is kept for the next run.
 */
export async function seededPostgres(size: Size): Promise<string> {
  const url = process.env.FEEDBACKCTL_TEST_POSTGRES ?? (await started())
  const name = `feedbackctl_bench_${hashOf(size)}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [name])
  if (rowCount === 0) {
    console.error(`Seeding PostgreSQL with ${size.boards} boards, ${size.posts} posts, ${size.votes} votes.`)
    await admin.query(`drop database if exists ${name}_part`)
    await admin.query(`create database ${name}_part`)
    await seed(databaseAt(url, `${name}_part`), size)
    await admin.query(`alter database ${name}_part rename to ${name}`) // only what is whole has its name
  }
  await admin.end()
  return databaseAt(url, name)
}

function databaseAt(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = name
  return changed.href
}

async function started(): Promise<string> {
  const program = path.resolve(import.meta.dirname, '../support/postgres-server.js')
  // Or Ctrl-C would end it before it can tidy up
  const server = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const failed = ended(server).then(() => Promise.reject(new Error('PostgreSQL did not start')))
  const [line] = (await Promise.race([once(server.stdout, 'data'), failed])) as [Buffer]
  return line.toString().trim()
}
