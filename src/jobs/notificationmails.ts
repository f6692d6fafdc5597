import { AppError } from '../core/errors.js'
import { isMailDue, peopleToMail, postponeMail } from '../db/notificationmails.js'
import type { Context } from '../service/lib/context.js'
import type { Job, Run } from './runner.js'

/** Milliseconds between two looks. */
const EVERY_MS = 1000
/** People whose mails are written in one transaction: other writers wait meanwhile. */
const TOGETHER = 20
/** Rows that are read to find people. */
const MOST = 500
/** Milliseconds after which mails of a person are tried again that could not be written. */
const AGAIN_MS = 60 * 60 * 1000

/** Writes the mails about notifications, when their time has come. The courier sends them. */
export const notificationMails = ({ siteUrl, siteLanguage }: Pick<Context, 'siteUrl' | 'siteLanguage'>): Job => ({
  name: 'notification mails',
  every: EVERY_MS,
  exclusive: true,
  isDue: ({ db, now }) => isMailDue(db, now().toISOString()),
  async run({ db, now, log, signal }) {
    const { writeMails } = await import('../service/lib/notificationmails.js') // with what parses Markdown
    const people = await peopleToMail(db, now().toISOString(), MOST)
    for (let at = 0; at < people.length; at += TOGETHER) {
      if (signal.aborted) return undefined
      const some = people.slice(at, at + TOGETHER)
      const write = (to: readonly string[]) => writeMails(db, to, { now: now(), siteUrl, siteLanguage })
      await write(some).catch(async (error: unknown) => {
        if (isOutage(error)) throw error
        for (const userId of some) await write([userId]).catch((cause: unknown) => postpone({ db, now, log }, userId, cause)) // prettier-ignore
      })
    }
    return people.length > 0 ? 'more' : undefined
  },
})

/** Whether nothing can be written, for anybody. */
const isOutage = (error: unknown): boolean => error instanceof AppError && error.status === 503

/** What cannot be written for one person holds nobody else up. */
async function postpone(
  { db, now, log }: Pick<Run, 'db' | 'now' | 'log'>,
  userId: string,
  cause: unknown,
): Promise<void> {
  if (isOutage(cause)) throw cause
  const at = now()
  await postponeMail(db, userId, { now: at.toISOString(), until: new Date(at.getTime() + AGAIN_MS).toISOString() })
  log.warn({ userId, err: cause }, 'mails about notifications cannot be written to a person, and will be tried again in an hour') // prettier-ignore
}
