import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Names of filters of posts. One that is shared stays when the account of its author is deleted. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('views')
    .addColumn('viewId', text(db), (column) => column.primaryKey())
    .addColumn('userId', text(db), (column) => column.references('users.userId').onDelete('set null'))
    .addColumn('name', text(db), (column) => column.notNull())
    .addColumn('nameFolded', text(db), (column) => column.notNull())
    .addColumn('isShared', 'integer', (column) => column.notNull())
    .addColumn('filter', text(db), (column) => column.notNull())
    .addColumn('createdAt', text(db), (column) => column.notNull())
    .addColumn('updatedAt', text(db), (column) => column.notNull())
    .execute()
  await db.schema.createIndex('views_by_person').unique().on('views').columns(['userId', 'nameFolded']).execute()
  await db.schema
    .createIndex('views_shared')
    .unique()
    .on('views')
    .column('nameFolded')
    .where(sql.ref('isShared'), '=', sql.lit(1))
    .execute()
}
