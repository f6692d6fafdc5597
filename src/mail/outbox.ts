import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import type { Db, MailRow } from '../db/tables.js'
import { insertMail, leaseMail, isMailDue, recordFailure, recordSent, renewLease } from '../db/outbox.js'
import type { Letter, Transport } from './transport.js'

/** The lifetime of a lease that is not renewed, and so the delay of a mail whose process was killed. */
export const LEASE_MS = 15_000
const RENEW_INTERVAL_MS = 4_000

/** The delay before recording a delivery is retried. */
const RECORD_RETRY_MS = 500

/** The delay after the first, second, … failed attempt. The last one is repeated. */
const BACKOFF_MS = [60_000, 300_000, 900_000, 3_600_000, 14_400_000]
const MAX_ATTEMPTS = 20

/** Adds a mail to the outbox, in the caller's transaction, and returns its id. It sends nothing. */
export async function queueMail(db: Db, now: Date, mail: Omit<Letter, 'mailId'>): Promise<string> {
  const mailId = newId()
  await insertMail(db, { mailId, ...mail, createdAt: now.toISOString(), dueAt: now.toISOString() })
  return mailId
}

export interface Delivery {
  mail: MailRow
  error?: Error
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
 * Sends all due mail, one by one, and yields each attempt.
 * A mail is sent twice only if the process dies before it records the delivery, or if the database is not writable for
 * longer than a lease at that moment, and another process is the first to write again.
 */
export async function* deliver(
  db: Db,
  transport: Transport,
  now: () => Date,
  onUnrecorded: OnUnrecorded = () => {},
): AsyncGenerator<Delivery> {
  while (await isMailDue(db, now().toISOString())) {
    const lease = newId()
    const mail = await leaseMail(db, { now: now().toISOString(), until: later(now(), LEASE_MS), lease })
    if (!mail) return
    const error = await attempt({ db, transport, now, onUnrecorded }, mail, lease)
    yield error ? { mail, error } : { mail }
  }
}

async function attempt(
  { db, transport, now, onUnrecorded }: Sender,
  mail: MailRow,
  lease: string,
): Promise<Error | undefined> {
  const renewing = setInterval(
    () => void renewLease(db, lease, later(now(), LEASE_MS)).catch(() => {}),
    RENEW_INTERVAL_MS,
  ) // a failure is retried at the next interval
  try {
    const error = await transport.send(mail).then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
    )
    if (error) await recordFailure(db, lease, error.message, nextAttemptAt(now(), mail.attempts))
    else
      await retryUntilRecorded(
        () => recordSent(db, mail.mailId, now().toISOString()),
        (error) => onUnrecorded(mail, error),
      )
    return error
  } finally {
    clearInterval(renewing)
  }
}

/** Retries while the database is not writable. The lease is renewed until then, so that the mail is not sent twice. */
async function retryUntilRecorded(record: () => Promise<unknown>, onFailure: (error: AppError) => void): Promise<void> {
  for (;;) {
    try {
      return void (await record())
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'DATABASE_UNREACHABLE') throw error
      onFailure(error)
    }
    await sleep(RECORD_RETRY_MS)
  }
}

const nextAttemptAt = (now: Date, attempts: number): string | null =>
  attempts >= MAX_ATTEMPTS ? null : later(now, BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1] ?? 0)

const later = (now: Date, milliseconds: number): string => new Date(now.getTime() + milliseconds).toISOString()
