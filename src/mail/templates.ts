import escape from 'validator/lib/escape.js'
import type { Letter } from './transport.js'

type Content = Pick<Letter, 'subject' | 'text' | 'html'>

interface Facts {
  siteTitle: string
  name: string
  link: string
}

/** Asks a new user to confirm the address. */
export function verificationMail({ siteTitle, name, link }: Facts): Content {
  return {
    subject: `${siteTitle} – please confirm your e-mail address`,
    ...body({
      siteTitle,
      greeting: greeting(name),
      before: `this address was used to sign up at ${siteTitle}. Please confirm that it is yours:`,
      link,
      action: 'Confirm the address',
      after: 'The link works once and expires in two hours. If you did not sign up, ignore this mail.',
    }),
  }
}

/** Lets a user who forgot the password choose a new one. */
export function resetMail({ siteTitle, name, link }: Facts): Content {
  return {
    subject: `${siteTitle} – reset your password`,
    ...body({
      siteTitle,
      greeting: greeting(name),
      before: `someone, probably you, asked to reset the password of your account at ${siteTitle}. Choose a new one here:`,
      link,
      action: 'Choose a new password',
      after:
        'The link works once and expires in two hours. If you did not ask for it, ignore this mail. Your password stays the same.',
    }),
  }
}

/** Invites a user whose account the owner created. */
export function invitationMail({ siteTitle, name, link }: Facts): Content {
  return {
    subject: `${siteTitle} – you are invited`,
    ...body({
      siteTitle,
      greeting: greeting(name),
      before: `an account was created for you at ${siteTitle}. Choose a password to use it:`,
      link,
      action: 'Choose a password',
      after:
        'The link works once and expires in 7 days. After that, reset your password to get a new link. If you do not want the account, ignore this mail.',
    }),
  }
}

/** At most three words of letters. A dot ends a word or an initial, so that no mail program makes a link of it. */
const NAME = /^(?=.{1,40}$)(?:\p{L}[\p{L}\p{M}'’\p{Join_Control}-]*\.?(?: |$)){1,3}$/u

/**
 * Names no one whose name could be a message. The name is untrusted: anyone can sign up with another person's address.
 */
const greeting = (name: string): string => (NAME.test(name) ? `Hello ${name},` : 'Hello,')

interface Parts {
  siteTitle: string
  greeting: string
  before: string
  link: string
  action: string
  after: string
}

function body(parts: Parts): Pick<Content, 'text' | 'html'> {
  const { greeting, before, link, after, siteTitle } = parts
  return { text: [greeting, '', before, '', link, '', after, '', `-- `, siteTitle, ''].join('\n'), html: page(parts) }
}

const page = ({ siteTitle, greeting, before, link, action, after }: Parts): string => `<!doctype html>
<html lang="en">
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1f2933">
<p>${escape(greeting)}</p>
<p>${escape(before)}</p>
<p><a href="${escape(link)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#2f6fed;color:#fff;text-decoration:none">${escape(action)}</a></p>
<p style="color:#52606d;font-size:14px">${escape(after)}<br>${escape(link)}</p>
<p style="color:#52606d;font-size:14px">${escape(siteTitle)}</p>
</body>
</html>
`
