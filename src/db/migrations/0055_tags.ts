import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Tags of posts. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('tags')
    .addColumn('tagId', words, (column) => column.primaryKey())
    .addColumn('name', words, (column) => column.notNull())
    .addColumn('nameFolded', words, (column) => column.notNull())
    .addColumn('url', words, (column) => column.notNull().unique())
    .addColumn('color', words, (column) => column.notNull())
    .addColumn('display', 'integer', (column) => column.notNull())
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('updatedAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('tags_by_name').on('tags').columns(['nameFolded', 'tagId']).execute()
  await db.schema
    .createTable('post_tags')
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('tagId', words, (column) => column.notNull().references('tags.tagId').onDelete('cascade'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('post_tags_key', ['postId', 'tagId'])
    .execute()
  await db.schema.createIndex('post_tags_by_tag').on('post_tags').columns(['tagId', 'postId']).execute()
}
