import { copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/postgres.js'
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
    await other.setup()
    backUp(fileOf(other), `${file}.other`)

    const writers = startWriters(() => url, token)
    await expect.poll(() => writers.acknowledged.size, { timeout: 10_000 }).toBeGreaterThan(20)
    await writers.stop()
    backUp(file, copy)
    damage(file)
    const during = startWriters(() => url, token)
    await sleep(500)
    expect([...during.acknowledged]).toEqual([])
    expect([...during.refused.keys()]).toEqual([UNREACHABLE])
    expect(await responds(url, '/readyz')).toBe(UNREACHABLE)
    expect(await responds(url, '/healthz')).toBe('200')
    expect(await isSetUp(url)).not.toBe(false)

    clear(file)
    putBack(copy, file)
    await expect.poll(() => during.acknowledged.size, { timeout: 5000 }).toBeGreaterThan(10)
    await during.stop()
    await expect.poll(() => responds(url, '/readyz'), { timeout: 5000 }).toBe('200')
    expect([...during.refused.keys()]).toEqual([UNREACHABLE])
    expect((await server.stop()).code).toBe(0)
    const stored = new Set(await titlesOf(machine))
    const acknowledged = [...writers.acknowledged, ...during.acknowledged]
    expect(acknowledged.filter((title) => !stored.has(title))).toEqual([])
    figures(context, `${during.refused.get(UNREACHABLE)} refused, ${acknowledged.length} acknowledged, 0 lost`)
  })
})
