import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Lists the mentions of a person page by page. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.dropIndex('mentions_of_person').execute()
  await db.schema.createIndex('mentions_of_person').on('mentions').columns(['userId', 'textId']).execute()
}
