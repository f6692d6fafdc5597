import escape from 'validator/lib/escape.js'
import { wordsOf, type Words } from '../core/catalogue.js'
import { printable } from '../core/text.js'
import { button, frame, type Look } from './frame.js'
import { greetingOf } from './greeting.js'
import type { Letter } from './transport.js'

type Content = Pick<Letter, 'subject' | 'text' | 'html'>

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
    greeting: greetingOf(words, name),
    before: words.t(`mail.${letter}.before`, { siteTitle }),
    action: words.t(`mail.${letter}.action`),
    after: words.t(`mail.${letter}.after`),
  }
  return { subject: words.t(`mail.${letter}.subject`, { siteTitle }), text: text(parts), html: page(words, parts) }
}

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

const page = (words: Words, { look, greeting, before, link, action, after }: LetterTexts): string =>
  frame(
    words,
    look,
    `<p>${escape(greeting)}</p>
<p>${escape(before)}</p>
${button(look, { link, action })}
<p class="soft" style="color:#57606a;font-size:14px;overflow-wrap:anywhere">${escape(after)}<br>${escape(link)}</p>`,
  )
