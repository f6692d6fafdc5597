import { stat } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { connect, openWatch } from '../../src/db/connect.js'
import { Handle } from '../../src/db/sqlite/handle.js'
import { cleanup, makeDatabase, temporaryFolder } from '../support/site.js'

async function watched() {
  const folder = temporaryFolder()
  const url = await makeDatabase('sqlite', folder)
  const db = await connect(url)
  const watch = await openWatch(db, url)
  const other = new Database(path.join(folder, 'feedback.db'))
  cleanup(async () => {
    await watch.close()
    await db.destroy()
    other.close()
  })
  return { folder, watch, change: () => void other.prepare('update settings set title = title || 1').run() }
}

it('a watch of SQLite relies on no look of an earlier turn of the event loop, whenever in it somebody looked', async () => {
  const { folder, watch, change } = await watched()
  const inNextTurn = () =>
    new Promise<[before: unknown, after: unknown]>((resolve) => {
      setImmediate(() => {
        const before = watch.now?.() // at the end of a turn
        stat(folder, () => {
          change()
          resolve([before, watch.revision(true, {})])
        })
        for (const end = performance.now() + 5; performance.now() < end;); // until that is ready to be read in the very next one
      })
    })
  for (let round = 0; round < 20; round++) {
    const [before, after] = await inNextTurn()
    expect(after).not.toBe(before)
  }
})

it('a watch of SQLite relies on no look that failed', async () => {
  const { watch, change } = await watched()
  const before = watch.revision(true, {})
  await new Promise(setImmediate)
  change()
  const broken = vi.spyOn(Handle.prototype, 'version', 'get').mockImplementationOnce(() => {
    throw new Error('disk I/O error')
  })
  expect(watch.revision(true, {})).toBeNaN()
  const after = watch.revision(true, {})
  expect(broken).toHaveBeenCalledTimes(2)
  broken.mockRestore()
  expect(after).toBeTypeOf('number')
  expect([before, NaN]).not.toContain(after)
})
