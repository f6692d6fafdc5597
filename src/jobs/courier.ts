import { isMailDue } from '../db/outbox.js'
import { deliver } from '../mail/outbox.js'
import { openTransport, type MailSettings } from '../mail/transport.js'
import type { Job } from './runner.js'

/** Delivers the mail that any process has queued. It polls twice a second, so that mail leaves promptly. */
export const courier = (mail: MailSettings): Job => ({
  name: 'courier',
  every: 500,
  exclusive: true,
  isDue: ({ db, now }) => isMailDue(db, now().toISOString()),
  async run({ db, now, log, signal }) {
    const transport = await openTransport(mail)
    const onUnrecorded = ({ mailId }: { mailId: string }, error: Error) =>
      log.warn({ mailId, reason: error.message }, 'mail delivered, but the delivery cannot be recorded yet')
    try {
      for await (const { mail: sent, error } of deliver(db, transport, now, onUnrecorded)) {
        const { mailId, attempts } = sent
        if (error) log.warn({ mailId, attempts, reason: error.message }, 'mail delivery failed')
        else log.info({ mailId }, 'mail delivered')
        if (signal.aborted) return
      }
    } finally {
      transport.close()
    }
  },
})
