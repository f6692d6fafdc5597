import escape from 'validator/lib/escape.js'
import { wordsOf, type Words } from '../core/catalogue.js'
import { accentOf } from '../core/colors.js'
import { shownLogo } from '../core/logo.js'
import { printable } from '../core/text.js'
import type { Letter } from './transport.js'

type Content = Pick<Letter, 'subject' | 'text' | 'html'>

/** The appearance of the site, from its settings. */
export interface Look {
  title: string
  logo: string | null
  accentColor: string | null
}

interface Facts {
  look: Look
  name: string
  link: string
  /** One of `LANGUAGES`. */
  language: string
}

/**
 * A mail with one link, in the language of the recipient: asks a new user to confirm the address, lets a user who
 * forgot the password choose a new one, invites a user whose account the owner created, lets a user without a password
 * delete the account, or warns a user whose code somebody guesses.
 */
export function mailOf(
  letter: 'verification' | 'reset' | 'invitation' | 'deletion' | 'test' | 'warning',
  { language, ...facts }: Facts,
): Content {
  const words = wordsOf(language)
  const { name, link } = facts
  const look = { ...facts.look, title: printable(facts.look.title) }
  const siteTitle = look.title
  const parts: LetterTexts = {
    look,
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

interface LetterTexts {
  look: Look
  greeting: string
  before: string
  link: string
  action: string
  after: string
}

const text = ({ greeting, before, link, after, look: { title } }: LetterTexts): string =>
  [greeting, '', before, '', link, '', after, '', `-- `, title, ''].join('\n')

/** The colours of the pages. A style in the head is for programs that know of dark mails; others ignore it. */
const DARK = `@media (prefers-color-scheme:dark){.page{background:#14171c!important;color:#e8ebef!important}.soft{color:#a4adb8!important}.top{border-color:#343b45!important}}`

function page({ language, direction }: Words, { look, greeting, before, link, action, after }: LetterTexts): string {
  const { light, fill, onFill } = accentOf(look.accentColor)
  const title = escape(look.title)
  return `<!doctype html>
<html lang="${language}"${direction === 'rtl' ? ' dir="rtl"' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${DARK}</style>
</head>
<body class="page" style="margin:0;padding:24px;background:#ffffff;color:#1b1f24;font:16px/1.5 system-ui,sans-serif">
<main style="display:block;max-width:560px;margin:0 auto">
<h1 class="top" style="margin:0 0 24px;padding-bottom:12px;border-bottom:1px solid #d5dae0;font-size:18px">${logoOf(look)}${title}</h1>
<p>${escape(greeting)}</p>
<p>${escape(before)}</p>
<p style="margin:24px 0"><a href="${escape(link)}" style="display:inline-block;padding:10px 18px;border:1px solid #${light};border-radius:8px;background:#${fill};color:#${onFill};font-weight:bold;text-decoration:none">${escape(action)}</a></p>
<p class="soft" style="color:#57606a;font-size:14px;overflow-wrap:anywhere">${escape(after)}<br>${escape(link)}</p>
</main>
</body>
</html>
`
}

/** Mail programs show no picture that comes without TLS. */
function logoOf({ logo }: Look): string {
  const address = shownLogo(logo, { siteUrl: 'https:' })
  if (address === null) return ''
  return `<img src="${escape(address)}" alt="" height="28" style="height:28px;margin-right:8px;vertical-align:middle">`
}
