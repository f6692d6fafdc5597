import { sql, type Kysely } from 'kysely'
import { countingKey, createTrigger, isPostgres, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * The logged columns of each table, and the id they are logged under. Counts that triggers derive from other tables are
 * not logged.
 */
const LOGGED = {
  boards: {
    ref: 'boardId',
    columns: ['name', 'nameFolded', 'url', 'color', 'display', 'view_voters', 'createdAt', 'updatedAt'],
  },
  posts: {
    ref: 'postId',
    columns: [
      'title',
      'slug',
      'slugId',
      'contentMarkdown',
      'userId',
      'boardId',
      'roadmap_id',
      'createdAt',
      'updatedAt',
    ],
  },
  votes: { ref: 'postId', columns: undefined },
  comments: { ref: 'post_id', columns: undefined },
  roadmaps: { ref: 'id', columns: undefined },
  users: {
    ref: 'userId',
    columns: [
      'name',
      'username',
      'email',
      'password',
      'avatar',
      'isVerified',
      'isOwner',
      'isBlocked',
      'notes',
      'sessions',
      'createdAt',
      'updatedAt',
    ],
  },
  roles: { ref: 'id', columns: undefined },
  role_permissions: { ref: 'role_id', columns: undefined },
  roles_users: { ref: 'user_id', columns: undefined },
  settings: { ref: undefined, columns: undefined },
} as const

/**
 * Adds the change log: the rows that each transaction changed, by which every process invalidates its caches. Triggers
 * write it, so that no write is missed. On PostgreSQL the transaction id tells whether a snapshot includes the change.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('change_log')
    .$call((table) => countingKey(table, db))
    .addColumn('topic', words, (column) => column.notNull())
    .addColumn('ref', words, (column) => column.notNull())
    .$call((table) =>
      isPostgres(db)
        ? table.addColumn('xid', sql`xid8`, (column) => column.notNull().defaultTo(sql`pg_current_xact_id()`))
        : table,
    )
    .execute()
  if (isPostgres(db)) await db.schema.createIndex('change_log_by_transaction').on('change_log').column('xid').execute()
  for (const [table, { ref, columns }] of Object.entries(LOGGED)) {
    const logged = (row: 'new' | 'old') =>
      `insert into change_log (topic, ref) values ('${table}', ${ref === undefined ? `'site'` : `${row}."${ref}"`})`
    const update = columns ? `update of ${columns.map((column) => `"${column}"`).join(', ')}` : 'update'
    await createTrigger(db, { name: `${table}_insert_logged`, on: table, after: 'insert', run: logged('new') })
    await createTrigger(db, { name: `${table}_update_logged`, on: table, after: update, run: logged('new') })
    if (ref !== undefined) {
      const moved = `new."${ref}" <> old."${ref}"`
      await createTrigger(db, {
        name: `${table}_move_logged`,
        on: table,
        after: 'update',
        when: moved,
        run: logged('old'),
      })
    }
    await createTrigger(db, { name: `${table}_delete_logged`, on: table, after: 'delete', run: logged('old') })
  }
}
