import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import type { Db, MailRow } from '../db/tables.js'
import { insertMail, leaseMail, mailIsDue, recordFailure, recordSent, renewLease } from '../db/outbox.js'
import type { Letter, Transport } from './transport.js'

/** How long a lease lasts unless it is renewed: a mail whose sender was killed waits no longer than this. */
export const LEASE_MS = 15_000
const RENEW_MS = 4_000

/** Wait before a delivery that could not be recorded is recorded again. */
const RECORD_AGAIN_MS = 500

/** Wait after the first, second, … failed attempt; from the last on it stays the same. */
const BACK_OFF_MS = [60_000, 300_000, 900_000, 3_600_000, 14_400_000]
const GIVE_UP_AFTER = 20

/** Writes a mail into the transaction of whatever causes it, and returns its id. Nothing is sent here. */
export async function queueMail(db: Db, now: Date, mail: Omit<Letter, 'mailId'>): Promise<string> {
  const mailId = newId()
  await insertMail(db, { mailId, ...mail, createdAt: now.toISOString(), dueAt: now.toISOString() })
  return mailId
}

export interface Delivery {
  mail: MailRow
  error?: Error
}

/** Told each time that a delivered mail could not be recorded for now; it is tried until it can. */
type Unrecorded = (mail: MailRow, error: AppError) => void

interface Courier {
  db: Db
  transport: Transport
  now: () => Date
  unrecorded: Unrecorded
}

/**
 * Sends what is due, one mail after the other, and reports each attempt.
 * A mail is sent twice only if the process dies between delivery and the record of it, or if the database cannot be
 * written for longer than a lease in just that moment and another server is the first to write again.
 */
export async function* deliver(
  db: Db,
  transport: Transport,
  now: () => Date,
  unrecorded: Unrecorded = () => {},
): AsyncGenerator<Delivery> {
  while (await mailIsDue(db, now().toISOString())) {
    const lease = newId()
    const mail = await leaseMail(db, { now: now().toISOString(), until: later(now(), LEASE_MS), lease })
    if (!mail) return
    const error = await attempt({ db, transport, now, unrecorded }, mail, lease)
    yield error ? { mail, error } : { mail }
  }
}

async function attempt(
  { db, transport, now, unrecorded }: Courier,
  mail: MailRow,
  lease: string,
): Promise<Error | undefined> {
  const renewing = setInterval(() => void renewLease(db, lease, later(now(), LEASE_MS)).catch(() => {}), RENEW_MS) // tried again at the next interval
  try {
    const error = await transport.send(mail).then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
    )
    if (error) await recordFailure(db, lease, error.message, nextAttempt(now(), mail.attempts))
    else
      await surely(
        () => recordSent(db, mail.mailId, now().toISOString()),
        (error) => unrecorded(mail, error),
      )
    return error
  } finally {
    clearInterval(renewing)
  }
}

/** A mail that was delivered is recorded as soon as the database can be written again, while its lease is kept: or it would be sent twice. */
async function surely(record: () => Promise<unknown>, unrecorded: (error: AppError) => void): Promise<void> {
  for (;;) {
    try {
      return void (await record())
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'DATABASE_UNREACHABLE') throw error
      unrecorded(error)
    }
    await sleep(RECORD_AGAIN_MS)
  }
}

const nextAttempt = (now: Date, attempts: number): string | null =>
  attempts >= GIVE_UP_AFTER ? null : later(now, BACK_OFF_MS[Math.min(attempts, BACK_OFF_MS.length) - 1] ?? 0)

const later = (now: Date, milliseconds: number): string => new Date(now.getTime() + milliseconds).toISOString()
