import { sql, type Kysely } from 'kysely'
import { isPostgres, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Renames the log of changed rows. A view keeps the former name, because a server of an earlier version may still run:
 * it reads the log through the view, and on PostgreSQL writes and prunes it. On SQLite such a server writes nothing. From here on, `db/triggers/` creates the triggers, after the
 * newest migration. `schema_triggers` holds the names of those that are there.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('change_log').renameTo('row_changes').execute()
  if (isPostgres(db)) {
    await sql`alter index if exists change_log_pkey rename to row_changes_pkey`.execute(db)
    await sql`alter index if exists change_log_by_transaction rename to row_changes_by_transaction`.execute(db)
    await sql`alter sequence if exists change_log_id_seq rename to row_changes_id_seq`.execute(db)
    await sql`create view change_log as select id, topic, ref, xid from row_changes`.execute(db)
  } else await sql`create view change_log as select id, topic, ref from row_changes`.execute(db)
  await db.schema
    .createTable('schema_triggers')
    .addColumn('fingerprint', text(db), (column) => column.primaryKey())
    .addColumn('names', text(db), (column) => column.notNull())
    .execute()
  const { rows } = await (
    isPostgres(db)
      ? sql<{ name: string }>`
          select g.tgname::text as name from pg_trigger g join pg_proc p on p.oid = g.tgfoid
          where not g.tgisinternal and p.proname = g.tgname and p.pronamespace = current_schema()::regnamespace`
      : sql<{ name: string }>`select name from sqlite_master where type = 'trigger'`
  ).execute(db)
  const names = JSON.stringify(rows.map(({ name }) => name))
  await db.insertInto('schema_triggers').values({ fingerprint: '', names }).execute()
}
