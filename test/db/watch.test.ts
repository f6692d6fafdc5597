import { stat } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { openWatch } from '../../src/db/watch.js'
import { cleanup, makeDatabase, temporaryFolder } from '../support/site.js'

it('a watch of SQLite relies on no look of an earlier turn of the event loop, whenever in it somebody looked', async () => {
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
  const inNextTurn = () =>
    new Promise<[before: unknown, after: unknown]>((resolve) => {
      setImmediate(() => {
        const before = watch.now?.() // at the end of a turn
        stat(folder, () => {
          other.prepare('update settings set title = title || 1').run()
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
