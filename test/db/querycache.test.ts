import { expect, it } from 'vitest'
import { findBoard } from '../../src/db/boards.js'
import { Reads } from '../../src/db/cache/querycache.js'
import { readSettings } from '../../src/db/settings.js'
import { openWatch } from '../../src/db/connect.js'
import { makeSite } from '../support/site.js'

it('what was read is kept within bounds, however little or much it is', async () => {
  const site = await makeSite('sqlite')
  const reads = Reads.of(site.db, await openWatch(site.db, site.databaseUrl)) as Reads
  const basisOf = async (url?: string) => {
    const { db, basis } = reads.forRequest()
    await (url === undefined ? readSettings(db) : findBoard(db, url))
    return basis
  }
  const change = (changes: object) => site.db.updateTable('settings').set(changes).execute()
  const [first, settings] = [await basisOf('none'), await basisOf()]
  await change({ allowSignup: 1 })
  expect([first.holds(), settings.holds()]).toEqual([true, true])
  for (let number = 0; number < 12_000; number++) await basisOf(`none-${number}`) // each finds nothing
  await change({ allowSignup: 1 })
  expect([first.holds(), (await basisOf('none-11999')).holds()]).toEqual([false, true])

  await change({ description: 'x'.repeat(1_000_000) })
  const large = await basisOf()
  expect(large.holds()).toBe(false)
  expect((await readSettings(reads.forRequest().db)).description).toHaveLength(1_000_000)
})
