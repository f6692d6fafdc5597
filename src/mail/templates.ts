import escape from 'validator/lib/escape.js'
import { printable } from '../core/text.js'
import type { Letter } from './transport.js'

type Content = Pick<Letter, 'subject' | 'text' | 'html'>

interface Facts {
  siteTitle: string
  name: string
  link: string
}

/** Asks a new person to confirm the address. The link works for two hours. */
export function verificationMail({ siteTitle, name, link }: Facts): Content {
  return {
    subject: `${siteTitle} – please confirm your e-mail address`,
    ...body({
      siteTitle,
      greeting: greeting(name),
      before: `this address was used to sign up at ${siteTitle}. Please confirm that it is yours:`,
      link,
      action: 'Confirm the address',
      after: 'The link works once, for two hours. If you did not sign up, do nothing.',
    }),
  }
}

/** Lets a person who forgot the password choose another. */
export function resetMail({ siteTitle, name, link }: Facts): Content {
  return {
    subject: `${siteTitle} – reset your password`,
    ...body({
      siteTitle,
      greeting: greeting(name),
      before: `somebody, probably you, asked for a new password of your account at ${siteTitle}. Choose one here:`,
      link,
      action: 'Choose a new password',
      after: 'The link works once, for two hours. If you did not ask for it, do nothing: your password stays as it is.',
    }),
  }
}

/** Tells a person for whom the owner made an account how to use it. */
export function invitationMail({ siteTitle, name, link }: Facts): Content {
  return {
    subject: `${siteTitle} – you are invited`,
    ...body({
      siteTitle,
      greeting: greeting(name),
      before: `an account was made for you at ${siteTitle}. Choose a password to use it:`,
      link,
      action: 'Choose a password',
      after:
        'The link works once, for two hours. Later, ask for a new one as somebody who forgot the password. If you do not want the account, do nothing.',
    }),
  }
}

/** Whoever signs up chooses the name, also for an address of somebody else: it stays on its line. */
const greeting = (name: string): string => (name === '' ? 'Hello,' : `Hello ${printable(name)},`)

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
