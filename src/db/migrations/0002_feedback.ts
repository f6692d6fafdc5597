import type { CreateTableBuilder, Kysely } from 'kysely'
import { countingKey, createTrigger, dropTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Adds posts, votes, comments, roadmaps and events, with counts that triggers maintain. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await people(db)
  await roadmaps(db)
  await posts(db)
  await votes(db)
  await comments(db)
  await counts(db)
  await events(db)
  await roadmapCounts(db)
}

async function people(db: Kysely<Tables>): Promise<void> {
  const users = () => db.schema.alterTable('users')
  await users()
    .addColumn('post_count', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await users()
    .addColumn('vote_count', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  // A session token carries this number. Incrementing it ends all sessions.
  await users()
    .addColumn('sessions', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('users_by_age').on('users').columns(['createdAt', 'userId']).execute()
  await db.schema.createIndex('roles_by_age').on('roles').columns(['created_at', 'id']).execute()
  await db.schema
    .alterTable('settings')
    .addColumn('blockedDomains', text(db), (column) => column.notNull().defaultTo('[]'))
    .execute()
}

async function roadmaps(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('roadmaps')
    .addColumn('id', words, (column) => column.primaryKey())
    .addColumn('name', words, (column) => column.notNull())
    .addColumn('nameFolded', words, (column) => column.notNull())
    .addColumn('url', words, (column) => column.notNull().unique())
    .addColumn('index', 'integer', (column) => column.notNull())
    .addColumn('color', words, (column) => column.notNull())
    .addColumn('display', 'integer', (column) => column.notNull())
    .addColumn('created_at', words, (column) => column.notNull())
    .addColumn('updated_at', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('roadmaps_in_order').on('roadmaps').columns(['index', 'id']).execute()
  await db.schema.createIndex('roadmaps_shown_in_order').on('roadmaps').columns(['display', 'index', 'id']).execute()
  await db.schema.createIndex('roadmaps_by_name').on('roadmaps').columns(['nameFolded', 'id']).execute()
}

/** Replaces the first version of the table, which was never written to. Posts now outlive their authors. */
async function posts(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  for (const name of ['posts_added', 'posts_removed', 'posts_moved']) await dropTrigger(db, { name, on: 'posts' })
  await db.schema.dropTable('posts').execute()
  await db.schema
    .createTable('posts')
    .addColumn('postId', words, (column) => column.primaryKey())
    .addColumn('title', words, (column) => column.notNull())
    .addColumn('slug', words, (column) => column.notNull().unique())
    .addColumn('slugId', words, (column) => column.notNull().unique())
    .addColumn('contentMarkdown', words)
    .addColumn('userId', words, (column) => column.references('users.userId').onDelete('set null'))
    .addColumn('boardId', words, (column) => column.references('boards.boardId').onDelete('set null'))
    .addColumn('roadmap_id', words, (column) => column.references('roadmaps.id').onDelete('set null'))
    .addColumn('votesCount', 'integer', (column) => column.notNull().defaultTo(0))
    // Copied from the board. A post stays private after its private board is deleted.
    .addColumn('display', 'integer', (column) => column.notNull().defaultTo(1))
    // Copied from a board that hides voters when it is deleted.
    .addColumn('hidesVoters', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addColumn('updatedAt', words, (column) => column.notNull())
    .execute()
  // One index for each filter and order of the list, so that no page has to be sorted.
  const filters = {
    '': [],
    _shown: ['display'],
    _of_board: ['boardId'],
    _of_roadmap: ['roadmap_id', 'display'],
    _of_both: ['boardId', 'roadmap_id'],
  } as const
  for (const [name, columns] of Object.entries(filters)) {
    await db.schema
      .createIndex(`posts_by_age${name}`)
      .on('posts')
      .columns([...columns, 'createdAt', 'postId'])
      .execute()
    await db.schema
      .createIndex(`posts_by_votes${name}`)
      .on('posts')
      .columns([...columns, 'votesCount', 'createdAt', 'postId'])
      .execute()
  }
  await db.schema.createIndex('posts_by_age_of_author').on('posts').columns(['userId', 'createdAt', 'postId']).execute()
}

async function votes(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('votes')
    .addColumn('voteId', words, (column) => column.primaryKey())
    .addColumn('userId', words, (column) => column.notNull().references('users.userId').onDelete('cascade'))
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('createdAt', words, (column) => column.notNull())
    .addUniqueConstraint('votes_one_a_person', ['userId', 'postId'])
    .execute()
  await db.schema.createIndex('votes_by_age').on('votes').columns(['postId', 'createdAt', 'voteId']).execute()
}

async function comments(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  const flag = (table: CreateTableBuilder<'comments', string>, name: 'is_internal' | 'is_edited' | 'is_spam') =>
    table.addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
  await db.schema
    .createTable('comments')
    .addColumn('id', words, (column) => column.primaryKey())
    .addColumn('post_id', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('parent_id', words, (column) => column.references('comments.id').onDelete('set null'))
    .addColumn('author_id', words, (column) => column.references('users.userId').onDelete('set null'))
    .addColumn('body', words, (column) => column.notNull())
    .$call((table) => flag(table, 'is_internal'))
    .$call((table) => flag(table, 'is_edited'))
    .$call((table) => flag(table, 'is_spam'))
    .addColumn('created_at', words, (column) => column.notNull())
    .addColumn('updated_at', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('comments_by_age').on('comments').columns(['post_id', 'created_at', 'id']).execute()
  await db.schema.createIndex('comments_of_author').on('comments').column('author_id').execute()
  await db.schema.createIndex('comments_of_parent').on('comments').column('parent_id').execute()
}

/** Triggers maintain the counts, so that every write is counted. */
async function counts(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  // Posts per board and roadmap, public and private apart. '' stands for posts without a board or roadmap, '*' for all
  // posts.
  await db.schema
    .createTable('post_counts')
    .addColumn('board', words, (column) => column.notNull())
    .addColumn('roadmap', words, (column) => column.notNull())
    .addColumn('display', 'integer', (column) => column.notNull())
    .addColumn('value', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('post_counts_key', ['board', 'roadmap', 'display'])
    .execute()
  await db.insertInto('counters').values({ name: 'post_counts', value: 0 }).execute() // exists only to be locked
  await db.insertInto('counters').columns(['name', 'value']).expression((eb) => eb.selectFrom('users').select((select) => [select.val('users').as('name'), select.fn.countAll<number>().as('value')])).execute() // prettier-ignore

  const users = (by: string) => `update counters set value = value ${by} where name = 'users'`
  const ofBoard = (row: 'new' | 'old', by: string) =>
    `update boards set post_count = post_count ${by} where "boardId" = ${row}."boardId"`
  const ofAuthor = (row: 'new' | 'old', column: string, by: string) =>
    `update users set ${column} = ${column} ${by} where "userId" = ${row}."userId"`
  const ofPost = (row: 'new' | 'old', by: string) =>
    `update posts set "votesCount" = "votesCount" ${by} where "postId" = ${row}."postId"`
  // The preceding statement locks the board's row, so its `display` cannot change before this transaction ends.
  const shownAsBoard = `update posts set display = (select display from boards where "boardId" = new."boardId") where "postId" = new."postId" and display <> (select display from boards where "boardId" = new."boardId")`
  const moved = `coalesce(new."boardId", '') <> coalesce(old."boardId", '')`
  const triggers = [
    { name: 'users_added', on: 'users', after: 'insert', run: users('+ 1') },
    { name: 'users_removed', on: 'users', after: 'delete', run: users('- 1') },
    {
      name: 'posts_added',
      on: 'posts',
      after: 'insert',
      run: [counted('new', 1), ofBoard('new', '+ 1'), ofAuthor('new', 'post_count', '+ 1'), shownAsBoard].join('; '),
    },
    {
      name: 'posts_removed',
      on: 'posts',
      after: 'delete',
      run: [counted('old', -1), ofBoard('old', '- 1'), ofAuthor('old', 'post_count', '- 1')].join('; '),
    },
    {
      name: 'posts_moved',
      on: 'posts',
      after: 'update',
      when: moved,
      run: [ofBoard('old', '- 1'), ofBoard('new', '+ 1'), shownAsBoard].join('; '),
    },
    {
      name: 'posts_recounted',
      on: 'posts',
      after: 'update',
      when: `${moved} or coalesce(new.roadmap_id, '') <> coalesce(old.roadmap_id, '') or new.display <> old.display`,
      run: [counted('old', -1), counted('new', 1)].join('; '),
    },
    {
      name: 'boards_hidden',
      on: 'boards',
      after: 'update',
      when: 'new.display <> old.display',
      run: 'update posts set display = new.display where "boardId" = new."boardId"',
    },
    {
      name: 'votes_added',
      on: 'votes',
      after: 'insert',
      run: [ofPost('new', '+ 1'), ofAuthor('new', 'vote_count', '+ 1')].join('; '),
    },
    {
      name: 'votes_removed',
      on: 'votes',
      after: 'delete',
      run: [ofPost('old', '- 1'), ofAuthor('old', 'vote_count', '- 1')].join('; '),
    },
  ]
  for (const trigger of triggers) await createTrigger(db, trigger)
}

function counted(row: 'new' | 'old', by: 1 | -1): string {
  const [board, roadmap] = [`coalesce(${row}."boardId", '')`, `coalesce(${row}.roadmap_id, '')`]
  const rows = [board, `'*'`].flatMap((b) => [roadmap, `'*'`].map((r) => `(${b}, ${r}, ${row}.display, ${by})`))
  return `insert into post_counts (board, roadmap, display, value) values ${rows.join(', ')} on conflict (board, roadmap, display) do update set value = post_counts.value + excluded.value`
}

/** Append-only. The only change is to erase the titles of a deleted user's content. */
async function events(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await countingKey(db.schema.createTable('events'), db)
    .addColumn('action', words, (column) => column.notNull())
    .addColumn('subject_id', words, (column) => column.notNull())
    .addColumn('subject', words)
    .addColumn('person_id', words)
    .addColumn('actor_id', words)
    .addColumn('origin', words, (column) => column.notNull())
    .addColumn('created_at', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('events_of_subject').on('events').column('subject_id').execute()
}

/** Counts roadmaps as boards are counted. The row `roadmaps` is also the lock for changes of their order. */
async function roadmapCounts(db: Kysely<Tables>): Promise<void> {
  await db
    .insertInto('counters')
    .values(['roadmaps', 'roadmaps.public'].map((name) => ({ name, value: 0 })))
    .execute()
  const add = (name: string, by: string) => `update counters set value = value + (${by}) where name = '${name}'`
  const shown = (by: string) => add('roadmaps.public', by)
  await createTrigger(db, {
    name: 'roadmaps_added',
    on: 'roadmaps',
    after: 'insert',
    run: `${add('roadmaps', '1')}; ${shown('new.display')}`,
  })
  await createTrigger(db, {
    name: 'roadmaps_removed',
    on: 'roadmaps',
    after: 'delete',
    run: `${add('roadmaps', '-1')}; ${shown('-old.display')}`,
  })
  const when = 'new.display <> old.display'
  await createTrigger(db, {
    name: 'roadmaps_shown',
    on: 'roadmaps',
    after: 'update',
    when,
    run: shown('new.display - old.display'),
  })
}
