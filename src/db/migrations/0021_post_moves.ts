import type { Kysely } from 'kysely'
import { countingKey, createTrigger, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Adds the history of each post: from which roadmap or board to which it was moved. Triggers write it, so that a roadmap
 * that is deleted is a move too. The ids may be of rows that are gone.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await countingKey(db.schema.createTable('post_moves'), db)
    .addColumn('postId', words, (column) => column.notNull().references('posts.postId').onDelete('cascade'))
    .addColumn('kind', words, (column) => column.notNull())
    .addColumn('fromId', words)
    .addColumn('toId', words)
    .addColumn('movedAt', words, (column) => column.notNull())
    .execute()
  await db.schema.createIndex('post_moves_of_post').on('post_moves').columns(['postId', 'id']).execute()
  for (const [kind, column] of [
    ['roadmap', 'roadmap_id'],
    ['board', '"boardId"'],
  ] as const)
    // prettier-ignore
    await createTrigger(db, {
      name: `posts_moved_${kind}`,
      on: 'posts',
      after: `update of ${column}`,
      when: `coalesce(new.${column}, '') <> coalesce(old.${column}, '')`,
      run: `insert into post_moves ("postId", kind, "fromId", "toId", "movedAt") values (new."postId", '${kind}', old.${column}, new.${column}, new."updatedAt")`,
    })
}
