import type { Expression, ExpressionBuilder, Insertable, SqlBool } from 'kysely'
import { countAfter, pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import type { DeliveryKind } from '../core/deliverykinds.js'
import type { Db, DeliveryRow, Tables } from './tables.js'

export const insertDelivery = (db: Db, delivery: Insertable<Tables['deliveries']>) =>
  db.insertInto('deliveries').values(delivery).execute()

/** How many of a kind are still to be sent. */
export async function countDue(db: Db, kind: DeliveryKind): Promise<number> {
  const { count } = await db
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('kind', '=', kind)
    .where('dueAt', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** How many of a kind are still to be sent, and when the oldest of them was queued. */
export const waitingDeliveries = (db: Db, kind: DeliveryKind): Promise<{ waiting: number; oldest: string | null }> =>
  db
    .selectFrom('deliveries')
    .select((eb) => [eb.fn.countAll<number>().as('waiting'), eb.fn.min<string | null>('createdAt').as('oldest')])
    .where('kind', '=', kind)
    .where('dueAt', 'is not', null)
    .executeTakeFirstOrThrow()

/** ISO times. After these limits no lease and no delay of the kind ends, unless the clock went back since. */
export interface Moment {
  kind: DeliveryKind
  now: string
  leaseLimit: string
  dueLimit: string
  /** Whether only deliveries of priority 0 count. */
  isUrgent?: boolean
  /** Only those that were queued since then. */
  since?: string | undefined
}

/** When deliveries of a kind were sent since a time, ISO 8601. */
export async function sentSince(db: Db, kind: DeliveryKind, since: string): Promise<string[]> {
  const rows = await db
    .selectFrom('deliveries')
    .select('sentAt')
    .where('kind', '=', kind)
    .where('sentAt', '>', since)
    .execute()
  return rows.flatMap(({ sentAt }) => sentAt ?? [])
}

/** Only reads, so that polling does not block writers. */
export async function isDue(db: Db, moment: Moment): Promise<boolean> {
  const row = await free(db, moment).executeTakeFirst()
  return row !== undefined
}

const free = (db: Db, { kind, now, leaseLimit, dueLimit, isUrgent = false, since }: Moment) =>
  db
    .selectFrom('deliveries')
    .select('deliveryId')
    .where('kind', '=', kind)
    .where('dueAt', 'is not', null)
    .$if(isUrgent, (query) => query.where('priority', '=', 0))
    .$if(since !== undefined, (query) => query.where('createdAt', '>=', since ?? ''))
    // What was never tried, or whose attempt never ended, has no delay
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
    .orderBy('priority')
    .orderBy('dueAt')
    .limit(1)

/**
 * Leases the oldest due delivery of a kind, of the first priority that has one, and counts the attempt. Returns undefined
 * if none is free. The update checks the lease again: if two processes choose the same delivery, the second updates no
 * row.
 */
export const leaseDelivery = (
  db: Db,
  { until, lease, ...moment }: Moment & { until: string; lease: string },
): Promise<DeliveryRow | undefined> =>
  db
    .updateTable('deliveries')
    .set((eb) => ({ lease, leasedUntil: until, attempts: eb('attempts', '+', 1) }))
    .where('deliveryId', '=', free(db, moment))
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
    .updateTable('deliveries')
    .set({ leasedUntil: until })
    .where('lease', '=', lease)
    .where('dueAt', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Records that something was sent even if the lease was lost, so that it is not sent again. Clears the content, which has
 * one-time links.
 */
export const recordSent = (db: Db, deliveryId: string, now: string) =>
  db
    .updateTable('deliveries')
    .set({
      sentAt: now,
      dueAt: null,
      lease: null,
      leasedUntil: null,
      lastError: null,
      text: '',
      html: '',
      headers: null,
    })
    .where('deliveryId', '=', deliveryId)
    .execute()

/** With `dueAt` null it is never retried. */
export const recordFailure = (db: Db, lease: string, lastError: string, dueAt: string | null) =>
  db
    .updateTable('deliveries')
    .set({ lastError, dueAt, lease: null, leasedUntil: null })
    .where('lease', '=', lease)
    .execute()

/** Gives a delivery back that was not tried: it stays due, and the attempt does not count. */
export const recordPostponed = (db: Db, lease: string, lastError: string) =>
  db
    .updateTable('deliveries')
    .set((eb) => ({ lastError, attempts: eb('attempts', '-', 1), lease: null, leasedUntil: null }))
    .where('lease', '=', lease)
    .execute()

/** Makes sure that a delivery under way is never sent, and clears its text. False if the lease was lost. */
export async function cancelLeased(db: Db, lease: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set(cancelled({ now }))
    .where('lease', '=', lease)
    .where('dueAt', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** A delivery without its text, which has one-time links. */
export type Envelope = Omit<DeliveryRow, 'text' | 'html' | 'headers' | 'priority' | 'lease'>

const ENVELOPE = [
  'deliveryId',
  'kind',
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

/** Which deliveries: those that were neither sent nor cancelled, or with `sent` all. */
export interface DeliveryFilter extends Period {
  kind: DeliveryKind
  sent: boolean
}

const filtered = (db: Db, { kind, sent, ...period }: DeliveryFilter) =>
  within(db.selectFrom('deliveries').where('kind', '=', kind), 'createdAt', period).$if(!sent, (query) =>
    query.where('sentAt', 'is', null).where('cancelledAt', 'is', null),
  )

/** An id is made of the time. */
const orderOf = ({ created: direction }: Sorting) => ({ by: ['deliveryId', 'deliveryId'], direction }) as const

export const listDeliveries = (
  db: Db,
  filter: DeliveryFilter & Sorting,
  page: Page<Pick<DeliveryRow, 'deliveryId'>>,
): Promise<Envelope[]> => pageOf(filtered(db, filter), orderOf(filter), page).select(ENVELOPE).execute()

export async function countDeliveries(db: Db, filter: DeliveryFilter): Promise<number> {
  const some = filtered(db, filter).select((eb) => eb.fn.countAll<number>().as('count'))
  return (await some.executeTakeFirstOrThrow()).count
}

export const deliveriesAfter = async (
  db: Db,
  filter: DeliveryFilter & Sorting,
  delivery: Pick<DeliveryRow, 'deliveryId'>,
): Promise<number> =>
  (await countAfter(filtered(db, filter), orderOf(filter), delivery).executeTakeFirstOrThrow()).count

export const findDelivery = (db: Db, kind: DeliveryKind, deliveryId: string): Promise<DeliveryRow | undefined> =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where('kind', '=', kind)
    .where('deliveryId', '=', deliveryId)
    .executeTakeFirst()

/** The deliveries of a kind whose id starts so. Ids are of digits, letters and dashes, and `~` comes after those. */
export const deliveriesStarting = (db: Db, kind: DeliveryKind, start: string, limit: number): Promise<Envelope[]> =>
  db
    .selectFrom('deliveries')
    .select(ENVELOPE)
    .where('kind', '=', kind)
    .where('deliveryId', '>=', start)
    .where('deliveryId', '<', `${start}~`)
    .orderBy('deliveryId')
    .limit(limit)
    .execute()

/** Neither sent, nor cancelled, nor held by a process that may be sending it in this moment. */
const isOpen =
  ({ kind, now, leaseLimit }: Moment) =>
  (eb: ExpressionBuilder<Tables, 'deliveries'>): Expression<SqlBool> =>
    eb.and([
      eb('kind', '=', kind),
      eb('sentAt', 'is', null),
      eb('cancelledAt', 'is', null),
      eb.or([eb('leasedUntil', 'is', null), eb('leasedUntil', '<=', now), eb('leasedUntil', '>', leaseLimit)]),
    ])

/** Makes a delivery due now, as if it had never been tried. False if it was sent or cancelled, or is being sent. */
export async function retryDelivery(db: Db, deliveryId: string, moment: Moment): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set({ dueAt: moment.now, attempts: 0, lease: null, leasedUntil: null })
    .where('deliveryId', '=', deliveryId)
    .where(isOpen(moment))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Makes sure that a delivery is never sent, and clears its text. False if it was sent or cancelled, or is being sent. The
 * lease goes too, so that a process that comes back late cannot make it due again.
 */
export async function cancelDelivery(db: Db, deliveryId: string, moment: Moment): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set(cancelled(moment))
    .where('deliveryId', '=', deliveryId)
    .where(isOpen(moment))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The same for all that wait for one recipient, but those of priority 0: somebody waits for these. */
export const cancelWaitingOf = (db: Db, recipient: string, moment: Moment): Promise<unknown> =>
  db
    .updateTable('deliveries')
    .set(cancelled(moment))
    .where('recipient', '=', recipient)
    .where('priority', '>', 0)
    .where('dueAt', 'is not', null)
    .where(isOpen(moment))
    .execute()

const cancelled = ({ now }: Pick<Moment, 'now'>) => ({
  cancelledAt: now,
  dueAt: null,
  lease: null,
  leasedUntil: null,
  text: '',
  html: '',
  headers: null,
})

/** How many of a kind were queued before a time and not sent since, and what the newest failure of them was. */
export async function lateDeliveries(
  db: Db,
  kind: DeliveryKind,
  before: string,
): Promise<{ late: number; reason: string | null }> {
  const waiting = db
    .selectFrom('deliveries')
    .where('kind', '=', kind)
    .where('sentAt', 'is', null)
    .where('cancelledAt', 'is', null)
    .where('createdAt', '<', before)
  const { late } = await waiting.select((eb) => eb.fn.countAll<number>().as('late')).executeTakeFirstOrThrow()
  const newest = await waiting
    .select('lastError')
    .where('lastError', 'is not', null)
    .orderBy('deliveryId', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { late, reason: newest?.lastError ?? null }
}
