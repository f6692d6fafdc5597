import { printable } from '../../core/text.js'
import { readSettings } from '../../db/settings.js'
import type { UserRow } from '../../db/tables.js'
import { queueMail } from '../../mail/outbox.js'
import { invitationMail, resetMail, verificationMail } from '../../mail/templates.js'
import type { Context } from './context.js'
import { oneTimeToken } from './tokens.js'

/** The mails with a one-time link: the purpose of its token, and the page it opens. */
const LETTERS = {
  verification: { purpose: 'emailVerification', page: 'email-verify', write: verificationMail },
  reset: { purpose: 'resetPassword', page: 'password-reset/confirm', write: resetMail },
  invitation: { purpose: 'resetPassword', page: 'password-reset/confirm', write: invitationMail },
} as const

/** Queues a mail with a new one-time link, in the transaction of the change. */
export async function queueLetter(
  { db, now, siteUrl }: Pick<Context, 'db' | 'now' | 'siteUrl'>,
  letter: keyof typeof LETTERS,
  { userId, name, email }: Pick<UserRow, 'userId' | 'name' | 'email'>,
): Promise<void> {
  const { purpose, page, write } = LETTERS[letter]
  const { title } = await readSettings(db)
  const token = await oneTimeToken(db, now(), userId, purpose)
  await queueMail(db, now(), {
    recipient: email,
    ...write({ siteTitle: printable(title), name, link: `${siteUrl}/${page}/?token=${token}` }),
  })
}
