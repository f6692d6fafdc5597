import type { Insertable } from 'kysely'
import type { Db, MailRow, Tables } from './tables.js'

export const insertMail = (db: Db, mail: Insertable<Tables['outbox']>) => db.insertInto('outbox').values(mail).execute()

/** Only reads, so that polling does not block writers. */
export async function isMailDue(db: Db, now: string): Promise<boolean> {
  const row = await free(db, now).executeTakeFirst()
  return row !== undefined
}

const free = (db: Db, now: string) =>
  db
    .selectFrom('outbox')
    .select('mailId')
    .where('dueAt', '<=', now)
    .where((eb) => eb.or([eb('leasedUntil', 'is', null), eb('leasedUntil', '<=', now)]))
    .orderBy('dueAt')
    .limit(1)

/**
 * Leases the mail that has been due longest and counts the attempt. Returns undefined if none is free. The update
 * checks the lease again: if two processes choose the same mail, the second updates no row.
 */
export const leaseMail = (
  db: Db,
  { now, until, lease }: { now: string; until: string; lease: string },
): Promise<MailRow | undefined> =>
  db
    .updateTable('outbox')
    .set((eb) => ({ lease, leasedUntil: until, attempts: eb('attempts', '+', 1) }))
    .where('mailId', '=', free(db, now))
    .where((eb) => eb.or([eb('leasedUntil', 'is', null), eb('leasedUntil', '<=', now)]))
    .where('dueAt', 'is not', null)
    .returningAll()
    .executeTakeFirst()

/** Returns false if the lease was lost. */
export async function renewLease(db: Db, lease: string, until: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ leasedUntil: until })
    .where('lease', '=', lease)
    .where('dueAt', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Records a delivery even if the lease was lost, so that the mail is not sent again. Clears the content, which has
 * one-time links.
 */
export const recordSent = (db: Db, mailId: string, now: string) =>
  db
    .updateTable('outbox')
    .set({ sentAt: now, dueAt: null, lease: null, leasedUntil: null, lastError: null, text: '', html: '' })
    .where('mailId', '=', mailId)
    .execute()

/** With `dueAt` null the mail is never retried. */
export const recordFailure = (db: Db, lease: string, lastError: string, dueAt: string | null) =>
  db
    .updateTable('outbox')
    .set({ lastError, dueAt, lease: null, leasedUntil: null })
    .where('lease', '=', lease)
    .execute()

/** Gives a mail back that was not tried: it stays due, and the attempt does not count. */
export const recordPostponed = (db: Db, lease: string, lastError: string) =>
  db
    .updateTable('outbox')
    .set((eb) => ({ lastError, attempts: eb('attempts', '-', 1), lease: null, leasedUntil: null }))
    .where('lease', '=', lease)
    .execute()
