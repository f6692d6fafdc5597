import { newId } from '../core/ids.js'
import type { Db } from '../db/connect.js'
import { insertMail, leaseMail, recordFailure, recordSent, renewLease } from '../db/outbox.js'
import type { MailRow } from '../db/tables.js'
import type { Letter, Transport } from './transport.js'

/** How long a lease lasts unless it is renewed: a mail whose sender was killed waits no longer than this. */
export const LEASE_MS = 10_000
const RENEW_MS = 3_000

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

/**
 * Sends what is due, one mail after the other, and reports each attempt.
 * A mail is sent twice only if the process dies between delivery and the record of it.
 */
export async function* deliver(db: Db, transport: Transport, now: () => Date): AsyncGenerator<Delivery> {
  for (;;) {
    const lease = newId()
    const mail = await leaseMail(db, { now: now().toISOString(), until: later(now(), LEASE_MS), lease })
    if (!mail) return
    const error = await attempt(db, transport, now, mail, lease)
    yield error ? { mail, error } : { mail }
  }
}

async function attempt(db: Db, transport: Transport, now: () => Date, mail: MailRow, lease: string): Promise<Error | undefined> {
  const renewing = setInterval(() => void renewLease(db, lease, later(now(), LEASE_MS)).catch(() => {}), RENEW_MS) // a lost lease shows when the result is recorded
  try {
    await transport.send(mail)
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    await recordFailure(db, lease, error.message, nextAttempt(now(), mail.attempts))
    return error
  } finally {
    clearInterval(renewing)
  }
  await recordSent(db, lease, now().toISOString())
  return undefined
}

const nextAttempt = (now: Date, attempts: number): string | null =>
  attempts >= GIVE_UP_AFTER ? null : later(now, BACK_OFF_MS[Math.min(attempts, BACK_OFF_MS.length) - 1] ?? 0)

const later = (now: Date, milliseconds: number): string => new Date(now.getTime() + milliseconds).toISOString()
