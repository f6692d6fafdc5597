import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** A site may have another logo in dark mode, and CSS of its own. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const name of ['logoDark', 'customCss'])
    await db.schema.alterTable('settings').addColumn(name, text(db)).execute()
}
