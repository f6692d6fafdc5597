import { sql, type Kysely } from 'kysely'
import { isPostgres, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** The triggers of the schema before this one. Those of others stay. */
const TRIGGERS = `
  api_keys_delete_logged api_keys_insert_logged api_keys_move_logged api_keys_update_logged boards_added
  boards_delete_logged boards_hidden boards_insert_logged boards_move_logged boards_removed boards_shown
  boards_update_logged comments_added comments_delete_logged comments_hidden comments_insert_logged
  comments_move_logged comments_removed comments_shown comments_update_logged posts_added posts_delete_logged
  posts_insert_logged posts_move_logged posts_moved posts_moved_board posts_moved_roadmap posts_numbered
  posts_recounted posts_removed posts_trended posts_unsearched posts_update_logged reports_delete_logged
  reports_insert_logged reports_update_logged roadmaps_added roadmaps_delete_logged roadmaps_insert_logged
  roadmaps_move_logged roadmaps_removed roadmaps_shown roadmaps_update_logged role_permissions_delete_logged
  role_permissions_insert_logged role_permissions_move_logged role_permissions_update_logged roles_delete_logged
  roles_insert_logged roles_move_logged roles_update_logged roles_users_delete_logged roles_users_insert_logged
  roles_users_move_logged roles_users_update_logged sessions_delete_logged sessions_insert_logged
  sessions_update_logged settings_delete_logged settings_insert_logged settings_update_logged totp_delete_logged
  totp_insert_logged totp_update_logged users_added users_delete_logged users_insert_logged users_move_logged
  users_removed users_update_logged votes_added votes_delete_logged votes_insert_logged votes_move_logged
  votes_removed votes_update_logged`

/**
 * Renames the log of changed rows. A view keeps the former name, because a server of an earlier version may still run:
 * it reads the log through the view, and on PostgreSQL writes and prunes it. On SQLite such a server writes nothing.
 * From here on, `db/triggers/` creates the triggers, after the newest migration. `schema_triggers` holds the names of
 * those that are there.
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
      : sql<{ name: string }>`
          select name from sqlite_master where type = 'trigger' and name in (${sql.join(TRIGGERS.trim().split(/\s+/))})`
  ).execute(db)
  const names = JSON.stringify(rows.map(({ name }) => name))
  await db.insertInto('schema_triggers').values({ fingerprint: '', names }).execute()
}
