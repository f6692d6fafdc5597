import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { pruneChangeLog } from '../../src/db/changelog.js'
import { openDatabase, transaction } from '../../src/db/connect.js'
import { Handle } from '../../src/db/sqlite/handle.js'
import type { Db } from '../../src/db/tables.js'
import { cleanup, engines, makeDatabase, temporaryFolder, type Engine } from '../support/site.js'

/** Opens a database twice, as two processes would. */
async function openTwice(engine: Engine) {
  const url = await makeDatabase(engine, temporaryFolder())
  const [here, other] = [await openDatabase(url, { staleness: 0 }), await openDatabase(url)]
  cleanup(async () => {
    await here.close()
    await other.close()
  })
  const change = () => other.db.updateTable('settings').set({ isPoweredBy: 1 }).execute()
  return { here, other, change, revision: async () => here.cache.revision(true) }
}

/** Adds changes of a row that does not exist. */
async function fillChangeLog(db: Db, rows: number) {
  const change = { topic: 'posts', ref: 'none' }
  for (let at = 0; at < rows; at += 1000)
    await db
      .insertInto('change_log')
      .values(Array.from({ length: 1000 }, () => change))
      .execute()
}

describe.each(engines)('the revision on %s', (engine) => {
  it('grows with each logged commit of any process, and only then', async () => {
    const { here, other, change, revision } = await openTwice(engine)
    const first = await revision()
    expect(await revision()).toBe(first)
    await change()
    const second = await revision()
    expect(second).toBeGreaterThan(first)
    await here.db.updateTable('settings').set({ isPoweredBy: 1 }).execute()
    const third = await revision()
    expect(third).toBeGreaterThan(second)
    await other.db.insertInto('counters').values({ name: 'not logged', value: 1 }).execute()
    await transaction(other.db, async (tx) => {
      await tx.updateTable('settings').set({ isPoweredBy: 0 }).execute()
      throw new Error('rolled back')
    }).catch(() => {})
    expect(await revision()).toBe(third)
  })

  it('includes a change that commits after a later one', async () => {
    if (engine === 'sqlite') return // which has one write transaction at a time
    const { here, change, revision, other } = await openTwice(engine)
    const begun = here.cache.forRequest(await revision())
    await begun.db.selectFrom('roadmaps').selectAll().execute()
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const slow = transaction(other.db, async (tx) => {
      await tx.updateTable('roadmaps').set({ color: 'ffffff' }).execute()
      await sql`insert into change_log (topic, ref) values ('roadmaps', 'x')`.execute(tx)
      await held
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await change()
    await revision()
    expect(begun.readSet.isCurrent()).toBe(true)
    release()
    await slow
    await revision()
    expect(begun.readSet.isCurrent()).toBe(false)
  })

  it('invalidates everything if the change log was pruned before it was read', async () => {
    const { here, other, revision } = await openTwice(engine)
    const { db, readSet } = here.cache.forRequest(await revision())
    await db.selectFrom('roadmaps').selectAll().execute()
    const prune = async () => {
      await fillChangeLog(other.db, 2500)
      await transaction(other.db, pruneChangeLog)
    }
    await prune()
    await revision() // reads many changes at once
    const after = await revision()
    const again = here.cache.forRequest(after)
    await again.db.selectFrom('roadmaps').selectAll().execute()
    await prune()
    await prune()
    await revision()
    expect(readSet.isCurrent()).toBe(false)
    expect(again.readSet.isCurrent()).toBe(false)
    const { rows } = await sql<{ count: number }>`select count(*) as count from change_log`.execute(other.db)
    expect(rows[0]?.count).toBeLessThan(8000)
  })
})

it('the revision on sqlite is unknown after a failed read, and known again after the next', async () => {
  const { change, revision } = await openTwice('sqlite')
  const before = await revision()
  await change()
  const broken = vi.spyOn(Handle.prototype, 'version', 'get').mockImplementationOnce(() => {
    throw new Error('disk I/O error')
  })
  expect(await revision()).toBeNaN()
  const after = await revision()
  broken.mockRestore()
  expect(after).toBeGreaterThan(before)
})
