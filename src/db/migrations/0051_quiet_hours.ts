import type { Kysely } from 'kysely'
import type { Tables } from '../tables.js'

/** Hours in which a person is not mailed about notifications. The same hour twice: there are none. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const column of ['quietFrom', 'quietUntil'])
    await db.schema.alterTable('notification_settings').addColumn(column, 'integer', (each) => each.notNull().defaultTo(0)).execute() // prettier-ignore
}
