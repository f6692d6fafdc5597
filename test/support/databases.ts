import { copyFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { randomWord } from '../../src/core/ids.js'
import { cleanup, finishLater } from './cleanup.js'
import { idleProcesses } from './pg.js'
import { withDatabase } from './postgres.js'
import { SCHEMA } from './schema.js'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

const server = new pg.Pool({ connectionString: inject('postgres'), max: 3, allowExitOnIdle: true })

/** A database, and the connection that empties it: a new one for each test would cost more than the emptying. */
interface Spare {
  name: string
  client: pg.Client
}

/** Databases of tests that have ended, as the template again: emptying one takes a tenth of creating it. */
const spare: Spare[] = []

/** Creates a database without rows, for this test. It is migrated unless `bare`. */
export async function makeDatabase(engine: Engine, folder: string, { bare = false } = {}): Promise<string> {
  if (engine === 'sqlite') {
    const file = path.join(folder, 'feedback.db')
    if (!bare) copyFileSync(inject('sqliteTemplate'), file)
    return `sqlite:${file}`
  }
  const found = bare ? undefined : spare.pop()
  const name = found?.name ?? `test_${randomWord(12)}`
  if (!found) await server.query(`create database ${name} ${bare ? '' : `template ${inject('postgresTemplate')}`}`)
  // Not awaited, because PostgreSQL waits 100 ms for connections that are closing.
  cleanup(() => finishLater(bare ? drop(name) : giveBack(name, found?.client)))
  return withDatabase(inject('postgres'), name)
}

async function giveBack(name: string, emptier?: pg.Client): Promise<void> {
  // The test may have ended the connection, as it may have ended every other one
  const client = (emptier && (await empties(emptier))) ?? (await connected(name).then(empties))
  if (client) spare.push({ name, client })
  else await drop(name)
}

async function connected(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: withDatabase(inject('postgres'), name) })
  client.on('error', () => {})
  await client.connect()
  return client
}

const drop = async (name: string): Promise<void> => void (await server.query(`drop database ${name} with (force)`))

/** Makes a database the template again. Undefined where the connection has ended, or the test changed more than rows. */
async function empties(client: pg.Client): Promise<pg.Client | undefined> {
  try {
    await client.query(END_OTHERS, [idleProcesses()])
    const { rows } = await client.query<{ schema: string }>(SCHEMA)
    if (rows[0]?.schema === inject('postgresSchema')) {
      await client.query(inject('postgresReset'))
      return client
    }
  } catch {
    // As below
  }
  await client.end().catch(() => {})
  return undefined
}

/** Processes that were killed may have left statements that still run. */
const END_OTHERS = `select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and pid <> all ($1) and backend_type = 'client backend'`
