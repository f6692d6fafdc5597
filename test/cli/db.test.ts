import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { clear } from '../../src/db/load.js'
import { filled, json, rowsOf } from '../support/backups.js'
import { makeMachine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'

/** The address of an empty database. */
async function emptyDatabase(engine: Engine): Promise<string> {
  const { databaseUrl } = await makeMachine(engine)
  if (engine === 'sqlite') return databaseUrl
  const db = await connect(databaseUrl)
  await clear(db)
  await db.destroy()
  return databaseUrl
}

// Each test starts some twenty processes
describe.each(engines)('db copy of %s', { timeout: 120_000 }, (engine) => {
  it.each(engines)('into %s has every row, and the balance adds up', async (other) => {
    const machine = await filled(engine)
    const to = await emptyDatabase(other)
    const run = (flags: string) => machine.run(`db copy ${machine.databaseUrl} ${to} ${flags}`)
    const server = machine.start('serve')
    await server.says(/listening on/)
    expect(await run('--verify')).toMatchObject({ code: 5, stderr: expect.stringContaining('DATABASE_IN_USE') })
    await server.stop()
    expect(await run('--dry-run')).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing was copied') })
    const before = await rowsOf(machine)
    const { code, stdout } = await run('--verify --json')
    expect(code).toBe(0)
    const { tables, differ } = JSON.parse(stdout) as { tables: { table: string; from: object; there: object }[]; differ: string[] } // prettier-ignore
    expect(differ).toEqual([])
    for (const { from, there } of tables) expect(there).toEqual(from)
    expect(tables.find(({ table }) => table === 'posts')?.there).toMatchObject({ rows: 2 })
    expect(await rowsOf({ databaseUrl: to })).toEqual(before)
    expect(await rowsOf(machine)).toEqual(before)
    expect(await run('')).toMatchObject({ code: 5, stderr: expect.stringContaining('BACKUP_EXISTS') })
    const next = `posts create 'Next one' --board ideas --database-url ${to}`
    expect(await json(machine, next)).toMatchObject({ post: { number: 4 } })
  })
})

it(
  'db copy exits with 9 where the copy is not equal, and leaves what is wrong to see',
  { timeout: 60_000 },
  async () => {
    const machine = await filled('sqlite')
    const db = await connect(machine.databaseUrl)
    // The copy has the column with its type, which makes the text a number
    await sql`alter table settings drop column "developer_mode"`.execute(db)
    await sql`alter table settings add column "developer_mode" blob not null default '1'`.execute(db)
    await db.destroy()
    const to = await emptyDatabase('sqlite')
    const { code, stderr } = await machine.run(`db copy ${machine.databaseUrl} ${to} --verify`)
    expect(stderr).toMatch(/differs in settings\.[^]*COPY_DIFFERS/)
    expect({ code, there: existsSync(to.slice('sqlite:'.length)) }).toEqual({ code: 9, there: true })
  },
)
