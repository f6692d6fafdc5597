import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

const AGE = ['createdAt', 'postId'] as const
const VOTES = ['votesCount', ...AGE] as const

/**
 * Makes votes cheaper: each vote writes every index of posts by votes twice. The index of all posts is dropped, as
 * public and private posts are two ranges of another index. The indexes of roadmaps become partial, as most posts have
 * none.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.dropIndex('posts_by_votes').execute()
  for (const [name, columns] of Object.entries({
    _of_roadmap: ['roadmap_id', 'display'],
    _of_both: ['boardId', 'roadmap_id'],
  } as const)) {
    for (const [order, last] of [
      ['age', AGE],
      ['votes', VOTES],
    ] as const) {
      await db.schema.dropIndex(`posts_by_${order}${name}`).execute()
      await db.schema
        .createIndex(`posts_by_${order}${name}`)
        .on('posts')
        .columns([...columns, ...last])
        .where(sql.ref('roadmap_id'), 'is not', null)
        .execute()
    }
  }
}
