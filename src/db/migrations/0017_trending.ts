import { sql, type Kysely } from 'kysely'
import { createTrigger, dropTrigger, isPostgres } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Added to the sum of a post that is `trending`: 1 at the start of 2036, twice as much for every week after that. */
export const weight = (db: Kysely<Tables>, time: string): string => {
  const weeks = isPostgres(db)
    ? `case when ${time} like '____-__-__T%' then extract(epoch from ${time}::timestamptz - timestamptz '2036-01-01T00:00:00Z') / 604800 else -1000 end`
    : `coalesce((julianday(${time}) - julianday('2036-01-01')) / 7, -1000)`
  // A number with 11 bits of exponent goes that far
  return isPostgres(db)
    ? `power(2::float8, least(900, greatest(-1000, ${weeks}))::float8)`
    : `pow(2.0, min(900, max(-1000, ${weeks})))`
}

/**
 * Adds the number of comments that everybody sees, and what posts trend by: the sum of what the post and its votes weigh.
 * What is a week older weighs half as much. As that holds for all posts alike, weights that grow with the time of a vote
 * give the same order as weights that shrink with its age, and only a vote changes a row. Both have an index for each
 * filter, as the order by votes has.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('posts')
    .addColumn('commentsCount', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .alterTable('posts')
    .addColumn('trending', 'double precision', (column) => column.notNull().defaultTo(0))
    .execute()
  await sql
    .raw(
      `update posts set
        "commentsCount" = (select count(*) from comments where comments.post_id = posts."postId" and is_internal = 0 and is_spam = 0),
        trending = ${weight(db, 'posts."createdAt"')} + coalesce((select sum(${weight(db, 'votes."createdAt"')}) from votes where votes."postId" = posts."postId"), 0)`,
    )
    .execute(db)
  const greater = isPostgres(db) ? 'greatest' : 'max'
  const ofPost = (row: 'new' | 'old', set: string) => `update posts set ${set} where "postId" = ${row}."postId"`
  const ofAuthor = (row: 'new' | 'old', by: string) =>
    `update users set vote_count = vote_count ${by} where "userId" = ${row}."userId"`
  for (const [name, on] of [['posts_numbered', 'posts'], ['votes_added', 'votes'], ['votes_removed', 'votes']] as const) await dropTrigger(db, { name, on }) // prettier-ignore
  await createTrigger(db, {
    name: 'posts_numbered',
    on: 'posts',
    after: 'insert',
    when: 'new.number is null',
    run: [
      `update counters set value = value + 1 where name = 'post_numbers'`,
      ofPost(
        'new',
        `number = (select value from counters where name = 'post_numbers'), trending = ${weight(db, 'new."createdAt"')}`,
      ),
    ].join('; '),
  })
  await createTrigger(db, {
    name: 'posts_trended',
    on: 'posts',
    after: 'insert',
    when: 'new.number is not null',
    run: ofPost('new', `trending = ${weight(db, 'new."createdAt"')}`),
  })
  await createTrigger(db, {
    name: 'votes_added',
    on: 'votes',
    after: 'insert',
    run: [
      ofPost('new', `"votesCount" = "votesCount" + 1, trending = trending + ${weight(db, 'new."createdAt"')}`),
      ofAuthor('new', '+ 1'),
    ].join('; '),
  })
  await createTrigger(db, {
    name: 'votes_removed',
    on: 'votes',
    after: 'delete',
    run: [
      // A difference of numbers may be a little too small
      ofPost(
        'old',
        `"votesCount" = "votesCount" - 1, trending = ${greater}(trending - ${weight(db, 'old."createdAt"')}, ${weight(db, 'posts."createdAt"')})`,
      ),
      ofAuthor('old', '- 1'),
    ].join('; '),
  })
  await countComments(db)
  await indexes(db)
}

async function countComments(db: Kysely<Tables>): Promise<void> {
  if (isPostgres(db)) return countByStatement(db)
  const isShown = (row: 'new' | 'old') => `${row}.is_internal = 0 and ${row}.is_spam = 0`
  const add = (row: 'new' | 'old', by: string) =>
    `update posts set "commentsCount" = "commentsCount" ${by} where "postId" = ${row}.post_id`
  const triggers = [
    { name: 'comments_added', after: 'insert', when: isShown('new'), run: add('new', '+ 1') },
    { name: 'comments_removed', after: 'delete', when: isShown('old'), run: add('old', '- 1') },
    { name: 'comments_shown', after: 'update', when: `${isShown('new')} and not (${isShown('old')})`, run: add('new', '+ 1') }, // prettier-ignore
    { name: 'comments_hidden', after: 'update', when: `${isShown('old')} and not (${isShown('new')})`, run: add('new', '- 1') }, // prettier-ignore
  ]
  for (const trigger of triggers) await createTrigger(db, { ...trigger, on: 'comments' })
}

/**
 * PostgreSQL keeps each version of a row until the transaction ends, and reads them all for the next: thousands of
 * comments on one post have to be one update of the post.
 */
async function countByStatement(db: Kysely<Tables>): Promise<void> {
  const rows = (table: string, value: string) =>
    `select post_id, ${value} as value from ${table} where is_internal = 0 and is_spam = 0`
  const triggers = [
    { name: 'comments_added', event: 'insert', tables: 'new table as added', from: rows('added', '1') },
    { name: 'comments_removed', event: 'delete', tables: 'old table as removed', from: rows('removed', '-1') },
    {
      name: 'comments_shown',
      event: 'update',
      tables: 'old table as removed new table as added',
      from: `${rows('removed', '-1')} union all ${rows('added', '1')}`,
    },
  ]
  for (const { name, event, tables, from } of triggers) {
    const sums = `select post_id, sum(value) as value from (${from}) as changed group by post_id having sum(value) <> 0`
    const run = `update posts set "commentsCount" = "commentsCount" + sums.value from (${sums}) as sums where posts."postId" = sums.post_id`
    await sql.raw(`create function "${name}"() returns trigger language plpgsql as $$ begin ${run}; return null; end $$`).execute(db) // prettier-ignore
    await sql.raw(`create trigger "${name}" after ${event} on comments referencing ${tables} for each statement execute function "${name}"()`).execute(db) // prettier-ignore
  }
}

async function indexes(db: Kysely<Tables>): Promise<void> {
  const filters = {
    _shown: ['display'],
    _of_board: ['boardId'],
    _of_roadmap: ['roadmap_id', 'display'],
    _of_both: ['boardId', 'roadmap_id'],
  } as const
  for (const [order, column] of [
    ['comments', 'commentsCount'],
    ['trend', 'trending'],
  ] as const)
    // prettier-ignore
    for (const [name, columns] of Object.entries(filters)) {
      const index = db.schema
        .createIndex(`posts_by_${order}${name}`)
        .on('posts')
        .columns([...columns, column, 'createdAt', 'postId'])
      await (name === '_of_roadmap' || name === '_of_both'
        ? index.where(sql.ref('roadmap_id'), 'is not', null)
        : index
      ).execute()
    }
}
