import { newId } from '../../core/ids.js'
import { sql, type Kysely } from 'kysely'
import { EVERYONE } from '../../core/permissions.js'
import { createTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

export async function up(db: Kysely<Tables>): Promise<void> {
  await siteAndPeople(db)
  await boardsAndPosts(db)
  await mail(db)
  await counters(db)
  await seed(db)
}

async function siteAndPeople(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('settings')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('title', words, (column) => column.notNull())
    .addColumn('description', words)
    .addColumn('logo', words)
    .addColumn('icon', words)
    .addColumn('accentColor', words)
    .addColumn('googleAnalyticsId', words)
    .addColumn('isPoweredBy', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('allowSignup', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('developer_mode', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('labs', words, (column) => column.notNull().defaultTo('{}'))
    .addColumn('secretFingerprint', words)
    .execute()
  await db.schema
    .createTable('users')
    .addColumn('userId', words, (column) => column.primaryKey())
    .addColumn('name', words, (column) => column.notNull())
    .addColumn('username', words, (column) => column.notNull().unique())
    .addColumn('email', words, (column) => column.notNull().unique())
    .addColumn('password', words, (column) => column.notNull())
    .addColumn('avatar', words, (column) => column.notNull())
    .addColumn('isVerified', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('isOwner', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('isBlocked', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('notes', words)
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('updatedAt', words, (column) => column.notNull())
    .execute()
  // Allows one owner, even if two processes set up the site at once.
  await db.schema
    .createIndex('users_one_owner')
    .on('users')
    .column('isOwner')
    .unique()
    .where('isOwner', '=', sql.lit(1))
    .execute()
  await db.schema
    .createTable('roles')
    .addColumn('id', words, (column) => column.primaryKey())
    .addColumn('name', words, (column) => column.notNull())
    .addColumn('description', words)
    .addColumn('isSystem', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', words, (column) => column.notNull())
    .addColumn('updated_at', words, (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('role_permissions')
    .addColumn('role_id', words, (column) => column.notNull().references('roles.id').onDelete('cascade'))
    .addColumn('permission', words, (column) => column.notNull())
    .addPrimaryKeyConstraint('role_permissions_key', ['role_id', 'permission'])
    .execute()
  await db.schema
    .createTable('roles_users')
    .addColumn('user_id', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('role_id', words, (column) => column.notNull().references('roles.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('roles_users_key', ['user_id', 'role_id'])
    .execute()
  await db.schema.createIndex('roles_users_role').on('roles_users').column('role_id').execute()
  await db.schema
    .createTable('one_time_tokens')
    .addColumn('tokenHash', words, (column) => column.primaryKey())
    .addColumn('purpose', words, (column) => column.notNull())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('expiresAt', words, (column) => column.notNull())
    .addUniqueConstraint('one_time_tokens_one_a_purpose', ['userId', 'purpose'])
    .execute()
}

async function boardsAndPosts(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('boards')
    .addColumn('boardId', words, (column) => column.primaryKey())
    .addColumn('name', words, (column) => column.notNull())
    .addColumn('nameFolded', words, (column) => column.notNull())
    .addColumn('url', words, (column) => column.notNull().unique())
    .addColumn('color', words, (column) => column.notNull())
    .addColumn('display', 'integer', (column) => column.notNull())
    .addColumn('view_voters', 'integer', (column) => column.notNull())
    .addColumn('post_count', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('updatedAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('boards_by_age').on('boards').columns(['createdAt', 'boardId']).execute()
  await db.schema.createIndex('boards_shown_by_age').on('boards').columns(['display', 'createdAt', 'boardId']).execute()
  await db.schema.createIndex('boards_by_name').on('boards').columns(['nameFolded', 'boardId']).execute()
  await db.schema
    .createTable('posts')
    .addColumn('postId', words, (column) => column.primaryKey())
    .addColumn('title', words, (column) => column.notNull())
    .addColumn('slug', words, (column) => column.notNull().unique())
    .addColumn('slugId', words, (column) => column.notNull())
    .addColumn('contentMarkdown', words)
    .addColumn('userId', words, (column) => column.notNull().references('users.userId'))
    .addColumn('boardId', words, (column) => column.references('boards.boardId').onDelete('set null'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('updatedAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('posts_by_board').on('posts').columns(['boardId', 'createdAt', 'postId']).execute()
  await db.schema.createIndex('posts_by_author').on('posts').column('userId').execute()
}

async function mail(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('outbox')
    .addColumn('mailId', words, (column) => column.primaryKey())
    .addColumn('recipient', words, (column) => column.notNull())
    .addColumn('subject', words, (column) => column.notNull())
    .addColumn('text', words, (column) => column.notNull())
    .addColumn('html', words, (column) => column.notNull())
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('dueAt', words)
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('leasedUntil', words)
    .addColumn('lease', words)
    .addColumn('lastError', words)
    .addColumn('sentAt', words)
    .execute()
  await db.schema.createIndex('outbox_due').on('outbox').column('dueAt').where('dueAt', 'is not', null).execute()
}

/** Triggers maintain the counts, so that every write is counted and no list has to count rows. */
async function counters(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('counters')
    .addColumn('name', text(db), (column) => column.primaryKey())
    .addColumn('value', 'integer', (column) => column.notNull())
    .execute()
  const add = (name: string, by: string) => `update counters set value = value + (${by}) where name = '${name}'`
  const posts = (row: 'new' | 'old', by: string) =>
    `update boards set post_count = post_count ${by} where "boardId" = ${row}."boardId"`
  const triggers = [
    {
      name: 'boards_added',
      on: 'boards',
      after: 'insert',
      run: `${add('boards', '1')}; ${add('boards.public', 'new.display')}`,
    },
    {
      name: 'boards_removed',
      on: 'boards',
      after: 'delete',
      run: `${add('boards', '-1')}; ${add('boards.public', '-old.display')}`,
    },
    {
      name: 'boards_shown',
      on: 'boards',
      after: 'update',
      when: 'new.display <> old.display',
      run: add('boards.public', 'new.display - old.display'),
    },
    { name: 'posts_added', on: 'posts', after: 'insert', run: posts('new', '+ 1') },
    { name: 'posts_removed', on: 'posts', after: 'delete', run: posts('old', '- 1') },
    {
      name: 'posts_moved',
      on: 'posts',
      after: 'update',
      when: `coalesce(new."boardId", '') <> coalesce(old."boardId", '')`,
      run: `${posts('old', '- 1')}; ${posts('new', '+ 1')}`,
    },
  ]
  for (const trigger of triggers) await createTrigger(db, trigger)
}

async function seed(db: Kysely<Tables>): Promise<void> {
  const now = new Date().toISOString()
  const everyone = newId()
  await db
    .insertInto('counters')
    .values(['boards', 'boards.public'].map((name) => ({ name, value: 0 })))
    .execute()
  await db
    .insertInto('settings')
    .values({
      id: 1,
      title: 'Feedback',
      description: 'Tell us what you miss, and see what others ask for.',
      accentColor: '2f6fed',
      isPoweredBy: 1,
      allowSignup: 1,
      developer_mode: 0,
      labs: '{"comments":false}',
    })
    .execute()
  await db
    .insertInto('roles')
    .values({
      id: everyone,
      name: '@everyone',
      description: 'Every signed-in person',
      isSystem: 1,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await db
    .insertInto('role_permissions')
    .values(EVERYONE.map((permission) => ({ role_id: everyone, permission })))
    .execute()
}
