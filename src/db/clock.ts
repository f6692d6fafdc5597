import { sql } from 'kysely'
import { isPostgres } from './dialect.js'
import type { Db } from './tables.js'

/** What the clock of the database server says, in Unix ms. Undefined on SQLite, which has none of its own. */
export async function clockOf(db: Db): Promise<number | undefined> {
  if (!isPostgres(db)) return undefined
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db)
  return Date.parse(rows[0]?.now ?? '')
}

/** When the newest event was written, by the clock of the machine that wrote it. */
export async function newestTime(db: Db): Promise<string | undefined> {
  const event = await db.selectFrom('events').select('created_at').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return event?.created_at
}
