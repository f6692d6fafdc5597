import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Tags that the team gives to people. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('user_tags')
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('tag', words, (column) => column.notNull())
    .addColumn('tagFolded', words, (column) => column.notNull())
    .addColumn('createdAt', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('user_tags_key', ['userId', 'tagFolded'])
    .execute()
  await db.schema.createIndex('user_tags_by_tag').on('user_tags').columns(['tagFolded', 'userId']).execute()
}
