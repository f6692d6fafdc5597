import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { connect, rolledBack, transaction } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { Handle } from '../../src/db/sqlite/handle.js'
import { migrate } from '../../src/db/migrate.js'
import { makeGate } from '../support/gate.js'
import { lockRefused } from '../support/locks.js'
import { cleanup, temporaryFolder } from '../support/site.js'

describe('group commit on SQLite', () => {
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

  /** Names of the boards that another connection reads. */
  const committed = () => other.prepare('select name from boards order by name').pluck().all()

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

  /** Counts the commits in the WAL. Only the last frame of each has the size of the database. */
  function commits(): number {
    const wal = readFileSync(`${file}-wal`)
    const [page, salt] = [wal.readUInt32BE(8), wal.subarray(16, 24)]
    let count = 0
    for (let at = 32; at + 24 <= wal.length && wal.subarray(at + 8, at + 16).equals(salt); at += 24 + page)
      if (wal.readUInt32BE(at + 4) > 0) count++
    return count
  }

  it('commits concurrent writes together, and resolves each after its commit', async () => {
    const before = commits()
    const names = Array.from({ length: 40 }, (_, number) => `b${String(number).padStart(2, '0')}`)
    await Promise.all(names.map((name) => write(name).then(() => expect(committed()).toContain(name))))
    expect(committed()).toEqual(names)
    expect(commits() - before).toBeLessThanOrEqual(2)
    await write('later')
    expect(commits() - before).toBeLessThanOrEqual(3)
  })

  it('isolates writes: a failure or a dry run does not roll back the others', async () => {
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
    expect(committed()).toEqual(['a', 'b', 'c'])
  })

  it('hides uncommitted rows from reads outside of the transaction', async () => {
    const names = () => db.selectFrom('boards').select('name').execute()
    await transaction(db, async (inside) => {
      await insert(inside, 'a')
      expect(await names()).toEqual([])
    })
    expect(await names()).toEqual([{ name: 'a' }])
  })

  it('does not delay a commit for later writers, which join the next', async () => {
    const [written, end] = [makeGate(), makeGate()]
    const seen: Record<string, unknown[]> = {}
    const noted = (name: string) => () => void (seen[name] = committed())
    const before = commits()
    const first = write('first').then(noted('first'))
    const slow = transaction(db, async (inside) => {
      await insert(inside, 'slow')
      written.open()
      await end.opened // no operation awaits anything but the database
    }).then(noted('slow'))
    await written.opened
    await turn() // the group is full
    const late = write('late').then(noted('late'))
    await turn()
    expect([seen, committed()]).toEqual([{}, []])
    end.open()
    await slow
    expect(commits() - before).toBe(1)
    await Promise.all([first, late])
    expect(commits() - before).toBe(2)
    expect(seen).toEqual({ first: ['first', 'slow'], slow: ['first', 'slow'], late: ['first', 'late', 'slow'] })
  })

  it('rejects all writes of a group that cannot be committed, and rolls all of them back', async () => {
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
    expect(results[1]).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_FULL' } })
    expect(committed()).toEqual([...written, 'before'].toSorted())
    await sql.raw('pragma max_page_count = 100000').execute(db)
    await large('after')
    expect(committed()).toEqual(['after', ...written, 'before'].toSorted())
  })

  it('recovers after both commit and rollback have failed', async () => {
    const { run } = Handle.prototype
    Handle.prototype.run = function broken(statement, parameters) {
      if (['commit', 'rollback'].includes(statement)) throw new Error('disk I/O error')
      return run.call(this, statement, parameters) as never // any result type
    }
    const results = await Promise.allSettled([write('a'), write('b')])
    Handle.prototype.run = run
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await write('c')
    expect(committed()).toEqual(['c'])
  })

  it('recovers after commit, rollback and close have failed', async () => {
    const { run, close } = Handle.prototype
    Handle.prototype.run = function broken(statement, parameters) {
      if (['commit', 'rollback'].includes(statement)) throw new Error('disk I/O error')
      return run.call(this, statement, parameters) as never // any result type
    }
    Handle.prototype.close = function broken() {
      close.call(this)
      throw new Error('disk I/O error')
    }
    const results = await Promise.allSettled([write('a'), write('b'), write('c')])
    Object.assign(Handle.prototype, { run, close })
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await write('d')
    expect(committed()).toEqual(['d'])
  })

  it('waits for the transaction of another process', async () => {
    other.exec('begin immediate')
    const refused = lockRefused()
    const waiting = Promise.all([write('a'), write('b')])
    await refused
    other.exec('rollback')
    await waiting
    expect(committed()).toEqual(['a', 'b'])
  })
})
