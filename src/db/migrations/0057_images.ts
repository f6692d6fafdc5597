import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Images, and the posts and comments that show them. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('images')
    .addColumn('imageId', words, (column) => column.primaryKey())
    .addColumn('userId', words, (column) => column.references('users.userId').onDelete('set null'))
    .addColumn('mediaType', words, (column) => column.notNull())
    .addColumn('width', 'integer', (column) => column.notNull())
    .addColumn('height', 'integer', (column) => column.notNull())
    .addColumn('bytes', 'integer', (column) => column.notNull())
    .addColumn('createdAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('images_by_user').on('images').columns(['userId', 'imageId']).execute()
  await db.schema.createIndex('images_by_time').on('images').columns(['createdAt', 'imageId']).execute()
  await db.schema
    .createTable('image_parts')
    .addColumn('imageId', words, (column) => column.notNull().references('images.imageId').onDelete('cascade'))
    .addColumn('part', 'integer', (column) => column.notNull())
    .addColumn('data', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('image_parts_key', ['imageId', 'part'])
    .execute()
  await db.schema
    .createTable('image_uses')
    .addColumn('imageId', words, (column) => column.notNull().references('images.imageId').onDelete('cascade'))
    .addColumn('textId', words, (column) => column.notNull())
    .addColumn('postId', words, (column) => column.references('posts.postId').onDelete('cascade'))
    .addColumn('commentId', words, (column) => column.references('comments.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('image_uses_key', ['imageId', 'textId'])
    .execute()
  await db.schema.createIndex('image_uses_by_text').on('image_uses').column('textId').execute()
  await db.schema.createIndex('image_uses_by_post').on('image_uses').column('postId').execute()
  await db.schema.createIndex('image_uses_by_comment').on('image_uses').column('commentId').execute()
}
