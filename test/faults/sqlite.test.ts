import { spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { makeMachine, PROGRAM, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { makeSite } from '../support/site.js'
import { amount, figures } from './amount.js'
import { startWriters, titlesOf } from './writers.js'

const UNREACHABLE = '503 DATABASE_UNREACHABLE'

const fileOf = ({ databaseUrl }: Machine): string => databaseUrl.slice('sqlite:'.length)

const remove = (file: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
}

/** Copies a database that others may have open. */
function backUp(file: string, copy: string): void {
  const database = openSqlite(file)
  database.prepare('vacuum into ?').run(copy)
  database.close()
}

/** Puts a whole file in place at once, as a restored backup. */
function putBack(copy: string, file: string): void {
  copyFileSync(copy, `${file}.new`)
  renameSync(`${file}.new`, file)
}

async function makeServer({ workers = 1 } = {}) {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  const url = `http://127.0.0.1:${await freePort()}`
  const server = machine.start(`serve --workers ${workers} --listen ${url.slice('http://'.length)}`)
  await server.says(new RegExp(String.raw`(listening on[^]*){${workers}}`))
  return { machine, token, url, server, file: fileOf(machine), copy: `${machine.folder}/backup.db` }
}

/** Status and code of a response, and whether it says that the site is set up. */
async function responds(url: string, path: string): Promise<string> {
  const response = await fetch(url + path)
  const { code = '' } = (await response.json()) as { code?: string }
  return `${response.status} ${code}`.trim()
}

const isSetUp = async (url: string): Promise<unknown> =>
  ((await (await fetch(`${url}/api/v1/auth/setup`)).json()) as { is_setup?: boolean }).is_setup

/** What happens to the file, and what must be done before another can be put in its place. */
const LOSSES: [name: string, damage: (file: string) => void, clear?: (file: string) => void][] = [
  ['moved away', (file) => renameSync(file, `${file}.away`)],
  ['cut in half', (file) => truncateSync(file, 65_536), remove],
  ['removed', remove],
  ['emptied', (file) => truncateSync(file), remove],
  ['replaced by an empty one', (file) => (remove(file), writeFileSync(file, ''))],
  ['replaced by another site', (file) => (remove(file), copyFileSync(`${file}.other`, file))],
]

describe.each([
  [1, LOSSES],
  [2, LOSSES.slice(0, amount(1, LOSSES.length))],
])('under serve with %i workers', (workers, losses) => {
  it.for(losses)('a file that is %s gets no acknowledged write until it is back', async (loss, context) => {
    const [, damage, clear = () => {}] = loss
    const { machine, token, url, server, file, copy } = await makeServer({ workers })
    const other = await makeMachine('sqlite')
    await other.setup(other.run) // a site of its own
    backUp(fileOf(other), `${file}.other`)

    const writers = startWriters(() => url, token)
    await expect.poll(() => writers.acknowledged.size).toBeGreaterThan(20)
    await writers.stop()
    backUp(file, copy)
    damage(file)
    const during = startWriters(() => url, token)
    await expect.poll(() => during.refused.get(UNREACHABLE) ?? 0).toBeGreaterThan(10)
    expect([...during.acknowledged]).toEqual([])
    expect([...during.refused.keys()]).toEqual([UNREACHABLE])
    expect(await responds(url, '/readyz')).toBe(UNREACHABLE)
    expect(await responds(url, '/healthz')).toBe('200')
    expect(await isSetUp(url)).not.toBe(false)

    clear(file)
    putBack(copy, file)
    await expect.poll(() => during.acknowledged.size).toBeGreaterThan(10)
    await during.stop()
    await expect.poll(() => responds(url, '/readyz')).toBe('200')
    expect([...during.refused.keys()]).toEqual([UNREACHABLE])
    expect((await server.stop()).code).toBe(0)
    const stored = new Set(await titlesOf(machine))
    const acknowledged = [...writers.acknowledged, ...during.acknowledged]
    expect(acknowledged.filter((title) => !stored.has(title))).toEqual([])
    figures(context, `${during.refused.get(UNREACHABLE)} refused, ${acknowledged.length} acknowledged, 0 lost`)
  })
})

/** Writes a post, and returns the status and the code of the response. */
async function posts(url: string, token: string, contents = ''): Promise<string> {
  const response = await fetch(`${url}/api/v1/posts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'A post', contentMarkdown: contents }),
  })
  return `${response.status} ${((await response.json()) as { code?: string }).code ?? ''}`.trim()
}

describe('a server on SQLite', () => {
  it.for([
    ['the disk is full', '503 STORAGE_FULL', (pages: number) => `max_page_count = ${pages}`, 'max_page_count = 100000'],
    ['the disk is read-only', UNREACHABLE, () => 'query_only = on', 'query_only = off'],
  ] as const)('goes on reading while %s, and writes again afterwards', async ([, refusal, begin, end]) => {
    const site = await makeSite('sqlite')
    const token = await site.owner()
    const pragma = (text: string) => sql.raw(`pragma ${text}`).execute(site.db)
    const write = async () => {
      const { status, body } = await site.http('POST /posts', {
        token,
        body: { title: 'A post', contentMarkdown: 'x'.repeat(20_000) },
      })
      return `${status} ${(body as { code?: string }).code ?? ''}`.trim()
    }
    expect(await write()).toBe('201')
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(site.db)
    await pragma(begin(rows[0]?.page_count ?? 0))
    expect([await write(), await write(), await write()]).toEqual([refusal, refusal, refusal])
    expect((await site.http('GET //readyz')).status).toBe(503)
    expect((await site.http('POST /posts/get', { token, body: {} })).body.posts).toHaveLength(1)
    await pragma(end)
    await expect.poll(async () => (await site.http('GET //readyz')).status).toBe(200)
    expect(await write()).toBe('201')
  })

  it('refuses writes while another program locks the file, and goes on reading', async () => {
    const { token, url, file } = await makeServer()
    const other = openSqlite(file)
    other.exec('begin immediate')
    const [written, ready] = await Promise.all([posts(url, token), responds(url, '/readyz')])
    expect([written, ready]).toEqual([UNREACHABLE, UNREACHABLE])
    expect(await responds(url, '/api/v1/boards')).toBe('200')
    other.exec('rollback')
    other.close()
    expect(await posts(url, token)).toBe('201')
    expect(await responds(url, '/readyz')).toBe('200')
  })

  it('answers 503 and not 500 where pages of the file are destroyed, until a backup is moved into place', async () => {
    const { machine, token, url, file, copy } = await makeServer()
    await machine.run('boards create Ideas')
    backUp(file, copy)
    const other = openSqlite(file)
    other.pragma('wal_checkpoint(truncate)')
    other.close()
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(statSync(file).size - 4096, 0x55), 0, undefined, 4096)
    closeSync(handle)
    await machine.run('boards create Other') // makes the server read pages again
    const answers = new Set<string>()
    for (let count = 0; count < 5; count++) {
      answers.add(await posts(url, token))
      answers.add(await responds(url, `/api/v1/boards?page=${count + 1}`))
    }
    expect([...answers]).toEqual([UNREACHABLE])
    expect(await responds(url, '/readyz')).toBe(UNREACHABLE)
    remove(file)
    putBack(copy, file)
    await expect.poll(() => posts(url, token)).toBe('201')
    expect(await responds(url, '/readyz')).toBe('200')
  })

  it('refuses writes after a newer version has updated the schema', async () => {
    const { token, url, file } = await makeServer()
    expect(await posts(url, token)).toBe('201')
    const other = openSqlite(file)
    other.exec(`begin; alter table posts rename column title to heading; alter table boards rename to fora;
      insert into kysely_migration (name, timestamp) values ('9999_future', '2030'); commit`)
    other.close()
    expect(await posts(url, token)).toBe(UNREACHABLE)
    const read = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"limit":7}' }
    expect((await fetch(`${url}/api/v1/posts/get`, read)).status).toBe(503)
    expect(await responds(url, '/readyz')).toBe(UNREACHABLE)
    expect(await isSetUp(url)).toBe(true)
  })

  it('refuses writes after its WAL was removed, and has lost nothing when it is started again', async () => {
    const { machine, token, url, server, file } = await makeServer()
    for (let count = 0; count < 10; count++) expect(await posts(url, token)).toBe('201')
    rmSync(`${file}-wal`)
    expect([await posts(url, token), await responds(url, '/readyz')]).toEqual([UNREACHABLE, UNREACHABLE])
    await server.stop()
    expect(await titlesOf(machine)).toHaveLength(10)
    const again = machine.start(`serve --listen ${url.slice('http://'.length)}`)
    await again.says(/listening/)
    expect(await posts(url, token)).toBe('201')
  })

  it('shrinks the WAL after another program has read for long', async (context) => {
    const { token, url, file } = await makeServer()
    const other = openSqlite(file)
    other.exec('begin; select * from posts')
    const log = () => statSync(`${file}-wal`).size / 1e6
    while (log() < 25) expect(await posts(url, token, 'x'.repeat(45_000))).toBe('201')
    const largest = log()
    other.exec('rollback')
    await expect.poll(log).toBeLessThan(1)
    other.close()
    expect(await posts(url, token)).toBe('201')
    figures(context, `${largest.toFixed(0)} MB while it read, ${log().toFixed(1)} MB afterwards`)
  })

  it('says what is wrong where nothing can be written at start', async () => {
    const machine = await makeMachine('sqlite')
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, PROGRAM, 'migrate'],
      { env: { ...machine.env, NODE_DISABLE_COMPILE_CACHE: '1' }, encoding: 'utf8' },
    )
    expect(stderr).toMatch(/The disk failed while .*feedback\.db was read or written[^]*DATABASE_UNUSABLE/)
    expect(stderr).not.toContain('permissions')
    expect(status).toBe(1)
  })
})
