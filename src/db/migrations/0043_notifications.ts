import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Posts that people chose to follow or not to follow, and what they were told on the page. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('follows')
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('isFollowing', 'integer', (column) => column.notNull())
    .addColumn('createdAt', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('follows_key', ['postId', 'userId'])
    .execute()
  await db.schema.createIndex('follows_of_person').on('follows').columns(['userId', 'postId']).execute()
  await db.schema
    .createTable('notifications')
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('eventId', 'bigint', (column) => column.notNull())
    .addColumn('kind', words, (column) => column.notNull())
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('commentId', words, (column) => column.references('comments.id').onDelete('cascade'))
    .addColumn('roadmapId', words, (column) => column.references('roadmaps.id').onDelete('set null'))
    .addColumn('actorId', words, (column) => column.references('users.userId').onDelete('set null'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('readAt', words)
    .addPrimaryKeyConstraint('notifications_key', ['userId', 'eventId'])
    .execute()
  await sql`create index notifications_unread on notifications ("userId", "eventId") where "readAt" is null`.execute(db)
  // For deleting what they refer to. The unique one also keeps a person from being told twice of one comment
  await db.schema.createIndex('notifications_of_post').on('notifications').column('postId').execute()
  await sql`create unique index notifications_of_comment on notifications ("commentId", "userId", kind) where "commentId" is not null`.execute(
    db,
  )
  await sql`create index notifications_of_roadmap on notifications ("roadmapId") where "roadmapId" is not null`.execute(
    db,
  )
  await sql`create index notifications_of_actor on notifications ("actorId") where "actorId" is not null`.execute(db)
}
