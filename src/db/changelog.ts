import { sql } from 'kysely'
import { PRUNED } from './cache/invalidation.js'
import { isPostgres } from './dialect.js'
import type { Db } from './tables.js'

/** The log grows by about so many rows between two prunings. */
const MIN_ROWS = 2000

/** Removes old changes, if there are many. Run it in a transaction. */
export async function pruneChangeLog(db: Db): Promise<void> {
  const log = () => db.selectFrom('change_log')
  const newest = await log().select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  const last = await log().selectAll().where('topic', '=', PRUNED).orderBy('id', 'desc').limit(1).executeTakeFirst()
  if ((newest?.id ?? 0) - (last?.id ?? 0) < MIN_ROWS) return
  if (isPostgres(db)) {
    if (last) await sql`delete from change_log where pg_visible_in_snapshot(xid, ${last.ref}::pg_snapshot)`.execute(db)
    await sql`insert into change_log (topic, ref) values (${PRUNED}, pg_current_snapshot()::text)`.execute(db)
  } else {
    if (last) await db.deleteFrom('change_log').where('id', '<', last.id).execute()
    await db.insertInto('change_log').values({ topic: PRUNED, ref: '' }).execute()
  }
}
