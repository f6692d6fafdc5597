import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Posts that were merged into others. Votes, comments and follows move to the post that stays, and keep the post that they
 * are from, so that they can go back.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('merges')
    .addColumn('postId', words, (column) => column.primaryKey().references('posts.postId').onDelete('cascade'))
    .addColumn('intoId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('rootId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('answerId', words, (column) => column.references('comments.id').onDelete('set null'))
    .addColumn('mergedAt', words, (column) => column.notNull())
    .addColumn('mergedBy', words, (column) => column.references('users.userId').onDelete('set null'))
    .execute()
  await db.schema.createIndex('merges_by_root').on('merges').columns(['rootId', 'mergedAt', 'postId']).execute()
  await db.schema.createIndex('merges_by_into').on('merges').column('intoId').execute()
  await sql`create index merges_by_answer on merges ("answerId") where "answerId" is not null`.execute(db)
  await sql`create index merges_by_person on merges ("mergedBy") where "mergedBy" is not null`.execute(db)
  await db.schema
    .createTable('merged_votes')
    .addColumn('voteId', words, (column) => column.primaryKey())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('merged_votes_of_post').on('merged_votes').columns(['postId', 'userId']).execute()
  await db.schema.createIndex('merged_votes_of_person').on('merged_votes').columns(['userId', 'postId']).execute()
  for (const [table, column] of [
    ['votes', 'fromPostId'],
    ['comments', 'from_post_id'],
    ['follows', 'fromPostId'],
  ] as const) {
    // prettier-ignore
    await db.schema.alterTable(table).addColumn(column, words, (added) => added.references('posts.postId').onDelete('set null')).execute() // prettier-ignore
    await sql`create index ${sql.ref(`${table}_by_origin`)} on ${sql.table(table)} (${sql.ref(column)}) where ${sql.ref(column)} is not null`.execute(
      db,
    )
  }
}
