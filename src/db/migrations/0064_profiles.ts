import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** People choose what their public profile shows. It is what everybody could see before, until they choose otherwise. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const name of ['showProfile', 'showVotes', 'showComments'])
    await db.schema
      .alterTable('users')
      .addColumn(name, 'integer', (column) => column.notNull().defaultTo(sql.lit(1)))
      .execute()
}
