import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openDatabase, transaction } from '../../src/db/connect.js'
import { readSettings } from '../../src/db/settings.js'
import { cleanup, makeDatabase, temporaryFolder } from '../support/site.js'

async function opened({ prepare }: { prepare: boolean }) {
  const { db, close, cache } = await openDatabase(await makeDatabase('postgres', temporaryFolder()), { prepare })
  cleanup(close)
  const names = () =>
    transaction(db, async (tx) => {
      await readSettings(tx) // on this very connection
      const { rows } = await sql<{ name: string }>`select name from pg_prepared_statements`.execute(tx)
      return rows.length
    })
  return { db, cache, names }
}

describe('statements on PostgreSQL', () => {
  it('are prepared once per connection, up to a number', async () => {
    const { db, names } = await opened({ prepare: true })
    expect(await names()).toBeGreaterThan(0)
    const many = (count: number) => sql`select ${sql.join(Array.from({ length: count }, () => sql`${1}::int`))}`
    await transaction(db, async (tx) => {
      for (let count = 1; count <= 600; count++) await many(count).execute(tx)
    })
    expect(await names()).toBeLessThanOrEqual(500)
  })

  it('are not prepared where a pooler cannot keep them', async () => {
    const { names, cache } = await opened({ prepare: false })
    await cache.revision(true)
    await cache.revision(true)
    expect(await names()).toBe(0)
  })

  it('run again where a migration has changed their columns, in a transaction too', async () => {
    const { db } = await opened({ prepare: true })
    for (let column = 1; column <= 2; column++) {
      await Promise.all(Array.from({ length: 4 }, () => readSettings(db)))
      await transaction(db, (tx) => readSettings(tx))
      await sql`alter table settings add column ${sql.ref(`added_${column}`)} int`.execute(db)
      expect(await readSettings(db)).toHaveProperty(`added_${column}`)
      expect(await transaction(db, (tx) => readSettings(tx))).toHaveProperty(`added_${column}`)
    }
  })
})
