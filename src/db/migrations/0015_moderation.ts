import { sql, type Kysely } from 'kysely'
import { createTrigger, dropTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

const LOGGED = [
  'title',
  'slug',
  'slugId',
  'contentMarkdown',
  'userId',
  'boardId',
  'roadmap_id',
  'is_spam',
  'number',
  'createdAt',
  'updatedAt',
]

/**
 * Adds reports of posts and comments, what the team decided about them, and posts that are hidden as spam. Whatever the
 * board, `display` of such a post is 0.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('reports')
    .addColumn('reportId', words, (column) => column.primaryKey())
    .addColumn('postId', words, (column) => column.references('posts.postId').onDelete('cascade'))
    .addColumn('commentId', words, (column) => column.references('comments.id').onDelete('cascade'))
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('reason', words)
    .addColumn('isOpen', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('createdAt', words, (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('reviews')
    .addColumn('reviewId', words, (column) => column.primaryKey())
    .addColumn('postId', words, (column) => column.unique().references('posts.postId').onDelete('cascade'))
    .addColumn('commentId', words, (column) => column.unique().references('comments.id').onDelete('cascade'))
    .addColumn('decidedAt', words, (column) => column.notNull())
    .execute()
  const index = db.schema.createIndex.bind(db.schema)
  await index('reports_of_post').unique().on('reports').columns(['postId', 'userId']).execute()
  await index('reports_of_comment').unique().on('reports').columns(['commentId', 'userId']).execute()
  await index('reports_of_person').on('reports').column('userId').execute()
  await index('comments_newest').on('comments').columns(['created_at', 'id']).execute()
  await sql`create index reports_open on reports ("createdAt", "reportId") where "isOpen" = 1`.execute(db)
  await sql`create index comments_spam on comments (created_at, id) where is_spam = 1`.execute(db)
  await sql`create index users_blocked on users ("userId") where "isBlocked" = 1`.execute(db)

  await db.schema.alterTable('posts').addColumn('is_spam', 'integer', (column) => column.notNull().defaultTo(0)).execute() // prettier-ignore
  for (const [name, on] of [['posts_update_logged', 'posts'], ['posts_moved', 'posts'], ['boards_hidden', 'boards']] as const) await dropTrigger(db, { name, on }) // prettier-ignore
  await createTrigger(db, {
    name: 'posts_update_logged',
    on: 'posts',
    after: `update of ${LOGGED.map((column) => `"${column}"`).join(', ')}`,
    when: 'old.number is not null',
    run: `insert into change_log (topic, ref) values ('posts', new."postId")`,
  })
  const ofBoard = (row: 'new' | 'old', by: string) =>
    `update boards set post_count = post_count ${by} where "boardId" = ${row}."boardId"`
  const display = `(select display from boards where "boardId" = new."boardId")`
  await createTrigger(db, {
    name: 'posts_moved',
    on: 'posts',
    after: 'update',
    when: `coalesce(new."boardId", '') <> coalesce(old."boardId", '')`,
    run: [
      ofBoard('old', '- 1'),
      ofBoard('new', '+ 1'),
      `update posts set display = ${display} where "postId" = new."postId" and is_spam = 0 and display <> ${display}`,
    ].join('; '),
  })
  await createTrigger(db, {
    name: 'boards_hidden',
    on: 'boards',
    after: 'update',
    when: 'new.display <> old.display',
    run: 'update posts set display = new.display where "boardId" = new."boardId" and is_spam = 0',
  })
}
