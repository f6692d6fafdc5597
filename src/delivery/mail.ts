import type { Db } from '../db/tables.js'
import { openTransport, verdictOf, type Letter, type MailSettings, type Transport } from '../mail/transport.js'
import type { Carrier, Kind } from './kind.js'
import { enqueue } from './queue.js'

export const mail: Kind<MailSettings> = {
  name: 'mail',
  job: 'courier',
  // Who refused a mail for good (5xx) will hardly accept it soon; anything else may be over in a moment
  backoff: {
    refused: { delays: [60_000, 300_000, 900_000, 3_600_000, 14_400_000], maxAttempts: 20 },
    deferred: { delays: [5_000, 15_000, 30_000, 60_000, 120_000, 300_000], maxAttempts: 1000 },
  },
  log: {
    id: 'mailId',
    delivered: 'mail delivered',
    failed: 'mail delivery failed',
    unrecorded: 'mail delivered, but the delivery cannot be recorded yet',
    unreachable: 'the mail server cannot be reached; mail waits for it',
    reachable: 'the mail server responds again',
  },
  open: async (settings) => carrierOf(await openTransport(settings)),
}

export const carrierOf = (transport: Transport): Carrier => ({
  send: ({ deliveryId, recipient, subject, text, html }) =>
    transport.send({ mailId: deliveryId, recipient, subject, text, html }),
  verdictOf,
  verify: () => transport.verify(),
  close: () => transport.close(),
})

/** Queues a mail, in the caller's transaction, and returns its id. */
export const queueMail = (db: Db, now: Date, letter: Omit<Letter, 'mailId'>): Promise<string> =>
  enqueue(db, now, { kind: mail.name, ...letter })
