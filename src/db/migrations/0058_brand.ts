import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** A site may have an announcement, links in header and footer, and a note on the sign-up page. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const name of ['announcement', 'announcementUntil', 'signupNote'])
    await db.schema.alterTable('settings').addColumn(name, text(db)).execute()
  for (const name of ['headerLinks', 'footerLinks'])
    await db.schema.alterTable('settings').addColumn(name, text(db), (column) => column.notNull().defaultTo('[]')).execute() // prettier-ignore
}
