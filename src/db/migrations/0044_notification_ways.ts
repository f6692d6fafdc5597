import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** In which ways each person is told of what, mails about it, and addresses that refuse mail. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema.alterTable('settings').addColumn('notificationWays', words, (column) => column.notNull().defaultTo('{}')).execute() // prettier-ignore
  await db.schema
    .createTable('notification_settings')
    .addColumn('userId', words, (column) => column.primaryKey().references('users.userId').onDelete('cascade'))
    .addColumn('ways', words, (column) => column.notNull().defaultTo('{}'))
    .addColumn('digest', words, (column) => column.notNull().defaultTo('daily'))
    .addColumn('weekday', words, (column) => column.notNull().defaultTo('monday'))
    .addColumn('hour', 'integer', (column) => column.notNull().defaultTo(8))
    .addColumn('timeZone', words, (column) => column.notNull().defaultTo('UTC'))
    .addColumn('followsAuthored', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('followsVoted', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('followsCommented', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('followsMentioned', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('followsEverything', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('mailKey', words, (column) => column.unique())
    .execute()
  await sql`create index notification_settings_everything on notification_settings ("userId") where "followsEverything" = 1`.execute(db) // prettier-ignore
  await db.schema
    .createTable('board_follows')
    .addColumn('boardId', words, (column) => column.notNull().references('boards.boardId').onDelete('cascade'))
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('board_follows_key', ['boardId', 'userId'])
    .execute()
  await db.schema.createIndex('board_follows_of_person').on('board_follows').column('userId').execute()

  await db.schema.alterTable('notifications').addColumn('isOnPage', 'integer', (column) => column.notNull().defaultTo(1)).execute() // prettier-ignore
  for (const column of ['mail', 'mailAt', 'mailedAt'])
    await db.schema.alterTable('notifications').addColumn(column, words).execute()
  await sql`create index notifications_mail_due on notifications ("mailAt") where "mailAt" is not null`.execute(db)
  await sql`create index notifications_mail_of_person on notifications ("userId", "eventId") where "mailAt" is not null`.execute(db) // prettier-ignore

  await db.schema.alterTable('deliveries').addColumn('priority', 'integer', (column) => column.notNull().defaultTo(0)).execute() // prettier-ignore
  await db.schema.alterTable('deliveries').addColumn('headers', words).execute()
  await sql`drop index if exists deliveries_due`.execute(db)
  await sql`create index deliveries_due on deliveries (kind, priority, "dueAt") where "dueAt" is not null`.execute(db)
  await sql`create index deliveries_sent on deliveries (kind, "sentAt") where "sentAt" is not null`.execute(db)

  await db.schema
    .createTable('mail_bounces')
    .addColumn('userId', words, (column) => column.primaryKey().references('users.userId').onDelete('cascade'))
    .addColumn('bounces', 'integer', (column) => column.notNull())
    .addColumn('reason', words, (column) => column.notNull())
    .addColumn('bouncedAt', words, (column) => column.notNull())
    .addColumn('suppressedAt', words)
    .execute()
  await sql`create index mail_bounces_suppressed on mail_bounces ("suppressedAt", "userId") where "suppressedAt" is not null`.execute(db) // prettier-ignore
}
