import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Adds the actor to moves. Triggers write the rest of a move, but do not know the actor. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const moves = db.schema.alterTable('post_moves')
  await moves.addColumn('actorId', text(db), (column) => column.references('users.userId').onDelete('set null')).execute() // prettier-ignore
  // For the deletion of an account
  await sql`create index post_moves_of_actor on post_moves ("actorId") where "actorId" is not null`.execute(db)
}
