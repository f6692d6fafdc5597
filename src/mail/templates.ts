import escape from 'validator/lib/escape.js'
import { wordsOf, type Words } from '../core/catalogue.js'
import type { Letter } from './transport.js'

type Content = Pick<Letter, 'subject' | 'text' | 'html'>

interface Facts {
  siteTitle: string
  name: string
  link: string
  /** One of `LANGUAGES`. */
  language: string
}

/**
 * A mail with one link, in the language of whoever gets it: asks a new user to confirm the address, lets a user who
 * forgot the password choose a new one, or invites a user whose account the owner created.
 */
export function mailOf(letter: 'verification' | 'reset' | 'invitation', { language, ...facts }: Facts): Content {
  const words = wordsOf(language)
  const { siteTitle, name, link } = facts
  const parts: Parts = {
    siteTitle,
    link,
    greeting: NAME.test(name) ? words.t('mail.hello', { name }) : words.t('mail.helloNobody'),
    before: words.t(`mail.${letter}.before`, { siteTitle }),
    action: words.t(`mail.${letter}.action`),
    after: words.t(`mail.${letter}.after`),
  }
  return { subject: words.t(`mail.${letter}.subject`, { siteTitle }), text: text(parts), html: page(words, parts) }
}

/**
 * At most three words of letters. A dot ends a word or an initial, so that no mail program makes a link of it. Nobody is
 * named whose name could be a message: anyone can sign up with another person's address.
 */
const NAME = /^(?=.{1,40}$)(?:\p{L}[\p{L}\p{M}'’\p{Join_Control}-]*\.?(?: |$)){1,3}$/u

interface Parts {
  siteTitle: string
  greeting: string
  before: string
  link: string
  action: string
  after: string
}

const text = ({ greeting, before, link, after, siteTitle }: Parts): string =>
  [greeting, '', before, '', link, '', after, '', `-- `, siteTitle, ''].join('\n')

const page = (
  { language, direction }: Words,
  { siteTitle, greeting, before, link, action, after }: Parts,
): string => `<!doctype html>
<html lang="${language}"${direction === 'rtl' ? ' dir="rtl"' : ''}>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1f2933">
<p>${escape(greeting)}</p>
<p>${escape(before)}</p>
<p><a href="${escape(link)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#2f6fed;color:#fff;text-decoration:none">${escape(action)}</a></p>
<p style="color:#52606d;font-size:14px">${escape(after)}<br>${escape(link)}</p>
<p style="color:#52606d;font-size:14px">${escape(siteTitle)}</p>
</body>
</html>
`
