import { LANGUAGES } from '../../core/language.js'
import { readSettings } from '../../db/settings.js'
import type { UserRow } from '../../db/tables.js'
import { queueMail } from '../../delivery/mail.js'
import type { Look } from '../../mail/frame.js'
import type { Context } from './context.js'
import { oneTimeToken } from './tokens.js'

/**
 * The mails: the page that their link opens and, where the link works once, the purpose of its token and for how many
 * hours it works. Who asks for a mail waits for it; who is invited does not.
 */
const LETTERS = {
  verification: {
    purpose: 'emailVerification',
    hours: 2,
    page: 'email-verify',
    to: 'a new user, to confirm the address',
  },
  reset: { purpose: 'resetPassword', hours: 2, page: 'password-reset/confirm', to: 'a user who forgot the password' },
  invitation: {
    purpose: 'resetPassword',
    hours: 7 * 24,
    page: 'password-reset/confirm',
    to: 'a user whose account someone else created',
  },
  deletion: {
    purpose: 'deletion',
    hours: 1,
    page: 'settings/delete',
    to: 'a user without a password who wants to delete the account',
  },
  test: { page: 'dashboard/settings/mail', to: 'the owner, to see that mail arrives' },
  warning: { page: 'password-reset', to: 'a user whose second factor someone tries to guess' },
} as const

export const INVITATION_HOURS = LETTERS.invitation.hours

export type LetterName = keyof typeof LETTERS

/** The mails that a site sends, and who gets them. */
export const letters = Object.entries(LETTERS).map(([name, { to }]) => ({ name: name as LetterName, to }))

/** A mail as it would be written now, to nobody, with a link that does not work. */
export async function sampleLetter(
  letter: LetterName,
  { siteUrl, look, language, name }: { siteUrl: string; look: Look; language: string; name: string },
): Promise<{ subject: string; text: string; html: string }> {
  const { mailOf } = await import('../../mail/templates.js')
  return mailOf(letter, { look, name, link: linkOf(siteUrl, letter, 'EXAMPLE'), language })
}

const linkOf = (siteUrl: string, letter: LetterName, token: string): string =>
  'purpose' in LETTERS[letter] ? `${siteUrl}/${LETTERS[letter].page}/?token=${token}` : `${siteUrl}/${LETTERS[letter].page}` // prettier-ignore

/** Queues a mail, with a new link where it works once, in the transaction of the change. Loads the texts when one is written. */
export async function queueLetter(
  { db, now, siteUrl, siteLanguage }: Pick<Context, 'db' | 'now' | 'siteUrl' | 'siteLanguage'>,
  letter: LetterName,
  { userId, name, email, language }: Pick<UserRow, 'userId' | 'name' | 'email' | 'language'>,
): Promise<void> {
  const kind = LETTERS[letter]
  const { mailOf } = await import('../../mail/templates.js')
  const look = await readSettings(db)
  const token =
    'purpose' in kind ? await oneTimeToken(db, now(), { userId, purpose: kind.purpose, hours: kind.hours }) : ''
  await queueMail(db, now(), {
    recipient: email,
    ...mailOf(letter, {
      look,
      name,
      link: linkOf(siteUrl, letter, token),
      language: language ?? siteLanguage ?? LANGUAGES[0],
    }),
  })
}
