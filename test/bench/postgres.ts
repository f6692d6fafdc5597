import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import type { Plan, SiteName } from './plan.js'
import { ended } from './processes.js'
import { hashOf, seed } from './sites.js'

/** A PostgreSQL server. */
export interface Postgres {
  /** The process id of its first process; undefined if it runs on another machine. */
  pid: number | undefined
  /** The URL of a seeded database, which nothing may write to. */
  seeded(this: void, name: SiteName): Promise<string>
  /** A copy of a seeded database that may be written to; without a name, an empty database. */
  copyOf(this: void, name?: SiteName): Promise<{ url: string; remove(this: void): Promise<void> }>
}

/**
 * PostgreSQL that is started for this run and stops with it, or the one that FEEDBACKCTL_TEST_POSTGRES names, where
 * seeded databases are kept for the next run.
 */
export async function openPostgres(plan: Plan): Promise<Postgres> {
  const url = process.env.FEEDBACKCTL_TEST_POSTGRES ?? (await started())
  let copies = 0
  return {
    pid: await pidOf(url),
    seeded: async (name) => databaseAt(url, await seeded(name)),
    async copyOf(name) {
      const template = name ? await seeded(name) : 'template1'
      const copy = `feedbackctl_bench_copy_${++copies}`
      const remove = async () => void (await run(url, `drop database if exists ${copy} with (force)`))
      await remove() // of a run that was killed
      await run(url, `create database ${copy} template ${template}`)
      await run(url, 'checkpoint') // or it would be measured
      return { url: databaseAt(url, copy), remove }
    },
  }

  async function seeded(site: SiteName): Promise<string> {
    const size = plan.sites[site]
    const name = `feedbackctl_bench_${hashOf(size)}`
    if ((await run(url, `select from pg_database where datname = '${name}'`)).rowCount === 0) {
      console.error(`Seeding PostgreSQL with ${size.boards} boards, ${size.posts} posts, ${size.votes} votes.`)
      await run(url, `drop database if exists ${name}_part`)
      await run(url, `create database ${name}_part`)
      await seed(databaseAt(url, `${name}_part`), size)
      await run(url, `alter database ${name}_part rename to ${name}`) // only what is whole has its name
      await run(url, 'checkpoint') // or it would be measured
    }
    return name
  }
}

async function run(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The parent of every backend; on another machine the backend's process id means nothing here. */
export async function pidOf(url: string): Promise<number | undefined> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8')) ?? []
    return name?.startsWith('postgres') ? Number(parent) : undefined
  } catch {
    return undefined
  } finally {
    await client.end()
  }
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
