import { clearBounces, recordBounce } from '../db/mailbounces.js'
import type { Db } from '../db/tables.js'
import {
  isBounce,
  openTransport,
  verdictOf,
  type Letter,
  type MailSettings,
  type Transport,
} from '../mail/transport.js'
import type { Carrier, Kind } from './kind.js'
import { withdraw } from './mailednews.js'
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
  // Mails about notifications alone have headers
  withdraw: async (db, delivery, now) => delivery.priority > 0 && delivery.headers !== null && withdraw(db, delivery, now), // prettier-ignore
  sent: (db, { recipient }) => clearBounces(db, recipient),
  refused: async (db, { recipient }, { error, reason, at }) => {
    if (isBounce(error)) await recordBounce(db, { address: recipient, reason, at, most: MOST_BOUNCES })
  },
}

/** After so many refusals of an address, no notification is mailed there. */
const MOST_BOUNCES = 3

export const carrierOf = (transport: Transport): Carrier => ({
  send: ({ deliveryId, recipient, subject, text, html, headers }) =>
    transport.send({ mailId: deliveryId, recipient, subject, text, html, headers: headers === null ? {} : JSON.parse(headers) }), // prettier-ignore
  verdictOf,
  verify: () => transport.verify(),
  close: () => transport.close(),
})

/** Queues a mail, in the caller's transaction, and returns its id. Those of priority 0 leave first. */
export const queueMail = (
  db: Db,
  now: Date,
  letter: Omit<Letter, 'mailId' | 'headers'>,
  { priority = 0, headers }: { priority?: number; headers?: Letter['headers'] } = {},
): Promise<string> =>
  enqueue(db, now, { kind: mail.name, ...letter, priority, headers: headers ? JSON.stringify(headers) : null })
