import { deliver, isAnyDue } from '../mail/outbox.js'
import { openTransport, type MailSettings, type Transport } from '../mail/transport.js'
import type { Job } from './runner.js'

/** The delay before a mail system that was unreachable is tried again. It doubles up to the maximum. */
const MIN_PROBE_MS = 1_000
const MAX_PROBE_MS = 20_000

/** Delivers the mail that any process has queued. It polls twice a second, so that mail leaves promptly. */
export function courier(mail: MailSettings): Job {
  /** Set while the mail system is unreachable. `probeAt` is a time of `performance.now()`. */
  let outage: { delay: number; probeAt: number } | undefined
  const waitLonger = () => {
    const delay = outage ? Math.min(outage.delay * 2, MAX_PROBE_MS) : MIN_PROBE_MS
    outage = { delay, probeAt: performance.now() + delay }
  }
  return {
    name: 'courier',
    every: 500,
    exclusive: true,
    isDue: async ({ db, now }) => (!outage || performance.now() >= outage.probeAt) && (await isAnyDue(db, now())),
    async run({ db, now, log, signal }) {
      const transport = await openTransport(mail)
      const onUnrecorded = ({ mailId }: { mailId: string }, error: Error) =>
        log.warn({ mailId, reason: error.message }, 'mail delivered, but the delivery cannot be recorded yet')
      try {
        if (outage) {
          if (!(await isReachable(transport))) return waitLonger()
          outage = undefined
          log.info({}, 'the mail server responds again')
        }
        for await (const { mail: sent, error, isUnreachable } of deliver(db, transport, now, onUnrecorded)) {
          const { mailId, attempts } = sent
          if (isUnreachable) {
            if (!outage) log.warn({ reason: error?.message }, 'the mail server cannot be reached; mail waits for it')
            if (!outage) waitLonger()
          } else if (error) log.warn({ mailId, attempts, reason: error.message }, 'mail delivery failed')
          else log.info({ mailId }, 'mail delivered')
          if (signal.aborted) return
        }
      } finally {
        transport.close()
      }
    },
  }
}

const isReachable = (transport: Transport): Promise<boolean> =>
  transport.verify().then(
    () => true,
    () => false,
  )
