import type { Insertable } from 'kysely'
import type { Db } from './connect.js'
import type { MailRow, Tables } from './tables.js'

export const insertMail = (db: Db, mail: Insertable<Tables['outbox']>) => db.insertInto('outbox').values(mail).execute()

/**
 * Takes the mail that has been due longest, counts the attempt and leases it, or returns undefined when none is free.
 * The lease is checked by the update itself: of two that choose the same mail, the second changes no row.
 */
export const leaseMail = (db: Db, { now, until, lease }: { now: string; until: string; lease: string }): Promise<MailRow | undefined> =>
  db
    .updateTable('outbox')
    .set((eb) => ({ lease, leasedUntil: until, attempts: eb('attempts', '+', 1) }))
    .where((eb) =>
      eb(
        'mailId',
        '=',
        eb
          .selectFrom('outbox')
          .select('mailId')
          .where('dueAt', '<=', now)
          .where((free) => free.or([free('leasedUntil', 'is', null), free('leasedUntil', '<=', now)]))
          .orderBy('dueAt')
          .limit(1),
      ),
    )
    .where((free) => free.or([free('leasedUntil', 'is', null), free('leasedUntil', '<=', now)]))
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

/** The texts hold one-time links, so a mail that was sent keeps none of them. */
export const recordSent = (db: Db, lease: string, now: string) =>
  db
    .updateTable('outbox')
    .set({ sentAt: now, dueAt: null, lease: null, leasedUntil: null, lastError: null, text: '', html: '' })
    .where('lease', '=', lease)
    .execute()

/** `dueAt` null gives the mail up. */
export const recordFailure = (db: Db, lease: string, lastError: string, dueAt: string | null) =>
  db.updateTable('outbox').set({ lastError, dueAt, lease: null, leasedUntil: null }).where('lease', '=', lease).execute()
