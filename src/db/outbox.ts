import type { Insertable } from 'kysely'
import type { Db, MailRow, Tables } from './tables.js'

export const insertMail = (db: Db, mail: Insertable<Tables['outbox']>) => db.insertInto('outbox').values(mail).execute()

/** Whether there is anything to send: a read, so that looking does not take the lock that writers need. */
export async function mailIsDue(db: Db, now: string): Promise<boolean> {
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
 * Takes the mail that has been due longest, counts the attempt and leases it, or returns undefined when none is free.
 * The lease is checked by the update itself: of two that choose the same mail, the second changes no row.
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

/** Keeps a lease alive while the mail is being sent; false when it was lost. */
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
 * Whoever delivered it records so, even if the lease was lost meanwhile: what was sent must not be sent again.
 * The texts hold one-time links, so a mail that was sent keeps none of them.
 */
export const recordSent = (db: Db, mailId: string, now: string) =>
  db
    .updateTable('outbox')
    .set({ sentAt: now, dueAt: null, lease: null, leasedUntil: null, lastError: null, text: '', html: '' })
    .where('mailId', '=', mailId)
    .execute()

/** `dueAt` null gives the mail up. */
export const recordFailure = (db: Db, lease: string, lastError: string, dueAt: string | null) =>
  db
    .updateTable('outbox')
    .set({ lastError, dueAt, lease: null, leasedUntil: null })
    .where('lease', '=', lease)
    .execute()
