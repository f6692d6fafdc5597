import { readFileSync } from 'node:fs'
import path from 'node:path'
import type Database from 'better-sqlite3'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { connect, rolledBack, transaction } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { Handle } from '../../src/db/sqlite/handle.js'
import { migrate } from '../../src/db/schema.js'
import { cleanup, temporaryFolder } from '../support/site.js'

describe('writes that wait together on SQLite', () => {
  let file: string
  let db: Db
  let other: Database.Database

  beforeEach(async () => {
    file = path.join(temporaryFolder(), 'feedback.db')
    db = await connect(`sqlite:${file}`)
    cleanup(() => db.destroy())
    await migrate(db)
    other = openSqlite(file)
    cleanup(async () => void other.close())
  })

  /** Names of the boards that another process sees. */
  const seen = () => other.prepare('select name from boards order by name').pluck().all()

  const insert = (inside: Db, name: string) =>
    inside
      .insertInto('boards')
      .values({
        boardId: newId(),
        name,
        nameFolded: name,
        url: name,
        color: '000000',
        display: 1,
        view_voters: 1,
        createdAt: '',
        updatedAt: '',
      })
      .execute()

  const write = (name: string) => transaction(db, (inside) => insert(inside, name))

  /** Commits in the log of writes: the last frame of each says how large the file is after it. */
  function commits(): number {
    const wal = readFileSync(`${file}-wal`)
    const [page, salt] = [wal.readUInt32BE(8), wal.subarray(16, 24)]
    let count = 0
    for (let at = 32; at + 24 <= wal.length && wal.subarray(at + 8, at + 16).equals(salt); at += 24 + page)
      if (wal.readUInt32BE(at + 4) > 0) count++
    return count
  }

  it('are committed together, and each is seen by everybody when it is answered', async () => {
    const before = commits()
    const names = Array.from({ length: 40 }, (_, number) => `b${String(number).padStart(2, '0')}`)
    await Promise.all(names.map((name) => write(name).then(() => expect(seen()).toContain(name))))
    expect(seen()).toEqual(names)
    expect(commits() - before).toBeLessThanOrEqual(2)
    await write('later')
    expect(commits() - before).toBeLessThanOrEqual(3)
  })

  it('stay apart: one that fails, and a dry run, take nothing of the others with them', async () => {
    const failing = transaction(db, async (inside) => {
      await insert(inside, 'refused')
      await insert(inside, 'refused')
    })
    const results = await Promise.allSettled([
      write('a'),
      failing,
      rolledBack(db, (inside) => insert(inside, 'tried')),
      insert(db, 'b'),
      insert(db, 'a'),
      write('c'),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(seen()).toEqual(['a', 'b', 'c'])
  })

  it('read nothing of each other outside of a transaction before it is committed', async () => {
    const names = () => db.selectFrom('boards').select('name').execute()
    await transaction(db, async (inside) => {
      await insert(inside, 'a')
      expect(await names()).toEqual([])
    })
    expect(await names()).toEqual([{ name: 'a' }])
  })

  it('do not hold a commit back for ever: who comes later waits for the next', async () => {
    let ended = false
    const first = write('first').then(() => (ended = true))
    const slow = transaction(db, async (inside) => {
      await insert(inside, 'slow')
      await new Promise((resolve) => setTimeout(resolve, 100)) // an operation awaits nothing but the database
      expect(ended).toBe(false)
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    const late = write('late').then(() => expect(seen()).toEqual(['first', 'late', 'slow']))
    await slow
    await Promise.all([first, late])
  })

  it('are all refused when they cannot be written, and nothing of them stays', async () => {
    await write('before')
    const { page_count: pages } = other.prepare('pragma page_count').get() as { page_count: number }
    await sql.raw(`pragma max_page_count = ${pages + 2}`).execute(db)
    const large = (name: string) =>
      transaction(db, async (inside) => {
        await insert(inside, name)
        await inside
          .updateTable('settings')
          .set({ description: 'x'.repeat(100_000) })
          .execute()
      })
    const results = await Promise.allSettled([write('a'), large('b'), write('c')])
    const written = ['a', 'b', 'c'].filter((_, index) => results[index]?.status === 'fulfilled')
    expect(results[1]).toMatchObject({ status: 'rejected', reason: { code: 'DATABASE_UNUSABLE' } })
    expect(seen()).toEqual([...written, 'before'].toSorted())
    await sql.raw('pragma max_page_count = 100000').execute(db)
    await large('after')
    expect(seen()).toEqual(['after', ...written, 'before'].toSorted())
  })

  it('are refused, and the next is written, where the disk takes back neither the commit nor the rollback', async () => {
    const { run } = Handle.prototype
    Handle.prototype.run = function broken(statement, parameters) {
      if (['commit', 'rollback'].includes(statement)) throw new Error('disk I/O error')
      return run.call(this, statement, parameters) as never // whatever it answers
    }
    const results = await Promise.allSettled([write('a'), write('b')])
    Handle.prototype.run = run
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await write('c')
    expect(seen()).toEqual(['c'])
  })

  it('are all refused where the file cannot even be closed, and the next is written once that has passed', async () => {
    const { run, close } = Handle.prototype
    Handle.prototype.run = function broken(statement, parameters) {
      if (['commit', 'rollback'].includes(statement)) throw new Error('disk I/O error')
      return run.call(this, statement, parameters) as never // whatever it answers
    }
    Handle.prototype.close = function broken() {
      close.call(this)
      throw new Error('disk I/O error')
    }
    const results = await Promise.allSettled([write('a'), write('b'), write('c')])
    Object.assign(Handle.prototype, { run, close })
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await write('d')
    expect(seen()).toEqual(['d'])
  })

  it('wait for another process, and then are written', async () => {
    other.exec('begin immediate')
    const waiting = Promise.all([write('a'), write('b')])
    await new Promise((resolve) => setTimeout(resolve, 200))
    other.exec('rollback')
    await waiting
    expect(seen()).toEqual(['a', 'b'])
  })
})
