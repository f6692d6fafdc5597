import { sql, type Kysely } from 'kysely'
import { isPostgres, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * Turns the outbox of mails into the deliveries of every kind. A view keeps the former name and columns, and has the
 * mails only, because a server of an earlier version may still run: it takes every row for a mail. On PostgreSQL it goes
 * on to queue and send mails through the view. The view has plain columns of one table, so PostgreSQL locks and checks
 * the row itself, and a lease counts for servers of both versions. On SQLite such a server writes nothing.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('outbox').renameTo('deliveries').execute()
  await db.schema.alterTable('deliveries').renameColumn('mailId', 'deliveryId').execute()
  await db.schema
    .alterTable('deliveries')
    .addColumn('kind', text(db), (column) => column.notNull().defaultTo('mail'))
    .execute()
  if (isPostgres(db)) await sql`alter index if exists outbox_pkey rename to deliveries_pkey`.execute(db)
  await sql`drop index if exists outbox_due`.execute(db)
  await sql`drop index if exists outbox_unsent`.execute(db)
  await db.schema
    .createIndex('deliveries_due')
    .on('deliveries')
    .columns(['kind', 'dueAt'])
    .where('dueAt', 'is not', null)
    .execute()
  await db.schema
    .createIndex('deliveries_unsent')
    .on('deliveries')
    .columns(['kind', 'deliveryId'])
    .where(sql<boolean>`"sentAt" is null and "cancelledAt" is null`)
    .execute()
  await db.schema.createIndex('deliveries_by_kind').on('deliveries').columns(['kind', 'deliveryId']).execute()
  await sql`
    create view outbox as
    select "deliveryId" as "mailId", recipient, subject, text, html, "createdAt", "dueAt", attempts, "leasedUntil", lease,
      "lastError", "sentAt", "cancelledAt"
    from deliveries where kind = 'mail'`.execute(db)
}
