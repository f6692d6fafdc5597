import { isMailDue, peopleToMail } from '../db/notificationmails.js'
import type { Context } from '../service/lib/context.js'
import type { Job } from './runner.js'

/** Milliseconds between two looks. */
const EVERY_MS = 1000
/** People whose mails are written in one transaction: other writers wait meanwhile. */
const TOGETHER = 20
/** Rows that are read to find people. */
const MOST = 500

/** Writes the mails about notifications, when their time has come. The courier sends them. */
export const notificationMails = ({ siteUrl, siteLanguage }: Pick<Context, 'siteUrl' | 'siteLanguage'>): Job => ({
  name: 'notification mails',
  every: EVERY_MS,
  exclusive: true,
  isDue: ({ db, now }) => isMailDue(db, now().toISOString()),
  async run({ db, now, signal }) {
    const { writeMails } = await import('../service/lib/notificationmails.js') // with what parses Markdown
    const people = await peopleToMail(db, now().toISOString(), MOST)
    for (let at = 0; at < people.length; at += TOGETHER) {
      if (signal.aborted) return undefined
      await writeMails(db, people.slice(at, at + TOGETHER), { now: now(), siteUrl, siteLanguage })
    }
    return people.length > 0 ? 'more' : undefined
  },
})
