import type { Db } from '../db/tables.js'
import { reasonOf } from '../mail/reasons.js'
import type { MailSettings } from '../mail/transport.js'
import { mail } from './mail.js'
import { deliver } from './queue.js'

/**
 * Delivers once the mail that was queued since a time and that somebody waits for. For commands, as no server may be
 * running: what others queued is left to the server, which bounds how much leaves. Stops at the first failure and returns
 * it. `warn` is called whenever recording a delivery has to be retried.
 */
export async function deliverSince(
  since: Date,
  { db, now }: { db: Db; now: () => Date },
  settings: MailSettings,
  warn: (message: string) => void,
): Promise<{ recipient: string; reason: string } | undefined> {
  const onUnrecorded = (_delivery: unknown, error: Error) =>
    warn(`A mail was delivered, but the delivery cannot be recorded yet: ${error.message}`)
  const carrier = await mail.open(settings)
  try {
    for await (const { delivery, error } of deliver(db, { kind: mail, carrier, now, since, onUnrecorded }))
      if (error) return { recipient: delivery.recipient, reason: reasonOf(error) }
    return undefined
  } finally {
    carrier.close()
  }
}
