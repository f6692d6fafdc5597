import { sql } from 'kysely'
import { PRUNED } from './cache/invalidation.js'
import { isPostgres } from './dialect.js'
import type { Db } from './tables.js'

/** The log is pruned once it has this many new rows. */
const MIN_NEW_ROWS = 2000

/**
 * Transaction ids that this PostgreSQL has not given out yet: the rows were restored from a dump of another, and would
 * always look new.
 */
const fromElsewhere = sql<boolean>`xid >= pg_snapshot_xmax(pg_current_snapshot())`

/** Whether it is time to prune. */
export async function isPruningDue(db: Db): Promise<boolean> {
  if (isPostgres(db)) {
    const { rows } = await sql`select 1 from row_changes where ${fromElsewhere} limit 1`.execute(db)
    if (rows.length > 0) return true
  }
  const newest = await db.selectFrom('row_changes').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return (newest?.id ?? 0) - ((await lastPruning(db))?.id ?? 0) >= MIN_NEW_ROWS
}

/** Rows removed at once: PostgreSQL ends a statement of a server that takes as long as `database.timeout`. */
const MAX_ROWS = 50_000

/** Removes what `pruneRowChanges` would remove, some rows at a time, so that little is left for its transaction. */
export async function thinRowChanges(db: Db): Promise<void> {
  if (!isPostgres(db)) return
  const last = await lastPruning(db)
  const seen = last ? sql`id <> ${last.id} and pg_visible_in_snapshot(xid, ${last.ref}::pg_snapshot)` : sql`false`
  const some = sql`select id from row_changes where ${seen} or ${fromElsewhere} order by id limit ${MAX_ROWS}`
  for (let removed = MAX_ROWS; removed === MAX_ROWS;) {
    const { numAffectedRows } = await sql`delete from row_changes where id in (${some})`.execute(db)
    removed = Number(numAffectedRows)
  }
}

/** Removes the changes that committed before the previous pruning. Run it in a transaction, at most once a minute. */
export async function pruneRowChanges(db: Db): Promise<void> {
  const last = await lastPruning(db)
  if (isPostgres(db)) {
    if (last)
      await sql`delete from row_changes where id <> ${last.id} and pg_visible_in_snapshot(xid, ${last.ref}::pg_snapshot)`.execute(
        db,
      )
    await sql`delete from row_changes where ${fromElsewhere}`.execute(db)
  } else if (last) await db.deleteFrom('row_changes').where('id', '<', last.id).execute()
  await markPruning(db)
}

const markPruning = (db: Db) =>
  isPostgres(db)
    ? sql`insert into row_changes (topic, ref) values (${PRUNED}, pg_current_snapshot()::text)`.execute(db)
    : db.insertInto('row_changes').values({ topic: PRUNED, ref: '' }).execute()

/** Lets whoever reads the log take everything as changed, as after a pruning of what they have not read. */
export async function forgetRowChanges(db: Db): Promise<void> {
  await markPruning(db)
  await markPruning(db)
}

const lastPruning = (db: Db) =>
  db.selectFrom('row_changes').select(['id', 'ref']).where('topic', '=', PRUNED).orderBy('id', 'desc').limit(1).executeTakeFirst() // prettier-ignore
