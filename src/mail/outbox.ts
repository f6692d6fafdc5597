import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import type { Db, MailRow } from '../db/tables.js'
import {
  insertMail,
  isMailDue,
  leaseMail,
  recordFailure,
  recordPostponed,
  recordSent,
  renewLease,
  type Moment,
} from '../db/outbox.js'
import { verdictOf, type Letter, type Transport } from './transport.js'
import { reasonOf } from './reasons.js'

/** The lifetime of a lease that is not renewed, and so the delay of a mail whose process was killed. */
export const LEASE_MS = 15_000
const RENEW_INTERVAL_MS = 4_000

/** The delay before recording a delivery is retried. */
const RECORD_RETRY_MS = 500

/**
 * The delay after the first, second, … failed attempt, of which the last is repeated, and the number of attempts. Who
 * refused a mail for good (5xx) will hardly accept it soon; anything else may be over in a moment.
 */
const REFUSED: Backoff = { delays: [60_000, 300_000, 900_000, 3_600_000, 14_400_000], maxAttempts: 20 }
const DEFERRED: Backoff = { delays: [5_000, 15_000, 30_000, 60_000, 120_000, 300_000], maxAttempts: 1000 }

const LONGEST_DELAY_MS = Math.max(...REFUSED.delays, ...DEFERRED.delays)

interface Backoff {
  delays: number[]
  maxAttempts: number
}

/** Milliseconds. A mail that takes longer does not hold the next one back. */
const PATIENCE_MS = 1_000
const MAX_CONCURRENT = 10

/** Adds a mail to the outbox, in the caller's transaction, and returns its id. It sends nothing. */
export async function queueMail(db: Db, now: Date, mail: Omit<Letter, 'mailId'>): Promise<string> {
  const mailId = newId()
  await insertMail(db, { mailId, ...mail, createdAt: now.toISOString(), dueAt: now.toISOString() })
  return mailId
}

export interface Delivery {
  mail: MailRow
  error?: Error
  /** No mail can be delivered now. This one stays due, and the attempt does not count. */
  isUnreachable?: boolean
}

/** Called whenever a delivered mail could not be recorded. Recording is then retried. */
type OnUnrecorded = (mail: MailRow, error: AppError) => void

interface Sender {
  db: Db
  transport: Transport
  now: () => Date
  onUnrecorded: OnUnrecorded
}

/**
 * Sends all due mail, and yields each attempt when it has ended. Sends no more once the mail system is unreachable.
 * Mails leave one after another, so that few are under way if the process dies, but slow ones beside others.
 * A mail is sent twice only if the process dies before it records the delivery, or if the database is not writable for
 * longer than a lease at that moment, and another process is the first to write again.
 */
export async function* deliver(
  db: Db,
  transport: Transport,
  now: () => Date,
  onUnrecorded: OnUnrecorded = () => {},
  patience = PATIENCE_MS,
): AsyncGenerator<Delivery> {
  const sender = { db, transport, now, onUnrecorded }
  const underWay = new Map<string, Promise<Delivery>>()
  let isReachable = true
  try {
    for (;;) {
      const lease = newId()
      const mail = isReachable && underWay.size < MAX_CONCURRENT ? await leaseNext(sender, lease) : undefined
      if (mail) underWay.set(mail.mailId, attempt(sender, mail, lease))
      if (underWay.size === 0) return
      const ended = await firstWithin(patience, [...underWay.values()])
      if (!ended) continue
      underWay.delete(ended.mail.mailId)
      isReachable &&= !ended.isUnreachable
      yield ended
    }
  } finally {
    await Promise.allSettled(underWay.values())
  }
}

/** Whether a mail could be sent now. */
export const isAnyDue = (db: Db, now: Date): Promise<boolean> => isMailDue(db, momentOf(now))

async function leaseNext({ db, now }: Sender, lease: string): Promise<MailRow | undefined> {
  if (!(await isAnyDue(db, now()))) return undefined
  return leaseMail(db, { ...momentOf(now()), until: later(now(), LEASE_MS), lease })
}

/** Another server's clock may be ahead by as long as a lease. */
export const momentOf = (now: Date): Moment => ({
  now: now.toISOString(),
  leaseLimit: later(now, 2 * LEASE_MS),
  dueLimit: later(now, LONGEST_DELAY_MS + LEASE_MS),
})

/** Resolves with the first result, or with undefined if there is none in time. */
async function firstWithin<T>(milliseconds: number, results: Promise<T>[]): Promise<T | undefined> {
  const timer = new AbortController()
  const timeout = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)
  return Promise.race([...results, timeout]).finally(() => timer.abort())
}

async function attempt(sender: Sender, mail: MailRow, lease: string): Promise<Delivery> {
  const { db, transport, now, onUnrecorded } = sender
  const renewing = setInterval(
    () => void renewLease(db, lease, later(now(), LEASE_MS)).catch(() => {}),
    RENEW_INTERVAL_MS,
  ) // a failure is retried at the next interval
  try {
    const error = await failureOf(transport.send(mail))
    if (!error) {
      await retryUntilRecorded(
        () => recordSent(db, mail.mailId, now().toISOString()),
        (error) => onUnrecorded(mail, error),
      )
      return { mail }
    }
    const verdict = verdictOf(error)
    if (verdict === 'none' && (await failureOf(transport.verify()))) {
      await recordPostponed(db, lease, reasonOf(error))
      return { mail, error, isUnreachable: true }
    }
    const backoff = verdict === 'refused' ? REFUSED : DEFERRED
    await recordFailure(db, lease, reasonOf(error), nextAttemptAt(now(), mail.attempts, backoff))
    return { mail, error }
  } finally {
    clearInterval(renewing)
  }
}

const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
  )

/** Retries while the database is not writable. The lease is renewed until then, so that the mail is not sent twice. */
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
