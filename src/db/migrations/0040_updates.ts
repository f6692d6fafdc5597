import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Comments that are updates of the team, with the roadmap that they moved the post to, and the answer of a post. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('comments').addColumn('official', text(db)).execute()
  await db.schema
    .alterTable('comments')
    .addColumn('roadmap_id', text(db), (column) => column.references('roadmaps.id').onDelete('set null'))
    .execute()
  await sql`create index comments_official on comments (post_id, created_at, id) where official is not null`.execute(db)
  await sql`create unique index comments_answer on comments (post_id) where official = 'answer'`.execute(db)
  // For deleting a roadmap
  await sql`create index comments_of_roadmap on comments (roadmap_id) where roadmap_id is not null`.execute(db)
}
