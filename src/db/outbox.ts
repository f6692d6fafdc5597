import type { Insertable } from 'kysely'
import type { Db, MailRow, Tables } from './tables.js'

export const insertMail = (db: Db, mail: Insertable<Tables['outbox']>) => db.insertInto('outbox').values(mail).execute()

/** How many mails are still to be sent. */
export async function countDueMail(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('outbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('dueAt', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** ISO times. After these limits no lease and no delay ends, unless the clock went back since. */
export interface Moment {
  now: string
  leaseLimit: string
  dueLimit: string
}

/** Only reads, so that polling does not block writers. */
export async function isMailDue(db: Db, moment: Moment): Promise<boolean> {
  const row = await free(db, moment).executeTakeFirst()
  return row !== undefined
}

const free = (db: Db, { now, leaseLimit, dueLimit }: Moment) =>
  db
    .selectFrom('outbox')
    .select('mailId')
    .where('dueAt', 'is not', null)
    // A mail that was never tried, or whose attempt never ended, has no delay
    .where((eb) =>
      eb.or([
        eb('dueAt', '<=', now),
        eb('dueAt', '>', dueLimit),
        eb('attempts', '=', 0),
        eb('leasedUntil', 'is not', null),
      ]),
    )
    .where((eb) =>
      eb.or([eb('leasedUntil', 'is', null), eb('leasedUntil', '<=', now), eb('leasedUntil', '>', leaseLimit)]),
    )
    .orderBy('dueAt')
    .limit(1)

/**
 * Leases the mail that has been due longest and counts the attempt. Returns undefined if none is free. The update
 * checks the lease again: if two processes choose the same mail, the second updates no row.
 */
export const leaseMail = (
  db: Db,
  { until, lease, ...moment }: Moment & { until: string; lease: string },
): Promise<MailRow | undefined> =>
  db
    .updateTable('outbox')
    .set((eb) => ({ lease, leasedUntil: until, attempts: eb('attempts', '+', 1) }))
    .where('mailId', '=', free(db, moment))
    .where((eb) =>
      eb.or([
        eb('leasedUntil', 'is', null),
        eb('leasedUntil', '<=', moment.now),
        eb('leasedUntil', '>', moment.leaseLimit),
      ]),
    )
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
