import { utimesSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { requestMaintenance } from '../../src/db/maintenance.js'
import { connect } from '../../src/db/connect.js'
import { filled, json, rowsOf } from '../support/backups.js'
import { type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { engines } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/

/** Asks over a new connection every few milliseconds until `stop`, and counts the responses. */
function asking(url: string) {
  const seen = new Map<string, number>()
  const stop = new AbortController()
  const ask = async (path: string) => {
    const status = await newConnection(`${url}${path}`)
    seen.set(`${path} ${status}`, (seen.get(`${path} ${status}`) ?? 0) + 1)
  }
  const done = (async () => {
    while (!stop.signal.aborted) {
      await Promise.all([ask('/api/v1/boards'), ask('/healthz')])
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
  })()
  return {
    async stop() {
      stop.abort()
      await done
      return seen
    },
  }
}

/** The status, and whether it says when to try again; or why there is no response. */
const newConnection = (url: string) =>
  new Promise<string>((resolve) => {
    get(url, { agent: false }, (response) => {
      response.resume()
      const retryAfter = response.headers['retry-after']
      response.on('end', () =>
        resolve(`${response.statusCode}${retryAfter === undefined ? '' : ` after ${retryAfter}`}`),
      )
    }).on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
  })

/** The status; 0 where the connection was refused or closed, and -1 after ten seconds without a response. */
const statusOf = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(10_000) }).then(
    async (response) => {
      await response.text()
      return response.status
    },
    (error: Error) => (error.name === 'TimeoutError' ? -1 : 0),
  )

async function served(machine: Machine, flags = '') {
  const server = machine.start(`serve --listen 127.0.0.1:${await freePort()} ${flags}`, {
    env: { FEEDBACKCTL_SHUTDOWN_TIMEOUT: '5' },
  })
  const [, url = ''] = await server.says(LISTENING)
  return { server, url }
}

describe.each(engines)('a server on %s', (engine) => {
  it.each(['', '--workers 2'])(
    'with the flags "%s" stands aside for a restore, and goes on with the site',
    async (flags) => {
      const machine = await filled(engine)
      const { file } = await json(machine, 'backup create')
      const { server, url } = await served(machine, flags)
      await machine.run("posts create 'After the backup' --board ideas")
      const clients = asking(url)
      expect(await json(machine, `restore ${file} --dry-run`)).toMatchObject({ served: true })
      const asked = machine.terminal(`restore ${file}`, { columns: 300 })
      await asked.sees(/Replace the site with the backup .* The server stands aside meanwhile/)
      asked.type('n\r')
      expect((await asked.ended).code).not.toBe(0)
      const { code, stdout, stderr } = await machine.run(`restore ${file} --yes --json`, { env: { FEEDBACKCTL_SHUTDOWN_TIMEOUT: '5' } }) // prettier-ignore
      expect([code, stderr]).toEqual([0, expect.stringContaining('The site is restored. The server goes on with it.')])
      const { kept } = JSON.parse(stdout) as { kept: string }
      await expect.poll(() => statusOf(`${url}/readyz`)).toBe(200)
      const seen = await clients.stop()
      expect([...seen.keys()].toSorted()).toEqual(['/api/v1/boards 200', '/api/v1/boards 503 after 2', '/healthz 200'])

      const titles = async () => JSON.stringify(await (await fetch(`${url}/api/v1/posts/get`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).json()) // prettier-ignore
      expect(await titles()).not.toContain('After the backup')
      expect((await machine.run("posts create 'After the restore' --board ideas")).code).toBe(0)
      await expect.poll(titles).toContain('After the restore')
      expect((await server.stop()).code).toBe(0)
      expect(server.output().stderr.match(/stands aside for a restore/g)).toHaveLength(flags === '' ? 1 : 2)

      // What was acknowledged before is in what was kept
      if (engine === 'postgres') await machine.run(`restore ${kept} --yes`)
      const old = await rowsOf(engine === 'postgres' ? machine : { databaseUrl: `sqlite:${kept}` })
      expect(old.posts?.join()).toContain('After the backup')
    },
  )

  it('answers with 503 until the restore ends, whose request dies with it, and stops meanwhile', async () => {
    const machine = await filled(engine)
    const { server, url } = await served(machine)
    const boards = `${url}/api/v1/boards`
    const release = await requestMaintenance(machine.databaseUrl, new Date())
    await expect.poll(() => statusOf(boards)).toBe(503)
    const refused = await fetch(boards)
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([503, '2', { message: expect.stringContaining('is being restored'), code: 'DATABASE_UNREACHABLE' }]) // prettier-ignore
    expect(await (await fetch(url, { headers: { accept: 'text/html' } })).text()).toContain('is being restored')
    expect(await statusOf(`${url}/healthz`)).toBe(200)
    await expect(requestMaintenance(machine.databaseUrl, new Date())).rejects.toThrow('Another restore')
    await release()
    await expect.poll(() => statusOf(`${url}/readyz`)).toBe(200)

    // The end of a process ends its connections; a file, which it no longer renews, becomes too old
    const mark = `${machine.databaseUrl.slice('sqlite:'.length)}.aside`
    const killed = engine === 'sqlite' ? undefined : await requestMaintenance(machine.databaseUrl, new Date())
    if (engine === 'sqlite') writeFileSync(mark, '')
    await expect.poll(() => statusOf(boards)).toBe(503)
    await killed?.()
    if (engine === 'sqlite') utimesSync(mark, Date.now() / 1000 - 15, Date.now() / 1000 - 15)
    await expect.poll(() => statusOf(`${url}/readyz`)).toBe(200)

    const last = await requestMaintenance(machine.databaseUrl, new Date())
    await expect.poll(() => statusOf(boards)).toBe(503)
    expect((await server.stop()).code).toBe(0)
    await last()
  })

  it('does not wait for another process that uses the database', async () => {
    const machine = await filled(engine)
    const { file } = await json(machine, 'backup create')
    const { server, url } = await served(machine)
    const before = await rowsOf(machine)
    const other = await connect(machine.databaseUrl)
    await other.connection().execute(async (held) => {
      await held.selectFrom('boards').select('name').execute()
      expect(await machine.run(`restore ${file} --yes`, { env: { FEEDBACKCTL_SHUTDOWN_TIMEOUT: '1' } })).toMatchObject({ code: 5, stderr: expect.stringContaining('DATABASE_IN_USE') }) // prettier-ignore
    })
    await other.destroy()
    await expect.poll(() => statusOf(`${url}/readyz`)).toBe(200)
    await server.stop()
    expect((await rowsOf(machine)).posts).toEqual(before.posts)
  })
})

it('a restore on PostgreSQL keeps what is written meanwhile, or has it in the site', async () => {
  const machine = await filled('postgres')
  const { file } = await json(machine, 'backup create')
  const client = new pg.Client({ connectionString: machine.databaseUrl })
  await client.connect()
  const written: string[] = []
  const stop = new AbortController()
  const writing = (async () => {
    for (let number = 1; !stop.signal.aborted; number++) {
      const url = `written-${number}`
      await client.query(`insert into boards ("boardId", name, "nameFolded", url, color, display, view_voters, "createdAt", "updatedAt")
          select gen_random_uuid()::text, $1, $1, $1, color, display, view_voters, "createdAt", "updatedAt" from boards limit 1`, [url]) // prettier-ignore
      written.push(url)
    }
  })()
  await expect.poll(() => written.length).toBeGreaterThan(50)
  const { kept } = await json(machine, `restore ${file} --yes`)
  stop.abort()
  await writing
  await client.end()
  const after = (await rowsOf(machine)).boards?.join() ?? ''
  await machine.run(`restore ${kept} --yes`)
  const before = (await rowsOf(machine)).boards?.join() ?? ''
  expect(written.filter((url) => !before.includes(`"${url}"`) && !after.includes(`"${url}"`))).toEqual([])
})

it('a restore on PostgreSQL waits for a statement that goes on to other tables, and meets no deadlock', async () => {
  const machine = await filled('postgres')
  const { file } = await json(machine, 'backup create')
  const client = new pg.Client({ connectionString: machine.databaseUrl })
  await client.connect()
  await client.query("set deadlock_timeout = '10ms'") // in a deadlock, this client would be the one that fails
  await client.query('begin')
  await client.query('lock table boards in row exclusive mode')
  const restoring = json(machine, `restore ${file} --yes`)
  const waits = `select 1 from pg_locks where not granted and relation = 'boards'::regclass`
  await expect.poll(async () => (await client.query(waits)).rowCount).toBe(1)
  await client.query('update boards set name = name')
  await client.query(`update counters set value = value where name = 'boards'`) // as a trigger of boards does
  await client.query('commit')
  await client.end()
  await restoring
})
