import type { Expression, ExpressionBuilder, Insertable, SqlBool } from 'kysely'
import { countAfter, pageOf, within, type Page, type Period, type Sorting } from './paging.js'
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

/** A mail without its text, which has one-time links. */
export type Envelope = Omit<MailRow, 'text' | 'html' | 'lease'>

const ENVELOPE = [
  'mailId',
  'recipient',
  'subject',
  'createdAt',
  'dueAt',
  'attempts',
  'leasedUntil',
  'lastError',
  'sentAt',
  'cancelledAt',
] as const

/** Which mails: those that were neither sent nor cancelled, or with `sent` all. */
export interface MailFilter extends Period {
  sent: boolean
}

const filtered = (db: Db, { sent, ...period }: MailFilter) =>
  within(db.selectFrom('outbox'), 'createdAt', period).$if(!sent, (query) =>
    query.where('sentAt', 'is', null).where('cancelledAt', 'is', null),
  )

/** An id is made of the time. */
const orderOf = ({ created: direction }: Sorting) => ({ by: ['mailId', 'mailId'], direction }) as const

export const listMail = (
  db: Db,
  filter: MailFilter & Sorting,
  page: Page<Pick<MailRow, 'mailId'>>,
): Promise<Envelope[]> => pageOf(filtered(db, filter), orderOf(filter), page).select(ENVELOPE).execute()

export async function countMail(db: Db, filter: MailFilter): Promise<number> {
  const some = filtered(db, filter).select((eb) => eb.fn.countAll<number>().as('count'))
  return (await some.executeTakeFirstOrThrow()).count
}

export const mailsAfter = async (
  db: Db,
  filter: MailFilter & Sorting,
  mail: Pick<MailRow, 'mailId'>,
): Promise<number> => (await countAfter(filtered(db, filter), orderOf(filter), mail).executeTakeFirstOrThrow()).count

export const findMail = (db: Db, mailId: string): Promise<MailRow | undefined> =>
  db.selectFrom('outbox').selectAll().where('mailId', '=', mailId).executeTakeFirst()

/** The mails whose id starts so. Ids are of digits, letters and dashes, and `~` comes after those. */
export const mailStarting = (db: Db, start: string, limit: number): Promise<Envelope[]> =>
  db
    .selectFrom('outbox')
    .select(ENVELOPE)
    .where('mailId', '>=', start)
    .where('mailId', '<', `${start}~`)
    .orderBy('mailId')
    .limit(limit)
    .execute()

/** Neither sent, nor cancelled, nor held by a process that may be sending it in this moment. */
const isOpen =
  ({ now, leaseLimit }: Moment) =>
  (eb: ExpressionBuilder<Tables, 'outbox'>): Expression<SqlBool> =>
    eb.and([
      eb('sentAt', 'is', null),
      eb('cancelledAt', 'is', null),
      eb.or([eb('leasedUntil', 'is', null), eb('leasedUntil', '<=', now), eb('leasedUntil', '>', leaseLimit)]),
    ])

/** Makes a mail due now, as if it had never been tried. False if it was sent or cancelled, or is being sent. */
export async function retryMail(db: Db, mailId: string, moment: Moment): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ dueAt: moment.now, attempts: 0, lease: null, leasedUntil: null })
    .where('mailId', '=', mailId)
    .where(isOpen(moment))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Makes sure that a mail is never sent, and clears its text. False if it was sent or cancelled, or is being sent. The
 * lease goes too, so that a process that comes back late cannot make it due again.
 */
export async function cancelMail(db: Db, mailId: string, moment: Moment): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ cancelledAt: moment.now, dueAt: null, lease: null, leasedUntil: null, text: '', html: '' })
    .where('mailId', '=', mailId)
    .where(isOpen(moment))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** How many mails were queued before a time and not sent since, and what the newest failure of them was. */
export async function outboxState(db: Db, before: string): Promise<{ late: number; reason: string | null }> {
  const waiting = db
    .selectFrom('outbox')
    .where('sentAt', 'is', null)
    .where('cancelledAt', 'is', null)
    .where('createdAt', '<', before)
  const { late } = await waiting.select((eb) => eb.fn.countAll<number>().as('late')).executeTakeFirstOrThrow()
  const newest = await waiting
    .select('lastError')
    .where('lastError', 'is not', null)
    .orderBy('mailId', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { late, reason: newest?.lastError ?? null }
}
