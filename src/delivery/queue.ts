import { setTimeout as sleep } from 'node:timers/promises'
import type { Insertable } from 'kysely'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import {
  insertDelivery,
  isDue,
  leaseDelivery,
  recordFailure,
  recordPostponed,
  recordSent,
  renewLease,
  type Moment,
} from '../db/deliveries.js'
import type { Db, DeliveryRow, Tables } from '../db/tables.js'
import { reasonOf } from '../mail/reasons.js'
import type { Backoff, Carrier, Kind } from './kind.js'
import type { RateWindow } from './rate.js'

/** The lifetime of a lease that is not renewed, and so the delay of a delivery whose process was killed. */
export const LEASE_MS = 15_000
const RENEW_INTERVAL_MS = 4_000

/** The delay before recording a delivery is retried. */
const RECORD_RETRY_MS = 500

/** Deliveries that leave beside each other: each waits for the receiver and for commits, which then serve several. */
const SIDE_BY_SIDE = 5
/** Milliseconds. Deliveries that take longer do not hold the next ones back, up to so many. */
const PATIENCE_MS = 1_000
const MAX_CONCURRENT = 10

type Content = Pick<
  Insertable<Tables['deliveries']>,
  'kind' | 'recipient' | 'subject' | 'text' | 'html' | 'priority' | 'headers'
>

/** Adds a delivery to the queue, in the caller's transaction, and returns its id. It sends nothing. */
export async function enqueue(db: Db, now: Date, content: Content): Promise<string> {
  const deliveryId = newId()
  await insertDelivery(db, { deliveryId, ...content, createdAt: now.toISOString(), dueAt: now.toISOString() })
  return deliveryId
}

type KindOf = Pick<Kind<never>, 'name' | 'backoff' | 'withdraw' | 'sent' | 'refused'>

export interface Attempt {
  delivery: DeliveryRow
  error?: Error
  /** Nothing of the kind can be delivered now. This one stays due, and the attempt does not count. */
  isUnreachable?: boolean
}

interface Sender {
  kind: KindOf
  carrier: Carrier
  now: () => Date
  /** Called whenever something that was delivered could not be recorded. Recording is then retried. */
  onUnrecorded?: (delivery: DeliveryRow, error: AppError) => void
  patience?: number
  /** Bounds how many leave. Those of priority 0 do not wait for it, but count. Absent: no bound. */
  rate?: RateWindow
  /** Only what was queued since then, with priority 0. Absent: all. */
  since?: Date
}

/**
 * Sends all that is due of a kind, and yields each attempt when it has ended. Sends no more once nothing can be reached.
 * Few leave beside each other, so that few are under way if the process dies.
 * One is sent twice only if the process dies before it records the delivery, or if the database is not writable for
 * longer than a lease at that moment, and another process is the first to write again.
 */
export async function* deliver(db: Db, sender: Sender): AsyncGenerator<Attempt> {
  const underWay = new Map<string, Promise<Attempt>>()
  let isReachable = true
  /** Whether one got through: until then one is tried at a time, as all would fail for the same cause. */
  let isProven = false
  try {
    for (;;) {
      const lease = newId()
      const delivery =
        isReachable && underWay.size < MAX_CONCURRENT ? await leaseNext(db, sender, lease, underWay.size) : undefined
      if (delivery) underWay.set(delivery.deliveryId, attempt(db, sender, delivery, lease))
      if (underWay.size === 0) return
      if (delivery && isProven && underWay.size < SIDE_BY_SIDE) continue
      const ended = await firstWithin(sender.patience ?? PATIENCE_MS, [...underWay.values()])
      if (!ended) continue
      underWay.delete(ended.delivery.deliveryId)
      isReachable &&= !ended.isUnreachable
      isProven ||= !ended.error
      yield ended
    }
  } finally {
    await Promise.allSettled(underWay.values())
  }
}

/** Whether something of a kind could be sent now. */
export const isAnyDue = (db: Db, kind: KindOf, now: Date, rate?: RateWindow): Promise<boolean> =>
  isDue(db, { ...momentOf(kind, now), isUrgent: rate?.isFull(now) ?? false })

async function leaseNext(
  db: Db,
  { kind, now, rate, since }: Sender,
  lease: string,
  underWay: number,
): Promise<DeliveryRow | undefined> {
  const bounds = { isUrgent: since !== undefined || (rate?.isFull(now(), underWay) ?? false), since: since?.toISOString() } // prettier-ignore
  while (await isDue(db, { ...momentOf(kind, now()), ...bounds })) {
    const delivery = await leaseDelivery(db, { ...momentOf(kind, now()), ...bounds, until: later(now(), LEASE_MS), lease }) // prettier-ignore
    if (!delivery || !(await isWithdrawn(db, { kind, now }, delivery, lease))) return delivery
  }
  return undefined
}

/** A delivery that cannot be looked at waits as one that failed, and holds no other up. */
async function isWithdrawn(
  db: Db,
  { kind, now }: Pick<Sender, 'kind' | 'now'>,
  delivery: DeliveryRow,
  lease: string,
): Promise<boolean> {
  try {
    return (await kind.withdraw?.(db, delivery, now())) ?? false
  } catch (error) {
    if (error instanceof AppError && error.status === 503) throw error
    await recordFailure(db, lease, reasonOf(error as Error), nextAttemptAt(now(), delivery.attempts, kind.backoff.deferred)) // prettier-ignore
    return true
  }
}

/** Another server's clock may be ahead by as long as a lease. */
export const momentOf = ({ name, backoff: { refused, deferred } }: KindOf, now: Date): Moment => ({
  kind: name,
  now: now.toISOString(),
  leaseLimit: later(now, 2 * LEASE_MS),
  dueLimit: later(now, Math.max(...refused.delays, ...deferred.delays) + LEASE_MS),
})

/** Resolves with the first result, or with undefined if there is none in time. */
async function firstWithin<T>(milliseconds: number, results: Promise<T>[]): Promise<T | undefined> {
  const timer = new AbortController()
  const timeout = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)
  return Promise.race([...results, timeout]).finally(() => timer.abort())
}

async function attempt(db: Db, sender: Sender, delivery: DeliveryRow, lease: string): Promise<Attempt> {
  const { kind, carrier, now, onUnrecorded } = sender
  const renewing = setInterval(
    () => void renewLease(db, lease, later(now(), LEASE_MS)).catch(() => {}),
    RENEW_INTERVAL_MS,
  ) // a failure is retried at the next interval
  try {
    const error = await failureOf(carrier.send(delivery))
    if (!error) {
      sender.rate?.count(now())
      await retryUntilRecorded(
        () => recordSent(db, delivery.deliveryId, now().toISOString()),
        (error) => onUnrecorded?.(delivery, error),
      )
      await kind.sent?.(db, delivery).catch(() => {}) // the next delivery to this receiver calls it again
      return { delivery }
    }
    const verdict = carrier.verdictOf(error)
    if (verdict === 'none' && (await failureOf(carrier.verify()))) {
      await recordPostponed(db, lease, reasonOf(error))
      return { delivery, error, isUnreachable: true }
    }
    const backoff = kind.backoff[verdict === 'none' ? 'deferred' : verdict]
    const reason = reasonOf(error)
    await recordFailure(db, lease, reason, nextAttemptAt(now(), delivery.attempts, backoff))
    if (verdict === 'refused') await kind.refused?.(db, delivery, { error, reason, at: now().toISOString() })
    return { delivery, error }
  } finally {
    clearInterval(renewing)
  }
}

const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
  )

/** Retries while the database is not writable. The lease is renewed until then, so that nothing is sent twice. */
async function retryUntilRecorded(record: () => Promise<unknown>, onFailure: (error: AppError) => void): Promise<void> {
  for (;;) {
    try {
      return void (await record())
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 503) throw error
      onFailure(error)
    }
    await sleep(RECORD_RETRY_MS)
  }
}

const nextAttemptAt = (now: Date, attempts: number, { delays, maxAttempts }: Backoff): string | null =>
  attempts >= maxAttempts ? null : later(now, delays[Math.min(attempts, delays.length) - 1] ?? 0)

const later = (now: Date, milliseconds: number): string => new Date(now.getTime() + milliseconds).toISOString()
