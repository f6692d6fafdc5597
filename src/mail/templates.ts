import escape from 'validator/lib/escape.js'
import type { Letter } from './transport.js'

type Content = Pick<Letter, 'subject' | 'text' | 'html'>

/** Asks a new person to confirm the address. The link works for two hours. */
export function verificationMail({ siteTitle, name, link }: { siteTitle: string; name: string; link: string }): Content {
  return {
    subject: `${siteTitle} – please confirm your e-mail address`,
    ...body({
      siteTitle,
      greeting: `Hello ${name},`,
      before: `this address was used to sign up at ${siteTitle}. Please confirm that it is yours:`,
      link,
      action: 'Confirm the address',
      after: 'The link works once, for two hours. If you did not sign up, do nothing.',
    }),
  }
}

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
