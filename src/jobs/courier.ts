import { mailIsDue } from '../db/outbox.js'
import { deliver } from '../mail/outbox.js'
import { openTransport, type MailSettings } from '../mail/transport.js'
import type { Job } from './runner.js'

/** Delivers the outbox, whichever process queued the mail. It looks so often that mail leaves within a second. */
export const courier = (mail: MailSettings): Job => ({
  name: 'courier',
  every: 500,
  exclusive: true,
  isDue: ({ db, now }) => mailIsDue(db, now().toISOString()),
  async run({ db, now, log, signal }) {
    const transport = await openTransport(mail)
    const unrecorded = ({ mailId }: { mailId: string }, error: Error) =>
      log.warn({ mailId, reason: error.message }, 'mail was delivered, but that cannot be recorded yet')
    try {
      for await (const { mail: sent, error } of deliver(db, transport, now, unrecorded)) {
        const { mailId, attempts } = sent
        if (error)
          log.warn({ mailId, attempts, reason: error.message }, 'mail could not be delivered, and will be tried again')
        else log.info({ mailId }, 'mail delivered')
        if (signal.aborted) return
      }
    } finally {
      transport.close()
    }
  },
})
