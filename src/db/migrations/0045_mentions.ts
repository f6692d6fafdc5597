import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Whom texts mention. `textId` is the id of the comment, or of the post for its own text. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('mentions')
    .addColumn('textId', words, (column) => column.notNull())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('commentId', words, (column) => column.references('comments.id').onDelete('cascade'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('mentions_key', ['textId', 'userId'])
    .execute()
  await db.schema.createIndex('mentions_of_post').on('mentions').columns(['postId', 'userId']).execute()
  await db.schema.createIndex('mentions_of_comment').on('mentions').column('commentId').execute()
  await db.schema.createIndex('mentions_of_person').on('mentions').column('userId').execute()
}
