import type { Kysely } from 'kysely'
import { createTrigger } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Logs changes of reports by reporter, because pages show what a user has reported. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const logged = (row: 'new' | 'old') => `insert into change_log (topic, ref) values ('reports', ${row}."userId")`
  await createTrigger(db, { name: 'reports_insert_logged', on: 'reports', after: 'insert', run: logged('new') })
  await createTrigger(db, { name: 'reports_update_logged', on: 'reports', after: 'update', run: logged('new') })
  await createTrigger(db, { name: 'reports_delete_logged', on: 'reports', after: 'delete', run: logged('old') })
}
