import { LANGUAGES } from '../../core/language.js'
import { printable } from '../../core/text.js'
import { readSettings } from '../../db/settings.js'
import type { UserRow } from '../../db/tables.js'
import { queueMail } from '../../mail/outbox.js'
import type { Context } from './context.js'
import { oneTimeToken } from './tokens.js'

/**
 * The mails with a one-time link: the purpose of its token, for how many hours it works, and the page it opens. Who asks
 * for a mail waits for it; who is invited does not.
 */
const LETTERS = {
  verification: { purpose: 'emailVerification', hours: 2, page: 'email-verify' },
  reset: { purpose: 'resetPassword', hours: 2, page: 'password-reset/confirm' },
  invitation: { purpose: 'resetPassword', hours: 7 * 24, page: 'password-reset/confirm' },
} as const

/** Queues a mail with a new one-time link, in the transaction of the change. Loads the texts when one is written. */
export async function queueLetter(
  { db, now, siteUrl }: Pick<Context, 'db' | 'now' | 'siteUrl'>,
  letter: keyof typeof LETTERS,
  { userId, name, email, language }: Pick<UserRow, 'userId' | 'name' | 'email' | 'language'>,
): Promise<void> {
  const { purpose, hours, page } = LETTERS[letter]
  const { mailOf } = await import('../../mail/templates.js')
  const { title } = await readSettings(db)
  const token = await oneTimeToken(db, now(), { userId, purpose, hours })
  await queueMail(db, now(), {
    recipient: email,
    ...mailOf(letter, {
      siteTitle: printable(title),
      name,
      link: `${siteUrl}/${page}/?token=${token}`,
      language: language ?? LANGUAGES[0],
    }),
  })
}
