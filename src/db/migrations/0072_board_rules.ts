import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** What a board says and takes, and posts that stay on top or take no more. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const [name, otherwise] of [['description', ''], ['template', ''], ['posting', 'everyone'], ['sort', 'trending']] as const)
    await db.schema.alterTable('boards').addColumn(name, text(db), (column) => column.notNull().defaultTo(otherwise)).execute() // prettier-ignore
  for (const name of ['archived', 'hides_votes'] as const)
    await db.schema
      .alterTable('boards')
      .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  await db.schema
    .alterTable('posts')
    .addColumn('pinned', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable('posts').addColumn('locked', text(db), (column) => column.notNull().defaultTo('none')).execute() // prettier-ignore
  await sql`create index posts_pinned on posts (number) where pinned = 1`.execute(db)
}
