import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { connect, transaction } from '../../src/db/connect.js'
import { migrate } from '../../src/db/migrate.js'
import { cleanup, temporaryFolder } from '../support/site.js'

it('only SQLite opens an existing database file, because closing a second descriptor would drop the locks of the process', async () => {
  const open = vi.spyOn(fs, 'openSync')
  syncBuiltinESMExports() // for what imports it by name
  cleanup(syncBuiltinESMExports)
  cleanup(() => open.mockRestore())
  const file = path.join(temporaryFolder(), 'feedback.db')
  const db = await connect(`sqlite:${file}`)
  cleanup(() => db.destroy())
  await migrate(db)
  const opened = () => open.mock.calls.filter(([name]) => path.basename(String(name)) === path.basename(file)) // root creates it through its folder
  expect(opened()).toHaveLength(1) // created before SQLite opens it

  const title = () => db.selectFrom('settings').select('title').executeTakeFirst()
  await transaction(db, async (inside) => {
    await inside.updateTable('settings').set({ title: 'Changed' }).execute()
    expect(await title()).toEqual({ title: 'Feedback' }) // through a second handle, opened for this read
  })
  expect(await title()).toEqual({ title: 'Changed' })
  expect(opened()).toHaveLength(1)
})
