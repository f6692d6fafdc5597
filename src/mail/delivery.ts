import type { Db } from '../db/tables.js'
import { deliver } from './outbox.js'
import { reasonOf } from './reasons.js'
import { openTransport, type MailSettings } from './transport.js'

/** Returns why mail cannot be sent now, or undefined. Only an SMTP server is contacted. */
export async function mailProblem(mail: MailSettings): Promise<string | undefined> {
  const transport = await openTransport(mail)
  try {
    await transport.verify()
    return undefined
  } catch (error) {
    const { code, message, hostname } = error as Error & { code?: string; hostname?: string }
    return /ENOTFOUND|EDNS/.test(`${code} ${message}`)
      ? `no such host: "${hostname ?? new URL(mail.url).hostname}"`
      : reasonOf({ message })
  } finally {
    transport.close()
  }
}

/**
 * Delivers all due mail once, for commands that run without a server. Stops at the first failure and returns it.
 * `warn` is called whenever recording a delivery has to be retried.
 */
export async function deliverDue(
  { db, now }: { db: Db; now: () => Date },
  mail: MailSettings,
  warn: (message: string) => void,
): Promise<{ recipient: string; reason: string } | undefined> {
  const onUnrecorded = (_mail: unknown, error: Error) =>
    warn(`A mail was delivered, but the delivery cannot be recorded yet: ${error.message}`)
  const transport = await openTransport(mail)
  try {
    for await (const { mail: sent, error } of deliver(db, transport, now, onUnrecorded))
      if (error) return { recipient: sent.recipient, reason: reasonOf(error) }
    return undefined
  } finally {
    transport.close()
  }
}
