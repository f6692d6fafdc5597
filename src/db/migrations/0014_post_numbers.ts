import { sql, type Kysely } from 'kysely'
import { createTrigger, dropTrigger } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Numbers the posts of the site, in the order they came. A trigger gives each new post the next number of a counter, so
 * that no writer can forget to, and a number is never used again. The update trigger of the change log leaves that first
 * update out: the insertion is logged already.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('posts').addColumn('number', 'integer').execute()
  await sql`update posts set number = ordered.number
    from (select "postId", row_number() over (order by "createdAt", "postId") as number from posts) as ordered
    where ordered."postId" = posts."postId"`.execute(db)
  await sql`insert into counters (name, value) select 'post_numbers', count(*) from posts`.execute(db)
  await db.schema.createIndex('posts_by_number').unique().on('posts').column('number').execute()
  await createTrigger(db, {
    name: 'posts_numbered',
    on: 'posts',
    after: 'insert',
    when: 'new.number is null',
    run: `update counters set value = value + 1 where name = 'post_numbers'; update posts set number = (select value from counters where name = 'post_numbers') where "postId" = new."postId"`,
  })
  await dropTrigger(db, { name: 'posts_update_logged', on: 'posts' })
  await createTrigger(db, {
    name: 'posts_update_logged',
    on: 'posts',
    after:
      'update of title, slug, "slugId", "contentMarkdown", "userId", "boardId", roadmap_id, "createdAt", "updatedAt", number',
    when: 'old.number is not null',
    run: `insert into change_log (topic, ref) values ('posts', new."postId")`,
  })
}
