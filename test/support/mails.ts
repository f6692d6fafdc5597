import { carrierOf, mail } from '../../src/delivery/mail.js'
import { deliver, type Attempt } from '../../src/delivery/queue.js'
import type { Transport } from '../../src/mail/transport.js'
import type { TestSite } from './site.js'

/** Sends the mails of a site that are due. */
export const sendMails = (
  { db, clock }: Pick<TestSite, 'db' | 'clock'>,
  transport: Transport,
  patience?: number,
): AsyncGenerator<Attempt> =>
  deliver(db, { kind: mail, carrier: carrierOf(transport), now: () => clock.now, ...(patience !== undefined && { patience }) }) // prettier-ignore
